// The stage in one sentence, which is also read out at each step.

import { wholePercent } from "./numbers.js";
import { looksAt } from "./readout.js";
import { rowOf } from "./stepper_state.js";
import { numbered, tokenName } from "./token_names.js";
import { SIDES } from "./kinds.js";

/** @typedef {import("./types").Content} Content */
/** @typedef {import("./types").StageView} StageView */
/** @typedef {import("./types").StepperState} StepperState */

/** Which head speaks. @param {StepperState} S */
function speaker(S) {
  const { layer, head } = S.pick[S.kind], heads = S.maps[S.kind].heads;
  const mean = `mean of ${heads} head${heads > 1 ? "s" : ""}`, which = head ? `head ${head}` : mean;
  return `layer ${layer}, ${which}`;
}

/**
 * "To write *spielen*, having read *Kinder*, the decoder looks at *playing* 61 % …"
 * @param {StepperState} S
 * @param {StageView} view
 * @returns {Content[]}
 */
export function sentenceOf(S, { from, query, column, lines }) {
  const m = S.maps[S.kind], { target } = S.data;
  if (column >= 0) {
    const best = lines.filter(({ mask, weight }) => !mask && weight >= 0.1).sort((a, b) => b.weight - a.weight).slice(0, 3);
    const name = numbered(m.columns, column, "source");
    if (!best.length) return ["No word written so far put 10 % of its weight on ", name, ` (${speaker(S)}).`];
    const words = best.flatMap(({ span: [at], weight }, i) =>
      [i ? ", " : " ", tokenName(writtenAt(S, at), "target"), ` ${wholePercent(weight)}`]);
    return [name, " was looked at to write", ...words, ` (${speaker(S)}).`];
  }
  if (query < 0) return [tokenName(target.tokens[0], "target"), " is given at the start: nothing was looked at to write it."];
  const [side, keySide] = SIDES[S.kind], keys = looksAt(rowOf(S, S.kind, query), m.columns, keySide, 3);
  if (side === "source") return [numbered(m.rows, query, side), ...keys, ` (Encoder, ${speaker(S)}.)`];
  const word = tokenName(writtenAt(S, from.span[0]), "target");
  const where = S.kind === "cross" ? "cross-attention" : "decoder self-attention";
  return ["To write ", word, ", having read ", numbered(m.rows, query, side), `, ${where}`, ...keys, ` (${capital(speaker(S))}.)`];
}

/** The word at this place of the target, as far as it is written. @param {StepperState} S @param {number} at */
const writtenAt = (S, at) => S.data.target.predicted[Math.max(0, at - 1)];

/** @param {string} text */
const capital = (text) => text[0].toUpperCase() + text.slice(1);
