// The stepper's three heatmaps: rows are queries with query 0 on top, columns are keys, weights go from 0 to 1.

import {
  AXIS, LABEL, LEAST, TILT, border, cellUnder, framer, hatch, isolated, label, paper, shortLabel, widest, windowHeight,
  writeAxes, writer,
} from "./canvas.js";
import { bitmap, contextOf, inkOn, shade } from "./colours.js";
import { FUTURE, SIDES } from "./kinds.js";
import { AXES } from "./names.js";
import { cellNumber, clamp } from "./numbers.js";
import { weightsOf } from "./weights.js";
import { currentRow, frontier, lastRead, pick, redraw, rowOf, shownRows } from "./stepper_state.js";

/** @typedef {import("./types").Kind} Kind */
/** @typedef {import("./types").ChosenCell} ChosenCell */
/** @typedef {import("./types").Plot} Plot */
/** @typedef {import("./types").AttentionMap} AttentionMap */
/** @typedef {import("./types").StepperState} StepperState */

export const NUMBERED = 23; // cells larger than that hold a number, in pixels
const LOW = 3; // minimum size of a cell, in pixels

/** Sizes of the three plots for the available width; their first rows are at the same height. @param {StepperState} S */
export function layOut(S) {
  const sizes = S.kinds.map((kind) => {
    const f = S.figures[kind], m = S.maps[kind], ctx = contextOf(f.canvas);
    ctx.font = `700 12px ${S.theme.font}`; // that of the row in question is bold
    const width = (/** @type {string[]} */ tokens) => Math.min(LABEL, widest(ctx, tokens.map((_, i) => label(tokens, i))));
    const wide = width(m.columns), left = AXIS + width(m.rows) + 7;
    const written = kind === S.kind && kind !== "encoder" ? widest(ctx, m.rows.map((_, row) => shortLabel(ctx, writtenBy(S, row)))) + 10 : 0;
    return { f, m, wide, left, over: Math.max(wide * Math.cos(TILT), written) };
  });
  // Side by side only where the small maps have room for their smallest cells.
  const needed = Math.max(...sizes.map(({ m, left, over }) => left + m.keys * LOW + over));
  const single = sizes.length < 2 || S.box.clientWidth * 0.36 - 24 < Math.max(needed, 200);
  S.find(".maps").classList.toggle("single", single);
  S.laidOut = S.kind;
  for (const kind of S.kinds) S.figures[kind].box.classList.toggle("focus", kind === S.kind);
  // The choice of head is beside the maps, or where they are below each other, next to the stage that it changes.
  const home = S.find(single ? ".walk" : ".side"), choice = S.find(".choice");
  if (choice.parentNode !== home) {
    if (single) home.append(choice);
    else home.prepend(choice);
  }
  // On a small laptop the map in question can be seen as a whole.
  const most = Math.max(232, windowHeight(S.box) - 540), least = Math.max(160, windowHeight(S.box) / 4);
  for (const { f, m, wide, left, over } of sizes) {
    const tall = single || f === S.figures[S.kind] ? most : least;
    const across = (f.box.clientWidth - left - over) / m.keys, fair = Math.min(across, tall / m.queries);
    // With many rows, a taller plot is better than cells too small to see.
    const cell = clamp(Math.floor(fair < 10 ? Math.min(10, across) : fair), LOW, Math.min(Math.floor(tall / 5), 46));
    const flat = cell > wide + 5;
    const width = left + Math.max(m.keys * cell + over, LEAST), top = AXIS + (flat ? 18 : wide * Math.sin(TILT) + 12);
    f.plot = { left, top, width, cell, flat };
  }
  // On a phone, the form of the translation depends on the kind.
  S.find(".stage").dataset.kind = S.kind;
  S.scrolls = [".source .chips", ".target .chips"].map((list) => S.find(list))
    .some((list) => list.scrollHeight > list.clientHeight || list.scrollWidth > list.clientWidth);
}

/**
 * A head's map with one pixel per cell.
 * @param {StepperState} S
 * @param {Kind} kind
 * @param {number} layer
 * @param {number} head
 */
export function bitmapOf(S, kind, layer, head) {
  const name = `${kind} ${layer} ${head}`, m = S.maps[kind], weights = weightsOf(m, layer, head);
  const made = S.bitmaps.get(name) ?? bitmap(S.theme, m.keys, m.queries, (i) => (m.mask[i] ? null : weights[i]));
  S.bitmaps.set(name, made);
  return made;
}

/** What a row of the decoder writes, for the label at its end. @param {StepperState} S @param {number} row */
const writtenBy = (S, row) => `→ ${isolated(S.data.target.predicted[lastRead(S, row)])}`;

/** @param {StepperState} S @param {Kind} kind */
export function drawMap(S, kind) {
  const f = S.figures[kind], m = S.maps[kind], { layer, head } = S.pick[kind], now = frontier(S);
  const { left, top, cell, flat, width } = f.plot, { ink, font, ground } = S.theme;
  const shown = shownRows(S, kind), current = currentRow(S, kind), c = S.cell?.kind === kind ? S.cell : null;
  const drawn = [
    S.seq, layer, head, shown, current, now, S.words, S.step * Number(S.words || kind === S.kind), kind === S.kind, left, top, cell, width, S.zoom,
    devicePixelRatio, ground, font, c?.query, c?.key,
  ].join();
  if (f.drawn === drawn) return;
  f.drawn = drawn;
  // Tall enough for the title of the query axis even with few rows.
  const ctx = paper(f.canvas, Math.ceil(width), top + Math.max(m.queries * cell + 4, LEAST), S.zoom);
  const wide = m.keys * cell, high = shown * cell;

  ctx.fillStyle = ink;
  ctx.textBaseline = "middle";
  const write = writer(ctx, font);
  ctx.font = `12px ${font}`;
  writeAxes(ctx, write, AXES[kind], f.plot, 0.7);

  // Without room for all labels, some are left out, but never that of the current row.
  const every = Math.ceil(10 / cell), size = clamp(cell, 10, 12);
  for (let q = 0; q < shown; q++) {
    const near = Math.abs(q - current);
    if (near && (q % every || near < every)) continue;
    write(shortLabel(ctx, label(m.rows, q)), left - 6, top + (q + 0.5) * cell, "right", 0, size, near ? 400 : 700);
    if (kind === "encoder" || kind !== S.kind) continue;
    ctx.globalAlpha = 0.75;
    write(shortLabel(ctx, writtenBy(S, q)), left + m.keys * cell + 8, top + (q + 0.5) * cell, "left", 0, size);
    ctx.globalAlpha = 1;
  }
  for (let k = 0; k < m.keys; k += every) {
    // A word that the decoder has not read yet has no label at this step.
    if (kind === "decoder" && m.mask[(shown - 1) * m.keys + k] === FUTURE) continue;
    const x = left + (k + 0.5) * cell;
    const text = shortLabel(ctx, label(m.columns, k));
    if (flat) write(text, x, top - 9, "center", 0, size);
    else write(text, x, top - 6, "left", -TILT, size);
  }

  ctx.drawImage(bitmapOf(S, kind, layer, head), 0, 0, m.keys, shown, left, top, wide, high);
  if (cell > 4) hatch(ctx, S.theme, m, shown, f.plot);
  ctx.strokeStyle = ink;
  ctx.lineWidth = 1;
  if (cell > 7) {
    ctx.globalAlpha = 0.1;
    ctx.beginPath();
    for (let k = 1; k < m.keys; k++) ctx.rect(left + k * cell - 0.5, top, 0, high);
    for (let q = 1; q < shown; q++) ctx.rect(left, top + q * cell - 0.5, wide, 0);
    ctx.stroke();
  }
  border(ctx, ink, f.plot, wide, high);
  if (cell > NUMBERED) writeNumbers(S, ctx, m, weightsOf(m, layer, head), shown, f.plot);

  const frame = framer(ctx, ground);
  // A frame around the row; if cells are too small for a frame, a mark at either end, which hides nothing.
  const mark = (/** @type {number} */ row, /** @type {string} */ colour) => {
    if (cell > 7) return frame(left, top + row * cell, wide, cell, colour);
    ctx.fillStyle = colour;
    for (const x of [left - 5, left + wide + 1]) ctx.fillRect(x, top + row * cell, 4, cell);
  };
  if (kind !== "encoder") mark(now, S.theme.target);
  ctx.setLineDash([4, 3]);
  if (kind === "encoder" || current !== now) mark(current, S.theme[SIDES[kind][0]]);
  ctx.setLineDash([]);
  const out = cell > 7 ? 0 : 2;
  if (c) frame(left + c.key * cell - out, top + c.query * cell - out, cell + 2 * out, cell + 2 * out, ink);
}

/**
 * @param {StepperState} S
 * @param {CanvasRenderingContext2D} ctx
 * @param {AttentionMap} m
 * @param {ArrayLike<number>} weights
 * @param {number} shown
 * @param {Plot} plot
 */
function writeNumbers(S, ctx, m, weights, shown, { left, top, cell }) {
  Object.assign(ctx, { font: `11px ${S.theme.font}`, textAlign: "center" });
  for (let i = 0; i < shown * m.keys; i++) {
    if (m.mask[i]) continue;
    ctx.fillStyle = inkOn(shade(S.theme, weights[i]));
    const text = cellNumber(weights[i]);
    ctx.fillText(text, left + ((i % m.keys) + 0.5) * cell, top + (Math.floor(i / m.keys) + 0.5) * cell + 0.5);
  }
}

/**
 * The cell under the pointer; null outside the rows that are drawn.
 * @param {StepperState} S
 * @param {Kind} kind
 * @param {MouseEvent} event
 * @returns {ChosenCell | null}
 */
function cellAt(S, kind, event) {
  const { canvas, plot } = S.figures[kind], { query, key } = cellUnder(canvas, event, plot);
  const inside = query >= 0 && key >= 0 && query < shownRows(S, kind) && key < S.maps[kind].keys;
  return inside ? { kind, query, key, locked: false } : null;
}

/**
 * Hovering over a cell shows it; a click or Enter locks it; arrow keys move it.
 * @param {StepperState} S
 * @param {Kind} kind
 */
export function listenToMap(S, kind) {
  const { canvas } = S.figures[kind];
  const choose = (/** @type {ChosenCell | null} */ cell) => {
    S.cell = cell;
    redraw(S);
  };
  canvas.onpointermove = (event) => {
    if (event.pointerType === "touch" || S.cell?.locked) return;
    const cell = cellAt(S, kind, event), old = S.cell;
    if (cell?.key !== old?.key || cell?.query !== old?.query || cell?.kind !== old?.kind) choose(cell);
  };
  canvas.onpointerleave = canvas.onblur = () => {
    if (!S.cell?.locked) choose(null);
  };
  canvas.onclick = (event) => {
    const cell = cellAt(S, kind, event), old = S.cell;
    const again = old?.locked && cell && old.kind === kind && old.query === cell.query && old.key === cell.key;
    choose(cell && { ...cell, locked: !again });
    if (cell && S.kind !== kind) pick(S, kind, {});
  };
  canvas.onkeydown = (event) => {
    const m = S.maps[kind], row = currentRow(S, kind);
    const old = S.cell?.kind === kind ? S.cell : null;
    let { query, key, locked } = old ?? { query: row, key: rowOf(S, kind, row).seen[0]?.key ?? 0, locked: false };
    const way = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Escape") canvas.blur();
    else if (event.key === "Enter" || event.key === " ") locked = !locked;
    else if (event.key === "Home") key = 0;
    else if (event.key === "End") key = m.keys - 1;
    else if (!way) return;
    else if (old) {
      // The first arrow key only shows the cursor.
      query = clamp(query + way[0], 0, shownRows(S, kind) - 1);
      key = clamp(key + way[1], 0, m.keys - 1);
    }
    choose(event.key === "Escape" ? null : { kind, query, key, locked });
    if (S.kind !== kind) pick(S, kind, {});
    event.preventDefault();
  };
}
