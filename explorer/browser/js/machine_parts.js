// The parts of an open head in the machine: boxes with pictures, and below each its shape or what it does to the numbers.

import { make, makeButton, say } from "./dom.js";
import { AFTER } from "./machine_link.js";
import { short } from "./machine_origin_text.js";
import { paintRows, scaleOf } from "./machine_pictures.js";
import { MAPS, arrayOf, lineOf, open, openValue, rowFor, shapeText, sidesOf, tokensOf } from "./machine_state.js";
import { placesIn } from "./scripts.js";
import { t } from "./words.js";

/** @import { Kind, MachineBlock, MachineState, Numbers } from "./types" */

/** The sign before a part of a head, if it is not an arrow. @type {Record<string, string>} */
export const SIGNS = { query: "", key: "·", product: "=", value: "×", output: "=" };
/** The short name of a part, which fits into its box. @param {MachineState} S @param {MachineBlock} block @param {string} part @returns {string | undefined} */
const labelOfPart = (S, block, part) =>
  ({
    ...{ query: t("Queries"), key: t("Keys"), product: "Q·Kᵀ", scores: rooted(S, block), masked: t("Mask") },
    ...{ weights: t("Softmax"), value: t("Values"), output: t("Sum w·v"), joined: t("Concat") },
    ...{ gated: t("Gate"), out_proj: "× Wᴼ" },
  })[part];

/** @param {MachineState} S @param {MachineBlock} block @param {string} part */
const stageOf = (S, block, part) => S.data.stages.find(({ point }) => point === `${block.name}.${part}`);
/** What scores are divided by. @param {MachineState} S @param {MachineBlock} block */
const divisorOf = (S, block) => stageOf(S, block, "scores")?.factor ?? 1;
/** @param {MachineState} S @param {MachineBlock} block */
const rooted = (S, block) => (divisorOf(S, block) === 1 ? undefined : `÷ √${Math.round(divisorOf(S, block) ** 2)}`);

/** @param {MachineState} S @param {MachineBlock} block @param {string} part */
export function partOf(S, block, part) {
  const { title } = /** @type {Record<string, { title: string }>} */ (
    S.data.parts[/** @type {Kind} */ (block.attention)]
  )[part];
  const canvas = make("canvas", "picture");
  const shape = make("small", "shape");
  const button = makeButton(`part ${part}`, make("b", "", labelOfPart(S, block, part) ?? title), canvas, shape);
  const { head } = S.opened;
  canvas.setAttribute("aria-hidden", "true");
  button.value = openValue({ block: block.name, head, part });
  button.title = title;
  button.setAttribute(
    "aria-label",
    AFTER.includes(part) ? t("{part}, all heads", { part: title }) : t("{part} of head {head}", { part: title, head }),
  );
  button.onclick = () => open(S, { block: block.name, head, part: S.opened.part === part ? "" : part });
  /** @type {unknown[]} */
  let painted = [];
  S.pictures.push(() => {
    const array = arrayOf(S, part);
    canvas.style.visibility = array ? "" : "hidden";
    const wanted = [array, S.step, S.row, ...Object.values(litIn(S, part, -2))];
    if (array && wanted.some((each, i) => each !== painted[i])) say(shape, paintPart(S, block, part, canvas));
    painted = wanted;
  });
  return button;
}

/**
 * Paints a part of the open head as it is at this step; returns what stands below it: its shape, or what it does.
 * @param {MachineState} S
 * @param {MachineBlock} block
 * @param {string} part
 * @param {HTMLCanvasElement} canvas
 */
export function paintPart(S, block, part, canvas) {
  const array = /** @type {Numbers} */ (arrayOf(S, part));
  const [queries, keys] = sidesOf(block.attention);
  const ofKeys = part === "key" || part === "value";
  const side = ofKeys ? keys : queries;
  const dark = S.box.dataset.theme === "dark";
  const count = tokensOf(S, side).length;
  const wide = MAPS.includes(part) ? tokensOf(S, keys).length : array.shape[1];
  const rows = Array.from({ length: count }, (_, r) => lineOf(array, r).slice(0, wide));
  const { row: marked, column } = litIn(S, part, ofKeys ? -1 : rowFor(S, queries));
  const weights = part === "weights";
  const scaled = (MAPS.includes(part) && arrayOf(S, "product")) || array; // scores as products: a division shows
  const scale = weights ? (S.details?.full ?? 1) : scaleOf(scaled.values);
  const { maskedAt, places } = mapOf(S, block);
  const look = weights ? { maskedAt, places } : MAPS.includes(part) ? { places } : {};
  paintRows(canvas, S.theme, dark, { rows, scale, marked, column, ...look });
  if (part === "scores" && rooted(S, block)) return `÷ ${short(divisorOf(S, block))}`;
  if (part === "masked")
    return t("{n} closed", "{n} closed", {
      n: rows.flatMap((row) => [...row]).filter((score) => !Number.isFinite(score)).length,
    });
  if (weights) return t("sum {sum}", { sum: short(Number(rows[Math.max(marked, 0)].reduce((a, b) => a + b).toFixed(3))) }); // prettier-ignore
  return shapeText([count, MAPS.includes(part) ? wide : stageOf(S, block, part)?.columns || wide], S.step);
}

/** The row and the column of a part that are lit: those of the chosen number, and those that it was computed from. @param {MachineState} S @param {string} part @param {number} usual */
function litIn({ lit, opened }, part, usual) {
  const of = lit?.head === opened.head || AFTER.includes(part) ? lit?.point.slice(lit.point.lastIndexOf(".") + 1) : "";
  if (!lit || !of) return { row: usual, column: -1 };
  const { row, column } = lit;
  if (part === of) return { row, column };
  if (MAPS.includes(of) && part === "key") return { row: column, column: -1 };
  if (MAPS.includes(of) && part === "query") return { row, column: -1 };
  if (MAPS.includes(of) && MAPS.includes(part)) return { row, column };
  if (of === "output" && part === "weights") return { row, column: -1 };
  if (of === "output" && part === "value") return { row: -1, column };
  return { row: usual, column: -1 };
}

/** How the weights of a block are painted: cells that the mask closes (later tokens, for a causal decoder), and the places of its keys. @param {MachineState} S @param {MachineBlock} block */
export const mapOf = (S, block, keys = sidesOf(block.attention)[1]) => ({
  maskedAt: (/** @type {number} */ row, /** @type {number} */ key) =>
    block.attention === "decoder" && !S.data.stepwise && key > row,
  places: placesIn(S, keys, tokensOf(S, keys)),
});
