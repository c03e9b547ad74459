// Canvases: size and resolution, isolated text, and the cell of a map under the pointer.

/** @import { Plot } from "./types" */

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

/**
 * The factor by which the page magnifies an element (CSS zoom, used for presentations).
 * @param {Element} element
 */
export const magnification = (element) =>
  /** @type {Element & { currentCSSZoom?: number }} */ (element).currentCSSZoom ?? 1;

/**
 * Screen pixels per pixel of an element, given its magnification. Reading the magnification makes the browser compute
 * all styles changed so far, so code that draws at each step reads it once and stores it.
 * @param {number} zoom
 */
const screenPixels = (zoom) => (window.devicePixelRatio || 1) * zoom;

/** The height of the window in the element's own pixels. @param {Element} element */
export const windowHeight = (element) => innerHeight / magnification(element);

/** Screen pixels per pixel of the element. @param {Element} element */
export const pixelRatio = (element) => screenPixels(magnification(element));

/** Where a column of a map is drawn. @param {number[]} places @param {number} column */
export const columnAt = (places, column) => places[column] ?? column;

/** Which column of a map is drawn at a place. @param {number[]} places @param {number} place */
export const columnUnder = (places, place) => (places[place] === undefined ? place : places.indexOf(place));

/** The column beside another one on screen. @param {number[]} places @param {number} column @param {number} by -1: on the left @param {number} count of columns */
export const columnBeside = (places, column, by, count) =>
  columnUnder(places, Math.min(Math.max(columnAt(places, column) + by, 0), count - 1));

/**
 * The row and column under the pointer, which may lie outside the plot.
 * @param {HTMLElement} canvas
 * @param {MouseEvent} event
 * @param {Plot} plot
 */
export function cellUnder(canvas, event, { left, top, cell, tall, places }) {
  // In the canvas's own pixels: browsers disagree on offsetX in a magnified page.
  const bounds = canvas.getBoundingClientRect();
  const by = bounds.width / canvas.offsetWidth || 1;
  const [x, y] = [(event.clientX - bounds.left) / by, (event.clientY - bounds.top) / by];
  return { query: Math.floor((y - top) / tall), key: columnUnder(places, Math.floor((x - left) / cell)) };
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

/** A text isolated so that its writing direction cannot move the text beside it. @param {string} text */
export const isolated = (text) => `\u2068${text}\u2069`;

/** The label on the right of a row that predicts a token. @param {string} token */
export const leadsTo = (token) => `→ ${isolated(token)}`;
