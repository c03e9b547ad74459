// The large map of one head: rows are queries with query 0 on top, key labels are on top, cells hold numbers if they
// fit.

import { cellUnder, columnBeside, isolated, leadsTo, magnification } from "./canvas.js";
import { rgb } from "./colours.js";
import { say } from "./dom.js";
import { fitCells } from "./heads_layout.js";
import { pictureOf, scaleOf } from "./heads_colours.js";
import {
  chooseCell,
  columnInView,
  headInView,
  kindsShown,
  mapOf,
  openHead,
  rowInView,
  rowOf,
  shownRows,
  showsLarge,
} from "./heads_state.js";
import { labelsOf, paintMap, plotOf } from "./maps.js";
import { AXES, KINDS, NEXT_READ, SIDES, TITLES, layerName, nameInLayer, predictedRows } from "./names.js";
import { clamp } from "./numbers.js";
import { aboutNumbers, beyondEdge, bringIntoSight, cellSize, listenToZoom, sightOf } from "./map_zoom.js";
import { presenting, roomBelow } from "./present.js";
import { arrowOf, placesIn } from "./scripts.js";
import { sayKind } from "./terms.js";
import { redraw } from "./view.js";
import { keysToShow, weightsOf } from "./weights.js";
import { t } from "./words.js";

/** @import { HeadsState, Kind, KindMap, MapCell } from "./types" */

/** @typedef {import("./maps.js").Labels} Labels */

const ASIDE = 258; // minimum width of the thumbnails beside the map of one head, in pixels
const NARROW = 62; // maximum length of labels side by side, in pixels
const SMALLEST = 12; // size of cells side by side, and of those that a large map beside thumbnails has room for, in pixels
const LEAST_WIDE = 72; // of a thumbnail beside a large map that needs more than half of the width, in pixels
const [TIGHT, SMALL_TYPE] = [14, 10]; // size of cells from which labels are in full type, and the type of others, in pixels
const WIDEST = 96; // size of cells, in pixels
const GAP = 20; // between maps side by side, in pixels
const ROOM_OF_LONG = 320; // minimum height of a map that scrolls, in pixels
const UNDER = 176; // height of thumbnails and readout below maps side by side, in pixels
const READABLE = 286; // minimum height of maps side by side, whatever is below them, in pixels

// A decoder row reads one word and predicts another: one labels the row on its left, the other on its right.
/** @param {HeadsState} S @param {KindMap} m @param {number} q */
export const nameOfRow = (S, m, q) => (S.next && m.predicted[q]) || m.rows[q];
/** @param {HeadsState} S @param {KindMap} m @param {number} q */
const otherName = (S, m, q) =>
  !m.predicted[q] ? "" : S.next ? t("after {word}", { word: isolated(m.rows[q]) }) : leadsTo(m.predicted[q]);
/** @param {HeadsState} S @param {Kind} kind */
export const rowTitle = (S, kind) =>
  kind !== "encoder" && S.next
    ? S.data.target.by === NEXT_READ
      ? t("next token read")
      : predictedRows()
    : AXES[kind][0];

/**
 * Gives the thumbnails beside the map of one head the width that the map leaves, and a large map beside all thumbnails
 * half of the width, or more if its sentence is long.
 * @param {HeadsState} S
 */
export function shareWidth(S) {
  const wide = S.box.clientWidth;
  const m = kindsShown(S).length < 2 && wide > 760 ? mapOf(S, S.kind) : undefined;
  S.box.style.setProperty("--aside", `${ASIDE}px`);
  if (!m) return;
  if (S.view === "head") {
    const room = S.find(".sheet").clientWidth;
    const { labels, cell } = fitMap(S, m, room, highOf(S));
    const left = room - sizeOf({ m, labels }).beside - m.keys * cell - 8;
    if (left > 0) S.box.style.setProperty("--aside", `${ASIDE + Math.floor(left)}px`);
  } else if (S.box.dataset.large === "beside") {
    const needed = sizeOf({ m, labels: namesOf(S, m, undefined, SMALL_TYPE) }).beside + m.keys * SMALLEST + 8;
    const most = wide - GAP - (m.heads + 1) * LEAST_WIDE;
    S.box.style.setProperty("--large", `${Math.max(0.485 * wide, Math.min(needed, most))}px`);
  }
}

/** @param {HeadsState} S */
export function drawMaps(S) {
  const sheet = S.find(".figures");
  const large = showsLarge(S) && sheet.clientWidth > 0; // a lesson hides the large map
  const kinds = S.view === "head" || large ? kindsShown(S) : [];
  for (const kind of KINDS) S.figures[kind].box.hidden = !kinds.includes(kind);
  const several = kinds.length > 1;
  const room = sheet.clientWidth;
  const maps = kinds.map((kind) => mapOf(S, kind)).filter((m) => m !== undefined);
  const narrow = several ? maps.map((m) => ({ m, labels: namesOf(S, m, NARROW) })) : [];
  // Side by side, all maps have cells of one size; if these would be too small to read, the maps are stacked.
  const space = several ? clamp(roomBelow(sheet, presenting(S.box)) - UNDER, READABLE, 560) : highOf(S);
  const shared = several ? fitCells(narrow.map(sizeOf), room - GAP * (maps.length - 1) - 6, space) : 0;
  const apart = several && shared < SMALLEST;
  sheet.classList.toggle("apart", apart);
  for (const kind of kinds) nameHead(S, kind);
  for (const m of maps) {
    const beside = narrow.find((map) => map.m === m && !apart);
    const high = apart ? 560 : space;
    if (beside) drawHead(S, { ...beside, cell: cellSize(shared, S.figures[m.kind].wish, m, WIDEST) }, Infinity);
    else drawHead(S, fitMap(S, m, room, high), high);
  }
}

/** A map with its labels and the size of its cells. @typedef {{ m: KindMap, labels: Labels, cell: number }} Fitted */

/** A map alone in a space. Small cells have labels in small type, which leave room for more cells. @param {HeadsState} S @param {KindMap} m @param {number} wide @param {number} high @returns {Fitted} */
function fitMap(S, m, wide, high) {
  const fit = (/** @type {Labels} */ labels) => {
    const fitting = fitCells([sizeOf({ m, labels })], wide - 6, high);
    return { m, labels, cell: cellSize(fitting, S.figures[m.kind].wish, m, WIDEST, magnification(S.box)) };
  };
  const map = fit(namesOf(S, m));
  return map.cell < TIGHT && !presenting(S.box) ? fit(namesOf(S, m, undefined, SMALL_TYPE)) : map;
}

/** The height of the large map. @param {HeadsState} S */
const highOf = (S) =>
  Math.max(230, roomBelow(S.find(".figures"), presenting(S.box)) - (!showsLarge(S) ? 32 : presenting(S.box) ? 24 : 8));

/** @param {{ m: KindMap, labels: Labels }} map */
const sizeOf = ({ m: { keys, queries }, labels: { left, right, over, above } }) => ({
  beside: left + Math.max(right, over) + 3,
  above,
  keys,
  queries,
});

/** @param {HeadsState} S @param {Kind} kind */
function nameHead(S, kind) {
  const f = S.figures[kind];
  const m = mapOf(S, kind);
  const { layer, head } = headInView(S, kind);
  sayKind(f.title, kind, TITLES[kind]);
  say(
    f.about,
    [layerName(layer), nameInLayer(head), m?.left ? t("words only, scaled to 1") : m ? "" : t("loading …")]
      .filter(Boolean)
      .join(" · "),
  );
  f.canvas.hidden = !m;
  f.canvas.setAttribute(
    "aria-label",
    t("{kind}, {about}. Arrow keys move between cells; with Shift they mark rows and columns.", {
      kind: TITLES[kind],
      about: f.about.textContent ?? "",
    }),
  );
}

/** The labels of a map, and the room that they take. @param {HeadsState} S @param {KindMap} m @param {number} [most] @param {number} [size] of their type */
function namesOf(S, m, most, size) {
  const rows = m.rows.map((_, q) => nameOfRow(S, m, q));
  const ends = m.predicted.map((_, q) => otherName(S, m, q));
  const names = { rows, ends, columns: m.columns, places: placesIn(S, SIDES[m.kind][1], m.columns) };
  return labelsOf(S.figures[m.kind].canvas, S.theme.font, names, most, true, size);
}

/** @param {HeadsState} S @param {Fitted} map @param {number} high height from which it scrolls */
function drawHead(S, { m, labels, cell }, high) {
  const { kind } = m;
  const f = S.figures[kind];
  const pick = headInView(S, kind);
  const scale = scaleOf(S, true);
  const [side, keySide] = SIDES[kind];
  const rows = shownRows(S, m);
  const row = rowInView(S, m);
  const column = columnInView(S, m);
  const chosen = column !== null && kind === S.kind;
  f.plot = plotOf(labels, m, cell);
  const box = /** @type {HTMLElement} */ (f.canvas.parentNode);
  const whole = Math.floor((Math.max(high, ROOM_OF_LONG) - f.plot.top) / cell); // no row is cut
  box.style.maxHeight = whole < m.queries ? `${f.plot.top + whole * cell}px` : "";
  Object.assign(f.canvas.style, { width: `${f.plot.width}px`, height: `${f.plot.height}px` }); // before it scrolls
  // The map follows the row in view, and the key in view or those that the row looks at most.
  const at = keysToShow(rowOf(m, pick.layer, pick.head, row), column);
  const followed = [row, at, m.form, cell, S.seq].join();
  if (f.followed !== followed) bringIntoSight(box, f.plot, labels.right, row, at);
  f.followed = followed;
  f.canvas.dataset.plot = [f.plot.left, f.plot.top, cell, rows, m.keys].join();
  const marks = row < rows ? [{ row, colour: S.theme[side] }] : [];
  // The row that the sentence is about while somebody points at it.
  const pointed = S.hover?.kind === kind && S.hover.query !== row ? S.hover.query : null;
  if (pointed !== null) marks.unshift({ row: pointed, colour: paler(S.theme[side], S.theme.ground) });
  const unwritten = paintMap(f.canvas, S.theme, f.plot, {
    cells: m,
    rows,
    sheet: pictureOf(S, m, [pick], scale),
    at: 0,
    values: weightsOf(m, pick.layer, pick.head),
    scale,
    labels,
    titles: [rowTitle(S, kind), AXES[kind][1]],
    row,
    column,
    sight: sightOf(box),
    brush: S.brush?.kind === kind ? S.brush : null,
    marks: chosen
      ? [
          ...marks,
          { column, colour: S.theme[keySide], dashed: true },
          ...(row < rows ? [{ row, column, colour: S.theme.ink }] : []),
        ]
      : marks,
  });
  const beyond = beyondEdge(sightOf(box), f.plot, labels.right, rows, m.keys);
  const numbers = S.view === "heads" && unwritten === null ? "" : aboutNumbers(unwritten); // the text below says it
  f.about.textContent = [f.about.textContent, beyond, numbers].filter(Boolean).join(" · ");
}

/** Halfway between two colours. @param {string} colour @param {string} ground */
const paler = (colour, ground) => `rgb(${rgb(colour).map((part, i) => Math.round((part + rgb(ground)[i]) / 2))})`;

/**
 * Hovering shows a cell, a click chooses it, and dragging marks a block of cells; on labels, it marks rows or columns.
 * @param {HeadsState} S
 * @param {Kind} kind
 */
export function listenToHead(S, kind) {
  const f = S.figures[kind];
  const { canvas } = f;
  f.zoom = listenToZoom(f.box, f.wish, () => redraw(S));
  /**
   * The row and column under the pointer. A label has only one of the two; the other is -1. Null outside the map.
   * @type {(event: MouseEvent, m: KindMap) => MapCell | null}
   */
  const cellAt = (event, m) => {
    const { query, key } = cellUnder(canvas, event, f.plot);
    if (query >= shownRows(S, m) || key >= m.keys || (query < 0 && key < 0)) return null;
    return { kind, query: Math.max(query, -1), key: Math.max(key, -1) };
  };
  /** @type {(a: number, b: number, count: number) => [number, number]} */
  const range = (a, b, count) => (a < 0 || b < 0 ? [0, count - 1] : [Math.min(a, b), Math.max(a, b)]);
  const mark = (/** @type {KindMap} */ m, /** @type {MapCell} */ from, /** @type {MapCell} */ to) => {
    S.brush = { kind, rows: range(from.query, to.query, m.queries), columns: range(from.key, to.key, m.keys) };
  };
  canvas.onpointerdown = (event) => {
    const m = mapOf(S, kind);
    S.drag = m ? cellAt(event, m) : null;
    S.dragged = false;
  };
  canvas.onpointermove = (event) => {
    const m = mapOf(S, kind);
    const from = S.drag;
    if (!m) return;
    const cell = cellAt(event, m);
    if (from && event.buttons && cell && (cell.query !== from.query || cell.key !== from.key)) {
      S.dragged = true;
      mark(m, from, cell);
    } else if (event.pointerType === "touch") return;
    S.hover = cell && cell.query >= 0 && cell.key >= 0 ? cell : null;
    redraw(S);
  };
  canvas.onpointerleave = () => {
    S.hover = null;
    redraw(S);
  };
  canvas.onclick = (event) => {
    const m = mapOf(S, kind);
    const cell = m && cellAt(event, m);
    S.drag = null;
    if (!m || !cell || S.dragged) return;
    if (cell.query < 0 || cell.key < 0) mark(m, cell, cell);
    else {
      if (S.view === "heads") openHead(S, kind, S.pick[kind].layer, S.pick[kind].head);
      chooseCell(S, m, cell.query, cell.key);
    }
    redraw(S);
  };
  canvas.onkeydown = (event) => {
    const m = mapOf(S, kind);
    const direction = arrowOf(event.key);
    if (!m || event.key === "Tab" || event.ctrlKey || event.metaKey) return;
    const query = rowInView(S, m);
    const key = S.kind === kind ? columnInView(S, m) : null;
    const { layer, head } = S.pick[kind];
    const heaviest = rowOf(m, layer, head, query).seen[0]?.key ?? 0;
    const beside = (/** @type {number} */ k) => columnBeside(f.plot.places, k, direction[1], m.keys);
    if (direction && event.shiftKey) {
      const at =
        S.brush?.kind === kind ? S.brush : { rows: [query, query], columns: [key ?? heaviest, key ?? heaviest] };
      /** @type {(range: number[], by: number, count: number) => [number, number]} */
      const grow = ([a, b], by, count) => [a, clamp(b + by, a, count - 1)];
      S.brush = {
        kind,
        rows: grow(at.rows, direction[0], m.queries),
        columns: grow(at.columns, beside(at.columns[1]) - at.columns[1], m.keys),
      };
      redraw(S);
    } else if (direction && key === null) chooseCell(S, m, query, heaviest);
    else if (direction) chooseCell(S, m, clamp(query + direction[0], 0, shownRows(S, m) - 1), beside(Number(key)));
    else if (event.key === "Home") chooseCell(S, m, query, 0);
    else if (event.key === "End") chooseCell(S, m, query, m.keys - 1);
    else if (event.key === "Enter" || event.key === " ") chooseCell(S, m, query, key ?? heaviest);
    else return;
    event.preventDefault();
  };
}
