// Tokens and numbers in words: the lines of a readout, what a row looks at, and the badges of a translation.

import { make, say } from "./dom.js";
import { NEXT_READ } from "./names.js";
import { fourDecimals, wholePercent } from "./numbers.js";
import { entropyOf, isSpread } from "./weights.js";

/** @import { Content, Find, Row } from "./types" */

/** Why a cell has no weight, by mask code. */
export const WHY_MASKED = [
  "",
  "masked (future): the decoder may not look at later positions",
  "masked (padding): filler, not a word",
  "left out: <eos>, another special, or punctuation",
];
/** The same, for a table. */
const MASKED = ["", "masked: future", "masked: padding", "left out"];

/** A line of a readout: its name, then its content. @param {string} name @param {Content[]} content */
export const line = (name, ...content) => make("div", "", make("span", "name", name), ...content);

/**
 * "looks at *dog* 62 %, *a* 21 %": the heaviest keys of a row, at most `most`; or that it prefers none.
 * @param {Row} row
 * @param {string[]} columns
 * @param {string} side
 * @param {number} most
 * @returns {Content[]}
 */
export function looksAt({ seen }, columns, side, most) {
  if (!seen.length) return [" sees nothing: every key is masked."];
  if (isSpread(entropyOf(seen), seen.length)) {
    const even = wholePercent(1 / seen.length);
    const top = numbered(columns, seen[0].key, side);
    return [
      ` spreads its weight over ${seen.length} keys (${even} each if even), at most ${wholePercent(seen[0].weight)} on `,
      top,
      ".",
    ];
  }
  const best = seen.filter((c, i) => i < most && (c.weight >= 0.1 || i < 1));
  const keys = best.flatMap((c, i) => [i ? ", " : " ", numbered(columns, c.key, side), ` ${wholePercent(c.weight)}`]);
  return [" looks at", ...keys, "."];
}

/**
 * The keys of a row, for a table: each with its weight and its rank, or with its weight in each of several heads.
 * @param {Row[]} heads the row in each head
 * @param {string[]} columns
 * @param {string} side
 */
export function keyRows(heads, columns, side) {
  return columns.map((_, key) => {
    const cells = heads.map((row) => row.cells[key]);
    const { mask, rank } = cells[0];
    const ranked = cells.length < 2;
    const weights = cells.map(({ weight }) => (mask ? null : weight));
    const texts = cells.map(({ weight }) => (mask ? MASKED[mask] : fourDecimals(weight)));
    return {
      at: [key, ...weights, ...(ranked ? [mask ? null : rank] : [])],
      cells: [numbered(columns, key, side), ...texts, ...(ranked ? [mask ? "–" : `${rank}`] : [])],
    };
  });
}

/**
 * Shows whether the model is untrained, and which heads were edited.
 * @param {Find} find
 * @param {{ trained: boolean, edits: string[] }} run
 */
export function drawBadges(find, { trained, edits }) {
  find(".untrained").hidden = trained;
  find(".edited").hidden = !edits.length;
  say(find(".edited"), `edited: ${edits.join(", ")}`);
}

export const SPECIALS = ["<pad>", "<sos>", "<eos>", "<unk>"];

/**
 * A token, isolated so that its writing direction cannot move the text beside it.
 * @param {string} text
 * @param {string} side
 */
export function tokenName(text, side) {
  const token = make("bdi", `token ${side}`, text);
  if (SPECIALS.includes(text)) token.classList.add("special");
  return token;
}

/** Leads to the token of a row: the model predicted it, or read it next. @param {{ by: string }} target */
export const leadsOn = ({ by }) => (by === NEXT_READ ? ` → ${NEXT_READ}: ` : " → predicts ");

/** A token with its position, counted from 1. @param {string[]} tokens @param {number} i @param {string} side */
export const numbered = (tokens, i, side) =>
  make("span", "named", make("span", "place", `${i + 1}`), "\u2009", tokenName(tokens[i], side));
