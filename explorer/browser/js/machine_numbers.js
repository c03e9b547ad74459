// Numbers of the machine by place: those that have arrived, those that are requested, and a point as a matrix with
// named rows and columns, as it is at the step on screen.

import { shortOf } from "./machine_link.js";
import { blockOf, products, sidesOf, tokensOf } from "./machine_state.js";
import { placesIn, runsLeft } from "./scripts.js";
import { t } from "./words.js";

/** @import { MachineMatrix, MachineState, Numbers } from "./types" */
/** @import { MachineStage, TensorSlice } from "./structs" */

export const WINDOW = 32; // columns of a vector on screen at once

/** The numbers of a slice; requested after the drawing if they have not arrived. @param {MachineState} S @param {TensorSlice} part @returns {Numbers | undefined} */
export function slice(S, part) {
  const key = keyOf(S, part);
  const numbers = S.numbers.get(key);
  if (!numbers) S.missing.set(key, part);
  return numbers;
}

/** @param {MachineState} S @param {TensorSlice} part */
const keyOf = ({ data, step }, { name, head, row, rows, column, columns }) =>
  [data.stepwise ? step : "", name, head, row, rows, column, columns].join(" ");

/** Requests the numbers that the last drawing lacked, once. @param {MachineState} S */
export function requestNumbers(S) {
  const asked = [...S.missing.keys()].join();
  if (!asked || asked === S.asked) return;
  S.asked = asked;
  S.source.want?.({ seq: S.data.seq, step: S.data.stepwise ? S.step + 1 : 0, slices: [...S.missing.values()] });
}

/** Keeps the numbers of a message. @param {MachineState} S @param {import("./types").Message} message */
export function keepNumbers(S, { header, arrays }) {
  const at = header.step ? header.step - 1 : S.step;
  /** @type {TensorSlice[]} */ (header.slices).forEach((part, i) =>
    S.numbers.set(keyOf({ ...S, step: at }, part), /** @type {Numbers} */ (arrays[i])),
  );
  S.asked = "";
}

/** The stages of a block in the order of computation; of a head, or of what belongs to all heads. @param {MachineState} S @param {string} name @returns {MachineStage[]} */
export function stagesOf(S, name) {
  const block = blockOf(S, name);
  const of = block?.kind === "memory" ? block.reads[0] : block?.kind === "word" ? "logits" : name;
  const all = S.data.stages.filter((stage) => stage.block === of);
  return block?.kind === "memory" ? all.slice(-1) : all;
}

const HEADED = ["query", "key", "product", "scores", "masked", "weights", "value", "output"];
/** Whether a stage has numbers for each head. @param {MachineState} S @param {MachineStage} stage */
export const isHeaded = (S, { block, point }) => !!blockOf(S, block)?.attention && HEADED.includes(shortOf(point));

/** The number of rows that a run has for the tokens of a side. @param {MachineState} S @param {string} side */
export const countOf = ({ data, step }, side) =>
  side === "source" ? data.source.tokens.length : data.stepwise ? step + 1 : data.target.tokens.length;

/** The side of the keys of a block of attention. @param {MachineState} S @param {MachineStage} stage */
export const keysOf = (S, { block }) => sidesOf(blockOf(S, block)?.attention)[1];

/**
 * A point at this step as a matrix; its numbers are undefined until they have arrived.
 * @param {MachineState} S @param {MachineStage} stage @param {number} head from 1, if it has heads @param {number} first the first column of a long vector
 * @param {number} [only] the one row to show, instead of all
 * @returns {MachineMatrix}
 */
export function matrixOf(S, stage, head, first, only) {
  const { point, side, op } = stage;
  const named = rowsOf(S, stage);
  const rows = only === undefined ? named : named.slice(only, only + 1);
  const base = only ?? 0;
  const asked = only === undefined ? { row: 0, rows: countOf(S, side) } : { row: only, rows: 1 };
  const cut = (/** @type {string} */ name, /** @type {Partial<TensorSlice>} */ more) =>
    slice(S, { name, head: 0, ...asked, column: 0, columns: 1, ...more });
  const one = isHeaded(S, stage) ? head : 0;
  if (point === "logits") return logitsOf(S, stage);
  if (op === "ids") return { rows, base, columns: ["id"], first: 0, width: 1, numbers: cut(point, {}) };
  if (stage.columns) {
    const columns = Math.min(WINDOW, stage.columns - first);
    const names = Array.from({ length: columns }, (_, i) => `${first + i + 1}`);
    const isInitial = point === "decoder.initial";
    const numbers = cut(point, { head: one, column: first, columns, ...(isInitial && { row: 0, rows: rows.length }) });
    return { rows, base, columns: names, first, width: stage.columns, numbers };
  }
  const keys = keysOf(S, stage);
  const tokens = tokensOf(S, keys);
  const columns = tokens.map((token, i) => `${i + 1} ${token}`);
  const numbers =
    op === "dot" ? productsOf(S, stage, head, asked) : cut(point, { head: one, columns: countOf(S, keys) });
  return {
    rows,
    base,
    columns,
    first: 0,
    width: columns.length,
    numbers,
    leftwards: runsLeft(S, keys),
    places: placesIn(S, keys, tokens),
  };
}

/** The names of the rows. @param {MachineState} S @param {MachineStage} stage */
const rowsOf = (S, { point, side }) =>
  point === "decoder.initial"
    ? S.data.diagram.decoder.map((_, i) => t("layer {layer}", { layer: i + 1 }))
    : tokensOf(S, side).map((token, i) => `${i + 1} ${token}`);

/** The scores of the likeliest tokens of this step. @param {MachineState} S @param {MachineStage} stage @returns {MachineMatrix} */
function logitsOf(S, { point }) {
  const { data, step } = S;
  const parts = data.alternatives.ids[step].map((column) =>
    slice(S, { name: point, head: 0, row: step, rows: 1, column, columns: 1 }),
  );
  const columns = data.alternatives.tokens[step];
  const values = Float32Array.from(parts, (part) => part?.values[0] ?? 0);
  return {
    rows: [`${step + 1} ${data.target.tokens[step]}`],
    base: step,
    columns,
    first: 0,
    width: columns.length,
    numbers: parts.every(Boolean) ? { values, shape: [1, columns.length] } : undefined,
    ids: data.alternatives.ids[step],
  };
}

/** The product of each query and each key. @param {MachineState} S @param {MachineStage} stage @param {number} head @param {{ row: number, rows: number }} asked @returns {Numbers | undefined} */
function productsOf(S, { reads, block, point }, head, asked) {
  const width = /** @type {MachineStage} */ (S.data.stages.find((stage) => stage.point === reads[0])).columns;
  const all = { row: 0, rows: countOf(S, keysOf(S, /** @type {MachineStage} */ ({ block, point }))) };
  const [queries, keys] = [asked, all].map((rows, i) =>
    slice(S, { name: reads[i], head, ...rows, column: 0, columns: width }),
  );
  return queries && keys && products(queries, keys);
}
