import assert from "node:assert/strict";
import { test } from "node:test";

import {
  contributions,
  explainWinner,
  fixed,
  heaviest,
  namedDimensions,
  numbersOf,
  ticksFor,
} from "../../explorer/browser/js/cell_numbers.js";
import { csvOf, keyCells } from "../../explorer/browser/js/cell_text.js";

/** Numbers that look random and are the same in every run. @param {number} seed */
function random(seed) {
  let state = seed + 1;
  return () => {
    state = (state * 48271) % 2147483647;
    return (state / 2147483647 - 0.5) * 2;
  };
}

/** A row as the model computes it, in single precision. */
function row({ query, keys, values = keys, bias, mask, weights, scaled = true, output }) {
  const size = query.length;
  const by = scaled ? Math.sqrt(size) : 1;
  const scores = keys.map((key, k) => key.reduce((sum, x, i) => sum + x * query[i], 0) / by + (bias?.[k] ?? 0));
  const codes = mask ?? keys.map(() => 0);
  const open = scores.filter((_, k) => !codes[k]);
  const raised = scores.map((score, k) => (codes[k] ? 0 : Math.exp(score - Math.max(...open))));
  const total = raised.reduce((a, b) => a + b, 0) || 1;
  const used = weights ?? raised.map((value) => value / total);
  const sums = query.map((_, i) => values.reduce((sum, value, k) => sum + used[k] * value[i], 0));
  const list = (given) => ({ values: Float32Array.from(given.flat()), shape: [given.length] });
  return {
    header: { scaled, row: 1, query: "q", tokens: keys.map((_, k) => `t${k}`) },
    arrays: {
      query: list(query),
      keys: list(keys),
      values: list(values),
      scores: list(scores),
      weights: list(used),
      mask: { values: Uint8Array.from(codes), shape: [keys.length] },
      output: list(output ?? sums),
      ...(bias && { bias: list(bias) }),
    },
  };
}

/** A row of random vectors. */
function randomRow(seed, { count, size, scale, ...changes }) {
  const next = random(seed);
  const vector = () => Array.from({ length: size }, () => Math.fround(next() * scale));
  const list = () => Array.from({ length: count }, vector);
  return row({ query: vector(), keys: list(), values: list(), ...changes });
}

const near = (a, b, digits) => assert.ok(Math.abs(a - b) <= 0.5 * 10 ** -digits + 1e-9, `${a} and ${b}`);
const words = (message) =>
  explainWinner(numbersOf(message))
    .map((piece) => (typeof piece === "string" ? piece : `[${piece.key + 1}]`))
    .join("");

test("each number on screen follows from those before it, and they give the weights that the model used", () => {
  for (let seed = 0; seed < 40; seed++) {
    const [count, size, scale] = [1 + ((seed * 7) % 60), [1, 8, 16, 64][seed % 4], [0.3, 1, 3][seed % 3]];
    const bias = seed % 5 ? undefined : Array.from({ length: count }, (_, k) => -0.25 * k);
    const message = randomRow(seed, { count, size, scale, bias, scaled: seed % 2 === 0 });
    const n = numbersOf(message);
    const { weight, score, rest } = n.digits;
    assert.ok(n.reproduced, `seed ${seed}`);
    n.products.forEach((products, k) => {
      products.forEach((product, i) => near(product, n.query[i] * n.keys[k][i], rest));
      near(
        n.sums[k],
        products.reduce((a, b) => a + b, 0),
        rest,
      );
      near(n.scores[k], n.sums[k] / n.divisor + (bias?.[k] ?? 0), score);
      near(n.exponentials[k], Math.exp(n.scores[k] - Math.max(...n.scores)), rest);
      near(n.weights[k], n.exponentials[k] / n.total, weight);
      n.weighted[k].forEach((product, i) => near(product, n.weights[k] * n.values[k][i], rest));
      assert.equal(fixed(n.weights[k], weight), message.arrays.weights.values[k].toFixed(weight));
    });
    assert.equal(n.divisor === 1, seed % 2 === 1 || size === 1);
    assert.ok(!n.edited && !n.replaced);
  }
});

const QUERY = [1, 2, 0, -1];

test("the sentence names the winner, its lead and the dimensions that bring it", () => {
  const message = row({
    query: QUERY,
    keys: [
      [1, 0, 5, 0],
      [3, 2, 5, 1],
      [-1, -1, 0, 2],
    ],
  });
  // Scores 0.5, 3 and −2.5; of the lead of 2.5, dimension 2 brings 2, dimension 1 brings 1 and dimension 4 −0.5.
  const said =
    "[2] is heaviest, with 0.921: its score leads that of [1], the second, by 2.50, so its weight is about 12 times as " +
    "large. Dimensions 2 (+2.00) and 1 (+1.00) contribute most to this lead; the other 2 together bring −0.50.";
  assert.equal(words(message), said);
  assert.match(
    words(row({ query: QUERY, keys: [QUERY.map((_, i) => (i ? 0 : 12)), [0, 0, 0, 0]] })),
    / is about 400 times /,
  );
  const n = numbersOf(message);
  assert.deepEqual(heaviest(n), [1]);
  assert.deepEqual(contributions(n, 1, 0), [1, 2, 0, -0.5]);
  assert.deepEqual(namedDimensions(n), [1, 0]);
});

test("a distance that decides is said", () => {
  const message = row({
    query: QUERY,
    keys: [
      [1, 1, 1, 1],
      [1, 1, 1, 1],
    ],
    bias: [-1.5, 0],
  });
  assert.match(
    words(message),
    /\[2\] is heaviest.* by 1\.50.*No single dimension brings.*distance \(ALiBi\) brings \+1\.50/,
  );
});

test("ties are said as ties, and weights that are nearly even as spread out", () => {
  const [same, other] = [
    [1, 1, 0, 0],
    [0, 0, 1, 0],
  ];
  assert.match(
    words(row({ query: QUERY, keys: [same, same, same] })),
    /^No key wins: all 3 visible keys have 0\.333 each/,
  );
  assert.match(
    words(row({ query: QUERY, keys: [same, other, same] })),
    /^No key wins alone: \[1\] and \[3\] tie, with 0\.\d{3} each/,
  );
  const six = Array.from({ length: 6 }, () => same);
  assert.match(words(row({ query: QUERY, keys: [...six, other] })), /^No key wins alone: 6 keys tie/);
  const second = row({ query: QUERY, keys: [[2, 2, 0, 0], same, same] });
  assert.match(words(second), /leads that of \[2\], one of 2 that tie for second, by 1\.50/);
  const even = row({
    query: QUERY,
    keys: [
      [0.02, 0, 0, 0],
      [0.01, 0, 0, 0],
      [0, 0, 0, 0],
    ],
  });
  assert.match(
    words(even),
    /^The weight is spread out: each of 3 keys would have 0\.333 if it were even\. \[1\] is heaviest/,
  );
  const halves = row({
    query: QUERY,
    keys: [
      [2, 0, 0, 0],
      [1.8, 0, 0, 0],
      [-2, 0, 0, 0],
    ],
  });
  assert.match(words(halves), /^\[1\] is heaviest, with 0\.4/, "two of three keys are not all");
  const close = row({
    query: QUERY,
    keys: [
      [0.002, 0, 0, 0],
      [0, 0, 0, 0],
    ],
  });
  assert.match(words(close), /\[1\] is heaviest, with 0\.50025:/, "weights that three decimals make equal are no tie");
});

test("masked keys have no part in it; a single key or none is said", () => {
  const keys = [
    [1, 1, 0, 0],
    [9, 9, 0, 0],
    [0, 0, 1, 0],
  ];
  const n = numbersOf(row({ query: QUERY, keys, mask: [0, 2, 0] }));
  assert.deepEqual([n.weights[1], n.open], [0, [true, false, true]]);
  assert.deepEqual(heaviest(n), [0]);
  assert.deepEqual(keyCells(n, Uint8Array.of(0, 2, 0), 1).slice(-2), ["masked: padding", "masked: padding"]);
  assert.match(words(row({ query: QUERY, keys, mask: [0, 1, 1] })), /^\[1\] is the only visible key: its weight is 1/);
  assert.match(words(row({ query: QUERY, keys, mask: [1, 1, 1] })), /^Every key is masked/);
});

test("an edited row or output is said, and no score is called the reason", () => {
  const keys = [
    [1, 1, 0, 0],
    [0, 0, 1, 0],
  ];
  const message = row({ query: QUERY, keys, weights: [0.5, 0.5] });
  const n = numbersOf(message);
  assert.ok(n.edited && n.reproduced && !n.replaced);
  assert.deepEqual(n.weights, [0.5, 0.5]);
  assert.match(
    words(message),
    /^A head edit replaced the weights.*By its scores, \[1\] would be heaviest, with 0\.818\.$/,
  );
  assert.ok(numbersOf(row({ query: QUERY, keys, output: [0, 0, 0, 0] })).replaced);
});

test("numbers have no sign of their own zero", () => {
  assert.deepEqual([fixed(-0.00001, 4), fixed(-0.5, 2), fixed(0.005, 2)], ["0.0000", "−0.50", "0.01"]);
});

test("the file has every number of the row, and a token cannot start a formula", () => {
  const message = row({
    query: QUERY,
    keys: [
      [1, 1, 0, 0],
      [0, 0, 1, 0],
    ],
  });
  Object.assign(message.header, { tokens: ["=1+1", 'a"b'] });
  const lines = csvOf(message.header, numbersOf(message), Uint8Array.of(0, 0)).trimEnd().split("\r\n");
  assert.equal(lines.length, 4);
  assert.match(lines[2], /^"key","1 =1\+1","3\.0+"/);
  assert.match(lines[3], /^"key","2 a""b"/);
  assert.match(lines[1], /"-1\.0+"/);
  assert.deepEqual([...new Set(lines.map((line) => line.split(",").length))], [6 + 12]);
});

test("the ruler names every dimension of the sentence, and both ends where there is room", () => {
  assert.deepEqual(ticksFor(32, [27, 26, 22]), [[22], [26, 27], [0], [31]]);
  assert.deepEqual(ticksFor(32, []), [[0], [31]]);
  assert.deepEqual(ticksFor(8, [2, 4]), [[2], [4], [0], [7]]);
});
