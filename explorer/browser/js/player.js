// A timer that plays through steps, and the drawing of its buttons and slider.

import { buttonsOf, say } from "./dom.js";
import { NEXT_READ } from "./names.js";
import { clamp } from "./numbers.js";
import { t } from "./words.js";

/** @import { Decoding, ViewState } from "./types" */

/**
 * Plays through a track, one step every `tempo()` ms; started at the end, it plays from the beginning.
 * @param {() => number} tempo
 * @param {{ at: () => number, last: () => number, go: (step: number) => void }} track
 */
export function createPlayer(tempo, track) {
  let timer = 0;
  const stop = () => {
    clearTimeout(timer);
    timer = 0;
  };
  const advance = () => {
    if (track.at() + 1 >= track.last()) stop();
    else timer = setTimeout(advance, tempo());
    track.go(track.at() + 1);
  };
  const start = () => {
    timer = setTimeout(advance, tempo());
    if (track.at() === track.last()) track.go(0);
  };
  return { playing: () => timer !== 0, start, stop };
}

/** The step to which a button or key leads. @param {string} name @param {number} step @param {number} last */
export const stepAfter = (name, step, last) =>
  clamp({ start: 0, back: step - 1, forward: step + 1, end: last }[name] ?? step, 0, last);

/** @param {number} step @param {number} last */
export const counterOf = (step, last) => t("step {step} of {last}", { step: step + 1, last: last + 1 });

/**
 * Draws the buttons, the slider and the counter of the steps.
 * @param {ViewState} S
 * @param {string} meaning the step, for screen readers
 * @param {string} [counter]
 */
export function drawSteps({ find, step, last, player }, meaning, counter = counterOf(step, last)) {
  /** @type {HTMLInputElement} */
  const slider = find(".steps");
  const playing = player.playing();
  slider.max = `${last + 1}`;
  slider.value = `${step + 1}`;
  slider.disabled = !last;
  slider.style.setProperty("--done", `${last ? (100 * step) / last : 100}%`);
  slider.setAttribute("aria-valuetext", meaning);
  say(find(".steps + output"), counter);
  for (const button of buttonsOf(find, ".buttons")) {
    // Not `disabled`: the button would lose the keyboard focus at either end.
    if (button.value === "speed") continue;
    const idle = button.value !== "play" && stepAfter(button.value, step, last) === step;
    button.setAttribute("aria-disabled", `${idle || !last}`);
  }
  find("button.play").classList.toggle("playing", playing);
  find("button.play").setAttribute("aria-label", playing ? t("Pause") : t("Play"));
}

/** A step of a decoding, for a screen reader. @param {Decoding} data @param {number} step */
export const stepName = ({ target: { tokens, predicted, by, given } }, step) => {
  const fields = { step: step + 1, read: tokens[step], word: predicted[step] };
  if (step < given) return t("{step}: reads {read}, the prompt goes on: {word}", fields);
  return by === NEXT_READ
    ? t("{step}: reads {read}, next token read: {word}", fields)
    : t("{step}: reads {read}, predicts {word}", fields);
};
