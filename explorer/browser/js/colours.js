// The colours of the current theme, the attention scale as a table of 256 steps, and the hatching of masked cells.

import { clamp } from "./numbers.js";
import { PALETTES } from "./palettes.js";

/** @typedef {import("./types").Rgb} Rgb */
/** @typedef {import("./types").Theme} Theme */

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

/**
 * A canvas of this size in pixels, and its context.
 * @param {number} width
 * @param {number} height
 * @returns {[HTMLCanvasElement, CanvasRenderingContext2D]}
 */
export function canvasOf(width, height) {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  return [canvas, contextOf(canvas)];
}

/** @param {HTMLCanvasElement} canvas */
export const contextOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/** Perceived brightness of a colour, from 0 (black) to 1 (white). @param {Rgb} colour */
const brightness = ([r, g, b]) => (0.3 * r + 0.59 * g + 0.11 * b) / 255;

/** The text colour that is legible on this colour. @param {Rgb} colour */
export const inkOn = (colour) => (brightness(colour) > 0.55 ? "#10243d" : "#fff");

/**
 * 256 colours from 0 to 1, interpolated between these stops. Weight 0 is close to the background in both themes.
 * @param {Rgb[]} stops
 * @param {Rgb} paper
 */
export function ramp(stops, paper) {
  const near = (/** @type {Rgb} */ stop) => Math.abs(brightness(stop) - brightness(paper));
  const ordered = near(stops[0]) > near(stops[stops.length - 1]) ? [...stops].reverse() : stops;
  return Array.from({ length: 256 }, (_, i) => {
    const x = (i / 255) * (ordered.length - 1);
    const low = Math.min(Math.floor(x), ordered.length - 2);
    return ordered[low].map((c, j) => Math.round(c + (x - low) * (ordered[low + 1][j] - c)));
  });
}

/** Sets the stops of a CSS gradient to the colours of the scale. @param {HTMLElement} box @param {Rgb[]} scale */
export const setScale = (box, scale) =>
  box.style.setProperty("--scale", scale.filter((_, i) => i % 15 === 0).map((stop) => `rgb(${stop})`).join());

/**
 * The theme around a component. Also sets the component's CSS variables.
 * @param {HTMLElement} box
 * @returns {Theme}
 */
export function readTheme(box) {
  const css = getComputedStyle(box), paper = rgb(css.backgroundColor);
  const name = brightness(paper) < 0.5 ? "dark" : "light", palette = PALETTES[name];
  const scale = ramp(css.getPropertyValue("--st-chart-sequential-colors").split(",").map(rgb), paper);
  box.dataset.theme = name;
  for (const [part, colour] of Object.entries(palette)) box.style.setProperty(`--${part}`, colour);
  setScale(box, scale);
  return { ...palette, scale, own: scale, ink: css.color, ground: css.backgroundColor, font: css.fontFamily, patterns: [] };
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

/** The colour of a weight on the scale from 0 to 1. @param {Theme} theme @param {number} weight */
export const shade = (theme, weight) => theme.scale[clamp(Math.round(weight * 255), 0, 255)];

/**
 * A map with one pixel per cell, scaled up on drawing, so that redrawing it at every step is cheap.
 * @param {Theme} theme
 * @param {number} keys
 * @param {number} queries
 * @param {(i: number) => number | null} weightAt the weight of cell `i`; null if it is masked
 */
export function bitmap(theme, keys, queries, weightAt) {
  const image = new ImageData(keys, queries), masked = rgb(theme.masked);
  for (let i = 0; i < keys * queries; i++) {
    const weight = weightAt(i);
    image.data.set([...(weight === null ? masked : shade(theme, weight)), 255], 4 * i);
  }
  const [canvas, ctx] = canvasOf(keys, queries);
  ctx.putImageData(image, 0, 0);
  return canvas;
}
