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

test("a chapter opens the block that it names, and a sum belongs to the sublayer before", () => {
  const stops = way("embedding", "norm1", "norm1", "attn", "attn", "sum1", "norm2", "ff", "sum2", "linear");
  const chapters = chaptersOf(stops, blocks);
  assert.deepEqual(
    chapters.map(({ at }) => at),
    [0, 1, 3, 6, 7, 9],
  );
  for (const { at, block } of chapters) assert.equal(stops[at].block, block);
});
