// Changes to heads: a tap that returns other weights or outputs than it was given. As model/edits.py.

import { t } from "../words.js";

/** @typedef {import("./transformer.js").Tap} Tap */
/** @typedef {import("./vectors.js").Vector} Vector */
/** @typedef {{ kind: "encoder" | "decoder" | "cross", layer: number, head: number, op: string, row?: number, to?: number, values?: number[] | number[][], other?: string }} HeadEdit counted from 0; `other`: the sentence that a pattern or output is taken from */

/** The name of a block of attention in points. @param {Pick<HeadEdit, "kind" | "layer">} edit */
export const scopeOf = ({ kind, layer }) =>
  kind === "cross" ? `decoder.${layer}.cross_attn` : `${kind}.${layer}.self_attn`;

/** Make a tap that applies edits for one decoding. @param {HeadEdit[]} edits @param {import("./transformer.js").Transformer} model @returns {Tap} */
export function editTap(edits, model) {
  let read = 0;
  return (point, value) => {
    if (point === "tgt.tokens") read = value.length;
    for (const edit of edits) {
      const scope = scopeOf(edit);
      const { kind, head, op } = edit;
      const first = (/** @type {Vector[]} */ rows) => (kind === "encoder" ? 0 : read - rows.length);
      /** @param {Vector[]} rows @param {(own: Vector, query: number) => Vector} change */
      const changed = (rows, change) => rows.map((own, i) => change(own, first(rows) + i));
      if (point === `${scope}.weights` && ["uniform", "row", "pattern"].includes(op))
        value = value.with(
          head,
          changed(value[head], (own, query) => weightsOf(edit, own, query)),
        );
      else if (point === `${scope}.output` && ["zero", "mean", "output"].includes(op))
        value = changed(value, (own, query) => outputOf(edit, own, query, model.dHead(kind)));
      else if (op === "position" && point === (kind === "encoder" ? "src.positions" : "tgt.positions"))
        value = changed(value, (own, query) => (query === (edit.row ?? 0) ? movedTo(edit, own, model) : own));
    }
    return value;
  };
}

/** A token's vector with another position's in place of its own. @param {HeadEdit} edit @param {Vector} own @param {import("./transformer.js").Transformer} model */
function movedTo({ kind, row = 0, to = 0 }, own, model) {
  const [before, after] = [row, to].map((at) => model.position(kind === "encoder" ? "src" : "tgt", at));
  if (!before || !after || after.length < before.length)
    throw new Error(t("This model has no vector for that position."));
  return own.map((number, d) => number + (after[d] - before[d]));
}

/** One query's weights, normalised. @param {HeadEdit} edit @param {Float32Array} own @param {number} query @returns {Float32Array} */
function weightsOf(edit, own, query) {
  const values = /** @type {any} */ (edit.values);
  if (edit.op === "uniform") return own.map(() => 1 / own.length);
  const row = edit.op === "row" ? (query === edit.row ? values : undefined) : values[query];
  if (!row) return own;
  const cut = own.map((_, key) => row[key]);
  const total = cut.reduce((sum, weight) => sum + weight, 0);
  if (!(total > 0)) throw new Error(t("A row of a changed head has no weight left on any key that it may see."));
  return cut.map((weight) => weight / total);
}

/** One query's output with the head's part replaced. @param {HeadEdit} edit @param {Float32Array} own @param {number} query @param {number} size @returns {Float32Array} */
function outputOf(edit, own, query, size) {
  const values = /** @type {any} */ (edit.values);
  const part = edit.op === "zero" ? new Float32Array(size) : edit.op === "mean" ? values : values[query];
  if (!part) return own;
  const changed = own.slice();
  changed.set(part, edit.head * size);
  return changed;
}
