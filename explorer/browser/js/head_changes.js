// Changes to heads as text in the address, such as "cross.2.1.zero~encoder.1.2.row.3.0-500-500". As
// explorer/decoding/head_change.py; layers, heads and rows count from 1.

import { shortName, shortKind } from "./names.js";
import { t } from "./words.js";

/** @import { Kind } from "./types" */
/** @typedef {"zero" | "uniform" | "mean" | "row" | "pattern" | "output" | "position"} Op */
/** @typedef {{ kind: Kind, layer: number, head: number, op: Op, row: number, weights: number[], other?: string, to?: number }} HeadChange `other`: the sentence that a pattern or output is taken from; `to`: the new position of token `row` */

/** @type {Record<Exclude<Op, "position">, (fields: { head: string, row: number, other: string }) => string>} */
const WORDS = {
  zero: (f) => t("{head} switched off", f),
  uniform: (f) => t("{head} made uniform", f),
  mean: (f) => t("{head} replaced by its mean", f),
  row: (f) => t("{head}, row {row} edited by hand", f),
  pattern: (f) =>
    f.other
      ? t("{head} given the pattern of another sentence ({other})", f)
      : t("{head} given the pattern of another sentence", f),
  output: (f) =>
    f.other
      ? t("{head} given the output of another sentence ({other})", f)
      : t("{head} given the output of another sentence", f),
};
/** The changes that apply to any sentence. @type {Op[]} */
export const WHOLE = ["zero", "uniform", "mean"];
const [MOST_CHANGES, MOST_ROW, MOST_OTHER] = [256, 512, 500];

/** @param {HeadChange} change @returns {string} */
export const changeName = ({ kind, layer, head, op, row, other = "", to }) =>
  op !== "position"
    ? WORDS[op]({ head: `${shortKind(kind)} ${shortName(layer, head)}`, row, other })
    : kind === "encoder"
      ? t("source token {row} at position {to}", { row, to: to ?? row })
      : t("target token {row} at position {to}", { row, to: to ?? row });

/** @param {HeadChange[]} changes @returns {string} */
export const writeChanges = (changes) =>
  changes
    .map(({ kind, layer, head, op, row, weights, other, to }) => {
      const rest =
        op === "row" ? [row, weights.join("-")] : op === "position" ? [row, to] : other ? [inLetters(other)] : [];
      return [kind, layer, head, op, ...rest].join(".");
    })
    .join("~");

/**
 * Reads changes from an address that may be anybody's.
 * @param {string} text @param {Record<Kind, { layers: number, heads: number }>} shapes of the model's attention
 * @returns {{ changes: HeadChange[], problems: string[] }} and a sentence for each part that was left out
 */
export function readChanges(text, shapes) {
  /** @type {HeadChange[]} */
  let changes = [];
  /** @type {string[]} */
  const problems = [];
  for (const part of text.split("~").filter(Boolean).slice(0, MOST_CHANGES)) {
    const change = readChange(part);
    const shape = change && shapes[change.kind];
    if (shape && change.layer <= shape.layers && change.head <= shape.heads) changes = added(changes, change);
    else
      problems.push(
        t(
          "The link's edit “{edit}” is left out: this model has no such head, or the change is not of the form cross.2.1.zero.",
          { edit: part.slice(0, 60) },
        ),
      );
  }
  return { changes, problems };
}

/** @param {string} part of an address @returns {HeadChange | null} */
function readChange(part) {
  const [kind, layer, head, op, ...values] = part.split(".");
  const counted = (/** @type {string[]} */ ...numbers) => numbers.every((number) => /^[1-9]\d{0,3}$/.test(number));
  const none = { layer: 0, head: 0, row: 0, weights: /** @type {number[]} */ ([]), other: "", to: 0 };
  if (op === "position") {
    const moves = kind !== "cross" && values.length === 2 && counted(...values);
    const [row, to] = values.map(Number);
    return moves ? { ...none, kind: /** @type {Kind} */ (kind), op, row, to } : null;
  }
  if (!counted(layer, head) || !Object.hasOwn(WORDS, op)) return null;
  const change = /** @type {HeadChange} */ ({ ...none, kind, layer: Number(layer), head: Number(head), op });
  if (op === "row") {
    const [row, weights = ""] = values;
    const isRow = values.length === 2 && counted(row) && /^\d{1,4}(-\d{1,4})*$/.test(weights);
    const numbers = weights.split("-").map(Number);
    return isRow && numbers.length <= MOST_ROW && numbers.some(Boolean)
      ? { ...change, row: Number(row), weights: numbers }
      : null;
  }
  if (WHOLE.includes(change.op)) return values.length ? null : change;
  const other = values.length === 1 ? fromLetters(values[0]) : "";
  return other.trim() && other.length <= MOST_OTHER ? { ...change, other } : null;
}

/** A text as letters, digits, - and _. @param {string} text */
const inLetters = (text) =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/** The text of such letters; "" if they are none. @param {string} letters */
function fromLetters(letters) {
  try {
    const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return "";
  }
}

/** Adds a change; it replaces what it contradicts. @param {HeadChange[]} changes @param {HeadChange} change @returns {HeadChange[]} */
export function added(changes, change) {
  const isHead = (/** @type {HeadChange} */ { kind, layer, head }) =>
    kind === change.kind && layer === change.layer && head === change.head;
  const stays = (/** @type {HeadChange} */ other) =>
    !isHead(other) || (!!change.row && !!other.row && other.row !== change.row);
  return [...changes.filter(stays), change];
}

/** As the model's edits, which count from 0. @param {HeadChange[]} changes @returns {import("./live/edits.js").HeadEdit[]} */
export const editsOf = (changes) =>
  changes.map(({ kind, layer, head, op, row, weights, other, to = 0 }) => ({
    kind,
    layer: layer - 1,
    head: head - 1,
    op,
    ...(op === "row" && { row: row - 1, values: weights.map((weight) => weight / 1000) }),
    ...(op === "position" && { row: row - 1, to: to - 1 }),
    ...(other && { other }),
  }));
