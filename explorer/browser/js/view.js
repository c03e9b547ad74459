// What the stepper, the views of heads and the machine have in common: each draws what the store has of a decoding, at most
// once a frame, steps through it, and tells its source where it is.

import { drawDiagram } from "./diagram.js";
import { buttonsOf } from "./dom.js";
import { createPlayer } from "./player.js";

/** @import { Diagram, HeadsState, Kind, StepperState, ViewState } from "./types" */

const PAUSE = 250; // ms between the last move and its report

/** Draws at the next frame. @param {ViewState} S */
export const redraw = (S) => (S.frame ||= requestAnimationFrame(S.draw));

/**
 * Reports the place once the person pauses, never during playback.
 * @param {ViewState} S
 * @param {() => object} reportOf
 * @param {number} [pause]
 */
export function reportLater(S, reportOf, pause = PAUSE) {
  clearTimeout(S.reporting);
  if (!S.player.playing()) S.reporting = setTimeout(() => S.source.report(reportOf()), pause);
}

/**
 * Gives a view its player, and the buttons and the slider that move through the steps.
 * @param {ViewState} S
 * @param {number} tempo ms per step
 * @param {(step: number) => void} goTo
 * @param {(command: string) => void} run
 */
export function listenToSteps(S, tempo, goTo, run) {
  S.player = createPlayer(() => tempo / S.speed, { at: () => S.step, last: () => S.last, go: goTo });
  for (const button of buttonsOf(S.find, ".buttons")) button.onclick = () => run(button.value);
  /** @type {HTMLInputElement} */
  const slider = S.find(".steps");
  slider.oninput = () => {
    S.player.stop();
    goTo(Number(slider.value) - 1);
  };
}

/** Calls back when the width of a view has changed. @param {ViewState} S @param {() => void} fit */
export function listenToWidth(S, fit) {
  S.observer = new ResizeObserver(() => S.data && S.width !== S.box.clientWidth && fit());
  S.observer.observe(S.box);
}

/** Ends what a view has begun. @param {ViewState} S */
export function end(S) {
  S.deafen();
  S.observer.disconnect();
  S.keys.stop();
  S.player.stop();
  clearTimeout(S.reporting);
  cancelAnimationFrame(S.frame);
}

/**
 * Draws where in the model the map in question sits.
 * @param {StepperState | HeadsState} S
 * @param {Diagram | null} diagram
 * @param {number} width of the view
 * @param {(kind: Kind, layer: number) => void} choose
 */
export function drawPlace(S, diagram, width, choose) {
  const box = S.find(".model"), { kind } = S, { layer } = S.pick[kind], placed = [S.seq, kind, layer, width, !diagram].join();
  // A step changes nothing here, and the size of the box, once asked for, would have to be computed anew.
  if (S.placed === placed) return;
  S.placed = placed;
  box.hidden = !diagram;
  if (diagram) drawDiagram(box, diagram, { kind, layer }, choose);
}
