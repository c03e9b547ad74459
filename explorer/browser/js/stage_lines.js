// What the stage shows: the words that attention connects at this moment, and the weight on each. Drawing it is the
// business of stage.js; here everything is counted in rows and columns of the map, and in tokens.

import { rankedRow } from "./rows.js";

/** @typedef {import("./types").Kind} Kind */
/** @typedef {import("./types").Look} Look */
/** @typedef {import("./types").Span} Span */
/** @typedef {import("./types").StageLine} StageLine */
/** @typedef {import("./types").StageMap} StageMap */
/** @typedef {import("./types").StageView} StageView */

/**
 * The lines of one view. A decoder row belongs to the word that it predicts: the row that reads token t is drawn from
 * token t + 1.
 * - Without `look`, or where it has nothing to show: the word being written and the keys of the row that predicts it; in
 *   the encoder, the token `current` and its keys.
 * - `look` at a target token: the row that predicted it. The first one was given, not predicted; it has no lines.
 * - `look` at a source token: in the encoder, its own row; in cross-attention, its column: all words written so far that
 *   looked at it.
 * @param {Kind} kind
 * @param {StageMap} map the weights of the head in view, as they are drawn: between tokens, or between words
 * @param {{ source: Span[], target: Span[] }} spans the tokens of each row and column
 * @param {number} step the token that is read now
 * @param {number} current the row of the encoder to show when nobody looks at a token
 * @param {Look | null} look
 * @returns {StageView}
 */
export function stageView(kind, map, spans, step, current, look) {
  const at = (/** @type {Span[]} */ list, /** @type {number} */ token) => list.findIndex(([, end]) => token < end);
  if (kind === "encoder") {
    const query = look?.side === "source" ? at(spans.source, look.at) : current;
    return { from: { side: "source", span: spans.source[query] }, query, column: -1, lines: keysOf(map, query, "source", spans.source) };
  }
  if (kind === "cross" && look?.side === "source") {
    const column = at(spans.source, look.at), last = at(spans.target, step);
    const lines = spans.target.slice(0, last + 1).map((span, query) => {
      const written = Math.min(span[1] - 1, step) + 1, i = query * map.keys + column;
      return stageLine("target", query, [written, written + 1], map.values[i], map.mask[i]);
    });
    return { from: { side: "source", span: spans.source[column] }, query: -1, column, lines };
  }
  const written = look?.side === "target" ? look.at : step + 1;
  const from = { side: /** @type {const} */ ("target"), span: /** @type {Span} */ ([written, written + 1]) };
  if (written < 1) return { from, query: -1, column: -1, lines: [] };
  const query = at(spans.target, Math.min(written - 1, step)), side = kind === "cross" ? "source" : "target";
  return { from, query, column: -1, lines: keysOf(map, query, side, spans[side]) };
}

/**
 * @param {StageMap} map
 * @param {number} query
 * @param {"source" | "target"} side
 * @param {Span[]} spans
 */
const keysOf = (map, query, side, spans) =>
  rankedRow(map.values, map.mask, query, map.keys).cells.map((c) => stageLine(side, c.key, spans[c.key], c.weight, c.mask));

/**
 * @param {"source" | "target"} side
 * @param {number} index
 * @param {Span} span
 * @param {number} weight
 * @param {number} mask
 * @returns {StageLine}
 */
const stageLine = (side, index, span, weight, mask) => ({ side, index, span, weight: mask ? 0 : weight, mask });
