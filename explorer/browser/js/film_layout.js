// The room of the thumbnails and of the enlarged head in the film.

import { clamp } from "./numbers.js";

const [SMALLEST, NARROW] = [30, 90]; // width of a thumbnail, in pixels
const [LEAST, LABELS] = [12, 164]; // a cell of the enlarged head, and the room beside its cells, in pixels
const BETWEEN = 28; // the thumbnails and the enlarged head, in pixels

/**
 * The width of a thumbnail, and whether the enlarged head stands below them: one of many columns leaves them less room.
 * @param {number} width @param {number} heads @param {number} columns
 */
export function arrange(width, heads, columns) {
  const thumbOf = (/** @type {number} */ room) => Math.floor((room - 60) / heads) - 14;
  const beside = thumbOf(Math.min(width * 0.45, width - BETWEEN - LEAST * columns - LABELS));
  const isBelow = width < 700 || beside < SMALLEST;
  return { thumb: clamp(isBelow ? thumbOf(width * 0.9) : beside, SMALLEST, NARROW), isBelow };
}
