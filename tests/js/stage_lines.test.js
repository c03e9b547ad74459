import assert from "node:assert/strict";
import test from "node:test";

import { stageView } from "../../explorer/browser/js/stage_lines.js";

const single = (n) => Array.from({ length: n }, (_, i) => [i, i + 1]);
const spans = { source: single(3), target: single(3) };
// Rows are queries: what the decoder reads. Token 1 of the target is predicted by row 0.
const cross = { values: [0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.2, 0.2, 0.6], mask: new Uint8Array(9), keys: 3 };
const causal = {
  values: [1, 0, 0, 0.4, 0.6, 0, 0.1, 0.2, 0.7],
  mask: Uint8Array.from([0, 1, 1, 0, 0, 1, 0, 0, 0]),
  keys: 3,
};
const short = ({ lines }) => lines.map(({ side, index, weight, mask }) => [side, index, weight, mask]);

test("the word being written looks back by the row of the token that is read", () => {
  const view = stageView("cross", cross, spans, 1, 0, null);
  assert.deepEqual(view.from, { side: "target", span: [2, 3] });
  assert.deepEqual([view.query, view.column], [1, -1]);
  assert.deepEqual(short(view), [
    ["source", 0, 0.1, 0],
    ["source", 1, 0.8, 0],
    ["source", 2, 0.1, 0],
  ]);
});

test("a word of the translation shows the row that predicted it, one before its own", () => {
  const view = stageView("cross", cross, spans, 2, 0, { side: "target", at: 1, held: false });
  assert.deepEqual(view.from, { side: "target", span: [1, 2] });
  assert.deepEqual([view.query, short(view)[0]], [0, ["source", 0, 0.7, 0]]);
});

test("the first token was given: nothing looked anywhere to predict it", () => {
  const view = stageView("cross", cross, spans, 2, 0, { side: "target", at: 0, held: false });
  assert.deepEqual([view.query, view.lines], [-1, []]);
});

test("a source token shows the words that looked at it, as far as they are written", () => {
  const view = stageView("cross", cross, spans, 1, 0, { side: "source", at: 1, held: true });
  assert.deepEqual([view.query, view.column], [-1, 1]);
  assert.deepEqual(
    view.lines.map(({ side, span, weight }) => [side, span, weight]),
    [
      ["target", [1, 2], 0.2],
      ["target", [2, 3], 0.8],
    ],
  );
});

test("decoder self-attention ends at what has been read; later keys are masked and weigh nothing", () => {
  const view = stageView("decoder", causal, spans, 1, 0, null);
  assert.deepEqual(short(view), [
    ["target", 0, 0.4, 0],
    ["target", 1, 0.6, 0],
    ["target", 2, 0, 1],
  ]);
  const elsewhere = stageView("decoder", causal, spans, 1, 0, { side: "source", at: 1, held: false });
  assert.deepEqual(elsewhere, view);
});

test("the encoder shows the row of the token in question", () => {
  const current = stageView("encoder", cross, spans, 1, 2, null);
  assert.deepEqual([current.from, current.query], [{ side: "source", span: [2, 3] }, 2]);
  assert.equal(stageView("encoder", cross, spans, 1, 2, { side: "source", at: 1, held: false }).query, 1);
  assert.equal(stageView("encoder", cross, spans, 1, 2, { side: "target", at: 1, held: false }).query, 2);
});

test("between words, a row is a word, and the word being written is still one token", () => {
  const words = {
    source: [
      [0, 2],
      [2, 3],
    ],
    target: [
      [0, 1],
      [1, 3],
    ],
  };
  const merged = { values: [0.9, 0.1, 0.3, 0.7], mask: new Uint8Array(4), keys: 2 };
  const view = stageView("cross", merged, words, 2, 0, null);
  assert.deepEqual([view.from.span, view.query], [[3, 4], 1]);
  assert.deepEqual(
    view.lines.map(({ span, weight }) => [span, weight]),
    [
      [[0, 2], 0.3],
      [[2, 3], 0.7],
    ],
  );
  const column = stageView("cross", merged, words, 1, 0, { side: "source", at: 1, held: false });
  assert.deepEqual(
    column.lines.map(({ span, weight }) => [span, weight]),
    [
      [[1, 2], 0.9],
      [[2, 3], 0.3],
    ],
  );
});
