// Predict first: the next word, its probabilities and what is looked at stay hidden until the class has guessed: aloud,
// by a click on a word of the source, or by typing the next word. Then the guess stands beside what the model does.

import { sayAll, isTouch } from "./dom.js";
import { percent, wholePercent } from "./numbers.js";
import { frontier, rowOf, tokenSpans } from "./stepper_state.js";
import { update } from "./view.js";
import { spanWith } from "./weights.js";
import { numbered, tokenName } from "./wording.js";
import { pieces, t } from "./words.js";

/** @import { Content, Decoding, StepperState } from "./types" */

/** A guess at a step: a word, the index of a source token, or neither if it was said aloud. @typedef {{ word?: string, source?: number }} Guess */

/** Whether the step waits for a guess; a word that somebody chose needs none. @param {StepperState} S */
export function isHidden(S) {
  const { by, chosen, given } = S.data.target;
  return S.guess && S.step >= given && !S.guesses.has(S.step) && !(by === "chosen" && chosen.includes(S.step));
}

/** Forgets the guesses that another decoding does not share. @param {StepperState} S @param {Decoding} data the other one */
export function keepGuesses(S, { source, target }) {
  const before = S.data?.source.tokens.join() === source.tokens.join() ? S.data.target.predicted_ids : [];
  const parting = target.predicted_ids.findIndex((id, i) => id !== before[i]);
  for (const step of S.guesses.keys()) if (parting >= 0 && step >= parting) S.guesses.delete(step);
}

/** @param {StepperState} S @param {Guess} guess */
export function takeGuess(S, guess) {
  S.guesses.set(S.step, guess);
  S.look = null;
  S.find(".play").focus({ preventScroll: true }); // the field is gone; the keys step again
  update(S);
}

/** Switches the guessing on or off; on, every step waits for a guess again. @param {StepperState} S */
export function toggleGuess(S) {
  S.player.stop();
  S.guess = !S.guess;
  S.guesses.clear();
  update(S);
}

/** @param {StepperState} S */
export function listenToGuess(S) {
  /** @type {HTMLInputElement} */
  const field = S.find(".guess input");
  const form = /** @type {HTMLFormElement} */ (S.find(".guess"));
  form.onsubmit = (event) => {
    event.preventDefault();
    const word = field.value.trim();
    field.value = "";
    takeGuess(S, word ? { word } : {});
  };
  S.find("button.predict").onclick = () => toggleGuess(S);
}

/** Hides what is to be guessed, or says what was guessed. @param {StepperState} S */
export function drawGuess(S) {
  const hidden = isHidden(S);
  S.box.classList.toggle("unseen", hidden);
  S.box.classList.toggle("guessing", S.guess);
  S.find("button.predict").setAttribute("aria-pressed", `${S.guess}`);
  S.find(".predicting").hidden = !S.guess;
  S.find(".guess").hidden = !hidden;
  const answer = S.find(".guessed");
  const guess = S.guess ? S.guesses.get(S.step) : undefined;
  answer.hidden = !guess;
  if (guess) sayAll(answer, ...answerTo(S, guess));
}

/** The sentence that asks; beside a map, no word of the source can be clicked. @param {StepperState} S @returns {Content[]} */
export const questionOf = ({ data, box }) => [
  !data.source.tokens.length || box.classList.contains("mapped")
    ? t("What comes next? Say it or type it; then see what the model does.")
    : isTouch()
      ? t(
          "What comes next? Say it, or tap the source token that the model looks at most; then see what the model does.",
        )
      : t(
          "What comes next? Say it, or click the source token that the model looks at most; then see what the model does.",
        ),
];

/** The guess beside what the model does. @param {StepperState} S @param {Guess} guess @returns {Content[]} */
function answerTo(S, { word, source }) {
  const { predicted } = S.data.target;
  const model = tokenName(predicted[S.step], "target");
  if (source !== undefined) {
    const { cells, seen } = rowOf(S, "cross", frontier(S));
    const key = spanWith(tokenSpans(S).source, source);
    const { columns } = S.maps.cross;
    const { weight, rank } = cells[key];
    const fields = { guess: numbered(columns, key, "source"), share: wholePercent(weight) };
    if (rank !== 1)
      return pieces("Your guess: {guess} has {share} of cross-attention; the most, {most}, is on {best}.", {
        ...fields,
        most: wholePercent(seen[0].weight),
        best: numbered(columns, seen[0].key, "source"),
      });
    return seen.filter((cell) => cell.rank === 1).length === 1
      ? pieces("Your guess: {guess} has {share} of cross-attention, the most.", fields)
      : pieces("Your guess: {guess} has {share} of cross-attention, as much as any.", fields);
  }
  if (!word) return pieces("The model writes {word}.", { word: model });
  const guess = tokenName(word, "target");
  if (isSame(word, predicted[S.step]) || isSame(word, wordFrom(S)))
    return pieces("Your guess: {guess}, as the model.", { guess });
  const { tokens, probabilities } = S.data.alternatives;
  const at = tokens[S.step].findIndex((token) => isSame(word, token));
  if (at < 0)
    return pieces(
      "Your guess: {guess}, not among the {n} likeliest. The model writes {word}.",
      "Your guess: {guess}, not among the {n} likeliest. The model writes {word}.",
      { guess, n: tokens[S.step].length, word: model },
    );
  const share = percent(probabilities[S.step][at]);
  return pieces("Your guess: {guess}, {share}. The model writes {word}.", { guess, share, word: model });
}

const isSame = (/** @type {string} */ a, /** @type {string} */ b) => a.toLowerCase() === b.toLowerCase();

/** The whole word that begins with the next token. @param {StepperState} S */
function wordFrom(S) {
  const { tokens, words } = S.data.target;
  const first = S.step + 1;
  if (first >= tokens.length || words[first] < 0 || words[first] === words[S.step]) return "";
  const end = words.findIndex((word, i) => i > first && word !== words[first]);
  return tokens.slice(first, end < 0 ? undefined : end).join("");
}

/** Marks the source word that was guessed. @param {StepperState} S @param {number} i */
export const isGuessed = (S, i) => S.guess && S.guesses.get(S.step)?.source === i;

/** What stands in place of the next word while it is hidden. */
export const UNKNOWN = "?";
