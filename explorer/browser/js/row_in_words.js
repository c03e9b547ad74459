// What a row of a head looks at, as a sentence that names the kind of attention, the layer and the head.

import { SIDES, capitalised, headTitle, nameInKind } from "./names.js";
import { looksAt } from "./wording.js";
import { t } from "./words.js";

/** @import { Content, Kind, Row } from "./types" */

/**
 * "To write *im*, having read *spielen*, cross-attention looks at *football* 69 %. (Layer 4, mean over its heads.)"
 * @param {{ kind: Kind, columns: string[] }} m
 * @param {{ layer: number, head: number }} place
 * @param {Row} row
 * @param {Content} read the query
 * @param {Content} word what the decoder wrote after it
 * @param {import("./wording.js").Look} look
 * @param {boolean} [placed] whether the sentence ends with the layer and the head
 */
export function rowInWords({ kind, columns }, { layer, head }, row, read, word, look, placed = true) {
  const isPlain = look === "plain";
  const who = isPlain ? read : kind === "cross" ? t("cross-attention") : t("decoder self-attention");
  const place = isPlain ? headTitle(kind, layer, head) : capitalised(nameInKind(layer, head));
  return [...looksAt(row, columns, SIDES[kind][1], 3, look, { who, word, read }), placed ? ` (${place}.)` : ""];
}
