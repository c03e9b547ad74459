// The likeliest next words, to choose from: their probabilities at a temperature, and the sum of all others.

import { children, make, makeButton, say, sayAll } from "./dom.js";
import { percent } from "./numbers.js";
import { presenting } from "./present.js";
import { SPECIALS } from "./names.js";
import { numbered, tokenName, choiceName, readsOn } from "./wording.js";
import { fork } from "./stepper_state.js";
import { redraw } from "./view.js";
import { t } from "./words.js";

/** @import { Heat, StepperState } from "./types" */

const LISTED = 10; // tokens that the server sends for each step, if the vocabulary has as many
const FEW = 5; // tokens on a slide and on a phone
const NARROW = 560; // width of a phone, in pixels

/** Listens to the slider, which sets the temperature of the bars. @param {StepperState} S */
export function listenToHeat(S) {
  /** @type {HTMLInputElement} */
  const slider = S.find(".heat input");
  slider.oninput = () => {
    S.heat = Number(slider.value);
    redraw(S);
  };
}

/** The index of temperature 1. @param {StepperState["data"]} data */
export const atOne = ({ heat }) => heat?.temperatures.indexOf(1) ?? 0;

/** Draws the token that is predicted next, and the likeliest tokens to choose from. @param {StepperState} S */
export function drawNext(S) {
  const { target, alternatives, heat } = S.data;
  const row = S.step;
  S.find("section.next").hidden = !target.probabilities;
  if (!target.probabilities) return;
  const most = presenting(S.box) || S.width < NARROW ? FEW : S.optionRows;
  const likeliest = alternatives.ids[row];
  const ids = likeliest.slice(0, most);
  const chosen = target.predicted_ids[row];
  const word = tokenName(target.predicted[row], "target");
  const picked = target.chosen.includes(row);
  const read = numbered(target.tokens, row, "target");
  const given = row < target.given;
  const how = given ? "given" : picked ? "chosen" : "predicted";
  sayAll(S.find(".reads"), ...readsOn(given || picked ? target : { by: "" }, read, word, how));
  const at = (/** @type {number} */ p) => heated(heat, row, S.heat, p);
  const options = ids.map((id, i) => ({
    id,
    text: alternatives.tokens[row][i],
    joined: alternatives.joined[row]?.[i],
    p: at(alternatives.probabilities[row][i]),
  }));
  // A chosen or sampled token may not be among the likeliest.
  if ((!given || ids.length) && !ids.includes(chosen))
    options.splice(most - 1, 1, {
      id: chosen,
      text: target.predicted[row],
      joined: false,
      p: at(target.probabilities[row]),
    });
  drawOthers(
    S,
    Math.max(0, 1 - options.reduce((sum, { p }) => sum + p, 0)),
    likeliest.length < Math.min(LISTED, most + 1),
  );
  const list = children(S.find(".options"), most, () => {
    const bar = make("span", "bar", make("i"));
    return make(
      "li",
      "",
      makeButton("option", make("span", "mark"), make("bdi", "token"), bar, make("span", "number")),
    );
  });
  list.forEach((item, i) => {
    const option = options[i];
    const button = /** @type {HTMLButtonElement} */ (item.firstChild);
    item.style.visibility = option ? "" : "hidden";
    if (!option) return;
    const current = option.id === chosen;
    const [mark, token, bar, number] = button.children;
    say(mark, current ? "▸" : "");
    say(token, option.text);
    token.classList.toggle("special", SPECIALS.includes(option.text));
    token.classList.toggle("joined", option.joined);
    /** @type {HTMLElement} */ (token).title = option.joined ? t("Continues the word before it") : "";
    /** @type {HTMLElement} */ (bar.firstChild).style.transform = `scaleX(${option.p})`;
    say(number, percent(option.p));
    button.classList.remove("waiting");
    if (current) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    const reason = given
      ? t("The next token of the prompt")
      : picked
        ? t("The token {how} here, not the likeliest", { how: choiceName(target.by) })
        : t("The token predicted here");
    button.disabled = !current && !S.source.canFork(row + 1, option.id);
    button.title = current
      ? reason
      : button.disabled
        ? t("No continuation of this token was recorded")
        : t("Continue decoding from this token instead");
    button.onclick = () => {
      if (!current) fork(S, option.id, button);
    };
  });
  drawHeat(S);
}

/**
 * Draws the total probability of the tokens that are not listed.
 * @param {StepperState} S
 * @param {number} rest
 * @param {boolean} none whether all tokens are listed
 */
function drawOthers(S, rest, none) {
  const [, , bar, number] = S.find(".others").children;
  /** @type {HTMLElement} */ (bar.firstChild).style.transform = `scaleX(${rest})`;
  // A difference of float32 numbers can be 0 even if the rest is not.
  say(number, percent(none ? 0 : Math.max(rest, Number.MIN_VALUE)));
}

/** @param {StepperState} S */
function drawHeat(S) {
  const { heat, target, alternatives } = S.data;
  const temperature = heat?.temperatures[S.heat] ?? 1;
  const untaught = S.step < target.given && !alternatives.ids[S.step].length;
  S.find(".heat").hidden = !heat || untaught;
  S.find(".others").hidden = untaught;
  /** @type {HTMLInputElement} */
  const slider = S.find(".heat input");
  slider.max = `${(heat?.temperatures.length ?? 1) - 1}`;
  slider.value = `${S.heat}`;
  slider.style.setProperty("--done", `${(100 * S.heat) / Number(slider.max)}%`);
  slider.setAttribute("aria-valuetext", `${temperature}`);
  say(S.find(".heat b"), `${temperature}`);
  const forks = S.data.alternatives.ids[S.step].some((id) => S.source.canFork(S.step + 1, id));
  say(
    S.find(".next .hint"),
    untaught
      ? t("This model was trained to predict only what follows the prompt, so it predicts nothing here.")
      : S.heat === atOne(S.data)
        ? forks
          ? t("Pick another word to see what follows.")
          : ""
        : t("The bars at temperature {temperature}: what is written stays as it is.", { temperature }),
  );
}

/**
 * The probability of a token at the temperature with this index, where `p` is the probability at temperature 1. A
 * probability too small for a float32 stays 0.
 * @param {Heat | null} heat
 * @param {number} row
 * @param {number} index
 * @param {number} p
 */
export function heated(heat, row, index, p) {
  if (!heat || heat.temperatures[index] === 1) return p;
  return p && Math.exp(Math.log(p) / heat.temperatures[index] - heat.log_sums[row][index]);
}
