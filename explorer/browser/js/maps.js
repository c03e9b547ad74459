// Paints maps of weights for all views: rows are queries with query 0 on top, columns are keys with their labels above.

import { columnAt, contextOf, isolated, paper } from "./canvas.js";
import { make } from "./dom.js";
import { hatch, isPadding } from "./hatch.js";
import { inkOn } from "./ink.js";
import { FUTURE } from "./names.js";
import { CONDENSED, condensed, drawMarks, fade, hiddenNumbers, rule } from "./map_marks.js";
import { keysLookedAt, labelled } from "./map_zoom.js";
import { cellNumber, clamp, withZero } from "./numbers.js";
import { LEAST_PRESENTED } from "./present.js";
import { linesOf, shorten } from "./scripts.js";
import { inSentence, t } from "./words.js";

/** @import { Plot, Theme } from "./types" */

/**
 * A scale from weights to colours: linear up to `top`, or logarithmic.
 * @typedef {{ top: number, log?: boolean }} Scale
 */
/** `closing`: cells that a later mask closes; `padding`: how many of the last rows are. @typedef {{ keys: number, queries: number, mask: Uint8Array, closing?: Uint8Array, padding?: number }} Cells */
/** Maps with one pixel per cell, and the corner of each. @typedef {{ canvas: HTMLCanvasElement, corners: [number, number][] }} Sheet */
/** @typedef {ReturnType<typeof labelsOf>} Labels */
/** @import { Sight } from "./map_zoom.js" */
/** @import { Mark } from "./map_marks.js" */

// The smallest type in cells and beside rows, and the width and height of a cell with room for a number in it, in pixels.
const SMALL = [10, 20, 14];
const MAGNIFIED = [7, 14, 7]; // in a presentation
const WRITTEN_FROM = 0.05; // weight from which numbers are written where they are crowded in a presentation
export const AXIS = 17; // height of an axis title, in pixels
const [LABEL, LEAST] = [82, 126]; // maximum length of a label, and minimum size of a plot without its labels, in pixels
export const [LYING, CORNER] = [80, 92]; // room beside the rows for their title above them, or for that of the keys, in pixels
const TILT = Math.PI / 3.4; // angle of the key labels
export const STEEP = 18; // size of cells below which key labels stand upright, since tilted ones would touch, in pixels
const [MANY, TIGHT] = [12, 12]; // room is for upright labels from so many keys, for tilted ones at this size of cells
const LEADING = 1.15; // distance between labels, as a factor of their type
const REST = 12; // size of type where rows are to come, in pixels
const FAINTEST = 1e-4; // weight at the lower end of the logarithmic scale

/** The plot of a map that has not been drawn. @type {Plot} */
export const NOWHERE = {
  left: 0,
  top: 0,
  cell: 0,
  tall: 0,
  flat: false,
  places: [],
  upright: true,
  beside: false,
  width: 0,
  height: 0,
};
/** The scale of weights from 0 to 1. */
export const UNIT = { top: 1 };

/** The elements of the map of a kind, which is not drawn yet. @param {import("./types").Find} find @param {string} kind @returns {import("./types").HeadsFigure} */
export function figureOf(find, kind) {
  const [box, canvas, title, about] = ["", "canvas", "b", "small"].map((name) => find(`figure.${kind} ${name}`));
  return {
    box,
    canvas: /** @type {HTMLCanvasElement} */ (canvas),
    title,
    about,
    plot: NOWHERE,
    wish: { zoom: 1 },
    zoom() {},
  };
}

/** The position of a weight on the scale, from 0 to 255. @param {number} weight @param {Scale} scale */
export function levelOf(weight, { top, log }) {
  if (!log) return clamp(Math.round((255 * weight) / top), 0, 255);
  return weight < FAINTEST ? 0 : clamp(Math.round(255 * (1 - Math.log10(weight) / Math.log10(FAINTEST))), 0, 255);
}

/** The positions of weights on the logarithmic scale; a function of its own for speed, like `fillRow`. @param {ArrayLike<number>} weights */
function logLevels(weights) {
  const levels = new Uint8ClampedArray(weights.length); // rounds and clamps
  const unit = 255 / -Math.log(FAINTEST);
  for (let i = 0, count = weights.length; i < count; i++) levels[i] = 255 + unit * Math.log(weights[i]);
  return levels;
}

/**
 * Sets the size of a canvas, and its pixels to the colours that `fill` writes, as numbers (see `pixelOf`).
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 * @param {(pixels: Uint32Array) => void} fill
 */
export function setPixels(canvas, width, height, fill) {
  const image = new ImageData(width, height);
  fill(new Uint32Array(image.data.buffer));
  Object.assign(canvas, { width, height });
  contextOf(canvas).putImageData(image, 0, 0);
}

/**
 * Writes the colours of consecutive cells; masked ones are grey. A function of its own without calls, because it runs
 * through up to a million cells.
 * @param {Uint32Array} pixels
 * @param {number} at
 * @param {ArrayLike<number>} values
 * @param {number} from
 * @param {number} count
 * @param {number} unit levels of the scale for each unit of weight
 * @param {Uint8Array} mask
 * @param {{ inks: Uint32Array, grey: number }} theme
 */
function fillRow(pixels, at, values, from, count, unit, mask, { inks, grey }) {
  for (let i = from, end = from + count; i < end; i++, at++) {
    const level = Math.round(values[i] * unit);
    pixels[at] = mask[i] ? grey : inks[level < 0 ? 0 : level > 255 ? 255 : level];
  }
}

/** Paints one map over a whole canvas, one pixel per cell. @param {HTMLCanvasElement} canvas @param {Theme} theme @param {Cells} cells @param {Uint8Array} levels of the colour scale */
export function paintCells(canvas, theme, { keys, queries, mask }, levels) {
  setPixels(canvas, keys, queries, (pixels) => fillRow(pixels, 0, levels, 0, keys * queries, 1, mask, theme));
}

/**
 * Paints maps of the same cells with one pixel per cell, to be enlarged on drawing. They share one canvas, because a
 * canvas costs the browser more than its content.
 * @param {Theme} theme
 * @param {Cells} cells
 * @param {ArrayLike<number>[]} maps
 * @param {Scale} [scale]
 * @returns {Sheet}
 */
export function sheetOf(theme, { keys, queries, mask }, maps, scale = UNIT) {
  // One pixel between maps keeps their colours from mixing when they are scaled down.
  const wide = keys + 1;
  const across = clamp(Math.floor(4096 / wide), 1, maps.length);
  const width = across * wide;
  const canvas = make("canvas");
  const corners = maps.map(
    (_, i) => /** @type {[number, number]} */ ([(i % across) * wide, Math.floor(i / across) * (queries + 1)]),
  );
  setPixels(canvas, width, Math.ceil(maps.length / across) * (queries + 1), (pixels) =>
    maps.forEach((weights, i) => {
      const [x, y] = corners[i];
      const values = scale.log ? logLevels(weights) : weights;
      for (let q = 0; q < queries; q++)
        fillRow(pixels, (y + q) * width + x, values, q * keys, keys, scale.log ? 1 : 255 / scale.top, mask, theme);
    }),
  );
  return { canvas, corners };
}

/**
 * Draws the first rows of one map of a sheet, scaled to cells of this size.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Sheet} sheet
 * @param {number} i
 * @param {number} keys
 * @param {number} rows
 * @param {{ left: number, top: number, wide: number, high: number, places: number[] }} to the corner, the size of a cell, and the places of the keys
 */
export function drawCells(ctx, { canvas, corners }, i, keys, rows, { left, top, wide, high, places }) {
  let [from, x, y] = [canvas, ...corners[i]];
  if (places.length) {
    // In pixels of its own first: scaled columns would have seams between them.
    from = Object.assign(make("canvas"), { width: keys, height: rows });
    const columns = contextOf(from);
    places.forEach((place, key) => columns.drawImage(canvas, x + key, y, 1, rows, place, 0, 1, rows));
    [x, y] = [0, 0];
  }
  ctx.drawImage(from, x, y, keys, rows, left, top, keys * wide, rows * high);
}

/**
 * The labels of a map, shortened to fit beside it, and the room that they take. The readout and the table have the full
 * tokens.
 * @param {HTMLCanvasElement} canvas
 * @param {string} font
 * @param {{ rows: string[], ends: string[], columns: string[], places: number[] }} names of rows on the left, of rows on the right, of columns, and the places of these
 * @param {number} [most] maximum length of a label, in pixels
 * @param {boolean} [counts] whether names still need their positions
 * @param {number} [size] of their type, at most
 */
export function labelsOf(canvas, font, { rows, ends, columns, places }, most = LABEL, counts = true, size = 12) {
  const ctx = contextOf(canvas);
  const fit = (/** @type {string} */ text) =>
    linesOf(text)
      .map((line) => shorten(ctx, line, most))
      .join("\n");
  // The position distinguishes repeated words.
  const label = (/** @type {string} */ token, /** @type {number} */ i) =>
    fit(counts ? `${i + 1} ${isolated(token)}` : isolated(token));
  const widest = (/** @type {string[]} */ texts) =>
    Math.ceil(Math.max(0, ...texts.flatMap(linesOf).map((line) => ctx.measureText(line).width)));
  ctx.letterSpacing = "0px"; // numbers drawn before may have had another one
  ctx.font = `700 ${size}px ${font}`; // labels of the row and the column in view are bold
  const names = rows.map(label);
  const keys = columns.map(label);
  const left = AXIS + widest(names) + 10;
  const wideKeys = widest(keys);
  ctx.font = `${size}px ${font}`;
  const others = ends.map(fit);
  const right = ends.length ? widest(others) + 10 : 0;
  // Tilted labels of the keys on the right reach beyond the map.
  const over = Math.max(
    0,
    ...keys.map((key, k) => widest([key]) * Math.cos(TILT) - TIGHT * (keys.length - 0.5 - columnAt(places, k))),
  );
  return {
    names,
    others,
    keys,
    left,
    right,
    over,
    places,
    wideKeys,
    size,
    above: AXIS + wideKeys * (keys.length > MANY ? 1 : Math.sin(TILT)) + 18,
  };
}

/** The smallest type of keys and titles: larger in a presentation. @param {HTMLCanvasElement} canvas */
const leastType = (canvas) => (canvas.closest(".presenting") ? LEAST_PRESENTED : 10);

/** The smallest type in cells and beside rows, and the size of such cells. @param {HTMLCanvasElement} canvas */
const densest = (canvas) => (canvas.closest(".presenting") ? MAGNIFIED : SMALL);

/** The angle of the key labels over cells of this size. @param {number} cell */
const tiltOf = (cell) => (cell < STEEP ? Math.PI / 2 : TILT);

/**
 * The place of a map with cells of this size on its canvas, and the size of the canvas.
 * @param {Labels} labels
 * @param {{ keys: number, queries: number, seen?: number }} cells and how many rows are in sight at a time
 * @param {number} cell
 * @param {number} tall the height of a row
 * @param {boolean} low whether the title of the keys stands beside their labels, and not above them
 */
export function plotOf({ left, right, over, places, wideKeys }, cells, cell, tall = cell, low = false) {
  const { keys, queries, seen = queries } = cells;
  const flat = cell > wideKeys + 5; // whether the labels of keys have room side by side
  const width = Math.ceil(left + Math.max(keys * cell + Math.max(right, flat || cell < STEEP ? 0 : over) + 2, LEAST));
  const upright = seen * tall >= LEAST || left < LYING; // whether the title of the rows stands beside them
  const beside = low && !flat && upright && left >= CORNER;
  const top = Math.ceil((beside ? 0 : AXIS) + (flat ? 20 : wideKeys * Math.sin(tiltOf(cell)) + 12));
  const height = top + Math.max(queries * tall + 4, upright ? LEAST + 20 : 0);
  return { left, top, cell, tall, flat, places, upright, beside, width, height };
}

/**
 * The content of a painted map.
 * @typedef {object} Picture
 * @property {Cells} cells
 * @property {number} rows how many rows are drawn
 * @property {Sheet} sheet
 * @property {number} at the map's place on the sheet
 * @property {ArrayLike<number>} values
 * @property {ArrayLike<number>} [sizes] the numbers of which the larger is written where two would touch, if not `values`
 * @property {Scale} [scale]
 * @property {(value: number, i: number) => string} [numberOf] the number in a cell with this value
 * @property {number} [largest] size of type of the numbers, at most, in pixels
 * @property {boolean} [isSmall] whether numbers may be smaller, and wider than a cell; of neighbours that would touch, the framed one or the larger one is written
 * @property {() => void} [leaveOut] is called for each number that has no room beside another
 * @property {string} [letterSpacing] of the numbers
 * @property {Labels} labels
 * @property {[string, string]} titles of the axes: rows, columns
 * @property {number | null} [row] the row in view
 * @property {number | null} [column]
 * @property {{ rows: number[], columns: number[] }} [named] rows and columns that a text names: their labels are bold, as of those in view
 * @property {(pen: Pen) => void} [instead] writes numbers where cells are too small for all of them
 * @property {boolean} [ruled] whether thin lines separate the cells
 * @property {{ rows: [number, number], columns: [number, number] } | null} [brush] the cells that are not faded
 * @property {Mark[]} [marks]
 * @property {Sight | null} [sight] the part in sight, to whose edges the labels are pinned; null = all of it
 */

/**
 * Paints a map with its labels, numbers and marks; returns the weight below which none is written, 0 if all are, or null
 * if the cells are too small for numbers.
 * @param {HTMLCanvasElement} canvas
 * @param {Theme} theme
 * @param {Plot} plot
 * @param {Picture} picture
 * @param {number} [zoom] how much the page magnifies the canvas
 */
export function paintMap(canvas, theme, plot, picture, zoom) {
  const ctx = paper(canvas, plot.width, plot.height, zoom);
  const { left, top, cell, tall, places } = plot;
  const {
    cells: { keys, queries, mask, closing, padding },
    rows,
  } = picture;
  const pen = { ctx, theme, ...plot, keys, mask, closing, padding, rows, wide: keys * cell, high: rows * tall };
  Object.assign(ctx, { fillStyle: theme.ink, strokeStyle: theme.ink, lineWidth: 1, textBaseline: "middle" });
  drawCells(ctx, picture.sheet, picture.at, keys, rows, { left, top, wide: cell, high: tall, places });
  if (cell > 4) hatch(pen);
  if (picture.ruled && cell > 7) rule(pen);
  const [, roomy, high] = densest(canvas);
  // Numbers lie above frames, unless other cells fade.
  const marks = picture.marks ?? [];
  ctx.globalAlpha = 1;
  if (!picture.brush) drawMarks(pen, marks);
  Object.assign(ctx, { strokeStyle: theme.ink, lineWidth: 1 });
  const unwritten = picture.isSmall || (cell >= roomy && tall >= high) ? writeNumbers(pen, picture) : null;
  if (unwritten === null) picture.instead?.(pen);
  if (picture.brush) fade(pen, picture.brush);
  ctx.globalAlpha = 0.35;
  ctx.strokeRect(left - 0.5, top - 0.5, pen.wide + 1, pen.high + 1);
  ctx.globalAlpha = 1;
  if (rows < queries) frameRest(pen, queries, picture);
  if (picture.brush) drawMarks(pen, marks);
  writeLabels(pen, picture);
  return unwritten;
}

/** The context and place in which all parts of a map are painted. @typedef {Plot & Omit<Cells, "queries"> & { ctx: CanvasRenderingContext2D, theme: Theme, rows: number, wide: number, high: number }} Pen */

/**
 * Writes the titles of the axes, and the labels. If there is no room for all, those of the row and column in view and of
 * the keys that this row looks at go first.
 * @param {Pen} pen
 * @param {Picture} picture
 */
function writeLabels(
  { ctx, ctx: { canvas }, theme, left, top, cell, tall, flat, places, upright, beside, keys, mask, rows, wide },
  { values, labels, titles, row = null, column = null, named, sight },
) {
  const x0 = sight?.x ?? 0; // where the labels are pinned
  const y0 = sight?.y ?? 0;
  const end = sight ? Math.min(left + wide, x0 + sight.width - labels.right) : left + wide;
  if (sight) {
    Object.assign(ctx, { fillStyle: theme.ground, globalAlpha: 1 });
    ctx.fillRect(x0, y0, sight.width, top - 1);
    ctx.fillRect(x0, y0, left - 1, sight.height);
    if (end < left + wide) ctx.fillRect(end + 2, y0, labels.right, sight.height);
  }
  Object.assign(ctx, { fillStyle: theme.ink, globalAlpha: 1 });
  const least = leastType(canvas);
  const [lowest] = densest(canvas);
  const everyOf = (/** @type {number} */ step, low = least) => Math.ceil((low * LEADING) / step);
  const sizeOf = (/** @type {number} */ step, low = least) =>
    clamp(Math.floor((everyOf(step, low) * step) / LEADING), low, labels.size);
  /** @type {(text: string, x: number, y: number, align: CanvasTextAlign, size: number, alpha?: number, weight?: number, tilt?: number) => void} */
  const write = (text, x, y, textAlign, size, globalAlpha = 1, weight = 400, tilt = 0) => {
    const points = tilt || !text.includes("\n") ? size : Math.min(size, tall / 2);
    ctx.save();
    Object.assign(ctx, { font: `${weight} ${points}px ${theme.font}`, textAlign, globalAlpha, letterSpacing: "0px" });
    ctx.translate(x, y);
    ctx.rotate(tilt);
    const lines = linesOf(text);
    const last = (lines.length - 1) / (tilt % (Math.PI / 2) ? 1 : 2); // a slanting line has no room below it
    lines.forEach((line, i) => ctx.fillText(line, 0, (i - last) * points));
    ctx.restore();
  };
  const small = Math.max(least, 11);
  if (!beside) write(titles[1], x0 + left, y0 + AXIS / 2, "left", small, 0.75);
  if (upright) write(titles[0], x0 + AXIS / 2, y0 + top, "right", small, 0.75, 400, -Math.PI / 2);
  const lines = upright && !beside ? [] : titles[Number(beside)].split(left < LYING ? " " : / (?=\()/).reverse();
  const [corner, align] = beside ? /** @type {const} */ ([left - 6, "right"]) : /** @type {const} */ ([2, "left"]);
  lines.forEach((line, i) => write(line, x0 + corner, y0 + top - 10 - i * small * LEADING, align, small, 0.75));
  const type = sizeOf(tall, lowest);
  for (const q of labelled(rows, everyOf(tall, lowest), [row])) {
    const y = top + (q + 0.5) * tall;
    if (y < y0 + top) continue;
    write(labels.names[q], x0 + left - 6, y, "right", type, 1, q === row || named?.rows.includes(q) ? 700 : 400);
    if (labels.others[q]) write(labels.others[q], end + 8, y, "left", type, 0.75);
  }
  const size = sizeOf(cell);
  const looked = row === null ? [] : keysLookedAt(values, row * keys, keys);
  for (const k of labelled(keys, everyOf(cell), [column, ...looked])) {
    // A word that the decoder has not read yet has no label.
    if (mask[(rows - 1) * keys + k] === FUTURE) continue;
    const x = left + (columnAt(places, k) + 0.5) * cell;
    if (x < x0 + left + (x0 && !flat ? size / 2 : 0) || x > end) continue; // it would touch the title
    const weight = k === column || named?.columns.includes(k) ? 700 : 400;
    if (flat) write(labels.keys[k], x, y0 + top - 10, "center", size, 1, weight);
    else write(labels.keys[k], x, y0 + top - 6, "left", size, 1, weight, -tiltOf(cell));
  }
}

/** Writes the numbers into the cells; returns what `paintMap` returns. @param {Pen} pen @param {Picture} picture */
function writeNumbers(
  { ctx, theme, left, top, cell, tall, places, keys, mask, closing, padding = 0, rows },
  {
    values,
    sizes = values,
    scale = UNIT,
    numberOf,
    largest = 24,
    isSmall,
    leaveOut,
    letterSpacing = "0px",
    marks = [],
  },
) {
  const least = isSmall ? 9 : densest(ctx.canvas)[0];
  const full = clamp(Math.round(Math.min(cell / 2, tall / 1.4)), least, largest);
  const crowded = full < leastType(ctx.canvas);
  const edges = isSmall ? 3 : crowded ? 2 : clamp(Math.floor(cell / 8), 2, 6); // neighbours do not read as one
  const from = crowded ? WRITTEN_FROM : 0.005;
  const write = numberOf ?? ((/** @type {number} */ value) => (value < from && value ? "" : cellNumber(value)));
  const room = cell - edges;
  const short = Array.from({ length: rows * keys }, (_, i) => (mask[i] ? "" : write(values[i], i)));
  const whole = short.map(withZero);
  Object.assign(ctx, { font: `${full}px ${theme.font}`, textAlign: "center", globalAlpha: 1, letterSpacing });
  const sizeOf = (/** @type {string[]} */ texts, /** @type {string} */ rare) => {
    // In a crowd, the rare ">.99" is condensed; a number of the smallest type always may be.
    const longest = crowded ? rare : texts.reduce((most, text) => (text.length > most.length ? text : most), "");
    const fitting = (full * room) / ctx.measureText(longest).width;
    return Math.min(full, Math.max(Math.floor(fitting), Math.min(least, Math.floor(fitting / CONDENSED))));
  };
  const rare = inSentence(".55");
  let [texts, size] = [whole, sizeOf(whole, withZero(rare))];
  if (size < least) [texts, size] = [short, sizeOf(short, rare)];
  if (size < least && !isSmall) return null; // the numbers would touch
  ctx.font = `${Math.max(size, least)}px ${theme.font}`;
  const framed = new Set(marks.map(({ row = -1, column = -1 }) => row * keys + column));
  const widths = texts.map((text) => condensed(ctx.measureText(text).width, cell));
  const isHidden = isSmall ? hiddenNumbers(widths, sizes, framed, { keys, cell, places }) : () => false;
  texts.forEach((text, i) => {
    if (!text) return;
    if (isHidden(i)) return leaveOut?.();
    ctx.fillStyle = isPadding({ keys, rows, closing, padding }, i)
      ? theme.ink
      : inkOn(theme.scale[levelOf(values[i], scale)]);
    const x = left + (columnAt(places, i % keys) + 0.5) * cell;
    ctx.fillText(text, x, top + (Math.floor(i / keys) + 0.5) * tall + 0.5, isSmall ? widths[i] : room);
  });
  return texts.some((text, i) => !text && !mask[i]) ? from : 0;
}

/** Draws the beginning of the rows that are still to be written, so that the last one does not look like an end. @param {Pen} pen @param {number} queries @param {Picture} picture */
function frameRest({ ctx, theme, left: start, top, tall, wide: whole, high }, queries, { sight, labels }) {
  const left = start + (sight?.x ?? 0);
  const wide = sight ? Math.min(start + whole, sight.x + sight.width - labels.right - 2) - left : whole;
  const end = top + queries * tall;
  const rest = Math.min(3 * REST, (sight ? Math.min(end, sight.y + sight.height - 2) : end) - top - high);
  const text = t("not yet written");
  ctx.save();
  Object.assign(ctx, { globalAlpha: 0.6, textAlign: "center", font: `${REST}px ${theme.font}`, fillStyle: theme.ink });
  if (rest > REST && wide > ctx.measureText(text).width + 8) {
    ctx.fillText(text, left + wide / 2, top + high + rest / 2);
    ctx.setLineDash([2, 4]);
    ctx.beginPath();
    for (const x of [left - 0.5, left + wide + 0.5]) ctx.rect(x, top + high, 0, rest);
    ctx.stroke();
  }
  ctx.restore();
}
