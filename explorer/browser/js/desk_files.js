// What the browser makes as files: a table of weights, and whatever else is saved under a name.

import { t } from "./words.js";

/** @import { AttentionMap } from "./types" */

/** Why a cell has no weight, in a file, which is the same in all languages. */
const MASKED = ["", "masked (future)", "masked (padding)", "left out"];

/** Saves a file by the browser's own download. @param {Blob} content @param {string} name */
export function saveFile(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** All weights of a kind of attention as CSV, one a line; masked cells say so. @param {AttentionMap} map @param {string[]} predicted @returns {string} */
export function mapAsTable({ kind, layers, heads, queries, keys, area, weights, mask, rows, columns }, predicted) {
  const lines = [["kind", "layer", "head", "row", "query", "predicts", "column", "key", "weight", "masked"]];
  const values = weights ?? new Float32Array(0);
  for (let at = 0; at < values.length; at++) {
    const [head, cell] = [Math.floor(at / area), at % area];
    const [row, column] = [Math.floor(cell / keys), cell % keys];
    lines.push([
      kind,
      `${Math.floor(head / heads) + 1}`,
      `${(head % heads) + 1}`,
      `${row + 1}`,
      rows[row],
      kind === "encoder" ? "" : (predicted[row] ?? ""),
      `${column + 1}`,
      columns[column],
      `${values[at]}`,
      MASKED[mask[cell]],
    ]);
  }
  if (values.length !== layers * heads * queries * keys) throw new Error(t("The weights have not arrived yet."));
  return `\ufeff${lines.map((line) => line.map(quoted).join(",")).join("\r\n")}\r\n`;
}

/** A field of a table. Spreadsheets take a text that begins with an operator for a formula. @param {string} text */
function quoted(text) {
  const harmless = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
