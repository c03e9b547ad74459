// Arithmetic on vectors. Sums are in double precision, results in single precision.

/** @typedef {Float32Array} Vector */
/** @typedef {{ weight: Float32Array, bias: Float32Array | null }} Affine weight [out, in], bias [out] */

/** Add two vectors. @param {Vector} x @param {Vector} y @returns {Vector} */
export function add(x, y) {
  const sum = new Float32Array(x.length);
  for (let i = 0; i < sum.length; i++) sum[i] = x[i] + y[i];
  return sum;
}

/** As x.map(compute), several times as fast. @param {Vector} x @param {(value: number, i: number) => number} compute @returns {Vector} */
export function mapped(x, compute) {
  const out = new Float32Array(x.length);
  for (let i = 0; i < out.length; i++) out[i] = compute(x[i], i);
  return out;
}

/**
 * Subtract the mean, divide by the standard deviation, then scale and shift (Ba, Kiros and Hinton 2016).
 * A scale of one number is that of the whole vector.
 * @param {Affine} norm @param {Vector} x @returns {Vector}
 */
export function layerNorm({ weight, bias }, x) {
  let mean = 0;
  for (const value of x) mean += value / x.length;
  let variance = 0;
  for (const value of x) variance += (value - mean) ** 2 / x.length;
  const factor = 1 / Math.sqrt(variance + 1e-5);
  const at = (/** @type {Float32Array} */ numbers, /** @type {number} */ i) => numbers[numbers.length > 1 ? i : 0];
  return mapped(x, (value, i) => (value - mean) * factor * at(weight, i) + (bias ? at(bias, i) : 0));
}

/** The largest of some numbers. @param {Vector} x */
export function largestOf(x) {
  let largest = -Infinity;
  for (let i = 0; i < x.length; i++) if (x[i] > largest) largest = x[i];
  return largest;
}

/** Exponentiate and normalise; -Infinity becomes 0, and a vector of nothing else all zeros. @param {Vector} x @returns {Vector} */
export function softmax(x) {
  const largest = largestOf(x);
  if (largest === -Infinity) return new Float32Array(x.length);
  let total = 0;
  for (const value of x) total += Math.exp(value - largest);
  return mapped(x, (value) => Math.exp(value - largest) / total);
}

/** The logarithm of the softmax. @param {Vector} x @returns {Vector} */
export function logSoftmax(x) {
  const largest = largestOf(x);
  let total = 0;
  for (let i = 0; i < x.length; i++) total += Math.exp(x[i] - largest);
  const log = Math.log(total) + largest;
  return mapped(x, (value) => value - log);
}
