// The sizes of the stepper's maps, and what stands beside them.

import { leadsTo, windowHeight } from "./canvas.js";
import { STEEP, labelsOf, plotOf } from "./maps.js";
import { SIDES } from "./names.js";
import { cellSize } from "./map_zoom.js";
import { clamp } from "./numbers.js";
import { presenting, topOf } from "./present.js";
import { placesIn } from "./scripts.js";
import { measureStage } from "./stage.js";
import { lastRead, shownRows } from "./stepper_state.js";

/** @import { Kind, StepperState } from "./types" */

const WIDEST = 80; // maximum size of a cell, in pixels
const OBLONG = [28, 14]; // width and height of a cell with room for its number, in pixels
const MAP = 300; // height up to which a small map shows all its rows, in pixels
export const PHONE = 480; // width of a view whose maps have no room for what rows predict, in pixels
const NARROW = 760; // width of a view in one column, in pixels; stepper.css has the same
const LOW_SCREEN = 900; // height of a screen with room for few lines of words, in pixels
// Heights on a slide: of a row at least and at most, of the rows still to be written, of what is below, and of a map at least.
const [LOWEST, HIGHEST, REST, BELOW, LEAST_MAP] = [6, 80, 25, 8, 230];
// Length of a name on a slide at most, and the size of type of so few names, in pixels.
const [LONGEST, FEW_NAMES, LARGE] = [110, 16, 15];
const NO_WISH = { zoom: 1 };
// Rows on the first screen of a map that scrolls, at least, and the space below them, in pixels.
const [LEAST_ROWS, EDGE] = [5, 8];
const [FEW, LOW] = [8, 12]; // keys in sight of a small map, at least, and the size of their cells, in pixels

/** Measures the words, and sets the sizes of the plots for the available width. @param {StepperState} S */
export function layOut(S) {
  const sizes = S.data.order.map((kind) => {
    const f = S.figures[kind];
    const labels = namesOf(S, kind);
    const { top, bottom } = f.canvas.getBoundingClientRect();
    f.inSight = top < innerHeight && bottom >= 0;
    return { f, kind, m: S.maps[kind], labels, beside: labels.left + Math.max(labels.right, labels.over) + 3 };
  });
  // Side by side only if the small maps have room for a few readable cells; they scroll.
  const needed = Math.max(...sizes.map(({ m, beside }) => beside + Math.min(m.keys, FEW) * LOW));
  const slide = presenting(S.box);
  const single = slide || sizes.length < 2 || S.box.clientWidth * 0.36 - 24 < Math.max(needed, 200);
  S.find(".maps").classList.toggle("single", single);
  const shown = slide ? [S.kind] : S.data.order;
  S.find(".swatch").hidden = !shown.some((kind) => S.maps[kind].mask.some(Boolean));
  S.laidOut = S.kind;
  for (const kind of S.data.order) S.figures[kind].box.classList.toggle("focus", kind === S.kind);
  // The choice of head is above the maps, or if these are stacked or hidden, next to the stage that it changes.
  const home = S.find(single ? ".walk" : ".maps");
  const choice = S.find(".choice");
  const first = slide ? !S.mapped : !single;
  if (choice !== (first ? home.firstElementChild : home.lastElementChild)) home[first ? "prepend" : "append"](choice);
  // On a phone, a slide and a low screen, the translation stays on one line, which ends with the word being written.
  const narrow = slide || S.box.clientWidth <= NARROW || innerHeight < LOW_SCREEN;
  S.find(".stage").classList.toggle("single", S.kind === "cross" && narrow);
  measureStage(S); // the words decide where the maps begin
  const focus = /** @type {HTMLElement} */ (S.figures[S.kind].canvas.parentNode);
  const screen = windowHeight(S.box) - topOf(focus) - EDGE;
  // On a small laptop, the map in focus fits on the screen; in a presentation, it fills the screen.
  const most = Math.max(232, windowHeight(S.box) - 540);
  const least = Math.max(160, windowHeight(S.box) / 4);
  for (const { f, m, kind, labels, beside } of sizes) {
    const tall = single || f === S.figures[S.kind] ? most : least;
    // Upright labels do not reach beyond the map.
    const upright = (f.box.clientWidth - labels.left - labels.right - 3) / m.keys;
    const across = upright < STEEP ? upright : (f.box.clientWidth - beside) / m.keys;
    f.labels = labels;
    f.plot = slide ? slidePlot(S, kind, labels, across) : pagePlot(S, kind, { labels, across, tall, screen });
    Object.assign(f.canvas.style, { width: `${f.plot.width}px`, height: `${f.plot.height}px` });
  }
}

/**
 * The plot of a map on the page. It scrolls by whole rows; zooming it moves nothing below.
 * @param {StepperState} S
 * @param {Kind} kind
 * @param {{ labels: import("./maps.js").Labels, across: number, tall: number, screen: number }} room the width of a column, the height for all rows, and that of the first screen below the upper edge of the map in focus
 */
function pagePlot(S, kind, { labels, across, tall, screen }) {
  const { canvas, wish } = S.figures[kind];
  const m = S.maps[kind];
  // On a phone, rows to come would be a blank strip.
  const queries = S.box.clientWidth <= PHONE ? shownRows(S, kind) : m.queries;
  const isFocus = kind === S.kind;
  const fair = Math.floor(Math.min(across, tall / queries));
  const widest = Math.min(Math.floor(tall / 5), WIDEST);
  // The columns of a long sentence are wider than its rows are high, so that they have room for numbers.
  const sizes = OBLONG.map((least) => (isFocus ? Math.floor(Math.min(across, Math.max(fair, least))) : fair));
  /** The plot in a room, and its height there. @param {{ zoom: number }} zoom @param {number} room */
  const plotAt = (zoom, room) => {
    const [wide, high] = sizes.map((size) => cellSize(size, zoom, m, widest, S.zoom));
    const plot = (/** @type {number} */ seen) => plotOf(labels, { keys: m.keys, queries, seen }, wide, high, isFocus);
    const rowsBelow = (/** @type {number} */ top) => Math.floor((room - top) / high);
    const seen = rowsBelow(plot(rowsBelow(plot(queries).top)).top); // few rows have their title above them
    return seen < queries ? { ...plot(seen), seen: plot(seen).top + seen * high } : { ...plot(queries), seen: 0 };
  };
  const whole = plotAt(NO_WISH, Infinity);
  const most = Math.max(tall, Math.min(whole.tall * queries, MAP));
  // A map that scrolls ends on the first screen, if that has room for a few of its rows.
  const end = isFocus && screen > whole.top + LEAST_ROWS * whole.tall ? screen : Infinity;
  const room = whole.tall * queries > most ? Math.min(whole.top + most, end) : whole.height;
  const { seen, ...plot } = plotAt(wish, room);
  Object.assign(/** @type {HTMLElement} */ (canvas.parentNode).style, {
    maxHeight: seen ? `${seen}px` : "",
    marginBottom: `${Math.max(0, room - (seen || plot.height))}px`,
  });
  return plot;
}

/**
 * The plot of a map on a slide: its columns take the width, and the rows written so far the height.
 * @param {StepperState} S
 * @param {Kind} kind
 * @param {import("./maps.js").Labels} labels
 * @param {number} across the width of a column
 */
function slidePlot(S, kind, labels, across) {
  const { canvas, wish } = S.figures[kind];
  const m = S.maps[kind];
  const rows = shownRows(S, kind);
  const rest = rows < m.queries ? REST : 0;
  const wide = cellSize(Math.floor(across), wish, m, WIDEST, S.zoom);
  const { top } = plotOf(labels, m, wide, wide, true);
  const sheet = /** @type {HTMLElement} */ (canvas.parentNode);
  const above = sheet.getBoundingClientRect().top - S.box.getBoundingClientRect().top;
  const room = windowHeight(S.box) - above / S.zoom - S.box.scrollTop - top - rest - BELOW;
  const inPixels = (/** @type {number} */ size) => Math.floor(size * S.zoom) / S.zoom;
  const fair = clamp(inPixels(room / rows), LOWEST, Math.max(wide, HIGHEST));
  Object.assign(sheet.style, { maxHeight: `${Math.max(room + rest + top, LEAST_MAP)}px`, marginBottom: "" });
  return plotOf(labels, { keys: m.keys, queries: rows + rest / fair }, wide, inPixels(fair * wish.zoom), true);
}

/** The labels of a map; decoder rows of the map in focus also name the token that they predict. @param {StepperState} S @param {Kind} kind */
function namesOf(S, kind) {
  const { rows, columns } = S.maps[kind];
  const writes = kind === S.kind && kind !== "encoder" && S.box.clientWidth > PHONE;
  const { target } = S.data;
  const leads = (/** @type {number} */ at) => (at < target.given ? "" : leadsTo(target.predicted[at]));
  const ends = writes ? rows.map((_, row) => leads(lastRead(S, row))) : [];
  const places = placesIn(S, SIDES[kind][1], columns);
  const most = presenting(S.box) || (kind === S.kind && S.box.clientWidth > NARROW) ? LONGEST : undefined;
  const size = presenting(S.box) && columns.length <= FEW_NAMES ? LARGE : undefined;
  return labelsOf(S.figures[kind].canvas, S.theme.font, { rows, ends, columns, places }, most, true, size);
}
