// Scrolls to a panel that a click has opened further down the page, while the page still grows, and gives it the
// keyboard focus on request.

import { finder } from "./dom.js";

/** @typedef {{ turn: number, label: string, focus: boolean }} Arrival */

const GROWING = 2500; // ms for which the opened panel may still grow

/**
 * Streamlit calls this again whenever the data or the theme changes; only a new turn scrolls.
 * @param {import("./types").Mount<Arrival, "__arrival", number>} mount
 */
export default function ({ data, parentElement: root }) {
  const page = /** @type {{ __headlightTurn?: number }} */ (globalThis);
  const mark = finder(root)(".arrival");
  mark.setAttribute("aria-label", data.label);
  // Stored for the whole tab: a return from another page is not a click here.
  if (!data.turn || page.__headlightTurn === data.turn) return;
  page.__headlightTurn = data.turn;
  const go = () => mark.scrollIntoView({ block: "start" });
  const grown = new ResizeObserver(go);
  const main = document.querySelector("main") ?? document.body;
  const events = ["wheel", "touchmove", "pointerdown", "keydown"];
  const stop = () => {
    grown.disconnect();
    for (const name of events) document.removeEventListener(name, stop, true);
  };
  for (const part of [main, ...main.children]) grown.observe(part);
  for (const name of events) document.addEventListener(name, stop, true);
  setTimeout(stop, GROWING);
  go();
  if (data.focus) mark.focus({ preventScroll: true });
}
