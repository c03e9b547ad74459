// What tells the model of positions: a table that is added, rotations (RoPE), or distances (ALiBi).

/** @typedef {import("./vectors.js").Vector} Vector */

/** The paper's fixed encoding of one position (Vaswani et al. 2017, §3.5). @param {number} position @param {number} width @returns {Vector} */
export function sinusoidal(position, width) {
  const row = new Float32Array(width);
  for (let i = 0; i < width; i += 2) {
    const angle = position * Math.exp((-Math.log(10000) * i) / width);
    row[i] = Math.sin(angle);
    row[i + 1] = Math.cos(angle);
  }
  return row;
}

/**
 * Rotate each pair of a head's dimensions by its angle at a position (Su et al. 2021, §3.2.2).
 * @param {Vector} x all heads side by side @param {number} position @param {number} dHead @returns {Vector}
 */
export function rotated(x, position, dHead) {
  const rotations = sinusoidal(position, dHead);
  const out = new Float32Array(x.length);
  for (let i = 0; i < x.length; i += 2) {
    const sine = rotations[i % dHead];
    const cosine = rotations[(i % dHead) + 1];
    out[i] = x[i] * cosine - x[i + 1] * sine;
    out[i + 1] = x[i] * sine + x[i + 1] * cosine;
  }
  return out;
}

/** What one step of distance takes off a head's scores (Press et al. 2022, §3). @param {number} head @param {number} heads @returns {number} */
export const alibiSlope = (head, heads) => 2 ** ((-8 * (head + 1)) / heads);
