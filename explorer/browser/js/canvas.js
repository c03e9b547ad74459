// Draws maps on a canvas: sizes, labels, hatching and frames; finds the cell under the pointer.

import { contextOf, patternOf } from "./colours.js";

/** @typedef {import("./types").Plot} Plot */
/** @typedef {import("./types").Theme} Theme */
/** @typedef {import("./types").Write} Write */

export const AXIS = 17; // height of an axis title, in pixels
export const LABEL = 82; // maximum length of a label, in pixels
export const TILT = Math.PI / 3.4; // angle of the key labels
export const LEAST = 126; // minimum size of a plot without its labels, in pixels

/**
 * The factor by which the page magnifies an element (CSS zoom, used for presentations).
 * @param {Element} element
 */
export const magnification = (element) =>
  /** @type {Element & { currentCSSZoom?: number }} */ (element).currentCSSZoom ?? 1;

/**
 * Screen pixels per pixel of an element, given how much the page magnifies it. Asking for that makes the browser compute
 * all styles changed so far, so whoever draws at each step asks once and keeps it.
 * @param {number} zoom
 */
const screenPixels = (zoom) => (window.devicePixelRatio || 1) * zoom;

/** The height of the window in the element's own pixels. @param {Element} element */
export const windowHeight = (element) => innerHeight / magnification(element);

/** Screen pixels per pixel of the element. @param {Element} element */
export const pixelRatio = (element) => screenPixels(magnification(element));

/**
 * The pointer's position in the element's own pixels. Browsers disagree on offsetX in a magnified page.
 * @param {HTMLElement} element
 * @param {MouseEvent} event
 */
function pointerOn(element, event) {
  const { left, top, width } = element.getBoundingClientRect(), by = width / element.offsetWidth || 1;
  return [(event.clientX - left) / by, (event.clientY - top) / by];
}

/**
 * The row and column under the pointer, which may lie outside the plot.
 * @param {HTMLElement} canvas
 * @param {MouseEvent} event
 * @param {Plot} plot
 */
export function cellUnder(canvas, event, { left, top, cell }) {
  const [x, y] = pointerOn(canvas, event);
  return { query: Math.floor((y - top) / cell), key: Math.floor((x - left) / cell) };
}

/**
 * Resizes a canvas, given its size in CSS pixels, to the resolution of the screen, and clears it.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 * @param {number} zoom how much the page magnifies the canvas
 */
export function paper(canvas, width, height, zoom = magnification(canvas)) {
  const ratio = screenPixels(zoom);
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    Object.assign(canvas, { width: w, height: h });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  const ctx = contextOf(canvas);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return Object.assign(ctx, { imageSmoothingEnabled: false, direction: "ltr" });
}

/**
 * A token as a label. Its position tells repeated words apart; the isolates keep right-to-left words from moving it.
 * @param {string[]} tokens
 * @param {number} i
 */
export const label = (tokens, i) => `${i + 1} ${isolated(tokens[i])}`;

/** @param {string} text */
export const isolated = (text) => `\u2068${text}\u2069`;

/**
 * The text, if it is at most `room` wide. A longer one is cut from its end until it is at most `shorter` wide; each cut
 * removes the fraction 1/`steps` of what is left.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {number} room
 * @param {number} shorter
 * @param {number} steps
 */
export function shorten(ctx, text, room, shorter, steps) {
  if (ctx.measureText(text).width <= room) return text;
  let parts = [...text];
  const cut = () => `${parts.join("")}…`;
  while (parts.length && ctx.measureText(cut()).width > shorter) parts = parts.slice(0, -Math.max(1, Math.ceil(parts.length / steps)));
  return cut();
}

/**
 * A label shortened to fit beside a map. The readout and the table hold the whole token.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {number} [most] its maximum length, in pixels
 */
export const shortLabel = (ctx, text, most = LABEL) => shorten(ctx, text, most + 2, most, 9);

/** The width of the widest text. @param {CanvasRenderingContext2D} ctx @param {string[]} texts */
export const widest = (ctx, texts) => Math.max(0, ...texts.map((text) => ctx.measureText(text).width));

/**
 * Returns a function that writes text in this font.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} font
 * @param {number} [scale]
 * @returns {Write}
 */
export const writer = (ctx, font, scale = 1) => (text, x, y, align, tilt = 0, size = 12, weight = 400) => {
  ctx.save();
  ctx.font = `${weight} ${size * scale}px ${font}`;
  ctx.textAlign = align;
  ctx.translate(x, y);
  ctx.rotate(tilt);
  ctx.fillText(text, 0, 0);
  ctx.restore();
};

/**
 * Writes the titles of both axes, fainter than the labels.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Write} write
 * @param {[string, string]} titles titles of rows and columns
 * @param {{ left: number, top: number }} plot
 * @param {number} alpha
 * @param {number} [at] distance from the edge
 */
export function writeAxes(ctx, write, [rows, columns], { left, top }, alpha, at = AXIS / 2) {
  ctx.globalAlpha = alpha;
  write(columns, left, at, "left", 0, 11);
  write(rows, at, top, "right", -Math.PI / 2, 11);
  ctx.globalAlpha = 1;
}

/**
 * Hatches the masked cells of the first `rows` rows.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Theme} theme
 * @param {{ mask: Uint8Array, keys: number }} m
 * @param {number} rows
 * @param {Plot} plot
 */
export function hatch(ctx, theme, { mask, keys }, rows, { left, top, cell }) {
  for (let i = 0; i < rows * keys; i++) {
    if (!mask[i]) continue;
    ctx.fillStyle = patternOf(theme, mask[i]);
    ctx.fillRect(left + (i % keys) * cell, top + Math.floor(i / keys) * cell, cell, cell);
  }
}

/**
 * Draws the thin border of a map.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} ink
 * @param {Plot} plot
 * @param {number} width
 * @param {number} height
 */
export function border(ctx, ink, { left, top }, width, height) {
  ctx.strokeStyle = ink;
  ctx.globalAlpha = 0.35;
  ctx.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
  ctx.globalAlpha = 1;
}

/**
 * Returns a function that draws a coloured frame around cells, with an outline that sets it off from the map.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} ground
 * @returns {(x: number, y: number, w: number, h: number, colour: string) => void}
 */
export const framer = (ctx, ground) => (x, y, w, h, colour) => {
  for (const [lineWidth, strokeStyle] of /** @type {[number, string][]} */ ([[4, ground], [2, colour]])) {
    Object.assign(ctx, { lineWidth, strokeStyle });
    ctx.strokeRect(x, y, w, h);
  }
};
