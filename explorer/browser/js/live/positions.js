// What tells the model of positions: a table that is added, rotations (RoPE), or distances (ALiBi).

/** @typedef {import("./vectors.js").Vector} Vector */

/** The paper's fixed encoding of one position (Vaswani et al. 2017, §3.5). @param {number} position @param {number} width @param {number} [base] @returns {Vector} */
export function sinusoidal(position, width, base = 10000) {
  const row = new Float32Array(width);
  for (let i = 0; i < width; i += 2) {
    const angle = position * Math.exp((-Math.log(base) * i) / width);
    row[i] = Math.sin(angle);
    row[i + 1] = Math.cos(angle);
  }
  return row;
}

/**
 * Rotate each pair of a head's dimensions by its angle at a position (Su et al. 2021, §3.2.2).
 * @param {Vector} x all heads side by side @param {number} position @param {number} dHead
 * @param {import("../structs").ModelConfig} config @returns {Vector}
 */
export function rotated(x, position, dHead, { rope_base, rope_halves }) {
  const rotations = sinusoidal(position, dHead, rope_base);
  const out = new Float32Array(x.length);
  for (let i = 0; i < x.length; i += 2) {
    const [sine, cosine] = rotations.subarray(i % dHead, (i % dHead) + 2);
    const first = rope_halves ? i - (i % dHead) / 2 : i;
    const second = first + (rope_halves ? dHead / 2 : 1);
    out[first] = x[first] * cosine - x[second] * sine;
    out[second] = x[first] * sine + x[second] * cosine;
  }
  return out;
}

/** What one step of distance takes off a head's scores (Press et al. 2022, §3). @param {number} head @param {number} heads @returns {number} */
export const alibiSlope = (head, heads) => 2 ** ((-8 * (head + 1)) / heads);
