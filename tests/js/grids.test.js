import assert from "node:assert/strict";
import { test } from "node:test";

import { sortAfter, sortRows } from "../../explorer/browser/js/grids.js";

const rows = [{ at: [0, 0.2] }, { at: [1, null] }, { at: [2, 0.7] }, { at: [3, 0.2] }];
const order = (sort) => sortRows(rows, sort).map(({ at }) => at[0]);

test("rows are sorted in both directions; null is last in either, and ties keep their order", () => {
  assert.deepEqual(order({ by: 1, sign: 1 }), [0, 3, 2, 1]);
  assert.deepEqual(order({ by: 1, sign: -1 }), [2, 0, 3, 1]);
  assert.deepEqual(order({ by: 0, sign: -1 }), [3, 2, 1, 0]);
  assert.deepEqual(
    rows.map(({ at }) => at[0]),
    [0, 1, 2, 3],
    "the rows themselves stay where they are",
  );
});

test("a column begins with its own direction and turns around at the next click", () => {
  const columns = [
    { name: "key", first: 1 },
    { name: "weight", first: -1 },
  ];
  const first = sortAfter({ by: 0, sign: 1 }, columns, 1);
  assert.deepEqual(first, { by: 1, sign: -1 });
  assert.deepEqual(sortAfter(first, columns, 1), { by: 1, sign: 1 });
  assert.deepEqual(sortAfter(first, columns, 0), { by: 0, sign: 1 });
});
