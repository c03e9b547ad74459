import assert from "node:assert/strict";
import { test } from "node:test";

import { heated } from "../../explorer/browser/js/next_word.js";

const logits = [3, 1.5, 0.2, -1, -4];
const softmax = (values) => {
  const sum = values.reduce((total, value) => total + Math.exp(value), 0);
  return values.map((value) => Math.exp(value) / sum);
};
const TEMPERATURES = [0.3, 1, 3];

test("the softmax of the logits over the temperature", () => {
  const p = softmax(logits);
  const sums = TEMPERATURES.map((t) => Math.log(p.reduce((total, each) => total + each ** (1 / t), 0)));
  TEMPERATURES.forEach((t, index) => {
    const exact = softmax(logits.map((logit) => logit / t));
    p.forEach((each, i) =>
      assert.ok(Math.abs(heated({ temperatures: TEMPERATURES, log_sums: [sums] }, 0, index, each) - exact[i]) < 1e-12),
    );
  });
});

test("without sums there is only temperature 1; what is 0 stays 0", () => {
  assert.equal(heated(null, 0, 3, 0.4), 0.4);
  assert.equal(heated({ temperatures: [3], log_sums: [[1]] }, 0, 0, 0), 0);
});
