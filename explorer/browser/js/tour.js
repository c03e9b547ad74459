// A tour of the page: at each stop, a frame around an element and a card that says what it shows just now.

import { readTheme } from "./colours.js";
import { buttonsOf, finder, say, sayAll } from "./dom.js";
import { hub } from "./hub.js";
import { remember } from "./memory.js";
import { clamp } from "./numbers.js";
import { goTo, pick } from "./stepper_state.js";
import { STOPS } from "./tour_stops.js";

/** @typedef {import("./types").TourState} TourState */

const NEAR = 12; // pixels between frame and card, and to the edge of the window
const INSET = 4;
const WATCH = 200; // ms between looks at where the element is now
/** @type {Record<string, string>} */
const KEYS = { ArrowRight: "next", ArrowLeft: "back", Escape: "end" };

/**
 * Starts the tour once for each new `turn`, whenever Streamlit calls it.
 * @param {{ data: { turn: number }, parentElement: ParentNode & { __tour?: TourState | null } }} mount
 */
export default function ({ data, parentElement: root }) {
  if (hub.toured !== data.turn) {
    hub.toured = data.turn;
    start(root);
  }
  return () => end(root);
}

/** Starts as soon as the stepper is there. @param {ParentNode & { __tour?: TourState | null }} root */
function start(root) {
  const { stepper } = hub;
  if (root.__tour || !stepper) return;
  const find = finder(root), box = find(".tour"), { step, kind } = stepper;
  const before = { step, kind, pick: structuredClone(stepper.pick) };
  const T = { find, box, stops: STOPS, at: 0, stepper, before, seen: null, watching: 0, stop: () => {} };
  root.__tour = T;
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const way = KEYS[event.key], typing = event.composedPath()[0];
    if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
    if (typing instanceof Element && typing.matches("input:not([type=range]),textarea,select") && event.key !== "Escape") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    go(root, way);
  };
  const follow = () => place(T);
  window.addEventListener("keydown", onKey, true);
  window.addEventListener("resize", follow);
  window.addEventListener("scroll", follow, true);
  T.watching = window.setInterval(() => {
    if (!T.stepper.box.isConnected) end(root);
    else if (T.seen !== T.stepper.data) show(T);
    else follow();
  }, WATCH);
  T.stop = () => {
    clearInterval(T.watching);
    window.removeEventListener("keydown", onKey, true);
    window.removeEventListener("resize", follow);
    window.removeEventListener("scroll", follow, true);
  };
  for (const button of buttonsOf(find, ".ways")) button.onclick = () => go(root, button.value);
  stepper.player.stop();
  box.showPopover();
  readTheme(find(".card"));
  if (stepper.kind !== "cross") pick(stepper, "cross", {});
  // A stop may look one step ahead.
  if (stepper.step === stepper.last) goTo(stepper, stepper.last - 1);
  show(T);
  find(".ways [value=next]").focus({ preventScroll: true });
}

/** @param {ParentNode & { __tour?: TourState | null }} root @param {string} way */
function go(root, way) {
  const T = root.__tour;
  if (!T) return;
  const at = T.at + (way === "back" ? -1 : 1);
  if (way === "end" || at >= T.stops.length) return end(root);
  if (at < 0) return;
  const ahead = (T.stops[at].ahead ?? 0) - (T.stops[T.at].ahead ?? 0);
  T.at = at;
  if (ahead) goTo(T.stepper, T.stepper.step + ahead);
  show(T);
}

/** @param {TourState} T */
function show(T) {
  const { at, stops, stepper, find } = T, stop = stops[at];
  T.seen = stepper.data;
  cancelAnimationFrame(stepper.frame);
  stepper.draw(); // what the card says is then on screen as well
  say(find(".count"), `${at + 1} of ${stops.length}`);
  say(find("h2"), stop.title);
  sayAll(find(".words"), ...stop.words(stepper));
  find("[value=back]").hidden = !at;
  say(find("[value=next]"), at + 1 < stops.length ? "Next →" : "Done");
  const target = /** @type {HTMLElement | null} */ (stop.place(stepper)), narrow = innerWidth <= 640;
  if (target && !fits(target, narrow)) {
    target.style.scrollMarginTop = narrow ? "64px" : "90px";
    target.scrollIntoView({ block: narrow || target.offsetHeight > innerHeight / 2 ? "start" : "center" });
  }
  place(T);
}

/** Whether an element is in sight; on a phone, above the card. @param {Element} target @param {boolean} narrow */
function fits(target, narrow) {
  const { top, bottom } = target.getBoundingClientRect();
  return top >= (narrow ? 50 : 0) && bottom <= innerHeight - (narrow ? 280 : 0);
}

/** Puts the frame around the element, and the card beside it. @param {TourState} T */
function place({ at, stops, stepper, find }) {
  const target = stops[at].place(stepper), ring = find(".ring"), card = find(".card");
  const { left, top, right, bottom } = target?.getBoundingClientRect() ?? new DOMRect();
  const { offsetWidth: wide, offsetHeight: high } = card;
  const least = Math.max(top, 0), most = Math.min(bottom, innerHeight);
  Object.assign(ring.style, {
    left: `${left - INSET}px`, top: `${top - INSET}px`, width: `${right - left + 2 * INSET}px`, height: `${bottom - top + 2 * INSET}px`,
  });
  const within = (/** @type {number} */ x, /** @type {number} */ size, /** @type {number} */ room) => clamp(x, NEAR, Math.max(NEAR, room - size - NEAR));
  let x = left, y = most + NEAR;
  if (y + high > innerHeight - NEAR) {
    // Not below it: above, else on that side of it that has more room.
    y = least - high - NEAR;
    if (y < NEAR) [x, y] = [left > innerWidth - right ? left - wide - NEAR : right + NEAR, least];
  }
  Object.assign(card.style, { left: `${within(x, wide, innerWidth)}px`, top: `${within(y, high, innerHeight)}px` });
}

/** Ends the tour and leaves the stepper as it was. @param {ParentNode & { __tour?: TourState | null }} root */
function end(root) {
  const T = root.__tour;
  if (!T) return;
  root.__tour = null;
  T.stop();
  if (T.box.isConnected) T.box.hidePopover();
  const { stepper, before } = T;
  if (stepper.box.isConnected && T.seen === stepper.data) {
    goTo(stepper, before.step);
    pick(stepper, before.kind, before.pick[before.kind]);
  }
  remember("tour");
  const { opener } = hub;
  opener?.classList.remove("first");
  opener?.focus({ preventScroll: true });
}
