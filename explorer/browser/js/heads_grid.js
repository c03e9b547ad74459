// All heads at once: one thumbnail per head, all on the same scale, sorted and filtered.

import { paper, magnification, pixelRatio } from "./canvas.js";
import { children, make, makeButton, say } from "./dom.js";
import { describeHead, listHeads } from "./head_list.js";
import { fitCell, fitTile, fitTiles } from "./heads_layout.js";
import { pictureOf, topOf } from "./heads_pictures.js";
import { kindsShown, mapOf, openHead, redraw, rowInView, showsLarge, shownRows } from "./heads_state.js";
import { SIDES } from "./kinds.js";
import { TITLES, capitalised, nameInKind, shortLayer, shortName } from "./names.js";
import { presenting } from "./present.js";
import { roomBelow } from "./screen_room.js";
import { giveTabStop, tileOf } from "./tiles.js";

/** @typedef {import("./types").HeadsState} HeadsState */
/** @typedef {import("./types").Kind} Kind */
/** @typedef {import("./types").KindMap} KindMap */
/** @typedef {{ layer: number, head: number }} Head */

const BESIDE = 600; // width at which a large map has room beside the thumbnails, in pixels
const LEAST_WIDE = 56; // of a thumbnail that has a large map beside it, in pixels

/** @param {HeadsState} S */
export function drawGrids(S) {
  const beside = S.view !== "heads", kinds = beside ? [S.kind] : kindsShown(S);
  // A map of one head stands large beside the thumbnails, or below them where they need the width.
  const across = S.data.shapes[S.kind].heads + 1, wide = S.box.clientWidth;
  S.box.dataset.large = !showsLarge(S) ? "" : wide >= BESIDE && across * LEAST_WIDE < 0.55 * wide ? "beside" : "below";
  const boxes = children(S.find(".grids"), kinds.length, () => {
    const grid = make("div", "tiles");
    grid.setAttribute("role", "group");
    return make("section", "", make("h3", ""), make("div", "under", make("canvas"), grid), make("p", "none"));
  });
  kinds.forEach((kind, i) => {
    const [title, under, none] = boxes[i].children, m = mapOf(S, kind);
    const canvas = /** @type {HTMLCanvasElement} */ (under.firstChild), grid = /** @type {HTMLElement} */ (under.lastChild);
    say(title, kinds.length > 1 ? TITLES[kind] : "");
    say(none, m ? "" : "Loading …");
    grid.setAttribute("aria-label", `${TITLES[kind]}: heads`);
    if (m) drawGrid(S, m, canvas, grid, none, beside);
  });
}

/**
 * The layout of a grid: its columns, the size of the thumbnails, and where their text is. A row of a whole grid is a
 * layer, and the mean ends it.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {Head[]} heads
 * @param {HTMLElement} grid
 * @param {boolean} beside whether the grid is beside another view
 */
function layOutGrid(S, m, heads, grid, beside) {
  const ordered = (beside || S.by === "place") && heads.length === m.layers * m.heads, across = m.heads + 1;
  const room = Math.max(120, /** @type {Element} */ (grid.parentNode).clientWidth), tall = roomBelow(grid, presenting(S.box));
  const compact = beside || (ordered && room / across < 112);
  if (compact) {
    const wide = (room - 26) / across, aligned = ordered && wide >= 15;
    // Beside another view they are small; several grids share the height of the screen.
    const high = beside ? 34 : Math.max(56, tall / m.layers - 18), size = fitCell((aligned ? wide : 34) - 6, high, m.keys, m.queries);
    return { compact, aligned, form: "name", template: aligned ? `22px repeat(${across},minmax(0,1fr))` : "repeat(auto-fill,34px)", ...size };
  }
  const many = ordered ? null : fitTiles(heads.length, room, tall, m.keys, m.queries);
  const size = many?.size ?? fitTile(room / across, Math.max(64, tall / m.layers), m.keys, m.queries);
  return { compact, aligned: ordered, template: `repeat(${many?.columns ?? across},minmax(0,1fr))`, ...size };
}

/**
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLElement} grid
 * @param {Element} none
 * @param {boolean} beside
 */
function drawGrid(S, m, canvas, grid, none, beside) {
  const heads = listHeads(m, beside ? { by: "place" } : S);
  say(none, heads.length ? "" : "No head passes the filters.");
  const { compact, aligned, form, template, x, y } = layOutGrid(S, m, heads, grid, beside);
  const tiles = aligned || compact ? heads.flatMap((h) => (h.head < m.heads ? [h] : [h, { layer: h.layer, head: 0 }])) : heads;
  grid.style.gridTemplateColumns = template;
  grid.classList.toggle("compact", compact);
  grid.dataset.form = form;
  const layered = aligned && compact; // the thumbnails have too little room to name their layer
  const shown = shownRows(S, m), row = rowInView(S, m), pick = S.pick[m.kind];
  const cells = children(grid, tiles.length + (layered ? m.layers : 0), () => make("div", "spot"));
  grid.style.setProperty("--wide", `${m.keys * x}px`);
  grid.style.setProperty("--high", `${m.queries * y}px`);
  /** @type {HTMLButtonElement | null} */
  let pressed = null;
  const buttons = tiles.map(({ layer, head }, i) => {
    const cell = cells[i + (layered ? layer : 0)];
    if (layered && head === 1) nameLayer(cells[i + layer - 1], layer);
    const button = tileIn(S, cell), names = [S.seq, m.kind, m.form, layer, head, compact].join();
    // Hovering over a cell redraws everything; names are set only where they differ.
    if (button.names !== names) {
      button.names = names;
      nameTile(button, m, layer, head, compact);
    }
    const mine = m.kind === S.kind && layer === pick.layer && head === pick.head;
    if (button.ariaPressed !== `${mine}`) button.ariaPressed = `${mine}`;
    if (mine) pressed = button;
    return button;
  });
  giveTabStop(grid, buttons, pressed);
  const top = topOf(S, false), painted = /** @type {HTMLCanvasElement & { painted?: string }} */ (canvas);
  const paint = [
    S.seq, m.kind, m.form, top, S.scale, S.palette, S.theme.ground, x, y, shown, row, compact, form, pixelRatio(grid),
    grid.clientWidth, grid.clientHeight, aligned, ...tiles.map(({ layer, head }) => `${layer}-${head}`),
  ].join();
  if (painted.painted === paint) return;
  painted.painted = paint;
  if (!tiles.length) paper(canvas, 0, 0);
  else paintTiles(S, m, canvas, grid, buttons, pictureOf(S, m, tiles, top), { x, y, shown, row, marked: !beside });
}

/**
 * Draws all thumbnails of a grid on one canvas over the buttons, each in the space that its button leaves free.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLElement} grid
 * @param {HTMLElement[]} buttons
 * @param {{ canvas: HTMLCanvasElement, corners: number[][] }} picture
 * @param {{ x: number, y: number, shown: number, row: number, marked: boolean }} look size of a cell, and what is drawn
 */
function paintTiles(S, m, canvas, grid, buttons, picture, { x: cellWide, y: cellHigh, shown, row, marked }) {
  const ratio = pixelRatio(grid), ctx = paper(canvas, grid.clientWidth, grid.clientHeight);
  const { left, top } = grid.getBoundingClientRect(), [wide, high] = [m.keys * cellWide, shown * cellHigh];
  // Aligned to whole screen pixels, like the frame that the browser draws around each thumbnail.
  const onScreen = ratio / magnification(grid);
  const snap = (/** @type {number} */ to, /** @type {number} */ start) =>
    (Math.round(to * onScreen) - Math.round(start * onScreen)) / ratio;
  ctx.imageSmoothingEnabled = Math.min(cellWide, cellHigh) * ratio < 1;
  ctx.fillStyle = S.theme[SIDES[m.kind][0]];
  buttons.forEach((button, i) => {
    const at = /** @type {Element} */ (button.firstChild).getBoundingClientRect(), x = snap(at.left, left), y = snap(at.top, top);
    const [fromX, fromY] = picture.corners[i];
    ctx.drawImage(picture.canvas, fromX, fromY, m.keys, shown, x, y, wide, high);
    if (marked) for (const end of [0, wide - 3]) ctx.fillRect(x + end, y + row * cellHigh, 3, Math.max(2, cellHigh));
  });
}

/**
 * @param {HTMLButtonElement} button
 * @param {KindMap} m
 * @param {number} layer
 * @param {number} head
 * @param {boolean} compact
 */
function nameTile(button, m, layer, head, compact) {
  const { keys, role, mixed } = head ? describeHead(m, layer, head) : { keys: "", role: "", mixed: false };
  const [, name, effective, favours] = button.children;
  say(name, compact ? (head ? `H${head}` : "mean") : shortName(layer, head));
  say(effective, compact ? "" : keys);
  say(favours, compact ? "" : role);
  favours.classList.toggle("mixed", mixed);
  button.value = `${m.kind} ${layer} ${head}`;
  const which = capitalised(nameInKind(layer, head));
  button.ariaLabel = button.title = head ? `${which}: ${keys}, ` + (mixed ? "mixed, " : "") + role : which;
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
  if (event.detail) tileOf(event.target)?.blur(); // after a click, arrow keys step; after Enter, they move on from here
}

/**
 * The head that is pointed at or focused by keyboard is shown large, until the pointer or the focus leaves.
 * @param {HeadsState} S
 * @param {Event} event
 */
export function peekAtTile(S, event) {
  const [kind, layer, head] = tileOf(event.target)?.value.split(" ") ?? [], at = `${kind} ${layer} ${head}`;
  if (!kind ? !S.peek : S.peek && at === `${S.peek.kind} ${S.peek.layer} ${S.peek.head}`) return;
  S.peek = kind ? { kind: /** @type {Kind} */ (kind), layer: Number(layer), head: Number(head) } : null;
  redraw(S);
}
