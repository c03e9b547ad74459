// Small pictures of tensors: rows of vectors in two hues, for numbers below and above zero, and maps of weights in the
// scale of all maps. Each number is painted as one pixel, then enlarged.

import { columnAt, columnUnder, contextOf } from "./canvas.js";
import { pixelOf, rgb } from "./colours.js";
import { make } from "./dom.js";
import { levelOf, setPixels } from "./maps.js";
import { clamp } from "./numbers.js";

/** @import { MachinePicture, Rgb, Theme } from "./types" */

/** The hues below and above zero, for the light and the dark theme; exported figures have the same. @type {Record<string, [Rgb, Rgb]>} */
const HUES = {
  light: [
    [42, 109, 163],
    [191, 100, 28],
  ],
  dark: [
    [110, 168, 214],
    [236, 160, 100],
  ],
};

/** The sizes of measured canvases, which change only with the layout. @type {WeakMap<HTMLCanvasElement, [number, number]>} */
const sizes = new WeakMap();

/**
 * Measures canvases, all at once: a measurement between two paintings would make the browser lay out the page again.
 * @param {Iterable<HTMLCanvasElement>} canvases
 */
export function measure(canvases) {
  for (const canvas of canvases) sizes.set(canvas, sizeNow(canvas));
}

/** @param {HTMLCanvasElement} canvas @returns {[number, number]} */
const sizeNow = (canvas) => [canvas.clientWidth || 48, canvas.clientHeight || 36];

/** The size of a canvas, as it was measured last. @param {HTMLCanvasElement} canvas */
export const sizeOf = (canvas) => sizes.get(canvas) ?? sizeNow(canvas);

/**
 * The index, in a picture, of row `r` of step `step`.
 * @param {MachinePicture} picture
 * @param {boolean} stepwise
 * @param {number} step
 * @param {number} r
 */
export const rowAt = ({ side }, stepwise, step, r) => (side === "target" && stepwise ? (step * (step + 1)) / 2 + r : r);

/** The number of rows of a picture at a step. @param {MachinePicture} picture @param {number} step */
export const rowsAt = ({ side, rows }, step) =>
  side === "target" || side === "once" ? Math.min(rows, step + 1) : side === "step" ? 1 : rows;

/**
 * The numbers of one row of a picture at a step.
 * @param {Float32Array} body
 * @param {MachinePicture} picture
 * @param {boolean} stepwise
 * @param {number} step
 * @param {number} r
 */
export function rowOf(body, picture, stepwise, step, r) {
  const { at, width, side } = picture;
  const row = side === "step" ? step : rowAt(picture, stepwise, step, r);
  return body.subarray(at + row * width, at + (row + 1) * width);
}

/**
 * Returns a function that gives numbers between −scale and scale their colours, as pixels; masked ones are grey.
 * @param {Theme} theme
 * @param {boolean} dark
 * @param {number} scale
 */
export function diverging(theme, dark, scale) {
  const ground = rgb(theme.ground);
  const hues = HUES[dark ? "dark" : "light"];
  const colourOf = (/** @type {number} */ value) => {
    if (Number.isNaN(value)) return theme.grey;
    const hue = hues[value < 0 ? 0 : 1];
    const share = value && 0.06 + 0.94 * clamp(Math.abs(value) / scale, 0, 1);
    return pixelOf(ground.map((c, i) => Math.round(c + share * (hue[i] - c))));
  };
  return colourOf;
}

/**
 * Paints rows × columns of colours over a whole canvas, and frames around one row and one column (-1 for none).
 * @param {HTMLCanvasElement} canvas
 * @param {{ columns: number, rows: number, colourOf: (row: number, column: number) => number, marked?: number, column?: number, ink: string, places?: number[] }} picture
 */
export function paint(canvas, { columns, rows, colourOf, marked = -1, column = -1, ink, places = [] }) {
  const [wide, high] = sizeOf(canvas);
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(wide * ratio), Math.round(high * ratio)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const ctx = contextOf(canvas);
  ctx.resetTransform();
  ctx.clearRect(0, 0, w, h);
  if (!columns || !rows) return;
  const small = make("canvas");
  setPixels(small, columns, rows, (pixels) =>
    pixels.forEach((_, i) => (pixels[i] = colourOf(Math.floor(i / columns), columnUnder(places, i % columns)))),
  );
  ctx.imageSmoothingEnabled = rows > h || columns > w;
  ctx.drawImage(small, 0, 0, w, h);
  ctx.strokeStyle = ink;
  ctx.lineWidth = Math.max(1, ratio);
  const line = ctx.lineWidth / 2;
  if (marked >= 0 && marked < rows && rows > 1)
    ctx.strokeRect(line, (marked * h) / rows + line, w - 2 * line, Math.max(h / rows - 2 * line, 1));
  if (column >= 0 && column < columns && columns > 1)
    ctx.strokeRect(
      (columnAt(places, column) * w) / columns + line,
      line,
      Math.max(w / columns - 2 * line, 1),
      h - 2 * line,
    );
}

/**
 * Paints rows of numbers below each other: weights with a mask in the scale of all maps, other numbers in two hues.
 * @param {HTMLCanvasElement} canvas
 * @param {Theme} theme
 * @param {boolean} dark
 * @param {{ rows: ArrayLike<number>[], scale: number, marked: number, column?: number, maskedAt?: (row: number, key: number) => boolean, places?: number[] }} tensor `scale` has the full colour
 */
export function paintRows(canvas, theme, dark, { rows, scale, marked, column, maskedAt, places }) {
  const colour = maskedAt
    ? (/** @type {number} */ weight) => theme.inks[levelOf(weight, { top: scale })]
    : diverging(theme, dark, scale);
  const colourOf = (/** @type {number} */ row, /** @type {number} */ column) =>
    maskedAt?.(row, column) ? theme.grey : colour(rows[row][column]);
  paint(canvas, { columns: rows[0]?.length ?? 0, rows: rows.length, marked, column, ink: theme.ink, colourOf, places });
}

/** The magnitude that 98 % of the numbers stay below. @param {ArrayLike<number>} values */
export function scaleOf(values) {
  const sizes = Array.from(values, Math.abs)
    .filter((size) => !Number.isNaN(size))
    .sort((a, b) => a - b);
  return sizes[Math.floor(0.98 * (sizes.length - 1))] || 1;
}
