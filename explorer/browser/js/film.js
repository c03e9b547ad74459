// The film: thumbnails of all heads, the chosen head enlarged, and a slider over the snapshots of a run.

import { leadsTo, paper } from "./canvas.js";
import { readTheme } from "./colours.js";
import { finder, make, makeButton, say } from "./dom.js";
import { arrange } from "./film_layout.js";
import { PLAIN, showMap } from "./labelled_map.js";
import { drawCells, sheetOf } from "./maps.js";
import { AXES, FUTURE, capitalised, headTitle, layerName, nameInKind, shortHead } from "./names.js";
import { clamp, grouped } from "./numbers.js";
import { drawSteps } from "./player.js";
import { isLeftwards, placesOf } from "./scripts.js";
import { serverSource } from "./source_server.js";
import { end, listenToSteps, listenToWidth, opensAnew, update } from "./view.js";
import { readMessage } from "./wire.js";
import { t } from "./words.js";

/** @import { Film, FilmFrame, FilmState } from "./types" */

const WIDEST = 3; // times its height, of a cell in a thumbnail
const TEMPO = 600; // ms per step

/**
 * Streamlit calls this again whenever the data or the theme changes; it calls the returned function once, at unmount.
 * @param {import("./types").Mount<Uint8Array, "__film", FilmState>} mount
 */
export default function (mount) {
  const { data, parentElement: root } = mount;
  const S = (root.__film ??= create(root));
  Object.assign(S, { source: serverSource(mount), theme: readTheme(S.box) });
  load(S, readFilm(data));
  layOut(S);
  return () => {
    end(S);
    S.endMap();
    delete root.__film;
  };
}

/** @param {Uint8Array} bytes @returns {Film} */
function readFilm(bytes) {
  const { header, arrays } = readMessage(bytes);
  header.frames.forEach((/** @type {FilmFrame} */ f, /** @type {number} */ i) => {
    f.area = f.rows.length * f.columns.length;
    f.weights = /** @type {Float32Array} */ (arrays[i].values);
    const keys = f.columns.length;
    const ahead = (/** @type {number} */ at) => at % keys > Math.floor(at / keys);
    f.mask = Uint8Array.from({ length: f.area }, (_, at) => (header.kind === "decoder" && ahead(at) ? FUTURE : 0));
  });
  return header;
}

/** The state before the first film arrives; `load` adds the rest. @param {ParentNode} root */
function create(root) {
  const find = finder(root);
  const S = /** @type {FilmState} */ (
    /** @type {unknown} */ ({
      find,
      box: find(".film"),
      layer: 1,
      head: 1,
      frame: 0,
      followed: true,
      draw: () => paint(S),
      reportOf: () => ({ seq: S.seq, frame: S.step, layer: S.layer, head: S.head }),
    })
  );
  listenToSteps(S, TEMPO);
  listenToWidth(S, () => layOut(S));
  return S;
}

/**
 * Loads new data. The position is kept unless the server sends another film.
 * @param {FilmState} S
 * @param {Film} film
 */
function load(S, film) {
  const { layer, head, frame } = film.place;
  Object.assign(S, { data: film, last: film.frames.length - 1 });
  if (opensAnew(S, { seq: film.seq, turn: 0 })) Object.assign(S, { layer, head, step: frame });
  S.step = clamp(S.step, 0, S.last);
  S.layer = clamp(S.layer, 1, film.layers);
  S.head = clamp(S.head, 1, film.heads);
  if (S.step === S.last) S.player.stop();
}

/** Lays out everything whose size depends on the film or on the width, then draws it. @param {FilmState} S */
function layOut(S) {
  const { layers, heads, frames } = S.data;
  S.width = S.box.clientWidth;
  S.find(".controls").hidden = frames.length < 2;
  const grid = S.find(".heads");
  const { thumb, isBelow } = arrange(S.width, heads, Math.max(...frames.map(({ columns }) => columns.length)));
  S.thumb = thumb;
  S.find("figure").style.flexBasis = isBelow ? "100%" : "";
  grid.style.gridTemplateColumns = `auto repeat(${heads}, auto)`;
  grid.replaceChildren();
  S.thumbs = [];
  grid.append(make("span"), ...Array.from({ length: heads }, (_, i) => make("span", "", shortHead(i + 1))));
  for (let layer = 1; layer <= layers; layer++) {
    grid.append(make("span", "", capitalised(layerName(layer))));
    for (let head = 1; head <= heads; head++) {
      const canvas = make("canvas");
      const button = makeButton("", canvas);
      button.ariaLabel = button.title = capitalised(nameInKind(layer, head));
      button.onclick = () => {
        Object.assign(S, { layer, head });
        update(S);
      };
      grid.append(button);
      S.thumbs.push({ layer, head, button, canvas });
    }
  }
  paint(S);
}

/** @param {FilmState} S */
function paint(S) {
  S.frame = 0;
  const f = S.data.frames[S.step];
  drawSteps(S, stepOf(f), t("{step} ({at} of {last})", { step: stepOf(f), at: S.step + 1, last: S.last + 1 }));
  const cells = cellsOf(f);
  const { keys, queries } = cells;
  const high = Math.min(S.thumb / keys, S.thumb / queries);
  const wide = Math.min(S.thumb / keys, WIDEST * high); // an answer that repeats itself has many rows
  const [left, top] = [(S.thumb - wide * keys) / 2, (S.thumb - high * queries) / 2];
  const sheet = sheetFor(S, f);
  const places = placesOf(f.columns, isLeftwards(f.columns));
  S.thumbs.forEach(({ layer, head, button, canvas }, i) => {
    button.ariaPressed = `${layer === S.layer && head === S.head}`;
    drawCells(paper(canvas, S.thumb, S.thumb), sheet, i, keys, queries, { left, top, wide, high, places });
  });
  drawHead(S, f);
}

/** @param {FilmFrame} f */
const stepOf = (f) => t("step {step}", { step: grouped(f.step) });

/** The weights of a head. @param {FilmFrame} f @param {number} at index of the head among all layers */
const weightsOf = (f, at) => f.weights.subarray(at * f.area, (at + 1) * f.area);

/** @param {FilmFrame} f */
const cellsOf = (f) => ({ keys: f.columns.length, queries: f.rows.length, mask: f.mask });

/** All heads of all layers. @param {FilmState} S @param {FilmFrame} f */
const sheetFor = (S, f) =>
  (f.sheet ??= sheetOf(
    S.theme,
    cellsOf(f),
    S.thumbs.map((_, i) => weightsOf(f, i)),
  ));

/** Draws the chosen head. @param {FilmState} S @param {FilmFrame} f */
function drawHead(S, f) {
  const { kind, heads } = S.data;
  const caption = t("{head}, {step}", { head: headTitle(kind, S.layer, S.head), step: stepOf(f) });
  say(S.find("figcaption"), caption);
  const [rows, columns] = [f.rows, f.columns].map((tokens) => tokens.map((token, i) => `${i + 1} ${token}`));
  const [row_title, column_title] = AXES[kind];
  const header = {
    ...{ rows, columns, row_title, column_title, ends: f.predicted.map(leadsTo), caption: `${caption}.` },
    unit: t("weight"),
    top: 1,
    ...PLAIN,
    grid: [],
    places: placesOf(f.columns, isLeftwards(f.columns)),
  };
  const values = weightsOf(f, (S.layer - 1) * heads + S.head - 1);
  S.endMap = showMap(S.find("figure"), { header, values, mask: f.mask });
  const box = S.find("figure .box");
  if (box.scrollWidth > box.clientWidth)
    say(S.find("figcaption"), `${caption} ${t("(scroll sideways: {n} columns)", { n: columns.length })}`);
}
