// What depends on the script of a text: the direction of a sentence, and where a label may be cut.

import { recall, store } from "./memory.js";
import { SPECIALS } from "./names.js";
import { LEFTWARDS } from "./words.js";

/** @import { Decoding, Side } from "./types" */

const DIGIT = /[0-9\u0660-\u0669\u06f0-\u06f9]/;
/** @type {Record<string, string>} */
const BRACKETS = { ")": "(", "]": "[", "}": "{" };
const HIDDEN = /U\+[0-9A-F]{4,6}/g; // a character that is written out

/**
 * Whether a sentence is written from right to left: by its first letter, as in Unicode's rules P2 and P3. Special tokens
 * and others that are no words, such as the label of a language, do not count. explorer/locale/scripts.py has the same.
 * @param {string[]} tokens @param {number[]} [words] the word of each token, -1 for none
 */
export function isLeftwards(tokens, words = []) {
  return sideOf(tokens.filter((token, i) => !(words[i] < 0) && !SPECIALS.includes(token)).join(" ")) ?? false;
}

/** Whether the first letter of a text is written from right to left; undefined if it has no letter. @param {string} text */
function sideOf(text) {
  const [letter] = text.replace(HIDDEN, "").match(/\p{L}/u) ?? [];
  return letter === undefined ? undefined : LEFTWARDS.test(letter);
}

/**
 * The place of each token from the left, by Unicode's bidirectional algorithm (UAX #9); [] if all are in order.
 * explorer/locale/scripts.py has the same.
 * @param {string[]} tokens @param {boolean} leftwards the direction of the sentence
 * @param {string} [direction] the one that the reader has chosen, in which all its words run
 */
export function placesOf(tokens, leftwards, direction = chosen) {
  if (direction === "rtl") return tokens.map((_, i) => tokens.length - 1 - i);
  if (direction === "ltr") return [];
  if (!leftwards && !LEFTWARDS.test(tokens.join(""))) return [];
  const sides = sidesOf(tokens, leftwards);
  /** @type {number[][]} */
  const runs = [];
  sides.forEach((side, i) => (i && side === sides[i - 1] ? runs[runs.length - 1].push(i) : runs.push([i])));
  const order = runs.flatMap((run) => (sides[run[0]] === leftwards ? run : run.reverse()));
  if (leftwards) order.reverse();
  return order.every((token, at) => token === at) ? [] : tokens.map((_, i) => order.indexOf(i));
}

/** Whether each token is in a run from right to left. @param {string[]} tokens @param {boolean} leftwards */
function sidesOf(tokens, leftwards) {
  let last = leftwards;
  /** @type {(boolean | undefined)[]} */
  const sides = tokens.map((token) => {
    if (SPECIALS.includes(token)) return undefined;
    const side = sideOf(token);
    if (side !== undefined) return (last = side);
    const [digit] = token.match(DIGIT) ?? [];
    return digit ? last || /[\u0660-\u0669]/.test(digit) : undefined; // rule W7
  });
  const before = (/** @type {number} */ at) => sides.findLast((side, i) => i < at && side !== undefined) ?? leftwards;
  /** @type {number[]} */
  let opened = [];
  /** @type {[number, number][]} */
  const pairs = [];
  tokens.forEach((token, at) => {
    if (["(", "[", "{"].includes(token)) opened.push(at);
    const start = opened.findLast((i) => tokens[i] === BRACKETS[token]);
    if (start === undefined) return;
    pairs.push([start, at]);
    opened = opened.filter((i) => i < start);
  });
  for (const [start, end] of pairs.sort(([a], [b]) => a - b)) {
    const inside = sides.slice(start + 1, end).filter((side) => side !== undefined); // rule N0
    if (inside.length) sides[start] = sides[end] = inside.includes(leftwards) ? leftwards : before(start);
  }
  const found = [...sides, leftwards];
  // Rules N1 and N2.
  found.forEach((side, at) => {
    const after = found.slice(at).find((each) => each !== undefined);
    if (side === undefined) sides[at] = after === before(at) ? after : leftwards;
  });
  return sides;
}

/** A view that draws a decoding in the direction that its reader has chosen, here or in another view. @typedef {{ data: Decoding, direction?: string }} Written */

let chosen = recall("direction") ?? ""; // the direction that the reader has chosen last, also before a reload

/** Whether words run from right to left: as they are `written`, or as the reader has chosen. @param {boolean} written */
export const laidLeft = (written, direction = chosen) => (direction ? direction === "rtl" : written);

/** Whether the words of a side run from right to left. @param {Written} S @param {Side} side */
export const runsLeft = ({ data, direction }, side) => laidLeft(data.leftwards[side], direction);

/** The place of each token of a side from the left; [] if all are in order. @param {Written} S @param {Side} side @param {string[]} tokens */
export const placesIn = ({ data, direction }, side, tokens) => placesOf(tokens, data.leftwards[side], direction);

/** Lays out a list of words in their direction; on each line, those of the other direction stand in theirs. @param {Written} S @param {HTMLElement} list @param {Side} side @param {HTMLElement[]} words @param {string[]} tokens */
export function layWords(S, list, side, words, tokens) {
  const leftwards = runsLeft(S, side);
  list.dir = leftwards ? "rtl" : "ltr";
  for (const word of words) Object.assign(word.style, { position: "", left: "" });
  if (tokens.some(isMirrored)) mirror(S, side, words, tokens);
  const places = placesIn(S, side, tokens);
  if (places.every((place, i) => place === (leftwards ? places.length - 1 - i : i))) return;
  const boxes = words.map(({ offsetLeft, offsetTop, offsetWidth }, i) => ({ i, offsetLeft, offsetTop, offsetWidth }));
  for (const top of new Set(boxes.map(({ offsetTop }) => offsetTop))) {
    const line = boxes.filter(({ offsetTop }) => offsetTop === top);
    const start = Math.min(...line.map(({ offsetLeft }) => offsetLeft));
    const end = Math.max(...line.map(({ offsetLeft, offsetWidth }) => offsetLeft + offsetWidth));
    const wide = line.reduce((sum, { offsetWidth }) => sum + offsetWidth, 0);
    let x = start;
    for (const { i, offsetLeft, offsetWidth } of line.sort((a, b) => places[a.i] - places[b.i])) {
      Object.assign(words[i].style, { position: "relative", left: `${x - offsetLeft}px` });
      x += offsetWidth + (end - start - wide) / (line.length - 1);
    }
  }
}

/** Whether a token is a bracket or the like, whose shape depends on the direction of the words around it. @param {string} token */
const isMirrored = (token) => /\p{Bidi_M}/u.test(token) && sideOf(token) === undefined;

/** Gives brackets the shape that they have in the direction of their run. @param {Written} S @param {Side} side @param {HTMLElement[]} words @param {string[]} tokens */
function mirror({ data, direction = chosen }, side, words, tokens) {
  const sides = direction ? tokens.map(() => direction === "rtl") : sidesOf(tokens, data.leftwards[side]);
  words.forEach((word, i) => {
    const name = word.querySelector("bdi");
    if (name) name.dir = !isMirrored(tokens[i]) ? "auto" : sides[i] ? "rtl" : "ltr";
  });
}

/** Offers the choice of the direction where words of either are written. @param {{ data: Decoding, direction: string, find: import("./types").Find }} S */
export function offerDirection({ find, data, direction }) {
  if (direction !== chosen) store("direction", direction);
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

/** The steps in rows and columns that an arrow key leads to on screen; undefined for another key. @param {string} key */
export const arrowOf = (key) => ARROWS[key];

const segmenter = Intl.Segmenter && new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The characters that a reader sees: letters with their marks, and emoji with what is joined to them. @param {string} text */
export const lettersOf = (text) =>
  segmenter ? Array.from(segmenter.segment(text), ({ segment }) => segment) : [...text];

/** The lines of a label, of which most have one. @param {string} text */
export const linesOf = (text) => text.split("\n");

/**
 * Shortens a text to at most this width. Each cut removes a ninth of what is left from its end.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {number} most
 */
export function shorten(ctx, text, most) {
  if (ctx.measureText(text).width <= most + 2) return text;
  let parts = lettersOf(text);
  const cut = () => `${parts.join("")}…`;
  while (parts.length && ctx.measureText(cut()).width > most)
    parts = parts.slice(0, -Math.max(1, Math.ceil(parts.length / 9)));
  return cut();
}
