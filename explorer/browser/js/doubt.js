// Says why a translation should not be trusted: unseen tokens, an unusual length, little confidence. As
// explorer/decoding/domain.py, which knows the data as well; a test compares both.

import { wholePercent, listed } from "./numbers.js";
import { t } from "./words.js";

/** @import { SiteModel } from "./structs" */
/** @import { Decoding } from "./types" */

const MOST_NAMED = 4;
const LONGEST_NAMED = 24; // characters
const TINY = 2 ** -1022;

/**
 * A sentence, or "". @param {SiteModel} card @param {Decoding} decoding the model's own, without edits
 * @param {import("./live/engine.js").Answer["source"]} source @returns {string}
 */
export function doubtOf({ doubt }, { alternatives }, source) {
  const reasons = [
    ...unseen(source.unknown),
    ...tooLong(doubt.longest, source.length),
    ...unsure(doubt, alternatives.probabilities),
  ];
  if (!reasons.length) return "";
  return `${t("{data}, so do not trust the answer.", { data: doubt.data })} ${reasons.join(" ")}`;
}

/** @param {string[]} tokens */
function unseen(tokens) {
  const names = [...new Set(tokens)].map((token) => `“${[...token].slice(0, LONGEST_NAMED).join("")}”`);
  if (!names.length) return [];
  const more = names.length - MOST_NAMED;
  const tokens_ = listed(names.slice(0, MOST_NAMED));
  return [
    more > 0
      ? t("{tokens} and {more} more never occurred in training.", { tokens: tokens_, more })
      : t("{tokens} never occurred in training.", { tokens: tokens_ }),
  ];
}

/** @param {number} longest @param {number} length */
const tooLong = (longest, length) =>
  longest && length > longest
    ? [
        t(
          "It has {n} token; the longest in training had {longest}.",
          "It has {n} tokens; the longest in training had {longest}.",
          { n: length, longest },
        ),
      ]
    : [];

/** @param {SiteModel["doubt"]} doubt @param {number[][]} probabilities */
function unsure({ low, usual, letters }, probabilities) {
  // Rows of a prompt that the model was never trained to predict have none.
  const logs = probabilities.filter((row) => row.length).map((row) => Math.log(Math.max(TINY, ...row)));
  const mean = Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
  if (mean >= (usual || low)) return [];
  const fields = { mean: wholePercent(mean), usual: wholePercent(usual) };
  if (letters)
    return [
      usual
        ? t(
            "On average, the model gave only {mean} to its likeliest letter (geometric mean); on its own data, it nearly always gives more than {usual}.",
            fields,
          )
        : t("On average, the model gave only {mean} to its likeliest letter (geometric mean).", fields),
    ];
  return [
    usual
      ? t(
          "On average, the model gave only {mean} to its likeliest word (geometric mean); on its own data, it nearly always gives more than {usual}.",
          fields,
        )
      : t("On average, the model gave only {mean} to its likeliest word (geometric mean).", fields),
  ];
}
