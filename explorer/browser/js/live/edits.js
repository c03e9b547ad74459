// Changes to heads: a tap that returns other weights or outputs than it was given. As model/edits.py.

import { t } from "../words.js";

/** @typedef {import("./transformer.js").Tap} Tap */
/** @typedef {{ kind: "encoder" | "decoder" | "cross", layer: number, head: number, op: string, row?: number, to?: number, values?: number[] | number[][], other?: string }} HeadEdit counted from 0; `other`: the sentence that a pattern or output is taken from */

/** The name of a block of attention in points. */
export const scopeOf = (/** @type {HeadEdit} */ { kind, layer }) =>
  kind === "cross" ? `decoder.${layer}.cross_attn` : `${kind}.${layer}.self_attn`;

/**
 * Make a tap that applies edits for one decoding; `heads` tells how many heads a kind has, `position` has the vector that
 * is added at a position.
 * @param {HeadEdit[]} edits @param {(kind: string) => number} heads
 * @param {(side: "src" | "tgt", at: number) => Float32Array | null} position @returns {Tap}
 */
export function editTap(edits, heads, position) {
  let read = 0;
  return (point, value) => {
    if (point === "tgt.tokens") read = value.length;
    for (const edit of edits) {
      const scope = scopeOf(edit);
      const first = (/** @type {number} */ queries) => (edit.kind === "encoder" ? 0 : read - queries);
      if (point === `${scope}.weights` && ["uniform", "row", "pattern"].includes(edit.op)) {
        const rows = value[edit.head];
        value = value.with(
          edit.head,
          rows.map((/** @type {Float32Array} */ own, /** @type {number} */ i) =>
            weightsOf(edit, own, first(rows.length) + i),
          ),
        );
      } else if (point === `${scope}.output` && ["zero", "mean", "output"].includes(edit.op)) {
        const size = value[0].length / heads(edit.kind);
        value = value.map((/** @type {Float32Array} */ own, /** @type {number} */ i) =>
          outputOf(edit, own, first(value.length) + i, size),
        );
      } else if (edit.op === "position" && point === (edit.kind === "encoder" ? "src.positions" : "tgt.positions")) {
        const { row = 0, to = 0 } = edit;
        const at = row - first(value.length);
        const side = edit.kind === "encoder" ? "src" : "tgt";
        const [before, after] = [position(side, row), position(side, to)];
        if (!value[at]) continue;
        if (!before || !after || after.length < before.length)
          throw new Error(t("This model has no vector for that position."));
        const moved = value[at].map(
          (/** @type {number} */ number, /** @type {number} */ d) => number + (after[d] - before[d]),
        );
        value = value.with(at, moved);
      }
    }
    return value;
  };
}

/** One query's weights, normalised. @param {HeadEdit} edit @param {Float32Array} own @param {number} query @returns {Float32Array} */
function weightsOf(edit, own, query) {
  const values = /** @type {any} */ (edit.values);
  if (edit.op === "uniform") return own.map(() => 1 / own.length);
  const row = edit.op === "row" ? (query === edit.row ? values : undefined) : values[query];
  if (!row) return own;
  if (row.length < own.length)
    throw new Error(
      t(
        "A changed head has weights for {n} key, but may see {own} here.",
        "A changed head has weights for {n} keys, but may see {own} here.",
        { n: row.length, own: own.length },
      ),
    );
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
