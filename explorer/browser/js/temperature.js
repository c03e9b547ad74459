// Probabilities at other temperatures than 1, from those at 1 and one sum over the vocabulary: see
// model/decoding/temperature.py, which is tested on the same numbers.

/** @typedef {import("./types").Heat} Heat */

/**
 * The probability of a token at the temperature numbered `index`; p is that at temperature 1. One too small for a
 * float32 stays 0.
 * @param {Heat | null} heat
 * @param {number} row
 * @param {number} index
 * @param {number} p
 */
export function heated(heat, row, index, p) {
  if (!heat || heat.temperatures[index] === 1) return p;
  return p && Math.exp(Math.log(p) / heat.temperatures[index] - heat.log_sums[row][index]);
}
