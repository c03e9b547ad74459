// The hatching of masked cells in maps.

import { columnAt, columnUnder } from "./canvas.js";
import { patternOf } from "./colours.js";

export const PADDING = 2; // the code of a cell that is masked since its key is padding
const PALE = 0.65; // how much of a cell's colour is covered

/** Whether a cell is padding, as one of the last rows or a closed key, so that it is pale. @param {Pick<import("./maps.js").Pen, "keys" | "rows" | "closing" | "padding">} map @param {number} i */
export const isPadding = ({ keys, rows, closing, padding = 0 }, i) =>
  closing?.[i] === PADDING || i >= (rows - padding) * keys;

/** Hatches the masked cells, and the edges of those that a later mask closes; padding is pale, as a row and as a closed key. @param {import("./maps.js").Pen} pen */
export function hatch(pen) {
  const { ctx, theme, left, top, cell, tall, places, keys, mask, closing, rows, padding = 0 } = pen;
  for (let i = 0; i < rows * keys; i++) {
    const code = mask[i] || closing?.[i];
    const isPale = isPadding(pen, i);
    if (!code && !isPale) continue;
    const [x, y] = [left + columnAt(places, i % keys) * cell, top + Math.floor(i / keys) * tall];
    const edge = code ? cell / 10 : 0;
    if (code) {
      ctx.fillStyle = patternOf(theme, code);
      ctx.beginPath();
      ctx.rect(x, y, cell, tall);
      if (!mask[i]) ctx.rect(x + edge, y + edge, cell - 2 * edge, tall - 2 * edge);
      ctx.fill("evenodd");
    }
    if (mask[i] || !isPale) continue;
    ctx.fillStyle = theme.ground;
    ctx.globalAlpha = PALE;
    ctx.fillRect(x + edge, y + edge, cell - 2 * edge, tall - 2 * edge);
    ctx.globalAlpha = 1;
  }
  if (padding) {
    Object.assign(ctx, { strokeStyle: theme.ink, lineWidth: 1 });
    ctx.setLineDash([3, 3]);
    ctx.beginPath();
    const line = top + (rows - padding) * tall;
    ctx.moveTo(left, line); // a flat rectangle would go there and back, and fill its own gaps
    ctx.lineTo(left + keys * cell, line);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  if (closing) border(pen, closing);
}

/** Draws the border between the cells that a later mask closes and those that stay open. @param {import("./maps.js").Pen} pen @param {Uint8Array} closing */
function border({ ctx, theme, left, top, cell, tall, places, keys, rows }, closing) {
  const isOpen = (/** @type {number} */ row, /** @type {number} */ place) =>
    !closing[row * keys + columnUnder(places, place)];
  ctx.beginPath();
  for (let row = 0; row < rows; row++)
    for (let place = 0; place < keys; place++) {
      const [x, y, here] = [left + place * cell, top + row * tall, isOpen(row, place)];
      if (place && here !== isOpen(row, place - 1)) ctx.rect(x, y, 0, tall);
      if (row && here !== isOpen(row - 1, place)) ctx.rect(x, y, cell, 0);
    }
  Object.assign(ctx, { strokeStyle: theme.ink, lineWidth: 2 });
  ctx.stroke();
  ctx.lineWidth = 1;
}
