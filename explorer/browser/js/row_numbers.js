// The numbers of some rows of a map whose cells are too small for those of all rows.

import { columnAt } from "./canvas.js";
import { inkOn } from "./ink.js";
import { hiddenNumbers } from "./map_marks.js";
import { keysLookedAt } from "./map_zoom.js";
import { cellNumber } from "./numbers.js";
import { inSentence, t } from "./words.js";

const [LEAST, SMALLEST] = [9, 7]; // size of their type, before and after a presentation is magnified, in pixels
const SQUEEZED = 0.9; // least width of a number, of its own

/**
 * Writes the numbers of rows; of two that would touch, the larger one. Returns whether the rows are high enough.
 * @param {import("./maps.js").Pen} pen @param {number[]} rows @param {ArrayLike<number>} values @param {(weight: number) => import("./types").Rgb} colourOf
 */
export function writeRows({ ctx, theme, left, top, cell, tall, places, keys }, rows, values, colourOf) {
  const least = ctx.canvas.closest(".presenting") ? SMALLEST : LEAST;
  if (tall / 1.3 < least) return false;
  Object.assign(ctx, { textAlign: "center", globalAlpha: 1, letterSpacing: "0px" });
  const widthAt = (/** @type {number} */ size, /** @type {string} */ number) => {
    ctx.font = `${size}px ${theme.font}`;
    return ctx.measureText(number).width;
  };
  let size = Math.floor(tall / 1.3);
  while (size > least && widthAt(size, cellNumber(0.5)) > cell - 2) size--;
  for (const row of rows) {
    const weights = Array.from({ length: keys }, (_, key) => values[row * keys + key]);
    const looked = keysLookedAt(weights, 0, keys);
    const widths = weights.map((weight, key) => {
      const width = looked.includes(key) ? widthAt(size, cellNumber(weight)) : 0;
      return Math.max(Math.min(width, cell - 1), SQUEEZED * width);
    });
    const isHidden = hiddenNumbers(widths, weights, new Set(), { keys, cell, places });
    for (const key of looked) {
      if (isHidden(key)) continue;
      const [x, y] = [left + (columnAt(places, key) + 0.5) * cell, top + (row + 0.5) * tall];
      const colour = colourOf(weights[key]);
      ctx.fillStyle = `rgb(${colour})`; // a number that is wider than its cell stands on its colour
      if (widths[key] > cell) ctx.fillRect(x - widths[key] / 2, y - tall / 2 + 2, widths[key], tall - 4);
      ctx.fillStyle = inkOn(colour);
      ctx.fillText(cellNumber(weights[key]), x, y + 0.5, widths[key]);
    }
  }
  return true;
}

/** Says which numbers `writeRows` writes. */
export const aboutRows = () => t("numbers: marked rows, from {least} where they fit", { least: inSentence("0.05") });
