// The numbers that changes to heads put in: means over a sample, rows, and what a head does in another sentence. As
// explorer/decoding/head_edits.py and explorer/probing/edit_effect.py.

import { shortName, shortKind } from "../names.js";
import { decode } from "./decode.js";
import { scopeOf } from "./edits.js";
import { runsOf } from "./machine.js";
import { t } from "../words.js";

/** @typedef {import("./decode.js").LiveModel} LiveModel */
/** @typedef {import("./decode.js").Request} Request */
/** @typedef {import("./edits.js").HeadEdit} HeadEdit */

/** What another sentence gave, by edit and sentence. @type {WeakMap<LiveModel, Map<string, number[][]>>} */
const given = new WeakMap();
const MOST = 20; // of them

/** A request with the values of its edits. @param {LiveModel} live @param {string} text @param {Request} request @returns {Request} */
export function withValues(live, text, request) {
  return { ...request, edits: (request.edits ?? []).map((edit) => ({ ...edit, ...valuesOf(live, text, edit) })) };
}

/** @param {LiveModel} live @param {string} text @param {HeadEdit} edit @returns {Partial<HeadEdit>} */
function valuesOf(live, text, edit) {
  const { kind, layer, head, op, other = "" } = edit;
  if (op === "row") return { values: padded(live, /** @type {number[]} */ (edit.values)) };
  if (op === "mean") {
    const mean = live.means[`${kind}.${layer}.${head}`];
    if (!mean) throw new Error(t("The mean of a head needs sentences to take it over, and none came with this model."));
    return { values: [...mean] };
  }
  if (op !== "pattern" && op !== "output") return {};
  const known = given.get(live) ?? new Map();
  given.set(live, known);
  const name = JSON.stringify([text, edit]);
  if (!known.has(name)) {
    const values = op === "output" ? outputsOf(live, other, edit) : patternOf(live, text, other, edit);
    if (known.size >= MOST) known.clear();
    known.set(name, values);
  }
  return { values: known.get(name) };
}

/** A head's weights in another sentence [query][key]. @param {LiveModel} live @param {string} text @param {string} other @param {HeadEdit} edit */
function patternOf(live, text, other, { kind, layer, head }) {
  const [there, here] = [other, text].map((each) => decode(live, each, {}).message.arrays[kind]);
  const [, heads, queries, keys] = there.shape;
  const [ownQueries, own] = here.shape.slice(2);
  const name = { head: `${shortKind(kind)} ${shortName(layer + 1, head + 1)}`, other, own };
  if (kind === "decoder" && queries !== ownQueries)
    throw new Error(
      t(
        "The pattern of {head} does not fit: the translation of “{other}” has {n} step, that of this sentence {own}.",
        "The pattern of {head} does not fit: the translation of “{other}” has {n} steps, that of this sentence {own}.",
        { ...name, n: queries, own: ownQueries },
      ),
    );
  if (kind !== "decoder" && keys !== own)
    throw new Error(
      t(
        "The pattern of {head} does not fit: “{other}” has {n} source token with <eos>, this sentence has {own}. Choose a sentence of equal length, or take the head's output.",
        "The pattern of {head} does not fit: “{other}” has {n} source tokens with <eos>, this sentence has {own}. Choose a sentence of equal length, or take the head's output.",
        { ...name, n: keys },
      ),
    );
  const first = (layer * heads + head) * queries;
  return Array.from({ length: queries }, (_, q) =>
    padded(live, [...there.values.subarray((first + q) * keys, (first + q + 1) * keys)]),
  );
}

/** A head's outputs in another sentence [query][number]. @param {LiveModel} live @param {string} other @param {HeadEdit} edit */
function outputsOf(live, other, edit) {
  const run = /** @type {Record<string, any>} */ (runsOf(live, other, { path: decode(live, other, {}).path }).at(-1));
  const size = live.model.dHead(edit.kind);
  const part = (/** @type {Float32Array} */ row) => [...row.subarray(edit.head * size, (edit.head + 1) * size)];
  return run[`${scopeOf(edit)}.output`].map(part);
}

/** Weights with 0 for all keys that there may be, so that they fit a decoding of any length. @param {LiveModel} live @param {number[]} row */
const padded = ({ model }, row) => Array.from({ length: model.config.max_positions }, (_, key) => row[key] ?? 0);
