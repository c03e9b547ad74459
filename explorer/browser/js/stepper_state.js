// The state of the stepper: its maps, the current row, and moves through the decoding. In these files, `S` is the state
// of one mounted stepper.

import { SIDES } from "./names.js";
import { update } from "./view.js";
import { joinedNames, mergeWords, rankedRow, spansOf, weightsOf } from "./weights.js";

/** @import { AttentionMap, Kind, Side, Span, StepperState } from "./types" */

/**
 * Chooses the maps to draw: the recorded ones between tokens, or merged ones between the words read so far.
 * @param {StepperState} S
 */
export function chooseMaps(S) {
  const { maps, source, target } = S.data;
  const step = S.words ? S.step : -1;
  if (S.mapsFor?.data === S.data && S.mapsFor.step === step) return;
  S.mapsFor = { data: S.data, step };
  S.sheets = new Map();
  S.maps = maps;
  if (!S.words) return;
  S.spans = { source: spansOf(source.words), target: spansOf(target.words) };
  const merged = S.data.order.map((kind) => [kind, mapOfWords(S, kind)]);
  S.maps = { ...maps, ...Object.fromEntries(merged) };
}

/** @param {StepperState} S @param {Kind} kind @returns {AttentionMap} */
function mapOfWords(S, kind) {
  const m = S.data.maps[kind];
  const [rows, columns] = SIDES[kind].map((side) => S.spans[side]);
  const read = kind === "encoder" ? m.queries : S.step + 1;
  return {
    ...m,
    ...mergeWords(/** @type {AttentionMap & { weights: Float32Array }} */ (m), rows, columns, read),
    means: new Map(),
    rows: joinedNames(m.rows, rows, read),
    columns: joinedNames(m.columns, columns, kind === "decoder" ? read : m.keys),
  };
}

/** The tokens of each row and column of the maps that are drawn. @param {StepperState} S @returns {Record<Side, Span[]>} */
export function tokenSpans(S) {
  if (S.words) return S.spans;
  const single = (/** @type {string[]} */ tokens) => tokens.map((_, i) => /** @type {Span} */ ([i, i + 1]));
  return (S.single ??= { source: single(S.data.source.tokens), target: single(S.data.target.tokens) });
}

/** The row of the token that the decoder is reading. @param {StepperState} S */
export const frontier = (S) => (S.words ? S.spans.target.findIndex(([, end]) => S.step < end) : S.step);

/** The last token of a row that has been read so far. @param {StepperState} S @param {number} row */
export const lastRead = (S, row) => (S.words ? Math.min(S.spans.target[row][1] - 1, S.step) : row);

/** The number of rows of a map that have been computed by this step. @param {StepperState} S @param {Kind} kind */
export const shownRows = (S, kind) => (kind === "encoder" ? S.maps[kind].queries : frontier(S) + 1);

/**
 * Whether token `i` is part of the row or column `index`.
 * @param {StepperState} S
 * @param {Side} side
 * @param {number} index
 * @param {number} i
 */
export function covers(S, side, index, i) {
  const [start, end] = S.words ? S.spans[side][index] : [index, index + 1];
  return start <= i && i < end;
}

/** A row of the head in view. @param {StepperState} S @param {Kind} kind @param {number} query */
export function rowOf(S, kind, query) {
  const m = S.maps[kind];
  const { layer, head } = S.pick[kind];
  return rankedRow(weightsOf(m, layer, head), m.mask, query, m.keys);
}

/**
 * The row that caption and table describe: that of the locked cell, else that of the token being read; in the encoder,
 * that of the source token that the decoder attends to most.
 * @param {StepperState} S
 * @param {Kind} kind
 */
export function currentRow(S, kind) {
  if (S.cell?.locked && S.cell.kind === kind) return S.cell.query;
  if (kind !== "encoder" || !S.data.order.includes("cross")) return frontier(S);
  return rowOf(S, "cross", frontier(S)).seen[0]?.key ?? 0;
}

/** @param {StepperState} S @returns {import("./structs").Position} */
function placeOf(S) {
  const step = S.step + 1;
  const row = S.kind === "encoder" ? 1 : step;
  const { words, guess, direction } = S;
  return {
    kind: S.kind,
    ...S.pick[S.kind],
    step,
    row,
    column: null,
    options: S.options && { ...S.options, words, guess, direction },
  };
}

/** @param {StepperState} S @returns {import("./structs").ViewReport} */
export const reportOf = (S) => ({ seq: S.seq, turn: S.turn, place: placeOf(S), wanted: [] });

/**
 * Puts a kind of attention in focus, at another layer or head if given.
 * @param {StepperState} S
 * @param {Kind} kind
 * @param {{ layer?: number, head?: number }} choice
 */
export function pick(S, kind, choice) {
  S.kind = kind;
  Object.assign(S.pick[kind], choice);
  update(S);
}

/**
 * Asks the server to continue decoding from another token.
 * @param {StepperState} S
 * @param {number} id
 * @param {Element} button
 */
export function fork(S, id, button) {
  S.player.stop();
  clearTimeout(S.reporting);
  button.classList.add("waiting");
  S.source.ask("fork", { seq: S.seq, place: placeOf(S), token_id: id });
}
