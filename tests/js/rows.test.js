import assert from "node:assert/strict";
import { test } from "node:test";

import { heaviestKeys } from "../../explorer/browser/js/weights.js";
import { entropyOf, rankedRow } from "../../explorer/browser/js/weights.js";
import { fixture } from "./shared.js";

for (const { name, mass, weights, mask, keys } of fixture("line_choice")) {
  test(`lines: ${name}`, () => {
    const { seen } = rankedRow(weights, Uint8Array.from(mask), 0, weights.length);
    assert.deepEqual(
      heaviestKeys(seen, mass).map((cell) => cell.key),
      keys,
    );
  });
}

test("ranks count visible keys, and equal weights share one", () => {
  const values = [9, 9, 9, 9, 0.2, 0.4, 0.4, 0];
  const mask = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1);
  const { cells, seen } = rankedRow(values, mask, 1, 4);
  assert.deepEqual(
    seen.map((cell) => cell.key),
    [1, 2, 0],
  );
  assert.deepEqual(
    cells.map((cell) => cell.rank),
    [3, 1, 1, 0],
  );
  assert.deepEqual(
    cells.map((cell) => cell.mask),
    [0, 0, 0, 1],
  );
});

test("entropy is in nats and never below 0", () => {
  const row = (...weights) => rankedRow(weights, new Uint8Array(weights.length), 0, weights.length).seen;
  assert.ok(Math.abs(entropyOf(row(0.25, 0.25, 0.25, 0.25)) - Math.log(4)) < 1e-12);
  assert.equal(entropyOf(row(1, 0)), 0);
  assert.equal(entropyOf([]), 0);
});
