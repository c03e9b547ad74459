// Items of two lists that have counterparts in each other, and those that only one of them has (Ratcliff and Obershelp
// 1988, as difflib of Python).

/** Pairs of counterparts, and the places on either side that are not paired with the same name, as `matched` of pair_marks.py. @param {string[]} a @param {string[]} b */
export function matched(a, b) {
  const sides = [a, b].map((side) => side.map((name) => name.toLowerCase()));
  const [same, taken] = [/** @type {Map<number, number>} */ (new Map()), new Set()];
  const put = (/** @type {number} */ i, /** @type {number} */ j) => void (same.set(i, j), taken.add(j));
  /** @type {[number, number][]} */
  let replaced = [];
  for (const { from, to, changed } of runsOf(sides[0], sides[1])) {
    if (changed && to[0] - from[0] !== to[1] - from[1]) continue;
    for (let i = 0; i < to[0] - from[0]; i++)
      if (changed) replaced.push([from[0] + i, from[1] + i]);
      else put(from[0] + i, from[1] + i);
  }
  const pair = (/** @type {number} */ i, /** @type {number} */ j) => {
    const isFree = i in sides[0] && sides[0][i] === sides[1][j] && !same.has(i) && !taken.has(j);
    if (isFree) put(i, j);
    return isFree;
  };
  const isOnce = (/** @type {string} */ name) => sides.every((side) => side.indexOf(name) === side.lastIndexOf(name));
  sides[0].forEach((name, i) => {
    const j = sides[1].indexOf(name);
    if (!isOnce(name) || !pair(i, j)) return;
    for (const step of [-1, 1]) for (let by = step; pair(i + by, j + by);) by += step;
  });
  replaced = replaced.filter(([i, j]) => !same.has(i) && !taken.has(j));
  const [from, to] = [0, 1].map((side) => new Set(replaced.map((each) => each[side])));
  a.forEach((_, i) => b.forEach((_, j) => from.has(i) || to.has(j) || pair(i, j)));
  const only = [a.map((_, i) => i).filter((i) => !same.has(i)), b.map((_, j) => j).filter((j) => !taken.has(j))];
  return {
    pairs: [...same, ...replaced].sort(([one], [other]) => one - other),
    only: only.map((each) => new Set(each)),
  };
}

/** @typedef {{ from: [number, number], to: [number, number], changed: boolean }} Run of items of both lists */

/** Two lists as runs that are equal or changed, in turns (Ratcliff and Obershelp 1988). @param {string[]} a @param {string[]} b @returns {Run[]} */
export function runsOf(a, b) {
  /** @type {Run[]} */
  const runs = [];
  let [i, j] = [0, 0];
  for (const [k, m, size] of [...blocksOf(a, b, 0, a.length, 0, b.length), [a.length, b.length, 0]]) {
    if (i < k || j < m) runs.push({ from: [i, j], to: [k, m], changed: true });
    if (size) runs.push({ from: [k, m], to: [k + size, m + size], changed: false });
    [i, j] = [k + size, m + size];
  }
  return runs;
}

/** The longest common run of two stretches, then those on either side of it. @param {string[]} a @param {string[]} b @param {number} a0 @param {number} a1 @param {number} b0 @param {number} b1 @returns {number[][]} */
function blocksOf(a, b, a0, a1, b0, b1) {
  let [i, j, size] = [a0, b0, 0];
  let lengths = new Uint32Array(b1 - b0 + 1); // of the common run that ends at each item of b
  for (let k = a0; k < a1; k++) {
    const next = new Uint32Array(lengths.length);
    for (let m = b0; m < b1; m++) {
      if (a[k] !== b[m]) continue;
      const length = (next[m - b0 + 1] = lengths[m - b0] + 1);
      if (length > size) [i, j, size] = [k - length + 1, m - length + 1, length];
    }
    lengths = next;
  }
  if (!size) return [];
  return [...blocksOf(a, b, a0, i, b0, j), [i, j, size], ...blocksOf(a, b, i + size, a1, j + size, b1)];
}
