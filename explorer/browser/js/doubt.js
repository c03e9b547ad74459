// Says why a translation should not be trusted: unseen tokens, an unusual length, little confidence. As
// explorer/decoding/domain.py, which knows the data as well; a test compares both.

import { plural, wholePercent } from "./numbers.js";

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
  return reasons.length ? `${doubt.data}, so do not trust the answer. ${reasons.join(" ")}` : "";
}

/** @param {string[]} tokens */
function unseen(tokens) {
  const names = [...new Set(tokens)].map((token) => `“${[...token].slice(0, LONGEST_NAMED).join("")}”`);
  if (!names.length) return [];
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return [`${listed(names.slice(0, MOST_NAMED))}${more} never occurred in training.`];
}

/** @param {number} longest @param {number} length */
const tooLong = (longest, length) =>
  longest && length > longest ? [`It has ${plural(length, "token")}; the longest in training had ${longest}.`] : [];

/** @param {SiteModel["doubt"]} doubt @param {number[][]} probabilities */
function unsure({ low, usual, letters }, probabilities) {
  // Rows of a prompt that the model was never trained to predict have none.
  const logs = probabilities.filter((row) => row.length).map((row) => Math.log(Math.max(TINY, ...row)));
  const mean = Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
  if (mean >= (usual || low)) return [];
  const mostly = usual ? `; on its own data, it nearly always gives more than ${wholePercent(usual)}` : "";
  const unit = letters ? "letter" : "word";
  return [`On average, the model gave only ${wholePercent(mean)} to its likeliest ${unit} (geometric mean)${mostly}.`];
}

/** @param {string[]} names */
const listed = (names) =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
