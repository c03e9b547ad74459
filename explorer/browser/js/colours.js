// The colours of the current theme, the attention scale as a table of 256 steps, and the hatching of masked cells.

import { canvasOf } from "./canvas.js";
import { say } from "./dom.js";
import { PALETTES } from "./palettes.js";
import { inSentence, t } from "./words.js";

/** @import { Rgb, Theme } from "./types" */

const LONG = 24; // keys above which a sentence is long

/** @type {CanvasRenderingContext2D | undefined} */
let converter;

/** A CSS colour as red, green and blue. @param {string} colour @returns {Rgb} */
export function rgb(colour) {
  converter ??= canvasOf(1, 1)[1];
  converter.fillStyle = "#000";
  converter.fillStyle = colour;
  const six = converter.fillStyle;
  return [1, 3, 5].map((i) => parseInt(six.slice(i, i + 2), 16));
}

/** Perceived brightness of a colour, from 0 (black) to 1 (white). @param {Rgb} colour */
const brightness = ([r, g, b]) => (0.3 * r + 0.59 * g + 0.11 * b) / 255;

/**
 * 256 colours from 0 to 1, interpolated between these stops. Weight 0 is close to the background in both themes.
 * @param {Rgb[]} stops
 * @param {Rgb} paper
 */
function ramp(stops, paper) {
  const near = (/** @type {Rgb} */ stop) => Math.abs(brightness(stop) - brightness(paper));
  const ordered = near(stops[0]) > near(stops[stops.length - 1]) ? [...stops].reverse() : stops;
  return Array.from({ length: 256 }, (_, i) => {
    const x = (i / 255) * (ordered.length - 1);
    const low = Math.min(Math.floor(x), ordered.length - 2);
    return ordered[low].map((c, j) => Math.round(c + (x - low) * (ordered[low + 1][j] - c)));
  });
}

/** A colour as a pixel of an ImageData. @param {Rgb} colour */
export const pixelOf = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** Sets the scale of a theme, and of the colour bar of its component. @param {Theme} theme @param {HTMLElement} box @param {Rgb[]} scale */
export function setScale(theme, box, scale) {
  Object.assign(theme, { scale, inks: Uint32Array.from(scale, pixelOf) });
  box.style.setProperty(
    "--scale",
    scale
      .filter((_, i) => i % 15 === 0)
      .map((stop) => `rgb(${stop})`)
      .join(),
  );
}

/** The theme of each component, and what it was made from. @type {WeakMap<HTMLElement, { from: string, theme: Theme }>} */
const themes = new WeakMap();

/**
 * Reads the theme around a component, and sets the component's CSS variables. As long as nothing else is read, the theme
 * stays the same object, so that views do not draw everything again.
 * @param {HTMLElement} box
 * @returns {Theme}
 */
export function readTheme(box) {
  const css = getComputedStyle(box);
  const colours = css.getPropertyValue("--st-chart-sequential-colors");
  const from = [css.backgroundColor, css.color, css.fontFamily, colours].join();
  const known = themes.get(box);
  if (known?.from === from) {
    setScale(known.theme, box, known.theme.own); // a view may have set another one
    return known.theme;
  }
  const paper = rgb(css.backgroundColor);
  const name = brightness(paper) < 0.5 ? "dark" : "light";
  const palette = PALETTES[name];
  const own = ramp(colours.split(",").map(rgb), paper);
  const theme = {
    ...palette,
    own,
    scale: own,
    inks: new Uint32Array(),
    grey: pixelOf(rgb(palette.masked)),
    ink: css.color,
    ground: css.backgroundColor,
    font: css.fontFamily,
    patterns: [],
  };
  box.dataset.theme = name;
  for (const [part, colour] of Object.entries(palette)) box.style.setProperty(`--${part}`, colour);
  setScale(theme, box, own);
  themes.set(box, { from, theme });
  return theme;
}

/** The pattern of masked cells, created on first use. @param {Theme} theme @param {number} code */
export const patternOf = (theme, code) => (theme.patterns[code] ??= hatching(theme, code));

/** Future positions: lines in one direction. Padding: crossed lines. @param {Theme} theme @param {number} code */
function hatching(theme, code) {
  const [tile, ctx] = canvasOf(8, 8);
  ctx.fillStyle = theme.masked;
  ctx.fillRect(0, 0, 8, 8);
  ctx.strokeStyle = theme.hatch;
  for (const shift of [-8, 0, 8]) {
    ctx.moveTo(shift, 8);
    ctx.lineTo(shift + 8, 0);
    if (code === 2) {
      ctx.moveTo(shift, 0);
      ctx.lineTo(shift + 8, 8);
    }
  }
  ctx.stroke();
  return /** @type {CanvasPattern} */ (ctx.createPattern(tile, "repeat"));
}

/** The full colours of long sentences, by their weights. @type {WeakMap<object, number>} */
const full = new WeakMap();

/**
 * The weight that has the full colour in all pictures of a kind of attention: 1, or in a long sentence, whose weights are
 * small, the median of the largest weights of the rows of all heads.
 * @param {{ weights: Float32Array | undefined, keys: number }} m a map whose numbers have arrived
 */
export function fullColour({ weights, keys }) {
  if (keys <= LONG || !weights) return 1;
  const known = full.get(weights);
  if (known) return known;
  const largest = new Float32Array(weights.length / keys);
  for (let i = 0; i < weights.length; i++) {
    const row = Math.floor(i / keys);
    if (weights[i] > largest[row]) largest[row] = weights[i];
  }
  const median = largest.sort()[largest.length >> 1] || 1;
  const top = Number(median.toPrecision(2)); // the end of the scale is the number that is named
  full.set(weights, top);
  return top;
}

/** Names the end of a colour scale, which a long sentence cuts below 1. @param {(name: string) => HTMLElement} find @param {number} top */
export function sayScale(find, top) {
  const number = inSentence(`${top}`);
  const ramp = find(".ramp");
  say(ramp.lastChild, top < 1 ? t("{number} and more", { number }) : "1");
  ramp.title =
    top < 1
      ? t(
          "In a long sentence, most weights are small: the colours end at {number}, the median of the largest weights of the rows of all heads.",
          { number },
        )
      : "";
}
