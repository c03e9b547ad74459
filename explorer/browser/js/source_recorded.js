// The source of the views in a page that stands alone: all recordings are in the store from the start.

/** @import { ForkReport, Position, RecordingHeader } from "./structs" */
/** @import { Source } from "./types" */

/**
 * @param {RecordingHeader} recording the one on screen
 * @param {(place: Position) => void} moved
 * @param {(at: number, step: number) => void} open shows another recording
 * @returns {Source}
 */
export function recordedSource({ forks }, moved, open) {
  return {
    report: ({ place }) => moved(place),
    ask: (what, value) => {
      const { place, token_id: token } = /** @type {ForkReport} */ (value);
      const to = forks[place.step - 1]?.[token];
      if (what === "fork" && to !== undefined) open(to, place.step);
    },
    canFork: (step, token) => token in (forks[step - 1] ?? {}),
  };
}
