import assert from "node:assert/strict";
import { test } from "node:test";

import { withQuery, withWeight } from "../../explorer/browser/js/machine_origin.js";

const sum = (row) => row.reduce((total, weight) => total + weight, 0);
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} and ${b}`);

test("a dragged weight stands, and the others share the rest in their old proportions", () => {
  const row = withWeight([0.5, 0.3, 0.2], 0, 0.9);
  close(row[0], 0.9);
  close(row[1] / row[2], 1.5);
  for (const weight of [0, 0.5, 1]) close(sum(withWeight([0.5, 0.3, 0.2], 1, weight)), 1);
  assert.deepEqual(withWeight([1, 0, 0], 0, 0.5), [0.5, 0.25, 0.25], "where the others had nothing, they share alike");
});

test("a typed number of a query moves each score by that number of its key, ÷√d_head; masked cells stay closed", () => {
  const query = [1, 2];
  const keys = [
    [0.5, 1],
    [-1, 3],
    [2, 2],
  ];
  const product = ([a, b], [c, d]) => (a * c + b * d) / Math.SQRT2;
  const scores = [...keys.slice(0, 2).map((key) => product(query, key)), NaN];
  const typed = [4, 2];
  const found = withQuery(
    scores,
    keys.map(([first]) => first),
    typed[0] - query[0],
    Math.SQRT2,
  );
  found.scores.slice(0, 2).forEach((score, i) => close(score, product(typed, keys[i])));
  assert.ok(Number.isNaN(found.scores[2]));
  assert.equal(found.weights[2], 0);
  close(sum(found.weights), 1);
  close(Math.log(found.weights[0] / found.weights[1]), found.scores[0] - found.scores[1]);
});
