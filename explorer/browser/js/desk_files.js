// What the browser makes as files: a table of weights, and whatever else is saved under a name.

import { finder } from "./dom.js";
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

/** Saves maps beside each other as one picture: each with its title, and the text below. @param {Element[]} figures @param {string} text @param {string} name */
export function saveFigures(figures, text, name) {
  const roots = figures.map((each) => finder(/** @type {ShadowRoot} */ (each.children[1].shadowRoot)));
  const maps = roots.map((find) => /** @type {HTMLCanvasElement} */ (find("canvas")));
  const { color, backgroundColor, fontFamily } = getComputedStyle(roots[0](".labelled"));
  const ratio = maps[0].width / maps[0].clientWidth;
  const widths = maps.map(({ width }) => Math.max(width, 420 * ratio));
  const [gap, line] = [16 * ratio, 20 * ratio];
  const ctx = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  const width = widths.reduce((sum, each) => sum + each + gap, gap);
  const write = () =>
    Object.assign(ctx, { fillStyle: color, font: `${14 * ratio}px ${fontFamily}`, textBaseline: "top" });
  write();
  const wrapped = (/** @type {string} */ said, /** @type {number} */ most) =>
    said.split(" ").reduce((/** @type {string[]} */ lines, word) => {
      const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
      return ctx.measureText(longer).width <= most ? [...lines.slice(0, -1), longer] : [...lines, word];
    }, []);
  const titles = figures.map((each, i) => wrapped(each.children[0].textContent ?? "", widths[i]));
  const lines = wrapped(text, width - 2 * gap);
  const above = gap + Math.max(...titles.map(({ length }) => length)) * line;
  const below = above + Math.max(...maps.map(({ height }) => height)) + gap;
  Object.assign(ctx.canvas, { width, height: below + lines.length * line + gap });
  ctx.fillStyle = backgroundColor;
  ctx.fillRect(0, 0, width, ctx.canvas.height);
  write();
  let x = gap;
  maps.forEach((map, i) => {
    titles[i].forEach((each, at) => ctx.fillText(each, x, gap + at * line));
    ctx.drawImage(map, x, above);
    x += widths[i] + gap;
  });
  lines.forEach((each, at) => ctx.fillText(each, gap, below + at * line));
  ctx.canvas.toBlob((picture) => picture && saveFile(picture, name));
}

/** All weights of a kind of attention as CSV, one a line; masked cells say so. @param {AttentionMap} map @param {string[]} predicted @returns {string} */
export function mapAsTable({ kind, layers, heads, queries, keys, area, weights, mask, rows, columns }, predicted) {
  const lines = [
    [
      t("kind"),
      t("layer"),
      t("head"),
      t("row"),
      t("query"),
      t("predicts"),
      t("column"),
      t("key"),
      t("weight"),
      t("mask"),
    ],
  ];
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
  return `\ufeff${csvOf(lines)}`;
}

/** A table as a file for spreadsheets. @param {string[][]} lines */
export const csvOf = (lines) => lines.map((line) => `${line.map(quoted).join(",")}\r\n`).join("");

/** A field of a table. Spreadsheets take a text that begins with an operator for a formula. @param {string} text */
function quoted(text) {
  const harmless = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
