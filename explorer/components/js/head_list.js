// All heads of a kind, sorted and filtered by what tells heads apart, and described in words.

import { wholePercent } from "./numbers.js";

/** @typedef {import("./types").KindMap} KindMap */

/** Where a head can put its weight, relative to the query or in the sentence. */
export const PLACES = ["itself", "previous", "next", "first", "last", "diagonal", "mirror"];

/**
 * Effective number of keys, and the place that a head favours or else, as `mixed`, the one with its largest share.
 * @param {Pick<KindMap, "effective" | "roles" | "shares">} m
 * @param {number} layer
 * @param {number} head
 */
export function describeHead({ effective, roles, shares }, layer, head) {
  const keys = effective[layer - 1][head - 1], role = roles[layer - 1][head - 1];
  /** @type {[string, number | null][]} */
  const all = Object.entries(shares).map(([name, share]) => [name, share[layer - 1][head - 1]]);
  const [name, share] = all.find(([name]) => name === role)
    ?? all.reduce((a, b) => (Number(b[1]) > Number(a[1]) ? b : a), ["", -1]);
  return {
    keys: keys === null ? "no choice" : `${keys.toFixed(1)} keys`,
    role: share === null || share < 0 ? "–" : `${name} ${wholePercent(share)}`,
    mixed: role !== name,
  };
}

/**
 * The heads in the chosen order, without those that the filters leave out.
 * @param {Pick<KindMap, "layers" | "heads" | "effective" | "roles" | "shares">} m
 * @param {{ by: string, role?: string, most?: number }} options sort key; place that is favoured; most effective keys
 */
export function listHeads(m, { by, role, most }) {
  const list = [];
  for (let layer = 1; layer <= m.layers; layer++) for (let head = 1; head <= m.heads; head++) list.push({ layer, head });
  const keys = (/** @type {{ layer: number, head: number }} */ { layer, head }) => m.effective[layer - 1][head - 1] ?? Infinity;
  const share = (/** @type {{ layer: number, head: number }} */ { layer, head }) => m.shares[by]?.[layer - 1][head - 1] ?? -1;
  const passing = list.filter((h) => (!role || m.roles[h.layer - 1][h.head - 1] === role) && (!most || keys(h) <= most));
  if (by === "keys") passing.sort((a, b) => keys(a) - keys(b));
  else if (by !== "place") passing.sort((a, b) => share(b) - share(a));
  return passing;
}
