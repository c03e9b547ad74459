// One row of one head with its vectors, scores and weights, as the message that cell.js draws. As explorer/browser/cell.py.

import { decode } from "./decode.js";
import { alibiSlope } from "./positions.js";
import { t } from "../words.js";
import { shortKind } from "../names.js";

/** @import { Kind, Message } from "../types" */
/** @typedef {import("./decode.js").LiveModel} LiveModel */
/** @typedef {import("./vectors.js").Vector} Vector */

const SCOPES = { encoder: "encoder.N.self_attn", decoder: "decoder.N.self_attn", cross: "decoder.N.cross_attn" };

/**
 * Explain a cell of a decoding; layer, head, query and key count from 1.
 * @param {LiveModel} live @param {string} text @param {import("./decode.js").Request} request
 * @param {{ kind: Kind, layer: number, head: number, query: number, key: number }} at
 * @returns {Message} without the name of the decoding, which the page gives
 */
export function cellOf(live, text, request, { kind, layer, head, query, key }) {
  const { config } = live.model;
  const scope = SCOPES[kind].replace("N", `${layer - 1}`);
  /** @type {Record<string, any>} the intermediates of the block, when it computed the row */
  const points = {};
  let calls = 0; // a decoder computes a row in each call
  const { maps, header } = decode(live, text, request, (point, value) => {
    if (point === `${scope}.query`) calls++;
    if (point.startsWith(`${scope}.`) && (kind === "encoder" || calls === query))
      points[point.slice(scope.length + 1)] = value;
    return value;
  });
  const map = maps[kind];
  if (!head) throw new Error(t("The mean over heads is in view. Choose one head to see where its numbers come from."));
  if (!(layer >= 1 && layer <= map.layers && head >= 1 && head <= map.heads))
    throw new Error(
      t("This model has no layer {layer}, head {head} of {kind} attention.", { layer, head, kind: shortKind(kind) }),
    );
  if (!(query >= 1 && query <= map.queries))
    throw new Error(
      t("This map has {n} row; there is no row {row}.", "This map has {n} rows; there is no row {row}.", {
        n: map.queries,
        row: query,
      }),
    );
  const seen = kind === "decoder" ? query : map.keys;
  if (!(key >= 1 && key <= seen))
    throw new Error(
      t(
        "Row {row} can see {n} key; key {key} did not exist yet when it was computed.",
        "Row {row} can see {n} keys; key {key} did not exist yet when it was computed.",
        { row: query, n: seen, key },
      ),
    );

  const heads = map.heads;
  const size = config.d_model / heads;
  const row = kind === "encoder" ? query - 1 : points.query.length - 1;
  const part = (/** @type {Vector} */ vector) => vector.slice((head - 1) * size, head * size);
  const list = (/** @type {Vector} */ values) => ({ values, shape: [values.length] });
  const table = (/** @type {Vector[]} */ vectors) => ({
    values: Float32Array.from(vectors.flatMap((vector) => [...part(vector)])),
    shape: [vectors.length, size],
  });
  const slope = config.positions === "alibi" && kind !== "cross" ? alibiSlope(head - 1, heads) : 0;
  const bias = Float32Array.from({ length: seen }, (_, i) => -slope * Math.abs(query - 1 - i) || 0);
  return {
    header: {
      kind,
      layer,
      head,
      row: query,
      column: key,
      query: map.rows[query - 1],
      predicted: kind === "encoder" ? "" : header.target.predicted[query - 1],
      tokens: map.columns,
      scaled: config.scale_scores,
      gated: config.attention_gate,
    },
    arrays: {
      query: list(part(points.query[row])),
      keys: table(points.key),
      values: table(points.value),
      scores: list(points.scores[head - 1][row]),
      weights: list(points.weights[head - 1][row]),
      mask: { values: map.mask.slice((query - 1) * map.keys, (query - 1) * map.keys + seen), shape: [seen] },
      output: list(part(points.output[row])),
      ...(slope && { bias: list(bias) }),
    },
  };
}
