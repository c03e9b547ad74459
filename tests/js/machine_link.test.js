import assert from "node:assert/strict";
import { test } from "node:test";

import { destinationOf, wantedAt } from "../../explorer/browser/js/machine_link.js";

const MACHINE = /** @type {any} */ ({
  blocks: [
    { name: "decoder.1.cross_attn", kind: "attention", attention: "cross", layer: 2 },
    { name: "logits", kind: "linear", attention: "", layer: 0 },
  ],
});
const HERE = { model: "reverse", text: "a b", path: "5-9-2", step: "1", block: "logits", view: "lines", edit: "x" };
const KEPT = { model: "reverse", text: "a b", path: "5-9-2", edit: "x" };
const departure = (/** @type {object} */ changes) =>
  /** @type {any} */ ({ place: "attention", block: "", head: 0, part: "", step: 2, row: 2, column: 3, ...changes });

test("a link to Attention opens the head, and one to a cell its explanation", () => {
  const block = "decoder.1.cross_attn";
  const head = { kind: "cross", layer: "2", head: "3", view: "head" };
  assert.deepEqual(destinationOf(departure({ block, head: 3 }), MACHINE, HERE), {
    page: "attention",
    query: { ...KEPT, step: "2", ...head },
  });
  assert.deepEqual(destinationOf(departure({ place: "cell", block, head: 3 }), MACHINE, HERE), {
    page: "attention",
    query: { ...KEPT, step: "2", ...head, panel: "cell", cell: "2-3" },
  });
});

test("the mean over the heads has no cell, so the first head's is explained", () => {
  const { query } = destinationOf(departure({ place: "cell", block: "decoder.1.cross_attn" }), MACHINE, HERE);
  assert.equal(query.head, "1");
  assert.equal(destinationOf(departure({ block: "decoder.1.cross_attn" }), MACHINE, HERE).query.head, "0");
});

test("a link from another block leaves the head on screen as it is", () => {
  const at = { ...HERE, kind: "decoder", layer: "1", head: "2" };
  assert.deepEqual(destinationOf(departure({ place: "translate", block: "logits" }), MACHINE, at), {
    page: "translate",
    query: { ...KEPT, step: "2", kind: "decoder", layer: "1", head: "2" },
  });
});

test("one message serves all parts of a head, and all steps but where each has rows of its own", () => {
  const place = { block: "logits", head: 1, part: "scores", step: 4 };
  assert.deepEqual(wantedAt(place, false), { opened: { block: "logits", head: 1, part: "" }, step: 0 });
  assert.deepEqual(wantedAt(place, true), { opened: { block: "logits", head: 1, part: "" }, step: 4 });
  assert.equal(wantedAt({ ...place, block: "" }, true), null);
});
