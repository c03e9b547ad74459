import assert from "node:assert/strict";
import { test } from "node:test";

import { joinedNames, joins, mergeWords, spanWith } from "../../explorer/browser/js/weights.js";
import { fixture } from "./shared.js";

for (const example of fixture("word_merging")) {
  const { rowSpans: rows, columnSpans: columns } = example;

  test(`${example.name}: words`, () => {
    assert.deepEqual(joinedNames(example.rows, rows, example.rows.length), example.rowNames);
    assert.deepEqual(joinedNames(example.columns, columns, example.columns.length), example.columnNames);
  });

  test(`${example.name}: weights`, () => {
    const { weights, mask } = example;
    const keys = example.columns.length;
    const m = {
      layers: weights.length,
      heads: weights[0].length,
      keys,
      area: mask.length * keys,
      weights: Float32Array.from(weights.flat(3)),
      mask: Uint8Array.from(mask.flat()),
    };
    const merged = mergeWords(m, rows, columns, mask.length);
    assert.deepEqual([...merged.weights], [...Float32Array.from(example.mergedWeights.flat(3))]);
    assert.deepEqual([...merged.mask], example.mergedMask.flat());
    assert.deepEqual(
      [merged.queries, merged.keys, merged.area],
      [rows.length, columns.length, rows.length * columns.length],
    );
  });
}

test("a word that is half read has the name and the mean of what is read", () => {
  const m = {
    layers: 1,
    heads: 1,
    keys: 2,
    area: 6,
    weights: Float32Array.of(1, 0, 0.5, 0.5, 0, 1),
    mask: new Uint8Array(6),
  };
  assert.deepEqual(joinedNames(["a", "b", "c"], [[0, 3]], 2), ["ab"]);
  assert.deepEqual(
    [
      ...mergeWords(
        m,
        [[0, 3]],
        [
          [0, 1],
          [1, 2],
        ],
        2,
      ).weights,
    ],
    [0.75, 0.25],
  );
});

test("tokens of no word join nothing", () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((i) => joins([-1, -1, 4, 4], i)),
    [false, false, false, true],
  );
  assert.deepEqual(
    [0, 1, 2, 9].map((token) =>
      spanWith(
        [
          [0, 1],
          [1, 3],
        ],
        token,
      ),
    ),
    [0, 1, 1, 0],
  );
});
