import assert from "node:assert/strict";
import { test } from "node:test";

import {
  cellNumber,
  clamp,
  decimals,
  fourDecimals,
  percent,
  plural,
  wholePercent,
} from "../../explorer/browser/js/numbers.js";
import { fixture } from "./shared.js";

test("counted nouns", () => {
  assert.deepEqual(
    [0, 1, 2, 1505].map((n) => plural(n, "head")),
    ["0 heads", "1 head", "2 heads", "1,505 heads"],
  );
});

test("numbers as people write them", () => {
  assert.deepEqual([percent(0), percent(0.0001), percent(0.123)], ["0.0\u202f%", "< 0.1 %", "12.3\u202f%"]);
  assert.equal(wholePercent(0.626), "63\u202f%");
  assert.deepEqual([decimals(0), decimals(0.0004), decimals(0.5)], ["0.000", "< 0.001", "0.500"]);
  assert.deepEqual([fourDecimals(0), fourDecimals(0.00001), fourDecimals(0.5)], ["0.0000", "1.00e-5", "0.5000"]);
  assert.deepEqual([clamp(-1, 0, 3), clamp(2, 0, 3), clamp(9, 0, 3)], [0, 2, 3]);
});

test("weights are written as in files: only 0 is 0, and only 1 is 1", () => {
  const { weights, cells, percent: shares } = fixture("weights");
  assert.deepEqual(weights.map(cellNumber), cells);
  assert.deepEqual(
    weights.map(wholePercent).map((text) => text.replace("\u202f", " ")),
    shares,
  );
});
