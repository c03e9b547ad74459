import assert from "node:assert/strict";
import { test } from "node:test";

import * as names from "../../explorer/browser/js/names.js";
import { fixture } from "./shared.js";

const EXAMPLES = fixture("names");

test("kinds, axes and rows are called as in Python", () => {
  assert.deepEqual(names.TITLES, EXAMPLES.titles);
  assert.deepEqual(names.AXES, EXAMPLES.axes);
  assert.equal(names.PREDICTED_ROWS, EXAMPLES.predictedRows);
});

for (const { kind, layer, head, ...expected } of EXAMPLES.heads) {
  test(`a head is called as in Python: ${expected.title}`, () => {
    const title = names.headTitle(kind, layer, head);
    const inKind = names.nameInKind(layer, head);
    const inLayer = names.nameInLayer(head);
    const short = names.shortName(layer, head);
    const shortHead = names.shortHead(head);
    const layerName = names.layerName(layer);
    const shortLayer = names.shortLayer(layer);
    assert.deepEqual({ title, inKind, inLayer, short, shortHead, layerName, shortLayer }, expected);
  });
}

test("a label begins with a capital letter", () => {
  assert.equal(names.capitalised("layer 1, head 2"), "Layer 1, head 2");
});
