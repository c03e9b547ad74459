// Changes to heads as text in the address, such as "cross.2.1.zero~encoder.1.2.row.3.0-500-500". As
// explorer/decoding/head_change.py; layers, heads and rows count from 1.

import { shortName } from "./names.js";

/** @import { Kind } from "./types" */
/** @typedef {{ kind: Kind, layer: number, head: number, op: "zero" | "uniform" | "row" | "position", row: number, weights: number[], to?: number }} HeadChange */

const WORDS = { zero: "switched off", uniform: "made uniform", row: "edited by hand", position: "moved" };
const ELSEWHERE = ["mean", "pattern", "output"]; // these need other sentences: only the app has them
const [MOST_CHANGES, MOST_ROW] = [256, 512];

/** @param {HeadChange} change @returns {string} */
export const changeName = ({ kind, layer, head, op, row, to }) =>
  op === "position"
    ? `${kind === "encoder" ? "source" : "target"} token ${row} at position ${to}`
    : `${kind} ${shortName(layer, head)}${op === "row" ? `, row ${row}` : ""} ${WORDS[op]}`;

/** @param {HeadChange[]} changes @returns {string} */
export const writeChanges = (changes) =>
  changes
    .map(({ kind, layer, head, op, row, weights, to }) =>
      [
        ...[kind, layer, head, op],
        ...(op === "row" ? [row, weights.join("-")] : op === "position" ? [row, to] : []),
      ].join("."),
    )
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
    const [kind, layer, head, op, row = "", weights = ""] = part.split(".");
    const shape = shapes[/** @type {Kind} */ (kind)];
    const counted = [layer, head].every((number) => /^[1-9]\d{0,3}$/.test(number));
    const inModel = shape && counted && Number(layer) <= shape.layers && Number(head) <= shape.heads;
    const values = op === "row" ? weights.split("-").map(Number) : [];
    const isRow = /^[1-9]\d{0,3}$/.test(row) && /^\d{1,4}(-\d{1,4})*$/.test(weights) && values.length <= MOST_ROW;
    const isMoved =
      op === "position" && kind !== "cross" && [row, weights].every((number) => /^[1-9]\d{0,3}$/.test(number));
    const because = ELSEWHERE.includes(op)
      ? "it needs other sentences, which only the app with Python has"
      : isMoved || (inModel && (op === "zero" || op === "uniform" || (op === "row" && isRow && values.some(Boolean))))
        ? ""
        : "this model has no such head, or the change is not of the form cross.2.1.zero";
    if (because) problems.push(`The link's edit '${part.slice(0, 60)}' is left out: ${because}.`);
    else
      changes = added(changes, {
        kind: /** @type {Kind} */ (kind),
        layer: isMoved ? 0 : Number(layer),
        head: isMoved ? 0 : Number(head),
        op: /** @type {HeadChange["op"]} */ (op),
        row: Number(row),
        weights: isMoved ? [] : values,
        ...(isMoved && { to: Number(weights) }),
      });
  }
  return { changes, problems };
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
  changes.map(({ kind, layer, head, op, row, weights, to = 0 }) => ({
    kind,
    layer: layer - 1,
    head: head - 1,
    op,
    ...(op === "row" && { row: row - 1, values: weights }),
    ...(op === "position" && { row: row - 1, to: to - 1 }),
  }));
