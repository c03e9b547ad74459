// Functions shared by the views: a view draws a decoding from the store, at most once per frame, steps through it, and
// reports its place to its source.

import { buttonsOf } from "./dom.js";
import { STEPPING, listenToKeys, steppingHelp } from "./keys.js";
import { clamp } from "./numbers.js";
import { createPlayer, stepAfter } from "./player.js";

/** @import { HeadsState, KeyUser, StepperState, ViewState } from "./types" */

export const PAUSE = 250; // ms between the last move and its report
/** The views with a move that is not reported yet. @type {Set<ViewState>} */
const moved = new Set();

/** Draws at the next frame. @param {ViewState} S */
export const redraw = (S) => (S.frame ||= requestAnimationFrame(S.draw));

/** Reports the place once the user pauses, and during playback only if the page follows it. @param {ViewState} S */
export function report(S) {
  forget(S);
  if (!S.followed && S.player.playing()) return;
  moved.add(S);
  S.reporting = setTimeout(() => reportNow(S), S.pause?.() ?? PAUSE);
}

/** Reports the place without waiting. @param {ViewState} S */
export function reportNow(S) {
  forget(S);
  S.source.report(S.reportOf());
}

/** Reports what has moved without waiting, before the page uses it; returns whether something had. */
export function reportMoved() {
  const views = [...moved];
  views.forEach(reportNow);
  return views.length > 0;
}

/** Cancels the report of a view. @param {ViewState} S */
function forget(S) {
  clearTimeout(S.reporting);
  moved.delete(S);
}

/** Draws and reports a change. @param {ViewState} S */
export function update(S) {
  redraw(S);
  report(S);
}

/** Goes to a step, or to the nearest that exists. @param {ViewState} S @param {number} step */
export function goTo(S, step) {
  step = clamp(step, 0, S.last);
  if (step === S.step) return;
  S.step = step;
  S.stepped?.();
  update(S);
}

/** Carries out a command that moves through the steps. @param {ViewState} S @param {string} name */
function steer(S, name) {
  const playing = S.player.playing();
  S.player.stop();
  if (name !== "play") goTo(S, stepAfter(name, S.step, S.last));
  else if (!playing) S.player.start();
  if (playing) report(S);
  redraw(S);
}

/**
 * Gives a view its player, and the buttons and the slider that move through the steps.
 * @param {ViewState} S
 * @param {number} tempo ms per step
 * @param {(command: string) => boolean} [run] carries out the commands that only this view has; returns whether it did
 * @returns {(command: string) => void} carries out the command of a button or a key
 */
export function listenToSteps(S, tempo, run) {
  S.player = createPlayer(() => tempo, { at: () => S.step, last: () => S.last, go: (step) => goTo(S, step) });
  const carryOut = (/** @type {string} */ name) => {
    if (S.data && !run?.(name)) steer(S, name);
  };
  for (const button of buttonsOf(S.find, ".buttons")) button.onclick = () => carryOut(button.value);
  /** @type {HTMLInputElement} */
  const slider = S.find(".steps");
  slider.oninput = () => {
    S.player.stop();
    goTo(S, Number(slider.value) - 1);
  };
  return carryOut;
}

/** Gives a view its keys, besides those that step. @param {ViewState} S @param {KeyUser} user */
export function listenToViewKeys(S, { commands, help, run, escape }) {
  S.keys = listenToKeys(S.box, {
    commands: { ...STEPPING, ...commands },
    help: () => [...steppingHelp(), ...help()],
    run,
    escape,
  });
  S.find(".keys").onclick = S.keys.showHelp;
}

/** Calls back when the width of a view has changed, or anything else that counts. @param {ViewState} S @param {() => void} fit @param {() => boolean} [counts] */
export function listenToWidth(S, fit, counts = () => false) {
  S.observer = new ResizeObserver(() => {
    if (!S.data || (S.width === S.box.clientWidth && !counts())) return;
    S.width = S.box.clientWidth;
    fit();
  });
  S.observer.observe(S.box);
}

/** Whether a view goes to the start of its mount: for another decoding, or in another turn. @param {ViewState} S @param {{ seq: string, turn: number }} mount */
export function opensAnew(S, { seq, turn }) {
  if (seq === S.seq && turn === S.turn) return false;
  S.player.stop();
  forget(S);
  Object.assign(S, { seq, turn });
  return true;
}

/** Clamps the step and the heads to a decoding. A new kind starts at the mean of its last layer. @param {StepperState | HeadsState} S */
export function keepWithin(S) {
  const { order, shapes } = S.data;
  S.step = clamp(S.step, 0, S.last);
  for (const kind of order) {
    const { layers, heads } = shapes[kind];
    const before = S.pick[kind];
    S.pick[kind] = { layer: clamp(before?.layer ?? layers, 1, layers), head: clamp(before?.head ?? 0, 0, heads) };
  }
}

/** Stops the listeners and timers of a view. @param {ViewState} S */
export function end(S) {
  S.unsubscribe?.();
  S.observer.disconnect();
  S.keys?.stop();
  S.player.stop();
  forget(S);
  cancelAnimationFrame(S.frame);
  S.draw = () => {}; // a timer may yet ask for a frame
}

/** Opens the panel of options by its button; a click elsewhere closes it. @param {ViewState} S */
export function listenToOptions(S) {
  S.find(".present").addEventListener("click", () => openOptions(S, false));
  S.find(".more > button").onclick = () => openOptions(S, !!S.find(".panel").hidden);
  S.box.addEventListener("pointerdown", (event) => {
    if (!(/** @type {Element} */ (event.target).closest(".more"))) openOptions(S, false);
  });
  S.find(".more").addEventListener("focusout", (event) => {
    const to = /** @type {FocusEvent} */ (event).relatedTarget;
    if (to && !S.find(".more").contains(/** @type {Node} */ (to))) openOptions(S, false);
  });
}

/** Opens or closes the options; returns whether they were open. @param {ViewState} S @param {boolean} open */
export function openOptions(S, open) {
  const panel = S.find(".panel");
  const was = !panel.hidden;
  panel.hidden = !open;
  S.find(".more > button").setAttribute("aria-expanded", `${open}`);
  return was;
}
