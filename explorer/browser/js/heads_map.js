// The large map of one head: rows are queries with query 0 on top, key labels are on top, cells hold numbers if they
// fit.

import { cellUnder, columnBeside, contextOf, isolated, leadsTo, magnification } from "./canvas.js";
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
import { aboutRows, writeRows } from "./map_marks.js";
import { AXIS, CORNER, labelsOf, levelOf, paintMap, plotOf } from "./maps.js";
import { AXES, KINDS, NEXT_READ, SIDES, TITLES, layerName, nameInLayer, predictedRows } from "./names.js";
import { clamp, wholePercent } from "./numbers.js";
import { aboutEdges, aboutNumbers, beyondEdge, bringIntoSight } from "./map_zoom.js";
import { cellSize, keysLookedAt, listenToZoom, sightOf } from "./map_zoom.js";
import { presenting, roomBelow } from "./present.js";
import { arrowOf, placesIn } from "./scripts.js";
import { sayKind } from "./terms.js";
import { redraw } from "./view.js";
import { keysToShow, weightsOf } from "./weights.js";
import { namedKeys } from "./wording.js";
import { t } from "./words.js";

/** @import { HeadsState, Kind, KindMap, MapCell } from "./types" */

/** @typedef {import("./maps.js").Labels} Labels */

const ASIDE = 258; // minimum width of the thumbnails beside the map of one head, in pixels
// The maximum length of labels: side by side, on a phone, and elsewhere, in pixels.
const [NARROW, MEDIUM, LONG] = [62, 82, 100];
// The size of cells side by side, and up to which a large map gets more than half of the width, at most a share of it.
const [SMALLEST, WANTED, MOST] = [12, 24, 0.62];
const LEAST_WIDE = 72; // of a thumbnail beside a large map that needs more than half of the width, in pixels
const [TIGHT, SMALL_TYPE] = [14, 10]; // size of cells from which labels are in full type, and the type of others, in pixels
const PHONE = 480; // width of the views up to which a phone shows them, in pixels
const WIDEST = 96; // size of cells, in pixels
const GAP = 20; // between maps side by side, in pixels
const ROOM_OF_LONG = 320; // minimum height of a map that scrolls, in pixels
const NO_WISH = { zoom: 1 };
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
    const map = sizeOf({ m, labels: namesOf(S, m) }, true);
    const cell = clamp(fitCells([map], Infinity, highOf(S)), SMALLEST, WANTED);
    const most = Math.min(MOST * wide, wide - GAP - (m.heads + 1) * LEAST_WIDE);
    S.box.style.setProperty("--large", `${Math.max(0.485 * wide, Math.min(map.beside + m.keys * cell + 8, most))}px`);
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
  const shared = several
    ? fitCells(
        narrow.map((map) => sizeOf(map)),
        room - GAP * (maps.length - 1) - 6,
        space,
      )
    : 0;
  const apart = several && shared < SMALLEST;
  sheet.classList.toggle("apart", apart);
  for (const kind of kinds) nameHead(S, kind);
  for (const m of maps) {
    const beside = narrow.find((map) => map.m === m && !apart);
    const high = apart ? 560 : space;
    const { wish } = S.figures[m.kind];
    if (beside) drawHead(S, { ...beside, cell: cellSize(shared, wish, m, WIDEST) }, Infinity, Infinity);
    else drawHead(S, fitMap(S, m, room, high), room, heightIn(S, fitMap(S, m, room, high, NO_WISH), high));
  }
}

/** A map with its labels and the size of its cells. @typedef {{ m: KindMap, labels: Labels, cell: number }} Fitted */

/** A map alone in a space. Small cells have labels in small type, which leave room for more cells. @param {HeadsState} S @param {KindMap} m @param {number} wide @param {number} high @param {{ zoom: number }} [wish] @returns {Fitted} */
function fitMap(S, m, wide, high, wish = S.figures[m.kind].wish) {
  const fit = (/** @type {Labels} */ labels) => {
    const fitting = fitCells([sizeOf({ m, labels }, true)], wide - 6, high);
    return { m, labels, cell: cellSize(fitting, wish, m, WIDEST, magnification(S.box)) };
  };
  const map = fit(namesOf(S, m));
  return map.cell < TIGHT && !presenting(S.box) ? fit(namesOf(S, m, LONG, SMALL_TYPE)) : map;
}

/** The plot of a map. @param {HeadsState} S @param {Fitted} map */
const plotIn = (S, { m, labels, cell }) => plotOf(labels, m, cell, cell, S.view === "head" || showsLarge(S));

/** The height of a map, which scrolls by whole rows. @param {HeadsState} S @param {Fitted} map @param {number} high the room for it */
function heightIn(S, map, high) {
  const { top, height } = plotIn(S, map);
  const rows = Math.floor((Math.max(high, ROOM_OF_LONG) - top) / map.cell);
  return rows < map.m.queries ? top + rows * map.cell : height;
}

/** The height of the room for the large map. @param {HeadsState} S */
const highOf = (S) => {
  const isBeside = S.box.dataset.large === "beside";
  const alone = presenting(S.box);
  return Math.max(230, roomBelow(S.find(".figures"), alone || isBeside) - (!isBeside ? 26 : alone ? 14 : 42));
};

/** @param {{ m: KindMap, labels: Labels }} map @param {boolean} [alone] then the title of the keys may stand in the corner */
const sizeOf = ({ m: { keys, queries }, labels: { left, right, over, above } }, alone) => ({
  beside: left + Math.max(right, over) + 3,
  above: above - (alone && left >= CORNER ? AXIS : 0),
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
function namesOf(S, m, most = S.box.clientWidth < PHONE ? MEDIUM : LONG, size) {
  const rows = m.rows.map((_, q) => nameOfRow(S, m, q));
  const ends = m.predicted.map((_, q) => otherName(S, m, q));
  const names = { rows, ends, columns: m.columns, places: placesIn(S, SIDES[m.kind][1], m.columns) };
  return labelsOf(S.figures[m.kind].canvas, S.theme.font, names, most, true, size);
}

/** @param {HeadsState} S @param {Fitted} map @param {number} wide the room for it @param {number} high its height before it was zoomed */
function drawHead(S, map, wide, high) {
  const { m, labels, cell } = map;
  const { kind } = m;
  const f = S.figures[kind];
  const pick = headInView(S, kind);
  const scale = scaleOf(S);
  const [side, keySide] = SIDES[kind];
  const rows = shownRows(S, m);
  const row = rowInView(S, m);
  const column = columnInView(S, m);
  const chosen = column !== null && kind === S.kind;
  f.plot = plotIn(S, map);
  const box = /** @type {HTMLElement} */ (f.canvas.parentNode);
  // No row and no column is cut, and zooming moves nothing below.
  const tall = heightIn(S, map, high);
  const beside = f.plot.left + labels.right + 2;
  const across = Math.floor((wide - beside) / cell);
  box.style.maxHeight = `${tall}px`;
  box.style.maxWidth = across < m.keys ? `${beside + across * cell}px` : "";
  box.style.marginBottom = high > tall && high < Infinity ? `${high - tall}px` : "";
  Object.assign(f.canvas.style, { width: `${f.plot.width}px`, height: `${f.plot.height}px` }); // before it scrolls
  // The map follows the row in view, and the key in view or those that the row looks at most.
  const at = keysToShow(rowOf(m, pick.layer, pick.head, row), column);
  const followed = [row, at, m.form, cell, S.seq].join();
  if (f.followed !== followed) bringIntoSight(box, f.plot, labels.right, row, at);
  f.followed = followed;
  f.canvas.dataset.plot = [f.plot.left, f.plot.top, cell, rows, m.keys].join();
  // Above all heads, the sentence is about the row pointed at; the other row that is marked has a paler frame.
  const pointed = S.hover?.kind === kind ? S.hover.query : row;
  const said = S.view === "heads" ? pointed : row;
  const marked = [...new Set([row, pointed])].filter((q) => q < rows).sort((q) => (q === said ? 1 : -1));
  const frames = [paler(S.theme[side], S.theme.ground), S.theme[side]];
  const marks = marked.map((q) => ({ row: q, colour: frames[Number(q === said)] }));
  const values = weightsOf(m, pick.layer, pick.head);
  const named = namedKeys(rowOf(m, pick.layer, pick.head, said), 3);
  const sight = sightOf(box);
  const beyond = beyondEdge(sight, f.plot, labels.right, rows, m.keys);
  let isInRows = false;
  const unwritten = paintMap(f.canvas, S.theme, f.plot, {
    cells: m,
    rows,
    sheet: pictureOf(S, m, [pick], scale),
    at: 0,
    values,
    scale,
    labels,
    titles: [rowTitle(S, kind), AXES[kind][1]],
    row: said,
    column,
    named: { rows: S.view === "heads" ? [] : marked, columns: named.map(({ key }) => key) },
    instead: (pen) => (isInRows = writeRows(pen, marked, values, (weight) => S.theme.scale[levelOf(weight, scale)])),
    sight,
    brush: S.brush?.kind === kind ? S.brush : null,
    marks: chosen
      ? [
          ...marks,
          { column, colour: S.theme[keySide], dashed: true },
          ...(row < rows ? [{ row, column, colour: S.theme.ink }] : []),
        ]
      : marks,
  });
  if (sight && beyond.before) writeHint(S, f, sight, beyond.before);
  const edges = aboutEdges(beyond);
  const numbers = isInRows
    ? aboutRows()
    : S.view === "heads" && unwritten === null
      ? "" // the text below says it
      : aboutNumbers(unwritten);
  // The line has no room for more.
  say(S.find(`figure.${kind} .below`), [...edges, edges.length < 3 && numbers].filter(Boolean).join(" · "));
  const weights = keysLookedAt(values, said * m.keys, m.keys).map(
    (key) => `${key + 1} ${m.columns[key]} ${wholePercent(values[said * m.keys + key])}`,
  );
  const fields = { row: `${said + 1} ${nameOfRow(S, m, said)}`, weights: weights.join(", ") };
  f.canvas.ariaLabel += ` ${t("Row {row}: {weights}.", fields)}`;
}

/** Says at the left edge of a map how many of its columns are beyond it. @param {HeadsState} S @param {import("./types").HeadsFigure} f @param {import("./map_zoom.js").Sight} sight @param {number} n */
function writeHint({ theme }, { canvas, plot: { left } }, { x, y }, n) {
  const ctx = contextOf(canvas);
  Object.assign(ctx, { font: `600 11px ${theme.font}`, textAlign: "right", fillStyle: theme.ink, globalAlpha: 1 });
  ctx.fillText(t("‹ {n} column", "‹ {n} columns", { n }), x + left - 6, y + AXIS / 2, left - 8);
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
