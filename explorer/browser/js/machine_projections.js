// How queries, keys and values arise, as a picture: a token's whole vector, the three matrices, and what comes out, which
// is then cut into slices, one for each head.

import { make } from "./dom.js";
import { diverging, paint, scaleOf } from "./machine_pictures.js";
import { arrayOf, lineOf, rowFor, sidesOf, tokensOf } from "./machine_state.js";
import { shade } from "./colours.js";

/** @typedef {import("./types").MachineBlock} MachineBlock */
/** @typedef {import("./types").MachineState} MachineState */
/** @typedef {import("./types").Numbers} Numbers */

/** Projection, symbol, part of a head. */
const MATRICES = [["q_proj", "Q", "queries"], ["k_proj", "K", "keys"], ["v_proj", "V", "values"]];

/** @param {MachineState} S @param {MachineBlock} block @returns {HTMLElement[]} */
export function projectionsOf(S, block) {
  if (!arrayOf(S, "q_proj")) return [];
  const { head } = S.opened, heads = S.data.diagram.heads[/** @type {import("./types").Kind} */ (block.attention)] ?? 1;
  const [queries, keys] = sidesOf(block.attention), dark = S.box.dataset.theme === "dark", d = S.data.numbers, slice = d / heads;
  const figure = make("figure", "projections");
  /** @type {(() => void)[]} */
  const painters = [];
  for (const [name, symbol, title] of MATRICES) {
    const side = name === "q_proj" ? queries : keys, row = rowFor(S, side), ofCross = block.attention === "cross" && name !== "q_proj";
    const vector = /** @type {Numbers} */ (arrayOf(S, `x.${ofCross ? "k_proj" : "q_proj"}`)), result = /** @type {Numbers} */ (arrayOf(S, name));
    const matrix = /** @type {Numbers} */ (arrayOf(S, `W.${name}`)), scale = scaleOf(result.values), whole = scaleOf(vector.values), most = Math.max(...matrix.values);
    const [x, w, y] = [make("canvas", "x"), make("canvas", "w"), make("canvas", "y")];
    for (const canvas of [x, w, y]) canvas.setAttribute("aria-hidden", "true");
    const slices = make("span", "slices", y, ...Array.from({ length: heads }, (_, h) => make("i", h + 1 === head ? "mine" : "", heads <= 8 ? `${h + 1}` : "")));
    slices.style.setProperty("--heads", `${heads}`);
    const from = make("span", "from", ofCross ? "memory of " : "", make("bdi", `token ${side}`, tokensOf(S, side)[row] ?? ""));
    figure.append(make("span", "term", from, x), make("span", "by", "×"), make("span", "term", make("span", "from", `W_${symbol}`), w), make("span", "by", "="), make("span", "term", make("span", "from", title), slices));
    painters.push(() => {
      const colour = diverging(S.theme, dark, scale), own = diverging(S.theme, dark, whole), line = lineOf(vector, row), out = lineOf(result, row), [rows, columns] = matrix.shape;
      paint(x, { columns: 1, rows: line.length, ink: S.theme.ink, colourOf: (r) => own(line[r]) });
      paint(w, { columns, rows, ink: S.theme.ink, colourOf: (r, c) => shade(S.theme, matrix.values[r * columns + c] / most) });
      paint(y, { columns: out.length, rows: 1, ink: S.theme.ink, colourOf: (_, c) => colour(out[c]) });
    });
  }
  const which = head ? ` Head ${head} works with numbers ${(head - 1) * slice + 1} to ${head * slice} of each result.` : "";
  const caption = `The whole vector of ${d} numbers is multiplied by each of three learned matrices (stronger colour: larger weights). Only the results are cut into ${heads} slices of ${slice} numbers, one for each head: every head has read the whole vector.${which}`;
  figure.setAttribute("role", "img");
  figure.setAttribute("aria-label", caption);
  figure.append(make("figcaption", "", caption));
  requestAnimationFrame(() => painters.forEach((each) => each()));
  return [figure];
}
