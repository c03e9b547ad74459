// The hatching of masked cells in maps.

import { columnAt } from "./canvas.js";
import { patternOf } from "./colours.js";

export const PADDING = 2; // the code of a cell that is masked since its key is padding
const PALE = 0.65; // how much of a cell's colour is covered

/** Hatches the masked cells, and the edges of those that a later mask closes; of these, padding is pale. @param {import("./maps.js").Pen} pen */
export function hatch({ ctx, theme, left, top, cell, tall, places, keys, mask, closing, rows }) {
  for (let i = 0; i < rows * keys; i++) {
    const code = mask[i] || closing?.[i];
    if (!code) continue;
    const [x, y, edge] = [left + columnAt(places, i % keys) * cell, top + Math.floor(i / keys) * tall, cell / 10];
    ctx.fillStyle = patternOf(theme, code);
    ctx.beginPath();
    ctx.rect(x, y, cell, tall);
    if (!mask[i]) ctx.rect(x + edge, y + edge, cell - 2 * edge, tall - 2 * edge);
    ctx.fill("evenodd");
    if (mask[i] || code !== PADDING) continue;
    ctx.fillStyle = theme.ground;
    ctx.globalAlpha = PALE;
    ctx.fillRect(x + edge, y + edge, cell - 2 * edge, tall - 2 * edge);
    ctx.globalAlpha = 1;
  }
}
