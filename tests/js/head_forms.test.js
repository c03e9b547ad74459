import assert from "node:assert/strict";
import test from "node:test";

import { formIn } from "../../explorer/browser/js/head_forms.js";

test("rows of a prompt are not labelled with a prediction, whatever was likely there", () => {
  const tokens = ["a", "b", "c"];
  const [weights, mask] = [Float32Array.of(1, 0, 0, 0.5, 0.5, 0, 0, 0, 1), new Uint8Array(9)];
  const map = {
    kind: "decoder",
    layers: 1,
    heads: 1,
    queries: 3,
    keys: 3,
    area: 9,
    weights,
    mask,
    rows: tokens,
    columns: tokens,
  };
  const target = { tokens, words: [0, 0, 1], predicted: ["x", "y", "z"], given: 2 };
  const decoding = { maps: { decoder: map }, source: { words: [] }, target };
  assert.deepEqual(formIn(decoding, "decoder", "tokens").predicted, ["", "", "z"]);
  assert.deepEqual(formIn(decoding, "decoder", "words").predicted, ["", "z"]);
});
