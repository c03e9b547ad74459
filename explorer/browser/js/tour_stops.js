// The stops of the tour: what each points at, and what it says in the words and numbers on screen.

import { make } from "./dom.js";
import { SIDES } from "./kinds.js";
import { TITLES } from "./names.js";
import { percent, plural, wholePercent } from "./numbers.js";
import { rankedRow } from "./rows.js";
import { frontier, rowOf } from "./stepper_state.js";
import { weightsOf } from "./weights.js";
import { numbered, tokenName } from "./token_names.js";

/** @typedef {import("./types").Content} Content */
/** @typedef {import("./types").Stop} Stop */
/** @typedef {import("./types").StepperState} StepperState */

const NUMBERS = ["no", "one", "two", "three"];

/** @param {string} text */
const key = (text) => make("kbd", "", text);

/** The token being written. @param {StepperState} S */
const written = (S) => tokenName(S.data.target.predicted[S.step], "target");

/** "*football* 64 %, *park* 21 %" of the step on screen. @param {StepperState} S @param {number} most @returns {Content[]} */
function keysNow(S, most) {
  const best = rowOf(S, "cross", frontier(S)).seen.filter(({ weight }, i) => i < most && (weight >= 0.1 || !i));
  return best.flatMap((cell, i) => [i ? ", " : "", numbered(S.maps.cross.columns, cell.key, "source"), ` ${wholePercent(cell.weight)}`]);
}

/** What each of the first heads looks at most. @param {StepperState} S @returns {Content[]} */
function heads(S) {
  const m = S.maps.cross, { layer } = S.pick.cross;
  return Array.from({ length: Math.min(m.heads, 3) }, (_, h) => h + 1).flatMap((head) => {
    const [best] = rankedRow(weightsOf(m, layer, head), m.mask, frontier(S), m.keys).seen;
    return [head > 1 ? "; " : "", `head ${head} looks most at `, numbered(m.columns, best.key, "source"), ` (${wholePercent(best.weight)})`];
  });
}

/** @type {Stop[]} */
export const STOPS = [
  {
    title: "The sentence",
    place: (S) => S.find(".line.source"),
    words: ({ data: { source } }) => [
      `The model reads the whole sentence at once, as ${plural(source.tokens.length, "token")}: words, or pieces of words. The last one, `,
      tokenName(source.tokens[source.tokens.length - 1], "source"), ", marks the end. You can type any sentence in the field above.",
    ],
  },
  {
    title: "The translation grows word by word",
    place: (S) => S.find(".line.target"),
    words: (S) => {
      const so = S.data.target.predicted.slice(0, S.step).flatMap((text, i) => [i ? " " : "", tokenName(text, "target")]);
      return [...(so.length ? ["So far it has written ", ...so, ". "] : ["Nothing is written yet. "]), "The word that it is writing now is ", written(S), "."];
    },
  },
  {
    title: "It looks back while it writes",
    place: (S) => S.find(".stage"),
    words: (S) => ["To write ", written(S), ", it looks at ", ...keysNow(S, 3), ". The heavier a curve, the larger the weight. This is ",
      make("b", "", "attention"), ", and these are the very numbers that the model computed with."],
  },
  {
    title: "One step further",
    ahead: 1,
    place: (S) => S.find(".controls"),
    words: (S) => ["Now it writes ", written(S), " and looks at ", ...keysNow(S, 2), ". After the tour, ", key("←"), " and ", key("→"),
      " step and ", key("Space"), " plays the whole sentence."],
  },
  {
    title: "It could have said something else",
    place: (S) => S.find(".options"),
    words: (S) => {
      const { tokens, probabilities } = S.data.alternatives, best = tokens[S.step].slice(0, 3);
      const list = best.flatMap((text, i) => [i ? ", " : "", tokenName(text, "target"), ` ${percent(probabilities[S.step][i])}`]);
      return ["Every word that it knows gets a probability: ", ...list, ". Click another one: the translation goes on from there, and a button takes you back."];
    },
  },
  {
    title: "Several heads, each with weights of its own",
    place: (S) => S.find(".heads"),
    words: (S) => {
      const { layer } = S.pick.cross, m = S.maps.cross;
      const all = m.heads > 1 ? ` has ${m.heads} heads; “mean” is their average. At this step, ` : " has a single head. At this step, ";
      return [`Layer ${layer}`, all, ...heads(S), "."];
    },
  },
  {
    title: "Where in the model",
    place: (S) => S.find(".model"),
    words: (S) => {
      const n = S.kinds.length, { layer } = S.pick.cross;
      const all = n > 1 ? " Words of the source look at each other in the encoder, words of the translation at each other in the decoder, and cross-attention connects the two." : "";
      return [`This model has ${NUMBERS[n]} kind${n > 1 ? "s" : ""} of attention.${all} You are at ${TITLES.cross.toLowerCase()}, layer ${layer} of ${S.maps.cross.layers}; click a block to go elsewhere.`];
    },
  },
  {
    title: "The same numbers as a map",
    place: (S) => S.find("figure.cross .sheet"),
    words: (S) => ["Each row is a step, each column a word of the source; the stronger a cell’s colour, the larger the weight. The framed row reads ",
      numbered(S.maps.cross.rows, frontier(S), SIDES.cross[0]), " and predicts ", written(S), ". Each row sums to 1. Point at a cell for its number."],
  },
  {
    title: "Where to go on",
    place: () => [...document.querySelectorAll("[data-testid=stSidebarNav],[data-testid=stExpandSidebarButton]")]
      .find((element) => element.getBoundingClientRect().right > 0) ?? null, // on a phone the sidebar is folded away
    words: () => [make("b", "", "Lessons"), " ask and answer questions step by step. ", make("b", "", "Attention"),
      " shows all heads at once, ", make("b", "", "Inside"), " every operation. ", key("?"), " lists the keys. Have fun."],
  },
];
