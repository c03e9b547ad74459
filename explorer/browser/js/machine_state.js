// The state of the machine: the received data, what is open, and the reports to the server.

import { AFTER } from "./machine_link.js";
import { rowOf } from "./machine_pictures.js";
import { SIDES } from "./names.js";
import { redraw } from "./view.js";
import { grouped } from "./numbers.js";

/** @import { Kind, MachineBlock, MachineOpened, MachineState, Numbers } from "./types" */

/** The parts of a head in the order of the computation. */
const PARTS = ["query", "key", "product", "scores", "masked", "weights", "value", "output"];

/** The parts of a head that are maps of scores or weights. */
export const MAPS = ["product", "scores", "masked", "weights"];

/** The parts of an open block of attention: those of its open head, if any, and those that follow the heads. @param {MachineState} S @param {MachineBlock} block */
export const partsOf = (S, block) =>
  [...(S.opened.head ? PARTS : []), ...AFTER].filter(
    (part) => part in (S.data.parts[/** @type {Kind} */ (block.attention)] ?? {}),
  );

/** @param {MachineState} S @param {string} name @returns {MachineBlock | undefined} */
export const blockOf = (S, name) => S.data.blocks.find((block) => block.name === name);

/** Whether a block has a row for each target token that was read. @param {MachineBlock} block */
export const isTarget = ({ stack, kind }) => ["target", "decoder", "output"].includes(stack) && kind !== "initial";

/** The current row of a side: that of the token just read, or of the chosen source token. @param {MachineState} S @param {string} side */
export const rowFor = (S, side) => (side === "source" ? S.row : S.step);

/** The tokens of a side that exist at this step. @param {MachineState} S @param {string} side */
export const tokensOf = (S, side) =>
  side === "source" ? S.data.source.tokens : S.data.target.tokens.slice(0, S.step + 1);

/** The sides of an attention block's queries and keys. @param {string} [kind] */
export const sidesOf = (kind) => SIDES[/** @type {Kind} */ (kind)] ?? SIDES.cross;

/** The shape of a block's result at this step, as text. @param {number[]} shape @param {number} step */
export const shapeText = (shape, step) => shape.map((size) => grouped(size || step + 1)).join("\u200a×\u200a");

/** The weights of the current row, mean over the heads, from the diagram's message. @param {MachineState} S @param {MachineBlock} block */
export function meanRow(S, block) {
  const picture = /** @type {import("./types").MachinePicture} */ (S.data.facts[block.name].picture);
  const [queries, keys] = sidesOf(block.attention);
  return rowOf(S.body, picture, S.data.stepwise, S.step, rowFor(S, queries)).subarray(0, tokensOf(S, keys).length);
}

/** Whether the received details are those of the open block. @param {MachineState} S */
export function hasDetails({ details, opened, data, step }) {
  return (
    details !== null &&
    details.seq === data.seq &&
    details.opened.block === opened.block &&
    details.opened.head === opened.head &&
    (!data.stepwise || details.step === step + 1)
  );
}

/** An array of the open block; undefined until it has arrived. @param {MachineState} S @param {string} name @returns {Numbers | undefined} */
export function arrayOf(S, name) {
  if (!hasDetails(S)) return undefined;
  const { query, key } = /** @type {Record<string, Numbers>} */ (S.arrays);
  if (name === "product" && query && key) S.arrays.product ??= products(query, key);
  return /** @type {Numbers | undefined} */ (S.arrays[name]);
}

/** Each row of one matrix times each row of another. @param {Numbers} a @param {Numbers} b @returns {Numbers} */
export function products(a, b) {
  const [rows, width] = a.shape;
  const columns = b.shape[0];
  const values = new Float32Array(rows * columns);
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++) {
      let sum = 0;
      for (let i = 0; i < width; i++) sum += a.values[r * width + i] * b.values[c * width + i];
      values[r * columns + c] = sum;
    }
  return { values, shape: [rows, columns] };
}

/** Row `i` of an array with two axes. @param {Numbers} numbers @param {number} i */
export const lineOf = ({ values, shape }, i) => values.subarray(i * shape[1], (i + 1) * shape[1]);

/** The state after Escape, which closes one level of what is open. @param {MachineOpened} opened @returns {MachineOpened} */
export function outwards({ block, head, part }) {
  if (part) return { block, head, part: "" };
  return { block: head ? block : "", head: 0, part: "" };
}

/** Opens a block, head or part, and requests its details. @param {MachineState} S @param {MachineOpened} opened */
export function open(S, opened) {
  Object.assign(S, { opened, point: "", first: 0, spot: null, allTerms: false });
  ask(S);
  redraw(S);
}

/** What is open, as the value of the button that opens it. @param {MachineOpened} opened */
export const openValue = ({ block, head, part }) => [block, ...(head ? [head] : []), ...(part ? [part] : [])].join(" ");

/** The report to the server, which answers with the details of what is open. @param {MachineState} S @param {string} follow the followed token and its stage */
export const reportOf = (S, follow) => ({
  seq: S.seq,
  turn: S.turn,
  place: { step: S.step + 1, ...S.opened, ...(follow && { follow }) },
});

/** @param {MachineState} S */
export const ask = (S) => S.source.report(S.reportOf());

/** Follows a link to another page, from what is open. @param {MachineState} S @param {string} place */
export function leave(S, place) {
  const block = blockOf(S, S.opened.block);
  const [queries] = block ? sidesOf(block.attention) : ["target"];
  const row = rowFor(S, queries);
  const weights = block?.attention ? weightsRow(S, block) : [];
  // The chosen number of a map is a cell; without one, the heaviest of the row.
  const cell = S.lit?.point.startsWith(`${block?.name}.`) && MAPS.includes(S.opened.part) ? S.lit : null;
  const column = cell?.column ?? Math.max(0, weights.indexOf(Math.max(...weights)));
  const at = {
    row: (cell?.row ?? row) + 1,
    column: column + 1,
    step: (cell && queries === "target" ? cell.row : S.step) + 1,
  };
  S.source.ask("go", { seq: S.data.seq, place, ...S.opened, ...at });
}

/** The weights of the current row: of the open head, else the mean. @param {MachineState} S @param {MachineBlock} block @returns {number[]} */
export function weightsRow(S, block) {
  const weights = S.opened.block === block.name && S.opened.head ? arrayOf(S, "weights") : undefined;
  const [queries, keys] = sidesOf(block.attention);
  if (!weights) return [...meanRow(S, block)];
  return [...lineOf(weights, rowFor(S, queries))].slice(0, tokensOf(S, keys).length);
}

/** The row of a picture that is framed: that of the current token. @param {MachineState} S @param {MachineBlock} block */
export const markedRow = (S, block) =>
  isTarget(block) ? S.step : marksSource(S) && (block.stack === "source" || block.stack === "encoder") ? S.row : -1;

/** Whether a token of the source is marked: one that was chosen or is followed, or the row of an open block. @param {MachineState} S */
export const marksSource = (S) =>
  S.trail.data
    ? S.trail.side === "source"
    : S.chosen || ["source", "encoder"].includes(blockOf(S, S.opened.block)?.stack ?? "");

/** The keys that the current row of an attention block looks at most. @param {MachineState} S @param {MachineBlock} block @param {number} most */
export function looksAt(S, block, most) {
  const weights = weightsRow(S, block);
  const tokens = tokensOf(S, sidesOf(block.attention)[1]);
  return weights
    .map((weight, i) => ({ weight, token: tokens[i], i }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, most)
    .filter(({ weight }) => weight >= 0.005);
}
