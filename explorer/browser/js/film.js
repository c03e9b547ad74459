// The film: thumbnails of all heads, the chosen head enlarged, and a slider over the snapshots of a run.

import { border, label, paper, shorten, isolated, widest, writeAxes, writer } from "./canvas.js";
import { bitmap, inkOn, contextOf, patternOf, readTheme, shade } from "./colours.js";
import { finder, make, makeButton, say } from "./dom.js";
import { FUTURE } from "./kinds.js";
import { AXES, capitalised, headTitle, layerName, nameInKind } from "./names.js";
import { cellNumber, clamp, percent } from "./numbers.js";
import { createPlayer, markPlaying } from "./player.js";
import { readMessage } from "./wire.js";

/** @typedef {import("./types").Film} Film */
/** @typedef {import("./types").FilmFrame} FilmFrame */
/** @typedef {import("./types").FilmState} FilmState */

const TALL = 340; // approximate height of the large map with its labels, in pixels
const NARROW = 90; // maximum width of a thumbnail, in pixels
const REPORT = 250; // ms between the last move and the report of the position
const TEMPO = 600; // ms per step

/**
 * Streamlit calls this again whenever the data or the theme changes; it calls the returned function once, at unmount.
 * @param {import("./types").Mount<Uint8Array, "__film", FilmState>} mount
 */
export default function ({ data, parentElement: root, setStateValue }) {
  const S = (root.__film ??= create(root));
  Object.assign(S, { setStateValue, theme: readTheme(S.box) });
  load(S, readFilm(data));
  draw(S);
  return () => {
    clearTimeout(S.reporting);
    S.player.stop();
    S.observer.disconnect();
  };
}

/** @param {Uint8Array} bytes @returns {Film} */
function readFilm(bytes) {
  const { header, arrays } = readMessage(bytes);
  header.frames.forEach((/** @type {FilmFrame} */ f, /** @type {number} */ i) => {
    f.area = f.rows.length * f.columns.length;
    f.weights = /** @type {Uint8Array} */ (arrays[i].values);
  });
  return header;
}

/** The state before the first film arrives; `load` adds the rest. @param {ParentNode} root */
function create(root) {
  const find = finder(root), slider = /** @type {HTMLInputElement} */ (find("input"));
  const big = /** @type {HTMLCanvasElement} */ (find(".big"));
  const S = /** @type {FilmState} */ (/** @type {unknown} */ ({
    find, slider, big, box: find(".film"), frame: 0, layer: 1, head: 1, cell: null,
  }));
  const last = () => S.film.frames.length - 1;
  S.player = createPlayer(() => TEMPO, { at: () => S.frame, last, go: (frame) => show(S, clamp(frame, 0, last())) });
  slider.oninput = () => {
    S.player.stop();
    show(S, Number(slider.value));
  };
  find(".play").onclick = () => {
    if (S.player.playing()) S.player.stop();
    else S.player.start();
    markPlaying(find(".play"), S.player.playing());
  };
  big.onpointermove = big.onclick = (event) => {
    const { left, top, cell } = S.plot, f = S.film.frames[S.frame];
    const key = Math.floor((event.offsetX - left) / cell), query = Math.floor((event.offsetY - top) / cell);
    S.cell = query >= 0 && key >= 0 && query < f.rows.length && key < f.columns.length ? { query, key } : null;
    drawReadout(S);
  };
  big.onpointerleave = () => {
    S.cell = null;
    drawReadout(S);
  };
  S.observer = new ResizeObserver(() => {
    if (S.width !== S.box.clientWidth && S.film) draw(S);
  });
  S.observer.observe(S.box);
  return S;
}

/**
 * Loads new data. The position is kept unless the server sends another film.
 * @param {FilmState} S
 * @param {Film} film
 */
function load(S, film) {
  S.film = film;
  if (film.seq !== S.seq) Object.assign(S, film.place, { seq: film.seq });
  S.frame = clamp(S.frame, 0, film.frames.length - 1);
  S.layer = clamp(S.layer, 1, film.layers);
  S.head = clamp(S.head, 1, film.heads);
  S.cell = null;
  if (S.frame === film.frames.length - 1) S.player.stop();
}

/** @param {FilmState} S @param {number} frame */
function show(S, frame) {
  S.frame = frame;
  paint(S);
  report(S);
}

/** Sends one report for a burst of moves. @param {FilmState} S */
function report(S) {
  clearTimeout(S.reporting);
  const { seq, frame, layer, head } = S;
  S.reporting = setTimeout(() => S.setStateValue("at", { seq, frame, layer, head }), REPORT);
}

/** Lays out everything whose size depends on the film or on the width, then draws it. @param {FilmState} S */
function draw(S) {
  const { layers, heads, frames } = S.film;
  S.width = S.box.clientWidth;
  S.find(".controls").hidden = frames.length < 2;
  S.find(".masked").hidden = S.film.kind !== "decoder";
  S.slider.max = `${frames.length - 1}`;
  const grid = S.find(".heads");
  S.thumb = clamp(Math.floor((S.width * (S.width < 700 ? 0.9 : 0.45) - 60) / heads) - 14, 30, NARROW);
  grid.style.gridTemplateColumns = `auto repeat(${heads}, auto)`;
  grid.replaceChildren();
  S.thumbs = [];
  for (let layer = 1; layer <= layers; layer++) {
    grid.append(make("span", "", capitalised(layerName(layer))));
    for (let head = 1; head <= heads; head++) {
      const canvas = make("canvas"), button = makeButton("", canvas);
      button.ariaLabel = button.title = capitalised(nameInKind(layer, head));
      button.onclick = () => {
        Object.assign(S, { layer, head });
        paint(S);
        report(S);
      };
      grid.append(button);
      S.thumbs.push({ layer, head, button, canvas });
    }
  }
  paint(S);
}

/** @param {FilmState} S */
function paint(S) {
  const { film, slider } = S, f = film.frames[S.frame];
  markPlaying(S.find(".play"), S.player.playing());
  slider.value = `${S.frame}`;
  slider.ariaValueText = stepOf(f);
  say(S.find("output"), `${stepOf(f)} (${S.frame + 1} of ${film.frames.length})`);
  for (const { layer, head, button, canvas } of S.thumbs) {
    button.ariaPressed = `${layer === S.layer && head === S.head}`;
    const ctx = paper(canvas, S.thumb, S.thumb);
    const cell = Math.min(S.thumb / f.columns.length, S.thumb / f.rows.length);
    const wide = cell * f.columns.length, high = cell * f.rows.length;
    ctx.drawImage(pictureOf(S, f, layer, head), (S.thumb - wide) / 2, (S.thumb - high) / 2, wide, high);
  }
  drawHead(S, f);
  drawReadout(S);
}

/** @param {FilmFrame} f */
const stepOf = (f) => `step ${f.step.toLocaleString("en")}`;

/** @param {FilmState} S @param {FilmFrame} f @param {number} layer @param {number} head @param {number} i */
const weightAt = (S, f, layer, head, i) => f.weights[((layer - 1) * S.film.heads + head - 1) * f.area + i] / 255;

/**
 * Whether a cell is masked, that is, a later token in decoder self-attention.
 * @param {FilmState} S
 * @param {FilmFrame} f
 * @param {number} i
 */
const isMasked = (S, f, i) => S.film.kind === "decoder" && i % f.columns.length > Math.floor(i / f.columns.length);

/**
 * A head's map with one pixel per cell.
 * @param {FilmState} S
 * @param {FilmFrame} f
 * @param {number} layer
 * @param {number} head
 */
const pictureOf = (S, f, layer, head) => bitmap(S.theme, f.columns.length, f.rows.length, (i) =>
  isMasked(S, f, i) ? null : weightAt(S, f, layer, head, i));

/**
 * Draws the chosen head: rows are queries with query 0 on top; key labels are on top.
 * @param {FilmState} S
 * @param {FilmFrame} f
 */
function drawHead(S, f) {
  const { ink, font } = S.theme, { kind } = S.film;
  say(S.find("figcaption"), `${headTitle(kind, S.layer, S.head)}, ${stepOf(f)}`);
  const ctx = contextOf(S.big);
  ctx.font = `12px ${font}`;
  const fit = (/** @type {string} */ text, /** @type {number} */ most) => shorten(ctx, text, most, most, Infinity);
  const named = (/** @type {string[]} */ tokens, /** @type {number} */ i) => fit(label(tokens, i), 96);
  const next = (/** @type {number} */ i) => fit(`\u2192 ${isolated(f.predicted[i])}`, 84);
  const width = (/** @type {string[]} */ texts) => Math.ceil(widest(ctx, texts));
  const left = 20 + width(f.rows.map((_, i) => named(f.rows, i))) + 6;
  const right = f.predicted.length ? width(f.predicted.map((_, i) => next(i))) + 8 : 4;
  const top = 18 + width(f.columns.map((_, i) => named(f.columns, i))) + 8;
  const room = /** @type {Element} */ (S.find("figure")).clientWidth - left - right;
  const cell = Math.max(3, Math.min(30, room / f.columns.length, (TALL + 40 - top) / f.rows.length));
  const wide = cell * f.columns.length, high = cell * f.rows.length;
  paper(S.big, Math.ceil(Math.max(left + wide + right, left + 150)), Math.ceil(Math.max(top + high + 2, 190)));
  S.plot = { left, top, cell };
  ctx.fillStyle = ink;
  ctx.textBaseline = "middle";
  const write = writer(ctx, font), size = Math.min(12, Math.max(9, cell)), every = Math.ceil(11 / cell);
  writeAxes(ctx, write, AXES[kind], S.plot, 0.7, 8);
  ctx.font = `${size}px ${font}`;
  for (let i = 0; i < f.rows.length; i += every) {
    const y = top + (i + 0.5) * cell;
    write(named(f.rows, i), left - 5, y, "right", 0, size);
    if (f.predicted.length) write(next(i), left + wide + 6, y, "left", 0, size);
  }
  for (let i = 0; i < f.columns.length; i += every) {
    write(named(f.columns, i), left + (i + 0.5) * cell, top - 5, "left", -Math.PI / 2, size);
  }
  ctx.drawImage(pictureOf(S, f, S.layer, S.head), 0, 0, f.columns.length, f.rows.length, left, top, wide, high);
  for (let i = 0; i < f.area; i++) {
    const x = left + (i % f.columns.length) * cell, y = top + Math.floor(i / f.columns.length) * cell;
    const weight = weightAt(S, f, S.layer, S.head, i);
    if (isMasked(S, f, i)) {
      ctx.fillStyle = patternOf(S.theme, FUTURE);
      ctx.fillRect(x, y, cell, cell);
    } else if (cell > 24 && weight >= 0.005) {
      ctx.fillStyle = inkOn(shade(S.theme, weight));
      write(cellNumber(weight), x + cell / 2, y + cell / 2, "center", 0, 11);
    }
  }
  border(ctx, ink, S.plot, wide, high);
}

/** Describes the cell under the pointer. @param {FilmState} S */
function drawReadout(S) {
  const f = S.film.frames[S.frame], c = S.cell;
  let text = "";
  if (c) {
    const i = c.query * f.columns.length + c.key;
    const predicts = f.predicted.length ? ` (predicts ${f.predicted[c.query]})` : "";
    const value = isMasked(S, f, i) ? "masked (future)" : percent(weightAt(S, f, S.layer, S.head, i));
    text = `${c.query + 1} ${f.rows[c.query]}${predicts} \u2192 ${c.key + 1} ${f.columns[c.key]}: ${value}`;
  }
  say(S.find("figure p"), text);
}
