// The heads of one kind: in order, and described in words.

import { wholePercent } from "./numbers.js";
import { inSentence, t } from "./words.js";

/** @import { KindMap } from "./types" */

/** Positions that a head can favour, relative to the query or within the sentence. */
export const PLACES = ["itself", "previous", "next", "first", "last", "diagonal", "mirror"];

/**
 * A head's effective number of keys, and the position that it favours; if it favours none (`mixed`), the position
 * with the largest share.
 * @param {Pick<KindMap, "effective" | "roles" | "shares">} m
 * @param {number} layer
 * @param {number} head
 */
export function describeHead({ effective, roles, shares }, layer, head) {
  const keys = effective[layer - 1][head - 1];
  const role = roles[layer - 1][head - 1];
  /** @type {[string, number | null][]} */
  const all = Object.entries(shares).map(([name, share]) => [name, share[layer - 1][head - 1]]);
  const [name, share] =
    all.find(([name]) => name === role) ?? all.reduce((a, b) => (Number(b[1]) > Number(a[1]) ? b : a), ["", -1]);
  const none = share === null || share < 0;
  return {
    keys: keys === null ? t("no choice") : t("{number} keys", { number: inSentence(keys.toFixed(1)) }),
    role: none ? "–" : `${placeName(name)} ${wholePercent(share)}`,
    mixed: role !== name,
  };
}

/** The label of a position that a head can favour. @param {string} name */
export const placeName = (name) =>
  ({
    itself: t("itself"),
    previous: t("previous"),
    next: t("next"),
    first: t("first"),
    last: t("last"),
    diagonal: t("diagonal"),
    mirror: t("mirror"),
    mixed: t("mixed"),
  })[name] ?? name;

/** All heads of a kind, layer by layer. @param {Pick<KindMap, "layers" | "heads">} m */
export const listHeads = ({ layers, heads }) =>
  Array.from({ length: layers * heads }, (_, i) => ({ layer: Math.floor(i / heads) + 1, head: (i % heads) + 1 }));
