// All heads at once: one thumbnail per head, all on the same scale.

import { magnification, paper, pixelRatio } from "./canvas.js";
import { children, make, makeButton, say } from "./dom.js";
import { giveTabStop, tileOf } from "./tiles.js";
import { describeHead, listHeads } from "./head_list.js";
import { fitCell, fitTile } from "./heads_layout.js";
import { pictureOf, scaleOf } from "./heads_colours.js";
import { kindsShown, mapOf, openHead, rowInView, shownRows, showsLarge } from "./heads_state.js";
import { drawCells } from "./maps.js";
import { SIDES, TITLES, capitalised, nameInKind, shortLayer, shortName, shortHead } from "./names.js";
import { clamp } from "./numbers.js";
import { presenting, roomBelow } from "./present.js";
import { placesIn } from "./scripts.js";
import { redraw } from "./view.js";
import { t } from "./words.js";

/** @import { HeadsState, Kind, KindMap, Pick } from "./types" */

const BESIDE = 600; // width at which a large map has room beside the thumbnails, in pixels
const FOOT = 24; // height of the table's title below that text, in pixels
const LEAST_WIDE = 56; // of a thumbnail that has a large map beside it, in pixels

/** Whether the grid stands beside another view. @param {HeadsState} S */
const isBeside = (S) => S.view !== "heads";

/** Decides where the large map of one head stands: beside the thumbnails, or below them if they need the width. @param {HeadsState} S */
export function placeLarge(S) {
  const across = S.data.shapes[S.kind].heads + 1;
  const wide = S.box.clientWidth;
  S.box.dataset.large = !showsLarge(S) ? "" : wide >= BESIDE && across * LEAST_WIDE < 0.55 * wide ? "beside" : "below";
}

/** @param {HeadsState} S */
export function drawGrids(S) {
  const kinds = isBeside(S) ? [S.kind] : kindsShown(S);
  const boxes = children(S.find(".grids"), kinds.length, () => {
    const grid = make("div", "tiles");
    grid.setAttribute("role", "group");
    return make("section", "", make("h3", ""), make("div", "under", make("canvas"), grid), make("p", "none"));
  });
  kinds.forEach((kind, i) => {
    const [title, under, none] = boxes[i].children;
    const grid = /** @type {HTMLElement} */ (under.lastChild);
    const m = mapOf(S, kind);
    say(title, kinds.length > 1 ? TITLES[kind] : "");
    say(none, m ? "" : t("Loading …"));
    grid.setAttribute("aria-label", t("{kind}: heads", { kind: TITLES[kind] }));
    if (m) drawGrid(S, m, grid);
  });
}

/**
 * The layout of a grid: its columns, the size of the thumbnails, and the place of their text. A row is a layer, and
 * ends with the mean.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {HTMLElement} grid
 */
function layOutGrid(S, m, grid) {
  const beside = isBeside(S);
  const across = m.heads + 1;
  const room = Math.max(120, /** @type {Element} */ (grid.parentNode).clientWidth);
  const isLarge = S.box.dataset.large === "beside"; // then the text about the pictures stands below them
  const text = isLarge ? FOOT + S.find(".under-views > div").offsetHeight : 0;
  const tall = roomBelow(grid, isLarge || presenting(S.box)) - text;
  const compact = beside || room / across < 112;
  if (compact) {
    const wide = (room - 26) / across;
    const aligned = wide >= 15;
    // Beside another view they are small; several grids share the height of the screen.
    const high = beside ? clamp(tall / 2 / m.layers - 18, 34, 90) : Math.max(56, tall / m.layers - 18);
    const size = fitCell((aligned ? wide : 34) - 6, high, m.keys, m.queries);
    return {
      compact,
      aligned,
      form: "name",
      template: aligned ? `22px repeat(${across},minmax(0,1fr))` : "repeat(auto-fill,34px)",
      ...size,
    };
  }
  const size = fitTile(room / across, Math.max(64, tall / m.layers), m.keys, m.queries);
  return { compact, aligned: true, template: `repeat(${across},minmax(0,1fr))`, ...size };
}

/** @param {HeadsState} S @param {KindMap} m @param {HTMLElement} grid */
function drawGrid(S, m, grid) {
  const { compact, aligned, form, template, x, y } = layOutGrid(S, m, grid);
  const tiles = listHeads(m).flatMap((h) => (h.head < m.heads ? [h] : [h, { layer: h.layer, head: 0 }]));
  grid.style.gridTemplateColumns = template;
  grid.classList.toggle("compact", compact);
  grid.dataset.form = form;
  const layered = aligned && compact; // the thumbnails have too little room to name their layer
  const rows = shownRows(S, m);
  const row = rowInView(S, m);
  const pick = S.pick[m.kind];
  const cells = children(grid, tiles.length + (layered ? m.layers : 0), () => make("div", "spot"));
  grid.style.setProperty("--wide", `${m.keys * x}px`);
  grid.style.setProperty("--high", `${m.queries * y}px`);
  /** @type {HTMLButtonElement | null} */
  let pressed = null;
  const buttons = tiles.map(({ layer, head }, i) => {
    const cell = cells[i + (layered ? layer : 0)];
    if (layered && head === 1) nameLayer(cells[i + layer - 1], layer);
    const button = tileIn(S, cell);
    const names = [S.seq, m.kind, m.form, layer, head, compact].join();
    // Hovering over a cell redraws everything, so names are set only if they differ.
    if (button.names !== names) {
      button.names = names;
      nameTile(button, m, { layer, head }, compact);
    }
    const mine = m.kind === S.kind && layer === pick.layer && head === pick.head;
    if (button.ariaPressed !== `${mine}`) button.ariaPressed = `${mine}`;
    if (mine) pressed = button;
    return button;
  });
  giveTabStop(grid, buttons, pressed);
  const scale = scaleOf(S, false);
  const canvas = /** @type {HTMLCanvasElement & { painted?: string }} */ (grid.previousSibling);
  const paint = [
    S.seq,
    m.kind,
    m.form,
    scale.top,
    S.scale,
    S.direction,
    S.theme.ground,
    x,
    y,
    rows,
    row,
    compact,
    form,
    pixelRatio(grid),
    grid.clientWidth,
    grid.clientHeight,
    aligned,
    ...tiles.map(({ layer, head }) => `${layer}-${head}`),
  ].join();
  if (canvas.painted === paint) return;
  canvas.painted = paint;
  paintTiles(S, m, canvas, buttons, pictureOf(S, m, tiles, scale), { wide: x, high: y });
}

/**
 * Draws all thumbnails of a grid on one canvas over the buttons, each in the space that its button leaves free.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLElement[]} buttons
 * @param {import("./maps.js").Sheet} sheet
 * @param {{ wide: number, high: number }} cell
 */
function paintTiles(S, m, canvas, buttons, sheet, { wide, high }) {
  const grid = /** @type {HTMLElement} */ (canvas.nextSibling);
  const rows = shownRows(S, m);
  const row = rowInView(S, m);
  const places = placesIn(S, SIDES[m.kind][1], m.columns);
  const ratio = pixelRatio(grid);
  const ctx = paper(canvas, grid.clientWidth, grid.clientHeight);
  const { left, top } = grid.getBoundingClientRect();
  const end = m.keys * wide - 3;
  // Aligned to whole screen pixels, like the frame that the browser draws around each thumbnail.
  const onScreen = ratio / magnification(grid);
  const snap = (/** @type {number} */ to, /** @type {number} */ start) =>
    (Math.round(to * onScreen) - Math.round(start * onScreen)) / ratio;
  ctx.imageSmoothingEnabled = Math.min(wide, high) * ratio < 1;
  ctx.fillStyle = S.theme[SIDES[m.kind][0]];
  buttons.forEach((button, i) => {
    const at = /** @type {Element} */ (button.firstChild).getBoundingClientRect();
    const x = snap(at.left, left);
    const y = snap(at.top, top);
    drawCells(ctx, sheet, i, m.keys, rows, { left: x, top: y, wide, high, places });
    if (!isBeside(S)) for (const by of [0, end]) ctx.fillRect(x + by, y + row * high, 3, Math.max(2, high));
  });
}

/** @param {HTMLButtonElement} button @param {KindMap} m @param {Pick} pick @param {boolean} compact */
function nameTile(button, m, { layer, head }, compact) {
  const { keys, role } = head ? describeHead(m, layer, head) : { keys: "", role: "" };
  const [, name, effective, favours] = button.children;
  say(name, compact ? shortHead(head) : shortName(layer, head));
  say(effective, compact ? "" : keys);
  say(favours, compact ? "" : role);
  button.value = `${m.kind} ${layer} ${head}`;
  const which = capitalised(nameInKind(layer, head));
  button.ariaLabel = button.title = !head
    ? which
    : role
      ? t("{head}: {keys}, {role}", { head: which, keys, role })
      : t("{head}: {keys}", { head: which, keys });
}

/** @param {HTMLElement} cell @param {number} layer */
function nameLayer(cell, layer) {
  if (cell.firstElementChild?.tagName !== "SPAN") cell.replaceChildren(make("span", "layer"));
  say(cell.firstChild, shortLayer(layer));
}

/** The button of a thumbnail, created if the cell has none. @param {HeadsState} S @param {HTMLElement} cell */
function tileIn(S, cell) {
  if (cell.firstElementChild?.tagName !== "BUTTON") {
    S.tile ??= makeButton("tile", make("i"), make("b"), make("small"), make("small"));
    cell.replaceChildren(S.tile.cloneNode(true));
  }
  return /** @type {HTMLButtonElement & { names?: string }} */ (cell.firstChild);
}

/** @param {HeadsState} S @param {MouseEvent} event */
export function chooseTile(S, event) {
  const [kind, layer, head] = tileOf(event.target)?.value.split(" ") ?? [];
  if (!kind) return;
  openHead(S, /** @type {Kind} */ (kind), Number(layer), Number(head));
  if (event.detail) tileOf(event.target)?.blur(); // after a click, arrow keys step; after Enter, they move from this thumbnail
}

/**
 * Shows the head under the pointer or the keyboard focus large, until the pointer or the focus leaves.
 * @param {HeadsState} S
 * @param {Event} event
 */
export function peekAtTile(S, event) {
  const [kind, layer, head] = tileOf(event.target)?.value.split(" ") ?? [];
  const at = `${kind} ${layer} ${head}`;
  if (!kind ? !S.peek : S.peek && at === `${S.peek.kind} ${S.peek.layer} ${S.peek.head}`) return;
  S.peek = kind ? { kind: /** @type {Kind} */ (kind), layer: Number(layer), head: Number(head) } : null;
  redraw(S);
}
