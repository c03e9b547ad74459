// The names of the machine's blocks, and the captions of its pictures: what rows, columns and colours are.

import { AFTER } from "./machine_link.js";
import { MAPS } from "./machine_state.js";
import { NEXT_READ, TITLES } from "./names.js";
import { wholePercent } from "./numbers.js";
import { t } from "./words.js";

/** @import { MachineBlock, MachineState } from "./types" */

/** The caption of a picture. @param {MachineState} S @param {MachineBlock} block */
export function captionOf(S, block) {
  const { head, part } = S.opened;
  const facts = S.data.facts[block.name];
  const full = wholePercent(head ? (S.details?.full ?? 1) : (facts.picture?.scale ?? 1));
  const grey = block.attention === "decoder" && !S.data.stepwise;
  if (part === "out_proj")
    return t("Rows are tokens, columns are the numbers of the result; blue is below 0, orange above.");
  if (AFTER.includes(part))
    return t("Rows are tokens, columns are the numbers of all heads; blue is below 0, orange above.");
  if (!head && block.attention)
    return grey
      ? t(
          "Attention weights, mean over the heads: rows are queries, columns are keys; full colour is {full} or more, grey is masked.",
          { full },
        )
      : t(
          "Attention weights, mean over the heads: rows are queries, columns are keys; full colour is {full} or more.",
          { full },
        );
  if (!head) {
    const width = facts.picture?.width ?? 0;
    if (block.kind === "linear")
      return t("The scores of the {count} likeliest tokens, the largest first; blue is below 0, orange above.", {
        count: width,
      });
    const whole = facts.shape[facts.shape.length - 1];
    const columns = { count: Math.min(width, whole), whole };
    return block.kind === "positions"
      ? t(
          "Rows are tokens, columns are the first {count} of {whole} numbers of the vectors that are added; blue is below 0, orange above.",
          columns,
        )
      : t(
          "Rows are tokens, columns are the first {count} of {whole} numbers of the results; blue is below 0, orange above.",
          columns,
        );
  }
  const name = part || "weights";
  if (name === "weights")
    return grey
      ? t(
          "Attention weights of this head: rows are queries, columns are keys; full colour is {full} or more, grey is masked.",
          { full },
        )
      : t("Attention weights of this head: rows are queries, columns are keys; full colour is {full} or more.", {
          full,
        });
  if (MAPS.includes(name))
    return name === "masked" && grey
      ? t(
          "Rows are queries, columns are keys; blue is below 0, orange above, grey is closed. Q·Kᵀ, ÷ √d and Mask have one scale.",
        )
      : t("Rows are queries, columns are keys; blue is below 0, orange above. Q·Kᵀ, ÷ √d and Mask have one scale.");
  return t("Rows are tokens, columns are the numbers of this head; blue is below 0, orange above.");
}

/** What a block does. The next word of a given target is not chosen. @param {MachineState} S @param {MachineBlock} block */
export const wordsOf = ({ data }, { kind, name }) =>
  kind === "word" && data.target.by === NEXT_READ
    ? t("The target is given: in the next step the decoder reads its next token, likeliest of these or not.")
    : data.facts[name].words;

/** A block's name with its layer. @param {MachineState} S @param {MachineBlock} block */
export function nameOf(S, { name, layer, stack, kind, attention }) {
  const { title } = S.data.facts[name];
  const what =
    kind === "add"
      ? t("Add (residual connection)")
      : attention === "encoder" || (attention === "decoder" && !S.data.stepwise)
        ? TITLES[attention]
        : title;
  if (layer)
    return stack === "encoder"
      ? t("{block}, encoder layer {layer}", { block: what, layer })
      : t("{block}, decoder layer {layer}", { block: what, layer });
  // The title of the tokens says which they are, if there are two kinds.
  if (kind === "tokens" && S.data.diagram.encoder.length) return what;
  if (stack === "source") return t("{block}, source", { block: what });
  return stack === "target" ? t("{block}, target", { block: what }) : what;
}
