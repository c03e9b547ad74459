import assert from "node:assert/strict";
import { test } from "node:test";

import { chaptersOf } from "../../explorer/browser/js/machine_stops.js";

const KINDS = {
  embedding: "embedding",
  norm1: "norm",
  attn: "attention",
  sum1: "add",
  norm2: "norm",
  ff: "feed_forward",
};
const blocks = Object.entries({ ...KINDS, sum2: "add", linear: "linear" }).map(([name, kind]) => ({ name, kind }));
const way = (...names) => names.map((block) => ({ block, part: "", stage: undefined }));

test("a chapter begins with each sublayer, and sums and norms belong to the one before", () => {
  const stops = way("embedding", "attn", "attn", "sum1", "norm1", "ff", "sum2", "norm2", "linear");
  const expected = [
    { at: 0, block: "embedding" },
    { at: 1, block: "attn" },
    { at: 5, block: "ff" },
    { at: 8, block: "linear" },
  ];
  assert.deepEqual(chaptersOf(stops, blocks, false), expected);
});

test("in a pre-norm model a norm belongs to the sublayer that reads it, a sum to the one before", () => {
  const stops = way("embedding", "norm1", "norm1", "attn", "sum1", "norm2", "ff", "sum2", "linear");
  assert.deepEqual(
    chaptersOf(stops, blocks, true).map(({ at }) => at),
    [0, 1, 5, 8],
  );
});
