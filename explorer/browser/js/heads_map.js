// One head, large: rows are queries with query 0 on top; key labels are on top; cells hold numbers if there is room.

import {
  AXIS, LABEL, LEAST, TILT, border, cellUnder, framer, hatch, isolated, label, paper, shortLabel, widest, writeAxes, writer,
} from "./canvas.js";
import { contextOf, inkOn } from "./colours.js";
import { say } from "./dom.js";
import { fitCells } from "./heads_layout.js";
import { level, pictureOf, topOf } from "./heads_pictures.js";
import {
  chooseCell, columnInView, headInView, kindsShown, mapOf, openHead, redraw, rowInView, rowOf, showsLarge, shownRows,
} from "./heads_state.js";
import { FUTURE, KINDS, SIDES } from "./kinds.js";
import { AXES, PREDICTED_ROWS, TITLES, layerName, nameInLayer } from "./names.js";
import { cellNumber, clamp } from "./numbers.js";
import { presenting } from "./present.js";
import { roomBelow } from "./screen_room.js";
import { sayKind } from "./terms.js";
import { weightsOf } from "./weights.js";

/** @typedef {import("./types").HeadsState} HeadsState */
/** @typedef {import("./types").Kind} Kind */
/** @typedef {import("./types").KindMap} KindMap */
/** @typedef {import("./types").MapCell} MapCell */
/** @typedef {import("./types").MapLabels} MapLabels */
/** @typedef {import("./types").Plot} Plot */

const ROOMY = 23; // minimum size of a cell that holds a number, in pixels
const NARROW = 62; // maximum length of labels side by side, in pixels
const SMALLEST = 12; // size of cells side by side, in pixels
const WIDEST = 58; // size of cells, in pixels
const GAP = 20; // between maps side by side, in pixels
const UNDER = 176; // height of thumbnails and readout below maps side by side, in pixels
const READABLE = 286; // height of maps side by side that is theirs before anything below them has room, in pixels

// A decoder row reads one word and predicts another. One of them labels the row on its left, the other on its right.
/** @param {HeadsState} S @param {KindMap} m @param {number} q */
export const nameOfRow = (S, m, q) => (S.next && m.predicted.length ? m.predicted[q] : m.rows[q]);
/** @param {HeadsState} S @param {KindMap} m @param {number} q */
const otherName = (S, m, q) => (!m.predicted.length ? "" : S.next ? `after ${isolated(m.rows[q])}` : `→ ${isolated(m.predicted[q])}`);
/** @param {HeadsState} S @param {Kind} kind */
export const rowTitle = (S, kind) => (kind !== "encoder" && S.next ? PREDICTED_ROWS : AXES[kind][0]);

/** @param {HeadsState} S */
export function drawMaps(S) {
  const sheet = S.find(".figures"), large = showsLarge(S) && sheet.clientWidth > 0; // a lesson leaves the large map out
  const kinds = S.view === "head" || large ? kindsShown(S) : [];
  for (const kind of KINDS) S.figures[kind].box.hidden = !kinds.includes(kind);
  const several = kinds.length > 1, room = sheet.clientWidth;
  const maps = kinds.map((kind) => labelsOf(S, kind, several ? NARROW : LABEL)).filter((labels) => labels !== null);
  // Side by side, all maps have cells of one size; where they would be too small to read, one map is below the other.
  const space = several ? clamp(roomBelow(sheet, presenting(S.box)) - UNDER, READABLE, 560) : Math.max(230, roomBelow(sheet, presenting(S.box)) - (large ? 50 : 40));
  const shared = fitCells(maps.map(sizeOf), room - GAP * (maps.length - 1) - 6, space), apart = several && shared < SMALLEST;
  sheet.classList.toggle("apart", apart);
  for (const kind of kinds) nameHead(S, kind);
  for (const labels of maps) {
    const fitted = apart || !several ? fitCells([sizeOf(labels)], room - 6, apart ? 560 : space) : shared;
    drawHead(S, labels, clamp(fitted, 6, WIDEST));
  }
}

/** @param {MapLabels} labels */
const sizeOf = ({ m, left, right, over, above }) => ({ beside: left + Math.max(right, over) + 3, above, keys: m.keys, queries: m.queries });

/** @param {HeadsState} S @param {Kind} kind */
function nameHead(S, kind) {
  const f = S.figures[kind], m = mapOf(S, kind), { layer, head } = headInView(S, kind);
  sayKind(f.title, kind, TITLES[kind]);
  say(f.about, `${layerName(layer)} · ${nameInLayer(head)}` + (kindsShown(S).length > 1 || S.view === "heads" ? "" : ` · ${S.data.model}`) + (m ? "" : " · loading …"));
  f.canvas.hidden = !m;
  f.canvas.setAttribute("aria-label", `${TITLES[kind]}, ${f.about.textContent}. Arrow keys move between cells; with Shift they mark rows and columns.`);
}

/**
 * The labels of a map and the room that they take; null until the map has arrived.
 * @param {HeadsState} S
 * @param {Kind} kind
 * @param {number} most maximum length of a label, in pixels
 * @returns {MapLabels | null}
 */
function labelsOf(S, kind, most) {
  const m = mapOf(S, kind), ctx = contextOf(S.figures[kind].canvas);
  if (!m) return null;
  ctx.font = `700 12px ${S.theme.font}`; // those of the row and the column in view are bold
  const rowNames = m.rows.map((_, q) => nameOfRow(S, m, q));
  const names = rowNames.map((_, q) => shortLabel(ctx, label(rowNames, q), most));
  const keys = m.columns.map((_, k) => shortLabel(ctx, label(m.columns, k), most));
  const left = AXIS + Math.ceil(widest(ctx, names)) + 10, wideKeys = Math.ceil(widest(ctx, keys));
  ctx.font = `12px ${S.theme.font}`;
  const others = m.rows.map((_, q) => shortLabel(ctx, otherName(S, m, q), most));
  const right = m.predicted.length ? Math.ceil(widest(ctx, others)) + 10 : 0;
  // Tilted labels of the last keys reach beyond the map.
  const over = Math.max(...keys.map((key, k) => ctx.measureText(key).width * Math.cos(TILT) - SMALLEST * (keys.length - 1 - k)));
  return { m, names, others, keys, left, right, over, wideKeys, above: AXIS + wideKeys * Math.sin(TILT) + 18 };
}

/** @param {HeadsState} S @param {MapLabels} labels @param {number} cell */
function drawHead(S, { m, names, others, keys, left, right, over, wideKeys }, cell) {
  const { kind } = m, f = S.figures[kind], { layer, head } = headInView(S, kind);
  const values = weightsOf(m, layer, head), { ink, ground, font } = S.theme;
  const flat = cell > wideKeys + 5, top = Math.ceil(AXIS + (flat ? 20 : wideKeys * Math.sin(TILT) + 12));
  const shown = shownRows(S, m), wide = m.keys * cell, high = shown * cell, row = rowInView(S, m), column = columnInView(S, m);
  const ctx = paper(f.canvas, Math.ceil(left + Math.max(wide + Math.max(right, flat ? 0 : over) + 2, LEAST)), top + Math.max(m.queries * cell + 4, LEAST + 20));
  f.plot = { left, top, cell };
  f.canvas.dataset.plot = [left, top, cell, shown, m.keys].join();
  ctx.textBaseline = "middle";
  const write = writer(ctx, font);
  ctx.fillStyle = ink;
  writeAxes(ctx, write, [rowTitle(S, kind), AXES[kind][1]], f.plot, 0.75);
  const every = Math.ceil(10 / cell), size = clamp(cell, 10, 12);
  const isNamed = (/** @type {number} */ i, /** @type {number | null} */ current) =>
    i === current || (i % every === 0 && Math.abs(i - (current ?? -99)) >= every);
  for (let q = 0; q < shown; q++) {
    if (!isNamed(q, row)) continue;
    const y = top + (q + 0.5) * cell;
    ctx.globalAlpha = 0.75;
    write(others[q], left + wide + 8, y, "left", 0, size);
    ctx.globalAlpha = 1;
    write(names[q], left - 6, y, "right", 0, size, q === row ? 700 : 400);
  }
  for (let k = 0; k < m.keys; k++) {
    if (!isNamed(k, column) || (kind === "decoder" && m.mask[(shown - 1) * m.keys + k] === FUTURE)) continue;
    const x = left + (k + 0.5) * cell, weight = k === column ? 700 : 400;
    if (flat) write(keys[k], x, top - 10, "center", 0, size, weight);
    else write(keys[k], x, top - 6, "left", -TILT, size, weight);
  }
  const most = topOf(S, true);
  ctx.drawImage(pictureOf(S, m, [{ layer, head }], most).canvas, 0, 0, m.keys, shown, left, top, wide, high);
  if (cell > 4) hatch(ctx, S.theme, m, shown, f.plot);
  if (cell >= ROOMY && writeWeights(S, ctx, m, values, shown, f.plot, most)) f.about.textContent += " · no number: below 0.005";
  dim(S, ctx, m, shown, f.plot);
  border(ctx, ink, f.plot, wide, high);
  const frame = framer(ctx, ground), [side, keySide] = SIDES[kind];
  if (row < shown) frame(left, top + row * cell, wide, cell, S.theme[side]);
  if (column !== null && kind === S.kind) {
    ctx.setLineDash([4, 3]);
    frame(left + column * cell, top, cell, high, S.theme[keySide]);
    ctx.setLineDash([]);
    if (row < shown) frame(left + column * cell, top + row * cell, cell, cell, ink);
  }
}

/**
 * Writes the weights into the cells; returns whether any is too small to be written.
 * @param {HeadsState} S
 * @param {CanvasRenderingContext2D} ctx
 * @param {KindMap} m
 * @param {ArrayLike<number>} values
 * @param {number} shown
 * @param {Plot} plot
 * @param {number} most
 */
function writeWeights(S, ctx, m, values, shown, { left, top, cell }, most) {
  const size = clamp(Math.round(cell * 0.36), cell < 26 ? 10 : 11, 17);
  Object.assign(ctx, { font: `${size}px ${S.theme.font}`, textAlign: "center" });
  let small = false;
  for (let i = 0; i < shown * m.keys; i++) {
    if (m.mask[i]) continue;
    const text = cellNumber(values[i]);
    small ||= !text;
    ctx.fillStyle = inkOn(S.theme.scale[level(S, values[i], most)]);
    ctx.fillText(text, left + ((i % m.keys) + 0.5) * cell, top + (Math.floor(i / m.keys) + 0.5) * cell + 0.5);
  }
  return small;
}

/**
 * Fades the cells outside the marked rows and columns.
 * @param {HeadsState} S
 * @param {CanvasRenderingContext2D} ctx
 * @param {KindMap} m
 * @param {number} shown
 * @param {Plot} plot
 */
function dim(S, ctx, m, shown, { left, top, cell }) {
  const b = S.brush;
  if (b?.kind !== m.kind) return;
  ctx.fillStyle = S.theme.ground;
  ctx.globalAlpha = 0.72;
  const [first, last] = [Math.min(b.rows[1], shown - 1), b.columns[1]];
  const boxes = [[0, 0, m.keys, b.rows[0]], [0, first + 1, m.keys, shown - first - 1],
    [0, b.rows[0], b.columns[0], first - b.rows[0] + 1], [last + 1, b.rows[0], m.keys - last - 1, first - b.rows[0] + 1]];
  for (const [x, y, w, h] of boxes) if (w > 0 && h > 0) ctx.fillRect(left + x * cell, top + y * cell, w * cell, h * cell);
  ctx.globalAlpha = 1;
}

/**
 * Hovering shows a cell, a click chooses it, dragging marks a block of cells, or rows or columns from their labels.
 * @param {HeadsState} S
 * @param {Kind} kind
 */
export function listenToHead(S, kind) {
  const f = S.figures[kind], { canvas } = f;
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
    const m = mapOf(S, kind), from = S.drag;
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
    const m = mapOf(S, kind), cell = m && cellAt(event, m);
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
    const m = mapOf(S, kind), way = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!m || event.key === "Tab" || event.ctrlKey || event.metaKey) return;
    const query = rowInView(S, m), key = S.kind === kind ? columnInView(S, m) : null, { layer, head } = S.pick[kind];
    const heaviest = rowOf(m, layer, head, query).seen[0]?.key ?? 0;
    if (way && event.shiftKey) {
      const at = S.brush?.kind === kind ? S.brush : { rows: [query, query], columns: [key ?? heaviest, key ?? heaviest] };
      /** @type {(range: number[], by: number, count: number) => [number, number]} */
      const grow = ([a, b], by, count) => [a, clamp(b + by, a, count - 1)];
      S.brush = { kind, rows: grow(at.rows, way[0], m.queries), columns: grow(at.columns, way[1], m.keys) };
      redraw(S);
    } else if (way && key === null) chooseCell(S, m, query, heaviest);
    else if (way) chooseCell(S, m, clamp(query + way[0], 0, shownRows(S, m) - 1), clamp(Number(key) + way[1], 0, m.keys - 1));
    else if (event.key === "Home") chooseCell(S, m, query, 0);
    else if (event.key === "End") chooseCell(S, m, query, m.keys - 1);
    else if (event.key === "Enter" || event.key === " ") chooseCell(S, m, query, key ?? heaviest);
    else return;
    event.preventDefault();
  };
}
