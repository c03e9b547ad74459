// What depends on the script of a text: the direction of a sentence, and where a label may be cut.

import { SPECIALS } from "./wording.js";
import { LEFTWARDS } from "./words.js";

/** @import { Decoding, Side } from "./types" */

const HIDDEN = /U\+[0-9A-F]{4,6}/g; // a character that is written out

/**
 * Whether a sentence is written from right to left: by its first letter, as in Unicode's rules P2 and P3. Special tokens
 * and others that are no words, such as the label of a language, do not count. explorer/locale/scripts.py has the same.
 * @param {string[]} tokens @param {number[]} [words] the word of each token, -1 for none
 */
export function isLeftwards(tokens, words = []) {
  const text = tokens.filter((token, i) => !(words[i] < 0) && !SPECIALS.includes(token)).join(" ");
  return LEFTWARDS.test(text.replace(HIDDEN, "").match(/\p{L}/u)?.[0] ?? "");
}

/** A view that draws a decoding in the direction that its reader has chosen, here or in another view. @typedef {{ data: Decoding, direction?: string }} Written */

let chosen = ""; // the direction that the reader has chosen last

/** Whether words run from right to left: as they are `written`, or as the reader has chosen. @param {boolean} written */
export const laidLeft = (written, direction = chosen) => (direction ? direction === "rtl" : written);

/** Whether the words of a side run from right to left. @param {Written} S @param {Side} side */
export const runsLeft = ({ data, direction }, side) => laidLeft(data.leftwards[side], direction);

/** Lays out a list of words in their direction. @param {Written} S @param {HTMLElement} list @param {Side} side */
export function layWords(S, list, side) {
  list.dir = runsLeft(S, side) ? "rtl" : "ltr";
}

/** Offers the choice of the direction where words of either are written. @param {{ data: Decoding, direction: string, find: import("./types").Find }} S */
export function offerDirection({ find, data, direction }) {
  chosen = direction;
  /** @type {HTMLSelectElement} */
  const select = find("select[name=direction]");
  const { source, target } = data;
  select.value = direction;
  const label = /** @type {HTMLElement} */ (select.parentElement);
  label.hidden = !direction && !LEFTWARDS.test([...source.tokens, ...target.tokens, ...target.predicted].join(""));
}

/** The direction of rows and columns that each arrow key leads to in a map. @type {Record<string, [number, number]>} */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** The steps in rows and columns that an arrow key leads to on screen; undefined for another key. @param {string} key @param {boolean} leftwards whether the columns run from right to left */
export function arrowOf(key, leftwards) {
  const [down, along] = ARROWS[key] ?? [];
  return along === undefined ? undefined : [down, leftwards ? -along : along];
}

const segmenter = Intl.Segmenter && new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The characters that a reader sees: letters with their marks, and emoji with what is joined to them. @param {string} text */
export const lettersOf = (text) =>
  segmenter ? Array.from(segmenter.segment(text), ({ segment }) => segment) : [...text];
