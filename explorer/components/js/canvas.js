// Drawing maps on a canvas: sizes, labels, hatching, frames, and which cell is under the pointer.

import { contextOf, patternOf } from "./colours.js";

/** @typedef {import("./types").Plot} Plot */
/** @typedef {import("./types").Theme} Theme */
/** @typedef {import("./types").Write} Write */

export const AXIS = 17; // height of an axis title, in pixels
export const LABEL = 82; // length of the longest label, in pixels
export const TILT = Math.PI / 3.4; // of the labels of keys
export const LEAST = 126; // the least size of a plot beside its labels, in pixels

/**
 * How much larger the page shows an element than its own pixels (CSS zoom, in presentations).
 * @param {Element} element
 */
export const magnification = (element) =>
  /** @type {Element & { currentCSSZoom?: number }} */ (element).currentCSSZoom ?? 1;

/** The height of the window in an element's own pixels. @param {Element} element */
export const windowHeight = (element) => innerHeight / magnification(element);

/** Screen pixels per pixel of an element. @param {Element} element */
export const pixelRatio = (element) => (window.devicePixelRatio || 1) * magnification(element);

/**
 * The pointer in an element's own pixels; browsers differ in offsetX on a magnified page.
 * @param {HTMLElement} element
 * @param {MouseEvent} event
 */
function pointerOn(element, event) {
  const { left, top, width } = element.getBoundingClientRect(), by = width / element.offsetWidth || 1;
  return [(event.clientX - left) / by, (event.clientY - top) / by];
}

/**
 * The column and row of a plot under the pointer, possibly outside of it.
 * @param {HTMLElement} canvas
 * @param {MouseEvent} event
 * @param {Plot} plot
 */
export function cellUnder(canvas, event, { left, top, cell }) {
  const [x, y] = pointerOn(canvas, event);
  return { query: Math.floor((y - top) / cell), key: Math.floor((x - left) / cell) };
}

/**
 * Makes a canvas this large in CSS pixels, sharp on any screen, empty and ready.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export function paper(canvas, width, height) {
  const ratio = pixelRatio(canvas);
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
 * A token as a label: its position tells repeated words apart, and the isolates keep right-to-left words from moving
 * it.
 * @param {string[]} tokens
 * @param {number} i
 */
export const label = (tokens, i) => `${i + 1} ${isolated(tokens[i])}`;

/** @param {string} text */
export const isolated = (text) => `\u2068${text}\u2069`;

/**
 * A text that is at most `room` wide; a longer one loses its end, in steps of one part in `steps`, until it is at most
 * `shorter` wide.
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
 * A label that fits beside a map; the whole token is in the readout and in the table.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 */
export const shortLabel = (ctx, text) => shorten(ctx, text, LABEL + 2, LABEL, 9);

/** The widest of these texts. @param {CanvasRenderingContext2D} ctx @param {string[]} texts */
export const widest = (ctx, texts) => Math.max(0, ...texts.map((text) => ctx.measureText(text).width));

/**
 * A function that writes in this font.
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
 * The titles of both axes, fainter than the labels.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Write} write
 * @param {[string, string]} titles of rows and columns
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
 * The thin border of a map.
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
 * A function that frames cells in a colour, with an edge that sets the frame apart.
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
