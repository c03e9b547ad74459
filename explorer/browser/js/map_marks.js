// What lies over the cells of a map: faded ones, frames, and the numbers of some rows.

import { columnAt, columnUnder } from "./canvas.js";
import { inkOn } from "./ink.js";
import { keysLookedAt } from "./map_zoom.js";
import { cellNumber } from "./numbers.js";
import { inSentence, t } from "./words.js";

/** @import { Pen, Picture } from "./maps.js" */
/** A frame around a row, a column, or the cell where both meet. @typedef {{ row?: number, column?: number, colour: string, dashed?: boolean }} Mark */

// Sizes of cells above which they have frames, and below which these are thin, in pixels.
const [FRAMED, THIN] = [7, 18];
const FIRST = 1e3; // what a frame adds to the rank of a number
export const CONDENSED = 0.78; // least width of a number, of its own
const APART = 2; // least distance of two numbers, in pixels
const [LEAST, SMALLEST] = [9, 7]; // size of the type of rows' numbers, before and after a presentation is magnified, in pixels
const SQUEEZED = 0.9; // least width of a number, of its own

/** The width of a number that is condensed to leave room beside it, as far as it stays readable. @param {number} width @param {number} cell */
export const condensed = (width, cell) => Math.max(Math.min(width, cell - APART), CONDENSED * width);

/**
 * Which numbers would touch one beside them that is framed or larger. Numbers of no width are not written.
 * @param {number[]} widths @param {ArrayLike<number>} values @param {Set<number>} framed cells
 * @param {{ keys: number, cell: number, places: number[] }} map
 * @returns {(cell: number) => boolean}
 */
export function hiddenNumbers(widths, values, framed, { keys, cell, places }) {
  const written = new Set();
  const rank = (/** @type {number} */ i) => (framed.has(i) ? FIRST : 0) + Math.abs(values[i]);
  const order = [...widths.keys()]
    .filter((i) => widths[i])
    .sort((one, other) => rank(other) - rank(one) || one - other);
  for (const i of order) {
    const [row, place] = [i - (i % keys), columnAt(places, i % keys)];
    const beside = [place - 1, place + 1]
      .filter((at) => at >= 0 && at < keys)
      .map((at) => row + columnUnder(places, at));
    if (beside.every((at) => !written.has(at) || (widths[at] + widths[i]) / 2 + APART <= cell)) written.add(i);
  }
  return (i) => widths[i] > 0 && !written.has(i);
}

/** Draws thin lines between the cells. @param {Pen} pen */
export function rule({ ctx, left, top, cell, tall, keys, rows, wide, high }) {
  ctx.globalAlpha = 0.1;
  ctx.beginPath();
  for (let k = 1; k < keys; k++) ctx.rect(left + k * cell - 0.5, top, 0, high);
  for (let q = 1; q < rows; q++) ctx.rect(left, top + q * tall - 0.5, wide, 0);
  ctx.stroke();
}

/** Fades the cells outside the marked rows and columns. @param {Pen} pen @param {NonNullable<Picture["brush"]>} brush */
export function fade({ ctx, theme, left, top, cell, tall, places, keys, rows }, { rows: [first, end], columns }) {
  const [start, last] = columns;
  const bottom = Math.min(end, rows - 1);
  const high = bottom - first + 1;
  Object.assign(ctx, { fillStyle: theme.ground, globalAlpha: 0.72 });
  const boxes = [
    [0, 0, keys, first],
    [0, bottom + 1, keys, rows - bottom - 1],
  ];
  for (let place = 0; place < keys; place++) {
    const column = columnUnder(places, place);
    if (column < start || column > last) boxes.push([place, first, 1, high]);
  }
  for (const [x, y, w, h] of boxes)
    if (w > 0 && h > 0) ctx.fillRect(left + x * cell, top + y * tall, w * cell, h * tall);
}

/** Draws frames, with outlines that contrast with the map and lie below all of them. @param {Pen} pen @param {Mark[]} marks */
export function drawMarks(pen, marks) {
  for (const pass of [0, 1]) for (const mark of marks) drawMark(pen, mark, pass);
}

/** Draws the outline (pass 0) or the frame; if cells are too small for that, a row has a mark at either end, which hides nothing. @param {Pen} pen @param {Mark} mark @param {number} pass */
function drawMark({ ctx, theme, left, top, cell, tall, places, wide, high }, { row, column, colour, dashed }, pass) {
  const x = left + (column === undefined ? 0 : columnAt(places, column)) * cell;
  const y = top + (row ?? 0) * tall;
  if (column === undefined && cell <= FRAMED) {
    ctx.fillStyle = colour;
    for (const end of [left - 5, left + wide + 1]) ctx.fillRect(end, y, 4, tall);
    return;
  }
  const thin = Math.min(cell, tall) < THIN;
  const lines = thin ? [2.5, 1.5] : [4, 2];
  const isCell = row !== undefined && column !== undefined; // it has its frame around it, so that its number is free
  const out = isCell ? lines[1] / 2 + Number(thin) : thin && row !== undefined ? 0.5 : 0;
  const w = column === undefined ? wide : cell;
  const h = row === undefined ? high : tall;
  if (dashed) ctx.setLineDash([4, 3]);
  Object.assign(ctx, { lineWidth: lines[pass], strokeStyle: [theme.ground, colour][pass] });
  ctx.strokeRect(x - out, y - out, w + 2 * out, h + 2 * out);
  ctx.setLineDash([]);
}

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
  const fitting = Math.floor(tall / 1.3);
  const size = widthAt(fitting, cellNumber(0.5)) > cell - 2 ? least : fitting;
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
