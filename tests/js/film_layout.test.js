// The film gives the enlarged head the room that its columns need.

import assert from "node:assert/strict";
import { test } from "node:test";

import { arrange } from "../../explorer/browser/js/film_layout.js";

/** The width that is left for the enlarged head. @param {number} width @param {number} heads @param {number} columns */
function left(width, heads, columns) {
  const { thumb, isBelow } = arrange(width, heads, columns);
  return isBelow ? width : width - 28 - 60 - heads * (thumb + 14);
}

test("a head of words leaves the thumbnails their size", () => {
  assert.deepEqual(arrange(1005, 4, 9), { thumb: 84, isBelow: false });
});

test("a head of many letters has room for all its columns on a laptop", () => {
  for (const columns of [30, 36, 45, 60, 69]) assert.ok(left(1005, 4, columns) >= 12 * columns + 164, `${columns}`);
  assert.ok(arrange(1005, 4, 36).thumb < 84);
  assert.equal(arrange(1005, 4, 36).isBelow, false);
  assert.equal(arrange(1005, 4, 69).isBelow, true);
});

test("on a phone it stands below them", () => {
  assert.deepEqual(arrange(358, 4, 9), { thumb: 51, isBelow: true });
});
