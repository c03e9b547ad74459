// The non-linearities of feed-forward layers, by their names in a model's settings.

/** The logistic function. */
export const sigmoid = (/** @type {number} */ value) => 1 / (1 + Math.exp(-value));

/** @type {Record<string, (value: number) => number>} */
export const ACTIVATIONS = {
  relu: (value) => Math.max(0, value),
  silu: (value) => value * sigmoid(value),
  gelu_tanh: (value) => (value * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (value + 0.044715 * value ** 3)))) / 2,
  gelu: (value) => (value * (1 + erf(value / Math.SQRT2))) / 2,
};

/** The error function, by its series for small numbers and its continued fraction for large ones. @param {number} x @returns {number} */
export function erf(x) {
  if (x < 0) return -erf(-x);
  if (x > 6) return 1;
  if (x < 2.5) {
    let term = x;
    let sum = x;
    for (let n = 1; Math.abs(term) > 1e-17 * sum; n++) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / 2 / (x + fraction);
  return 1 - Math.exp(-x * x) / (Math.sqrt(Math.PI) * (x + fraction));
}
