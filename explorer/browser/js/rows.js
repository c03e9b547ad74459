// One row of a map: its keys, ranked.

/** @typedef {import("./types").Cell} Cell */
/** @typedef {import("./types").Row} Row */

/**
 * Every key with weight, mask code and rank among the visible keys; `seen` holds the visible ones, heaviest first.
 * @param {ArrayLike<number>} values weights [query, key]
 * @param {Uint8Array} mask mask codes [query, key]
 * @param {number} query
 * @param {number} keys number of keys in a row
 * @returns {Row}
 */
export function rankedRow(values, mask, query, keys) {
  const at = query * keys;
  /** @type {Cell[]} */
  const cells = Array.from({ length: keys }, (_, key) =>
    ({ key, weight: values[at + key], mask: mask[at + key], rank: 0 }));
  const seen = cells.filter((c) => !c.mask).sort((a, b) => b.weight - a.weight || a.key - b.key);
  seen.forEach((c, i) => (c.rank = i && seen[i - 1].weight === c.weight ? seen[i - 1].rank : i + 1));
  return { cells, seen };
}

/** Entropy of a row in nats. @param {Cell[]} seen */
export const entropyOf = (seen) =>
  Math.max(0, -seen.reduce((sum, { weight }) => sum + (weight > 0 ? weight * Math.log(weight) : 0), 0));
