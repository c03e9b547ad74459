// The three projections of an attention block in the machine: a vector, times a matrix, is a result cut into heads.

import { make } from "./dom.js";
import { diverging, paint, scaleOf } from "./machine_pictures.js";
import { arrayOf, lineOf, rowFor, sidesOf, tokensOf, weightsRow } from "./machine_state.js";
import { levelOf } from "./maps.js";
import { pieces, t } from "./words.js";

/** @import { Kind, MachineBlock, MachineState, Numbers } from "./types" */

/** The three projections: point, symbol, result. */
const matricesOf = () => [
  ["q_proj", "Q", t("queries")],
  ["k_proj", "K", t("keys")],
  ["v_proj", "V", t("values")],
];

/** The figure of the projections at this step; nothing until the details have arrived. @param {MachineState} S @param {MachineBlock} block @returns {HTMLElement[]} */
export function projectionsOf(S, block) {
  if (!arrayOf(S, "q_proj")) return [];
  const { head } = S.opened;
  const heads = S.data.diagram.heads[/** @type {Kind} */ (block.attention)] ?? 1;
  const [queries, keys] = sidesOf(block.attention);
  const dark = S.box.dataset.theme === "dark";
  const d = S.data.numbers;
  const slice = d / heads;
  const weights = weightsRow(S, block);
  // An open head: the key that its query meets best. All heads: all keys, since each head looks elsewhere.
  const ofKeys = head ? [weights.indexOf(Math.max(...weights))] : tokensOf(S, keys).map((_, i) => i);
  const figure = make("figure", "projections");
  /** @type {(() => void)[]} */
  const painters = [];
  for (const [name, symbol, title] of matricesOf()) {
    const side = name === "q_proj" ? queries : keys;
    const rows = name === "q_proj" ? [rowFor(S, side)] : ofKeys;
    const ofCross = block.attention === "cross" && name !== "q_proj";
    const vector = /** @type {Numbers} */ (arrayOf(S, `x.${ofCross ? "k_proj" : "q_proj"}`));
    const result = /** @type {Numbers} */ (arrayOf(S, name));
    const matrix = /** @type {Numbers} */ (arrayOf(S, `W.${name}`));
    const scale = scaleOf(result.values);
    const whole = scaleOf(vector.values);
    const most = Math.max(...matrix.values);
    const [x, w, y] = [make("canvas", "x"), make("canvas", "w"), make("canvas", "y")];
    for (const canvas of [x, w, y]) canvas.setAttribute("aria-hidden", "true");
    const slices = make(
      "span",
      "slices",
      y,
      ...Array.from({ length: heads }, (_, h) => make("i", h + 1 === head ? "mine" : "", heads <= 8 ? `${h + 1}` : "")),
    );
    slices.style.setProperty("--heads", `${heads}`);
    const token = make("bdi", `token ${side}`, tokensOf(S, side)[rows[0]] ?? "");
    const n = rows.length;
    const all = () => (ofCross ? t("memory") : t("{n} token", "{n} tokens", { n }));
    const from = make(
      "span",
      "from",
      ...(n > 1 ? [all()] : ofCross ? pieces("memory of {token}", { token }) : [token]),
    );
    figure.append(
      make("span", "term", from, x),
      make("span", "by", "×"),
      make("span", "term", make("span", "from", `W_${symbol}`), w),
      make("span", "by", "="),
      make("span", "term", make("span", "from", title), slices),
    );
    painters.push(() => {
      const colour = diverging(S.theme, dark, scale);
      const own = diverging(S.theme, dark, whole);
      const [lines, outs] = [vector, result].map((each) => rows.map((row) => lineOf(each, row)));
      const [high, columns] = matrix.shape;
      paint(x, { columns: lines[0].length, rows: n, ink: S.theme.ink, colourOf: (r, c) => own(lines[r][c]) });
      paint(w, {
        columns,
        rows: high,
        ink: S.theme.ink,
        colourOf: (r, c) => S.theme.inks[levelOf(matrix.values[r * columns + c], { top: most })],
      });
      paint(y, { columns: outs[0].length, rows: n, ink: S.theme.ink, colourOf: (r, c) => colour(outs[r][c]) });
    });
  }
  const sentences = [
    head
      ? t("The query is of the current token, key and value are of the token that head {head} looks at most.", { head })
      : t("The query is of the current token, keys and values are of all tokens."),
    t(
      "The whole vector of {size} numbers is multiplied by a learned matrix. Only the result is cut into {n} slice of {slice} numbers, one for each head: every head has read the whole vector.",
      "The whole vector of {size} numbers is multiplied by a learned matrix. Only the result is cut into {n} slices of {slice} numbers, one for each head: every head has read the whole vector.",
      { size: d, n: heads, slice },
    ),
  ];
  if (head)
    sentences.push(
      t("Head {head} works with numbers {first} to {last} of each result.", {
        head,
        first: (head - 1) * slice + 1,
        last: head * slice,
      }),
    );
  sentences.push(
    t(
      "The picture of a matrix shows the size of its numbers without their signs, as means over small tiles; in the vectors, blue is below 0 and orange above.",
    ),
  );
  const caption = sentences.join(" ");
  figure.setAttribute("role", "img");
  figure.setAttribute("aria-label", caption);
  figure.append(make("figcaption", "", caption));
  requestAnimationFrame(() => painters.forEach((each) => each()));
  return [figure];
}
