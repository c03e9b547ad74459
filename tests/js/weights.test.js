import assert from "node:assert/strict";
import { test } from "node:test";

import {
  entropyOf,
  heaviestKeys,
  joinedNames,
  joins,
  mergeWords,
  noWords,
  passedOverIn,
  rankedRow,
  spanWith,
  withoutKeys,
} from "../../explorer/browser/js/weights.js";
import { fixture } from "./shared.js";

for (const { name, mass, weights, mask, keys } of fixture("line_choice")) {
  test(`lines: ${name}`, () => {
    const { seen } = rankedRow(weights, Uint8Array.from(mask), 0, weights.length);
    const chosen = heaviestKeys(seen, mass).map((cell) => cell.key);
    assert.deepEqual(chosen, keys);
  });
}

test("ranks count visible keys, and equal weights share one", () => {
  const values = [9, 9, 9, 9, 0.2, 0.4, 0.4, 0];
  const { cells, seen } = rankedRow(values, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1), 1, 4);
  assert.equal(seen.map((cell) => cell.key).join(), "1,2,0");
  assert.equal(cells.map((cell) => `${cell.rank}/${cell.mask}`).join(), "3/0,1/0,1/0,0/1");
});

test("over words only, rows are scaled to 1 and the share that was left out is counted", () => {
  const spans = [0, 1, 2, 3].map((i) => [i, i + 1]);
  const out = noWords(["Hund", "…!", "don't", "<eos>"], spans, [0, 1, 2, -1]);
  assert.deepEqual(out, [false, true, false, true]);
  const shape = { layers: 1, heads: 2, queries: 2, keys: 4, area: 8 };
  const rows = [[0.2, 0.1, 0.2, 0.5], [0, 0.25, 0, 0.75], [0.5, 0, 0.5, 0], [1, 0, 0, 0]]; // prettier-ignore
  const before = Float32Array.from(rows.flat());
  const { weights, mask, left } = withoutKeys({ ...shape, weights: before, mask: new Uint8Array(8) }, out);
  assert.deepEqual([...weights].map((w) => w.toFixed(2)).join(" "), "0.50 0.00 0.50 0.00 0.00 0.00 0.00 0.00 0.50 0.00 0.50 0.00 1.00 0.00 0.00 0.00"); // prettier-ignore
  assert.deepEqual([...mask], [0, 3, 0, 3, 0, 3, 0, 3]);
  assert.ok(Math.abs(left[0] - (0.6 + 1) / 2) < 1e-6);
  assert.equal(left[1], 0, "a head without weight there leaves nothing out");
  assert.equal(before[3], 0.5, "the map itself stays as it was");
});

test("entropy is in nats and never below 0", () => {
  const row = (...weights) => rankedRow(weights, new Uint8Array(weights.length), 0, weights.length).seen;
  assert.ok(Math.abs(entropyOf(row(0.25, 0.25, 0.25, 0.25)) - Math.log(4)) < 1e-12);
  assert.equal(entropyOf(row(1, 0)), 0);
  assert.equal(entropyOf([]), 0);
  assert.ok(Math.abs(entropyOf(row(0.2, 0.2, 0.2)) - Math.log(3)) < 1e-12, "three equal weights are three keys");
});

for (const example of fixture("word_merging")) {
  test(`words: ${example.name}`, () => {
    const { weights, mask, rowSpans: rows, columnSpans: columns } = example;
    assert.deepEqual(joinedNames(example.rows, rows, example.rows.length), example.rowNames);
    assert.deepEqual(joinedNames(example.columns, columns, example.columns.length), example.columnNames);
    const keys = example.columns.length;
    const m = {
      ...{ layers: weights.length, heads: weights[0].length, keys, area: mask.length * keys },
      weights: Float32Array.from(weights.flat(3)),
      mask: Uint8Array.from(mask.flat()),
    };
    const merged = mergeWords(m, rows, columns, mask.length);
    assert.deepEqual([...merged.weights], [...Float32Array.from(example.mergedWeights.flat(3))]);
    assert.deepEqual([...merged.mask], example.mergedMask.flat());
    const sizes = [rows.length, columns.length, rows.length * columns.length];
    assert.deepEqual([merged.queries, merged.keys, merged.area], sizes);
  });
}

/** Words of so many tokens each. */
const spansOf = (...lengths) => {
  let end = 0;
  return lengths.map((length) => [end, (end += length)]);
};

test("a word that is half read has the name and the mean of what is read", () => {
  const weights = Float32Array.of(1, 0, 0.5, 0.5, 0, 1);
  const m = { layers: 1, heads: 1, keys: 2, area: 6, weights, mask: new Uint8Array(6) };
  assert.deepEqual(joinedNames(["a", "b", "c"], spansOf(3), 2), ["ab"]);
  assert.deepEqual([...mergeWords(m, spansOf(3), spansOf(1, 1), 2).weights], [0.75, 0.25]);
});

test("tokens of no word join nothing", () => {
  const joined = [0, 1, 2, 3].map((i) => joins([-1, -1, 4, 4], i));
  assert.deepEqual(joined, [false, false, false, true]);
  const spans = [0, 1, 2, 9].map((token) => spanWith(spansOf(1, 2), token));
  assert.deepEqual(spans, [0, 1, 1, 0]);
});

test("a stretch of three words is passed over if no step gave its words together a tenth of its attention", () => {
  const passed = (steps, words) => {
    const [keys, queries] = [steps[0].length, steps.length];
    const weights = Float32Array.from(steps.flat());
    const cross = { layers: 1, heads: 1, keys, queries, area: keys * queries, weights, means: new Map() };
    return passedOverIn({ maps: { cross }, source: { words } });
  };
  const steps = [
    [0.5, 0.04, 0.03, 0.02, 0.2, 0.03, 0.02, 0.02, 0.02, 0.12],
    [0.2, 0.02, 0.03, 0.04, 0.2, 0.02, 0.02, 0.02, 0.02, 0.43],
  ];
  const words = [0, 1, 2, 3, 4, 5, 6, 7, 8, -1];
  assert.deepEqual(passed(steps, words), [5, 9], "the longest, which ends before a special");
  assert.deepEqual(passed(steps, [0, 1, 1, 3, 4, -1, -1, -1, -1, -1]), null, "two words, of which one has two tokens");
  // No word got a tenth, but three of them together did in one step: nobody may read that they were passed over.
  assert.deepEqual(passed([[0.88, 0.04, 0.04, 0.04], [0.97, 0.01, 0.01, 0.01]], [0, 1, 2, 3]), null); // prettier-ignore
  // One word too many: the stretch without its first word is still one.
  assert.deepEqual(passed([[0.8, 0.09, 0.03, 0.03, 0.03]], [0, 1, 2, 3, 4]), [2, 5]);
});
