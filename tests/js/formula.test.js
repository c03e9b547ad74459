import assert from "node:assert/strict";
import { test } from "node:test";

import { readFormula, symbolOf } from "../../explorer/browser/js/formula.js";

test("a formula can be read in one line", () => {
  const attention = [
    "row",
    "softmax",
    "(",
    ["frac", ["row", "Q", ["sup", "K", "T"]], ["sqrt", ["sub", "d", "k"]]],
    ")",
    "V",
  ];
  assert.equal(readFormula(attention), "softmax ( (Q K^T) / (√(d_k)) ) V");
});

test("symbols are operators, numbers or names", () => {
  assert.deepEqual(["=", "·", "10000", "Q", "max(0, ", " "].map(symbolOf), ["mo", "mo", "mn", "mi", "mtext", "mtext"]);
});
