// From weights to colours: three scales, three palettes that colour-blind people can read, and small images of heads.

import { canvasOf, ramp, rgb, setScale } from "./colours.js";
import { mapsShown } from "./heads_state.js";
import { clamp, decimals } from "./numbers.js";
import { say } from "./dom.js";
import { weightsOf } from "./weights.js";

/** @typedef {import("./types").HeadsState} HeadsState */
/** @typedef {import("./types").KindMap} KindMap */
/** @typedef {import("./types").Rgb} Rgb */

// Cividis after Nuñez, Anderton and Renslow (2018). Both run from dark to light in even steps.
/** @type {Record<string, string>} */
const RAMPS = {
  cividis: "#00224e,#123570,#3b496c,#575d6d,#707173,#8a8678,#a59c74,#c3b369,#e1cc55,#fee838",
  grey: "#ffffff,#000000",
};
const FAINTEST = 1e-4; // weight at the lower end of the logarithmic scale

/** Applies the chosen palette. @param {HeadsState} S */
export function choosePalette(S) {
  const { theme } = S, stops = RAMPS[S.palette];
  theme.scale = stops ? ramp(stops.split(",").map(rgb), rgb(theme.ground)) : theme.own;
  setScale(S.box, theme.scale);
  const pack = (/** @type {Rgb} */ [r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  S.inks = Uint32Array.from(theme.scale, pack);
  S.grey = pack(rgb(theme.masked));
  S.pictures.clear();
}

/**
 * The position of a weight on the scale, from 0 to 255.
 * @param {HeadsState} S
 * @param {number} weight
 * @param {number} top
 */
export function level(S, weight, top) {
  if (S.scale !== "log") return clamp(Math.round((255 * weight) / top), 0, 255);
  return weight < FAINTEST ? 0 : clamp(Math.round(255 * (1 - Math.log10(weight) / Math.log10(FAINTEST))), 0, 255);
}

/**
 * The weight at the top of the colour scale. Heads that are compared, in a grid or side by side, share one scale.
 * @param {HeadsState} S
 * @param {boolean} single whether only the heads in view are compared
 */
export function topOf(S, single) {
  if (S.scale !== "max") return 1;
  let top = 0;
  for (const m of mapsShown(S)) {
    const { layer, head } = S.pick[m.kind];
    top = Math.max(top, single ? largest(weightsOf(m, layer, head)) : (m.largest ??= largest(m.weights)));
  }
  return top || 1;
}

/** @param {ArrayLike<number>} values */
function largest(values) {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]);
  return most;
}

/**
 * Heads of one kind with one pixel per cell, scaled up on drawing, and the corner of each head. They share one canvas,
 * because a canvas costs the browser more than what is drawn on it.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {{ layer: number, head: number }[]} heads
 * @param {number} top
 */
export function pictureOf(S, m, heads, top) {
  const name = [m.kind, m.form, ...heads.map(({ layer, head }) => `${layer}-${head}`), top].join(" ");
  const known = S.pictures.get(name);
  if (known) return known;
  const made = paintHeads(S, m, heads, top);
  S.pictures.set(name, made);
  return made;
}

/** @param {HeadsState} S @param {KindMap} m @param {{ layer: number, head: number }[]} heads @param {number} top */
function paintHeads(S, m, heads, top) {
  // One pixel between heads keeps their colours from mixing when they are scaled down.
  const wide = m.keys + 1, across = clamp(Math.floor(4096 / wide), 1, heads.length);
  const width = across * wide, image = new ImageData(width, Math.ceil(heads.length / across) * (m.queries + 1));
  const pixels = new Uint32Array(image.data.buffer);
  const corners = heads.map(({ layer, head }, h) => {
    const x = (h % across) * wide, y = Math.floor(h / across) * (m.queries + 1);
    const colours = coloursOf(S, weightsOf(m, layer, head), top);
    for (let q = 0; q < m.queries; q++) fillRow(pixels, (y + q) * width + x, colours, q * m.keys, m.keys, m.mask, S.grey);
    return [x, y];
  });
  const [canvas, ctx] = canvasOf(width, image.height);
  ctx.putImageData(image, 0, 0);
  return { canvas, corners };
}

/** @param {HeadsState} S @param {ArrayLike<number>} values @param {number} top */
function coloursOf(S, values, top) {
  const colours = new Uint32Array(values.length);
  if (S.scale === "log") for (let i = 0; i < values.length; i++) colours[i] = S.inks[level(S, values[i], top)];
  else fillLinear(colours, values, S.inks, 255 / top);
  return colours;
}

/**
 * As `level` does, without a call for each of up to a million cells.
 * @param {Uint32Array} colours
 * @param {ArrayLike<number>} values
 * @param {Uint32Array} inks
 * @param {number} unit
 */
function fillLinear(colours, values, inks, unit) {
  for (let i = 0, count = values.length; i < count; i++) {
    const at = Math.round(values[i] * unit);
    colours[i] = inks[at < 0 ? 0 : at > 255 ? 255 : at];
  }
}

/**
 * Fills one row of pixels; masked cells are grey.
 * @param {Uint32Array} pixels
 * @param {number} at
 * @param {Uint32Array} colours
 * @param {number} from
 * @param {number} count
 * @param {Uint8Array} mask
 * @param {number} grey
 */
function fillRow(pixels, at, colours, from, count, mask, grey) {
  for (let i = from, end = from + count; i < end; i++, at++) pixels[at] = mask[i] ? grey : colours[i];
}

/** Writes the numbers at the ends of the colour scale. @param {HeadsState} S */
export function drawLegend(S) {
  const single = S.view !== "heads", top = topOf(S, single), ends = S.find(".ramp");
  say(ends.firstChild, S.scale === "log" ? "≤ 0.0001" : "0");
  say(ends.lastChild, S.scale === "max" ? decimals(top) : "1");
  say(S.find(".scaled"), { max: "up to the largest weight in view", log: "logarithmic" }[S.scale] ?? "");
}
