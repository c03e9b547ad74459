// The size of a large map's cells, and the part of it that is in sight: maps of long sentences scroll, with their labels
// pinned to the edges, and follow the row in view. Where only every n-th label has room, those that matter go first.

import { columnAt } from "./canvas.js";
import { clamp } from "./numbers.js";
import { NAMED_FROM } from "./weights.js";
import { inSentence, t } from "./words.js";

/** @import { Plot } from "./types" */

export const READABLE = 12; // minimum size of a cell unless somebody zooms out, in pixels of the screen
const [LEAST, MOST] = [3, 96]; // size of a cell, in pixels
const STEP = 1.25;
const AREA = 16e6; // maximum area of a canvas, in screen pixels

/** How large the reader wants the cells, as a factor; 1 = as large as fit. @typedef {{ zoom: number }} Zoom */
/** The part of a map in sight: its corner and its size, in pixels of the canvas. @typedef {{ x: number, y: number, width: number, height: number }} Sight */

/**
 * The size of a cell: what fits, but never too small to read unless the reader zooms out.
 * @param {number} fitting
 * @param {Zoom} wish
 * @param {{ keys: number, queries: number }} cells
 * @param {number} [widest] maximum size unless the reader zooms in
 * @param {number} [by] how much the page magnifies the map
 */
export function cellSize(fitting, { zoom }, { keys, queries }, widest = MOST, by = 1) {
  const most = Math.min(MOST, Math.sqrt(AREA / (keys * queries)) / (window.devicePixelRatio || 1));
  return clamp(Math.round(clamp(fitting, READABLE / by, widest) * zoom), LEAST, Math.max(LEAST, Math.floor(most)));
}

/**
 * Lets the buttons of a map, the keys + and −, and the wheel with Ctrl zoom.
 * @param {HTMLElement} figure
 * @param {Zoom} wish
 * @param {() => void} redraw
 * @returns {(by: number) => void} zooms in (1), out (−1), or to the fitting size (0)
 */
export function listenToZoom(figure, wish, redraw) {
  const zoom = (/** @type {number} */ by) => {
    wish.zoom = by ? clamp(wish.zoom * STEP ** by, 0.1, 10) : 1;
    redraw();
  };
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (figure.querySelectorAll(".zoom button")))
    button.onclick = () => zoom(Number(button.value));
  figure.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault(); // the page would zoom
      zoom(event.deltaY < 0 ? 1 : -1);
    },
    { passive: false },
  );
  figure.querySelector("canvas")?.parentNode?.addEventListener("scroll", redraw);
  return zoom;
}

/** The part of a map in sight, or null if it does not scroll. @param {HTMLElement} box @returns {Sight | null} */
export function sightOf(box) {
  const { scrollLeft: x, scrollTop: y, clientWidth: width, clientHeight: height } = box;
  return box.scrollWidth > width || box.scrollHeight > height ? { x, y, width, height } : null;
}

/**
 * Scrolls a map to cells of a row that are out of sight, each to the middle, beside the labels: the last one in any case.
 * @param {HTMLElement} box
 * @param {Plot} plot
 * @param {number} right width of the labels on the right, in pixels
 * @param {number} row
 * @param {number[]} columns
 */
export function bringIntoSight(box, { left, top, cell, tall, places }, right, row, columns) {
  /** @type {(at: number, index: number, size: number, room: number, end: number) => number} */
  const shifted = (at, index, size, room, end) => {
    const isInSight = clamp(at, (index + 1) * size - room, index * size) === at;
    const cells = isInSight ? Math.ceil(Math.round(at) / size) : Math.round(index + 0.5 - room / 2 / size);
    const whole = size * Math.min(cells, Math.floor(end / size)); // the first cell is whole
    return (index + 1) * size - room > whole ? end : whole;
  };
  const { clientWidth, clientHeight } = box;
  box.scrollTop = shifted(box.scrollTop, row, tall, clientHeight - top, box.scrollHeight - clientHeight);
  const [room, end] = [clientWidth - left - right, box.scrollWidth - clientWidth];
  for (const column of columns) box.scrollLeft = shifted(box.scrollLeft, columnAt(places, column), cell, room, end);
}

/**
 * How many rows and columns of a map that scrolls are not wholly in sight on each side.
 * @param {Sight | null} sight
 * @param {Plot} plot
 * @param {number} right width of the labels on the right, in pixels
 * @param {number} rows
 * @param {number} columns
 */
export function beyondEdge(sight, { left, top, cell, tall }, right, rows, columns) {
  if (!sight) return { above: 0, below: 0, before: 0, after: 0 };
  const { x, y, width, height } = sight;
  const hidden = (/** @type {number} */ pixels, /** @type {number} */ size) =>
    Math.max(0, Math.ceil((pixels - 1) / size));
  return {
    above: hidden(y, tall),
    below: hidden(rows * tall - (y + height - top), tall),
    before: hidden(x, cell),
    after: hidden(columns * cell - (x + width - left - right), cell),
  };
}

/** What to know about the parts of a map that are out of sight. @param {ReturnType<typeof beyondEdge>} beyond */
export const aboutEdges = ({ above, below, before, after }) =>
  [
    above && t("{n} row above", "{n} rows above", { n: above }),
    below && t("{n} row below", "{n} rows below", { n: below }),
    before && t("{n} column to the left", "{n} columns to the left", { n: before }),
    after && t("{n} column to the right", "{n} columns to the right", { n: after }),
  ].filter(Boolean);

/** What to know about the numbers of a map: which are left out, or where they are read. @param {number | null | undefined} least as `paintMap` returns it */
export function aboutNumbers(least) {
  if (least === null) return t("numbers: choose a cell");
  return least ? t("no number: below {least}", { least: inSentence(`${least}`) }) : "";
}

/**
 * The rows or columns that have a label, where one fits to every `every` of them: the first ones named, then regular ones.
 * @param {number} count
 * @param {number} every
 * @param {(number | null)[]} first
 */
export function labelled(count, every, first) {
  const regular = Array.from({ length: Math.ceil(count / every) }, (_, i) => i * every);
  /** @type {number[]} */
  const kept = [];
  for (const i of [...first, ...regular])
    if (i !== null && kept.every((each) => Math.abs(each - i) >= every)) kept.push(i);
  return kept;
}

/** The keys that a row looks at, heaviest first. @param {ArrayLike<number>} values @param {number} from @param {number} keys */
export const keysLookedAt = (values, from, keys) =>
  Array.from({ length: keys }, (_, key) => key)
    .filter((key) => values[from + key] >= NAMED_FROM)
    .sort((a, b) => values[from + b] - values[from + a]);
