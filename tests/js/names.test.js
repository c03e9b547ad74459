import assert from "node:assert/strict";
import { test } from "node:test";

import * as names from "../../explorer/browser/js/names.js";
import * as numbers from "../../explorer/browser/js/numbers.js";
import { fixture } from "./shared.js";

const EXAMPLES = fixture("names");

test("kinds, axes, rows and heads are called as in Python", () => {
  assert.deepEqual({ ...names.TITLES }, EXAMPLES.titles);
  assert.deepEqual({ ...names.AXES }, EXAMPLES.axes);
  assert.equal(names.predictedRows(), EXAMPLES.predictedRows);
  for (const { kind, layer, head, ...expected } of EXAMPLES.heads) {
    const named = { title: names.headTitle(kind, layer, head), inKind: names.nameInKind(layer, head) };
    const inLayer = { inLayer: names.nameInLayer(head), layerName: names.layerName(layer) };
    const short = { short: names.shortName(layer, head), shortHead: names.shortHead(head) };
    assert.deepEqual({ ...named, ...inLayer, ...short, shortLayer: names.shortLayer(layer) }, expected);
  }
  assert.equal(names.capitalised("layer 1, head 2"), "Layer 1, head 2");
});

test("numbers as people write them", () => {
  const { clamp, decimals, fourDecimals, percent } = numbers;
  assert.deepEqual([percent(0), percent(0.0001), percent(0.123)], ["0.0\u202f%", "< 0.1 %", "12.3\u202f%"]);
  assert.deepEqual([decimals(0), decimals(0.0004), decimals(0.5)], ["0.000", "< 0.001", "0.500"]);
  assert.deepEqual([fourDecimals(0), fourDecimals(0.00001), fourDecimals(0.5)], ["0.0000", "1.00e-5", "0.5000"]);
  assert.deepEqual([clamp(-1, 0, 3), clamp(2, 0, 3), clamp(9, 0, 3)], [0, 2, 3]);
});

test("weights are written as in files: only 0 is 0, and only 1 is 1", () => {
  const { weights, cells, percent: shares } = fixture("weights");
  assert.deepEqual(weights.map(numbers.cellNumber), cells);
  const percents = weights.map((weight) => numbers.wholePercent(weight).replace("\u202f", " "));
  assert.deepEqual(percents, shares);
});
