// One row of one head with its vectors, scores and weights, as the message that cell.js draws. As explorer/browser/cell.py.

import { scopeOf } from "./edits.js";
import { matrixOf, partsOf, runsOf } from "./machine.js";
import { alibiSlope } from "./positions.js";
import { t } from "../words.js";

/** @import { Kind, Message } from "../types" */
/** @typedef {import("./decode.js").LiveModel} LiveModel */
/** @typedef {import("./vectors.js").Vector} Vector */

/**
 * Explain a cell of a decoding; layer, head, query and key count from 1.
 * @param {LiveModel} live @param {string} text @param {import("./decode.js").Request} request with the whole path
 * @param {{ kind: Kind, layer: number, head: number, query: number, key: number }} at
 * @returns {Message} without names, which the page has: of the decoding, and of tokens
 */
export function cellOf(live, text, request, { kind, layer, head, query, key }) {
  const { config } = live.model;
  // A decoder that is not causal computes a row again at each step, and is shown as it was when it was the newest.
  const run = runsOf(live, text, request)[config.causal || kind === "encoder" ? 0 : query - 1];
  const scope = scopeOf({ kind, layer: layer - 1 });
  const of = (/** @type {string} */ point) => partsOf(run, `${scope}.${point}`, live.model.heads(kind))[head - 1];
  const row = Math.min(query, of("query").length) - 1;
  const seen = kind === "decoder" ? query : of("key").length;
  if (key > seen)
    throw new Error(
      t(
        "Row {row} can see {n} key; key {key} did not exist yet when it was computed.",
        "Row {row} can see {n} keys; key {key} did not exist yet when it was computed.",
        { row: query, n: seen, key },
      ),
    );
  const list = (/** @type {Vector} */ values) => ({ values, shape: [values.length] });
  const slope = config.positions === "alibi" && kind !== "cross" ? alibiSlope(head - 1, live.model.heads(kind)) : 0;
  const bias = Float32Array.from({ length: seen }, (_, i) => -slope * Math.abs(query - 1 - i) || 0);
  return {
    header: { kind, layer, head, row: query, column: key, scaled: config.scale_scores, gated: config.attention_gate },
    arrays: {
      query: list(of("query")[row]),
      keys: matrixOf(of("key").slice(0, seen)),
      values: matrixOf(of("value").slice(0, seen)),
      scores: list(of("scores")[row].slice(0, seen)),
      weights: list(of("weights")[row].slice(0, seen)),
      mask: { values: new Uint8Array(seen), shape: [seen] },
      output: list(of("output")[row]),
      ...(slope && { bias: list(bias) }),
    },
  };
}
