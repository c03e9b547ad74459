// The heads of one kind: in order, and described in words.

import { wholePercent } from "./numbers.js";
import { inSentence, t } from "./words.js";

/** @import { KindMap } from "./types" */

/** Positions that a head can favour, relative to the query or within the sentence. */
export const PLACES = ["itself", "previous", "next", "first", "last", "diagonal", "mirror"];

/**
 * A head's effective number of keys, and the position that it favours, or "". Where it favours none, the largest share
 * is no name of it: a diagonal of another slope than the exact one has little of its weight there.
 * @param {Pick<KindMap, "effective" | "roles" | "shares">} m
 * @param {number} layer
 * @param {number} head
 */
export function describeHead({ effective, roles, shares }, layer, head) {
  const keys = effective[layer - 1][head - 1];
  const role = roles[layer - 1][head - 1];
  const share = shares[role]?.[layer - 1][head - 1] ?? null;
  return {
    keys: keys === null ? t("no choice") : t("{number} keys", { number: inSentence(keys.toFixed(1)) }),
    role: share === null ? "" : `${placeName(role)} ${wholePercent(share)}`,
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
