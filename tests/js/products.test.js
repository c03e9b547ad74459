import { deepEqual, equal, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { createProducts } from "../../explorer/browser/js/live/products.js";
import { assembled } from "./assemble.js";

/** Products of the same numbers, with WebAssembly or without. @param {number} width @param {number} outputs @param {number} rows @param {boolean} biased */
function productOf(width, outputs, rows, biased) {
  const { weights, linear } = createProducts((width + 1) * outputs);
  const number = (/** @type {number} */ i) => Math.sin(i * i);
  weights.forEach((_, i) => (weights[i] = number(i)));
  const layer = { weight: weights.subarray(outputs), bias: biased ? weights.subarray(0, outputs) : null };
  const x = Array.from({ length: rows }, (_, r) => Float32Array.from({ length: width }, (_, i) => number(r + 7 * i)));
  return { found: linear(layer, x), inMemory: weights.byteOffset > 0 };
}

/** @template T @param {() => T} run @returns {T} */
function withoutWebAssembly(run) {
  const own = globalThis.WebAssembly;
  Reflect.deleteProperty(globalThis, "WebAssembly");
  try {
    return run();
  } finally {
    globalThis.WebAssembly = own;
  }
}

test("the bytes of the kernel are those of its source", async () => {
  equal(readFileSync(new URL("../../explorer/browser/js/live/product.js", import.meta.url), "utf8"), await assembled());
});

// The last ones: a width that the kernel does not take, and more numbers than fit beside the weights at once.
const SIZES = [[16, 1, 1], [128, 128, 1], [128, 6000, 3], [1024, 7, 14], [12, 9, 2], [64, 6000, 130]]; // prettier-ignore
for (const [width, outputs, rows] of SIZES)
  for (const biased of [true, false])
    test(`${rows} × ${width} numbers, ${outputs} outputs, ${biased ? "with" : "without"} bias`, () => {
      const kernel = productOf(width, outputs, rows, biased);
      const plain = withoutWebAssembly(() => productOf(width, outputs, rows, biased));
      deepEqual([kernel.inMemory, plain.inMemory], [true, false]);
      deepEqual(kernel.found.map(({ length }) => length), Array(rows).fill(outputs)); // prettier-ignore
      const off = kernel.found.map((row, r) => row.map((value, o) => Math.abs(value - plain.found[r][o])));
      ok(Math.max(...off.map((row) => row.reduce((most, value) => Math.max(most, value), 0))) < 1e-4);
      ok(plain.found.every((row) => row.some((value) => Math.abs(value) > 0.01)));
    });
