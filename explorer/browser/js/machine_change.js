// Change a number of the machine: drag a weight, or type a number of a query. Both become the weights of one row of a
// head, which the page then computes the model with.

import { make, say } from "./dom.js";
import { shortOf } from "./machine_link.js";
import { countOf, keysOf, slice } from "./machine_numbers.js";
import { withQuery, withWeight } from "./machine_origin.js";
import { short } from "./machine_origin_text.js";
import { blockOf, tokensOf } from "./machine_state.js";
import { clamp, wholePercent } from "./numbers.js";
import { editsInWords } from "./wording.js";
import { t, inSentence } from "./words.js";

/** @import { MachineSpot, MachineState } from "./types" */
/** @import { MachineStage } from "./structs" */

const PARTS = 1000; // a weight is sent as a whole number of thousandths
const LISTED = 4; // keys in the sentence on the new weights

/** What changes the chosen number, if it is a weight or belongs to a query. @param {MachineState} S @param {MachineStage} stage @param {MachineSpot} spot @returns {HTMLElement[]} */
export function changeOf(S, stage, spot) {
  const kind = shortOf(stage.point);
  if (kind === "positions" && stage.op === "plus") return [positionTool(S, stage.side, spot.row)];
  if (!blockOf(S, stage.block)?.attention || !["weights", "query"].includes(kind)) return [];
  const keys = countOf(S, keysOf(S, stage));
  const scope = stage.block;
  const { head, row, column } = spot;
  const rowOf = (/** @type {string} */ name) =>
    slice(S, { name: `${scope}.${name}`, head, row, rows: 1, column: 0, columns: keys })?.values;
  const weights = rowOf("weights");
  if (!weights) return [];
  if (kind === "weights") return weightTool(S, stage, spot, visible(S, stage, row, weights));
  const scores = rowOf("masked");
  const numbers = slice(S, { name: `${scope}.key`, head, row: 0, rows: keys, column, columns: 1 })?.values;
  const own = slice(S, { name: stage.point, head, row, rows: 1, column, columns: 1 })?.values[0];
  if (!scores || !numbers || own === undefined) return [];
  const scaled = S.data.stages.find(({ point }) => point === `${scope}.scores`);
  const divisor = scaled?.op === "divide" ? scaled.factor : 1;
  return queryTool(S, stage, spot, { own, scores, weights, numbers, divisor });
}

/** The weights of the keys that a row may see. @param {MachineState} S @param {MachineStage} stage @param {number} row @param {Float32Array} weights */
const visible = (S, { block }, row, weights) =>
  blockOf(S, block)?.attention === "decoder" && !S.data.stepwise ? weights.slice(0, row + 1) : weights;

/** @param {MachineState} S @param {MachineStage} stage @param {MachineSpot} spot @param {Float32Array} row @returns {HTMLElement[]} */
function weightTool(S, stage, spot, row) {
  if (row.length < 2 || spot.column >= row.length) return [];
  const slider = Object.assign(make("input"), { type: "range", min: "0", max: `${PARTS}` });
  slider.value = `${Math.round(PARTS * row[spot.column])}`;
  const after = make("p", "hint");
  const changed = () => withWeight(row, spot.column, Number(slider.value) / PARTS);
  slider.oninput = () => say(after, weightsText(S, stage, changed()));
  slider.onchange = () => apply(S, stage, spot, changed());
  const token = tokensOf(S, keysOf(S, stage))[spot.column] ?? "";
  return [toolOf(t("Drag the weight on “{token}”", { token }), slider, after, newWeights())];
}

/** @param {MachineState} S @param {MachineStage} stage @param {MachineSpot} spot @param {{ own: number, scores: Float32Array, weights: Float32Array, numbers: Float32Array, divisor: number }} given @returns {HTMLElement[]} */
function queryTool(S, stage, spot, { own, scores, weights, numbers, divisor }) {
  const field = Object.assign(make("input"), { type: "number", step: "0.5", value: own.toFixed(3) });
  const after = make("p", "hint");
  const changed = () => withQuery(scores, numbers, clamp(Number(field.value) || 0, -1000, 1000) - own, divisor);
  field.oninput = () => {
    const found = changed();
    const best = found.weights.indexOf(Math.max(...found.weights));
    const token = tokensOf(S, keysOf(S, stage))[best] ?? `${best + 1}`;
    const score = t("The score of “{token}” goes from {score} to {other}, its weight from {weight} to {now}.", {
      token,
      score: short(scores[best]),
      other: short(found.scores[best]),
      weight: wholePercent(weights[best]),
      now: wholePercent(found.weights[best]),
    });
    say(after, `${score} ${weightsText(S, stage, found.weights)}`);
  };
  field.onchange = () => apply(S, stage, spot, changed().weights);
  const name = t("Type another number {number} of this query", { number: spot.column + 1 });
  return [toolOf(name, field, after, newWeights())];
}

/** What puts a token at another position. @param {MachineState} S @param {"source" | "target"} side @param {number} row */
export function positionTool(S, side, row) {
  const tokens = tokensOf(S, side);
  const before = `${side} token ${row + 1} at position `;
  const moved = S.data.edits.find((edit) => edit.startsWith(before));
  const to = moved ? parseInt(moved.slice(before.length), 10) : row + 1;
  const field = Object.assign(make("input"), { type: "number", min: "1", max: `${tokens.length}`, value: `${to}` });
  field.onchange = () => {
    const at = clamp(Math.round(Number(field.value)) || row + 1, 1, tokens.length);
    const kind = side === "source" ? "encoder" : "decoder";
    const moved = at === row + 1 ? 0 : at; // back at its own position, it is as it was trained
    S.source.ask("edit", { seq: S.data.seq, kind, layer: 0, head: 0, row: row + 1, weights: [], to: moved });
  };
  return toolOf(
    t("Put “{token}” (token {number}) at position", { token: tokens[row], number: row + 1 }),
    field,
    make("p", "hint"),
    t("The model then computes everything that follows, and the next words, with the vector of that position."),
  );
}

const newWeights = () =>
  t("The model then computes everything that follows, and the next words, with the new weights of this row.");

/** @param {string} name @param {HTMLInputElement} input @param {HTMLElement} after @param {string} effect */
function toolOf(name, input, after, effect) {
  say(after, effect);
  // The keys of the view stay out of the field.
  input.onkeydown = (event) => event.stopPropagation();
  return make("div", "change", make("label", "", `${name} `, input), after);
}

/** "New weights: in 50 %, football 20 %, …". @param {MachineState} S @param {MachineStage} stage @param {number[]} weights */
function weightsText(S, stage, weights) {
  const tokens = tokensOf(S, keysOf(S, stage));
  const listed = weights
    .map((weight, i) => ({ weight, i }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, LISTED)
    .map(({ weight, i }) => `“${tokens[i] ?? i + 1}” ${wholePercent(weight)}`);
  return t("New weights: {weights}.", { weights: listed.join(", ") });
}

/** Asks the page to compute the model with the new weights of a row. @param {MachineState} S @param {MachineStage} stage @param {MachineSpot} spot @param {number[]} weights */
function apply(S, stage, { head, row }, weights) {
  const { attention: kind, layer } = /** @type {import("./structs").Block} */ (blockOf(S, stage.block));
  const parts = weights.map((weight) => Math.round(PARTS * weight));
  if (!parts.some(Boolean)) return;
  S.source.ask("edit", { seq: S.data.seq, kind, layer: Math.max(1, layer), head, row: row + 1, weights: parts });
}

/** The next word at this step as the model was trained, beside that now. @param {MachineState} S */
function beforeText({ data, trained, step }) {
  const shares = [data, trained].map((each) => each?.target.probabilities?.[step] ?? 0);
  const close = wholePercent(shares[0]) === wholePercent(shares[1]); // more digits, so that the change is seen
  const next = (/** @type {import("./types").Decoding["target"]} */ { predicted, probabilities }) => {
    const share = probabilities?.[step] ?? 0;
    return `“${predicted[step]}” ${close ? inSentence(`${(100 * share).toFixed(3)}\u202f%`) : wholePercent(share)}`;
  };
  const now = next(data.target);
  if (trained?.source !== data.source.tokens.join(" ") || step >= trained.target.predicted.length)
    return t("Next word here, with the change: {now}.", { now });
  return t("Next word here: {before} as the model was trained, {now} with the change.", {
    before: next(trained.target),
    now,
  });
}

/** Labels a machine with changed heads, above the diagram, with the way back. @param {MachineState} S */
export function drawChanged(S) {
  const { edits, seq } = S.data;
  const box = S.find(".changed");
  box.hidden = !edits.length;
  if (!edits.length) return;
  const changes = editsInWords(edits).join("; ");
  say(box.firstElementChild, `${t("Changed: {changes}.", { changes })} ${beforeText(S)}`);
  const back = /** @type {HTMLButtonElement} */ (box.lastElementChild);
  back.onclick = () => S.source.ask("edit", { seq, kind: "cross", layer: 1, head: 1, row: 1, weights: [] });
}
