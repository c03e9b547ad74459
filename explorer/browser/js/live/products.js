// W·x + b with the weights of a model: by a WebAssembly kernel, or in plain lines where a browser has none.

import { PRODUCT } from "./product.js";
import { vectorOf } from "./vectors.js";

/** @typedef {import("./vectors.js").Affine} Affine */
/** @typedef {import("./vectors.js").Vector} Vector */
/** @typedef {(layer: Affine, x: Vector[]) => Vector[]} Linear computes W·x + b of each vector */

const SCRATCH = 2 ** 18; // numbers beside the weights: vectors and their products

/** Room for the weights of a model, and what multiplies with them. @param {number} count @returns {{ weights: Float32Array<ArrayBuffer>, linear: Linear }} */
export function createProducts(count) {
  const code = compiled();
  if (!code) return { weights: new Float32Array(count), linear: plainly };
  const memory = new WebAssembly.Memory({ initial: Math.ceil((4 * (SCRATCH + count)) / 65536) });
  const { product } = /** @type {Record<string, (...numbers: number[]) => void>} */ (
    new WebAssembly.Instance(code, { live: { memory } }).exports
  );
  const scratch = new Float32Array(memory.buffer, 0, SCRATCH);
  /** @type {Linear} */
  function linear(layer, x) {
    const { weight, bias } = layer;
    const width = x[0].length;
    const outputs = weight.length / width;
    const most = Math.floor(SCRATCH / (width + outputs)); // vectors at once
    if (width % 16 || !most) return plainly(layer, x);
    /** @type {Vector[]} */
    const found = [];
    for (let first = 0; first < x.length; first += most) {
      const given = x.slice(first, first + most);
      given.forEach((vector, i) => scratch.set(vector, i * width));
      const at = given.length * width;
      product(weight.byteOffset, bias ? bias.byteOffset : 0, 0, 4 * at, outputs, 4 * width, given.length);
      given.forEach((_, i) => {
        const row = vectorOf(outputs);
        row.set(scratch.subarray(at + i * outputs, at + (i + 1) * outputs));
        found.push(row);
      });
    }
    return found;
  }
  return { weights: new Float32Array(memory.buffer, 4 * SCRATCH, count), linear };
}

/** @type {Linear} */
export const plainly = ({ weight, bias }, x) =>
  x.map((vector) => {
    const out = vectorOf(weight.length / vector.length);
    for (let o = 0, at = 0; o < out.length; o++) {
      let sum = bias ? bias[o] : 0;
      for (let i = 0; i < vector.length; i++, at++) sum += weight[at] * vector[i];
      out[o] = sum;
    }
    return out;
  });

/** The kernel; null in a browser without WebAssembly or its SIMD, and where a policy forbids it. */
function compiled() {
  try {
    return new WebAssembly.Module(Uint8Array.from(atob(PRODUCT), (letter) => letter.charCodeAt(0)));
  } catch (error) {
    if (error instanceof ReferenceError || error instanceof WebAssembly.CompileError) return null;
    throw error;
  }
}
