// The weights of single heads.

/** @typedef {import("./types").AttentionMap} AttentionMap */

/**
 * Weights of one head [query, key], counted from 1; head 0 is the mean over the heads, which is kept.
 * @param {AttentionMap} m a map whose numbers have arrived
 * @param {number} layer
 * @param {number} head
 * @returns {ArrayLike<number>}
 */
export function weightsOf(m, layer, head) {
  const weights = /** @type {Float32Array} */ (m.weights), first = (layer - 1) * m.heads * m.area;
  if (head) return weights.subarray(first + (head - 1) * m.area, first + head * m.area);
  const known = m.means.get(layer);
  if (known) return known;
  const mean = new Float64Array(m.area);
  for (let h = 0; h < m.heads; h++) addWeights(mean, weights, first + h * m.area, 1 / m.heads);
  m.means.set(layer, mean);
  return mean;
}

/**
 * A function of its own, because browsers compile small functions early; one long loop would delay the first drawing.
 * @param {Float64Array} values
 * @param {Float32Array} weights
 * @param {number} from
 * @param {number} share
 */
function addWeights(values, weights, from, share) {
  for (let i = 0, count = values.length; i < count; i++) values[i] += share * weights[from + i];
}
