import assert from "node:assert/strict";
import test from "node:test";

import { keysLookedAt, labelled } from "../../explorer/browser/js/map_zoom.js";

test("where every label has room, each has one", () => {
  assert.deepEqual(new Set(labelled(4, 1, [2])), new Set([0, 1, 2, 3]));
});

test("the labels that matter go first, and no two touch", () => {
  assert.deepEqual(labelled(8, 2, [null, 5, 4]), [5, 0, 2]);
  assert.deepEqual(labelled(8, 2, []), [0, 2, 4, 6]);
});

test("a row looks at the keys with 5 % and more, heaviest first", () => {
  const values = [0, 0, 0, 0.04, 0.2, 0.05, 0.71];
  assert.deepEqual(keysLookedAt(values, 3, 4), [3, 1, 2]);
});
