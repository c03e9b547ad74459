// A tour of the page: at each stop, a frame around an element, and a card that describes its current content.

import { readTheme } from "./colours.js";
import { buttonsOf, finder, isTouch, make, press, say, sayAll } from "./dom.js";
import { toggleGuess } from "./guess.js";
import { hub } from "./hub.js";
import { store } from "./memory.js";
import { SIDES, TITLES } from "./names.js";
import { clamp, percent, plural, wholePercent } from "./numbers.js";
import { numbered, tokenName } from "./wording.js";
import { frontier, pick, rowOf } from "./stepper_state.js";
import { goTo } from "./view.js";
import { rankedRow, weightsOf } from "./weights.js";

/** @import { Content, Decoding, Find, StepperState, Stop } from "./types" */

/** @typedef {ReturnType<typeof stateOf>} TourState */
/** @typedef {ParentNode & { __tour?: TourState | null }} Root */

const NEAR = 12; // pixels between frame and card, and to the edge of the window
const INSET = 4;
const WATCH = 200; // ms between checks of the element's position
/** @type {Record<string, string>} */
const KEYS = { ArrowRight: "next", ArrowLeft: "back", Escape: "end" };

/**
 * Starts the tour once for each new `turn`; returns a function that ends it.
 * @param {Root} root @param {number} turn
 */
export function tour(root, turn) {
  if (hub.toured !== turn) {
    hub.toured = turn;
    start(root);
  }
  return () => end(root);
}

/** The component, for Streamlit. @param {{ data: { turn: number }, parentElement: Root }} mount */
export default function ({ data, parentElement: root }) {
  return tour(root, data.turn);
}

/** The state of a tour, with the stepper's place before it. @param {Find} find @param {StepperState} stepper */
const stateOf = (find, stepper) => ({
  find,
  box: find(".tour"),
  at: 0,
  stepper,
  before: { step: stepper.step, kind: stepper.kind, pick: structuredClone(stepper.pick) },
  seen: /** @type {Decoding | null} */ (null),
  watching: 0,
  stop: () => {},
});

/** Starts the tour, if there is a stepper. @param {Root} root */
function start(root) {
  const { stepper } = hub;
  if (root.__tour || !stepper) return;
  const T = stateOf(finder(root), stepper);
  const { box, find } = T;
  root.__tour = T;
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const command = KEYS[event.key];
    const typing = event.composedPath()[0];
    if (!command || event.ctrlKey || event.altKey || event.metaKey) return;
    if (
      typing instanceof Element &&
      typing.matches("input:not([type=range]),textarea,select") &&
      event.key !== "Escape"
    )
      return;
    event.preventDefault();
    event.stopImmediatePropagation();
    go(root, command);
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
  if (stepper.guess) toggleGuess(stepper); // the cards tell the words
  box.showPopover();
  readTheme(find(".card"));
  if (stepper.kind !== "cross") pick(stepper, "cross", {});
  // One stop goes a step ahead.
  if (stepper.step === stepper.last) goTo(stepper, stepper.last - 1);
  show(T);
  find(".ways [value=next]").focus({ preventScroll: true });
}

/** @param {Root} root @param {string} command */
function go(root, command) {
  const T = root.__tour;
  if (!T) return;
  const at = T.at + (command === "back" ? -1 : 1);
  if (command === "end" || at >= STOPS.length) return end(root);
  if (at < 0) return;
  const ahead = (STOPS[at].ahead ?? 0) - (STOPS[T.at].ahead ?? 0);
  T.at = at;
  if (ahead) goTo(T.stepper, T.stepper.step + ahead);
  show(T);
}

/** @param {TourState} T */
function show(T) {
  const { at, stepper, find } = T;
  const stop = STOPS[at];
  T.seen = stepper.data;
  cancelAnimationFrame(stepper.frame);
  stepper.draw(); // so that the card describes what is on screen
  say(find(".count"), `${at + 1} of ${STOPS.length}`);
  say(find("h2"), stop.title);
  sayAll(find(".words"), ...stop.words(stepper));
  find("[value=back]").hidden = !at;
  say(find("[value=next]"), at + 1 < STOPS.length ? "Next →" : "Done");
  const target = /** @type {HTMLElement | null} */ (stop.place(stepper));
  const narrow = innerWidth <= 640;
  if (target && !fits(target, narrow)) {
    target.style.scrollMarginTop = narrow ? "64px" : "90px";
    target.scrollIntoView({ block: narrow || target.offsetHeight > innerHeight / 2 ? "start" : "center" });
  }
  place(T);
}

/** Whether an element is visible; on a phone, above the card. @param {Element} target @param {boolean} narrow */
function fits(target, narrow) {
  const { top, bottom } = target.getBoundingClientRect();
  return top >= (narrow ? 50 : 0) && bottom <= innerHeight - (narrow ? 280 : 0);
}

/** Puts the frame around the element, and the card beside it. @param {TourState} T */
function place({ at, stepper, find }) {
  const target = STOPS[at].place(stepper);
  const ring = find(".ring");
  const card = find(".card");
  const { left, top, right, bottom } = target?.getBoundingClientRect() ?? new DOMRect();
  const { offsetWidth: wide, offsetHeight: high } = card;
  const least = Math.max(top, 0);
  const most = Math.min(bottom, innerHeight);
  Object.assign(ring.style, {
    left: `${left - INSET}px`,
    top: `${top - INSET}px`,
    width: `${right - left + 2 * INSET}px`,
    height: `${bottom - top + 2 * INSET}px`,
  });
  const within = (/** @type {number} */ x, /** @type {number} */ size, /** @type {number} */ room) =>
    clamp(x, NEAR, Math.max(NEAR, room - size - NEAR));
  let x = left;
  let y = most + NEAR;
  if (y + high > innerHeight - NEAR) {
    // It does not fit below: put it above, else on the side with more room.
    y = least - high - NEAR;
    if (y < NEAR) [x, y] = [left > innerWidth - right ? left - wide - NEAR : right + NEAR, least];
  }
  Object.assign(card.style, { left: `${within(x, wide, innerWidth)}px`, top: `${within(y, high, innerHeight)}px` });
}

/** Ends the tour and leaves the stepper as it was. @param {Root} root */
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
  store("tour", "1"); // the button is then less prominent
  const { opener } = hub;
  opener?.classList.remove("first");
  opener?.focus({ preventScroll: true });
}

const NUMBERS = ["no", "one", "two", "three"];

/** @param {string} text */
const key = (text) => make("kbd", "", text);

/** The token being written. @param {StepperState} S */
const written = (S) => tokenName(S.data.target.predicted[S.step], "target");

/** The keys of the step on screen: "*football* 64 %, *park* 21 %". @param {StepperState} S @param {number} most @returns {Content[]} */
function keysNow(S, most) {
  const best = rowOf(S, "cross", frontier(S)).seen.filter(({ weight }, i) => i < most && (weight >= 0.1 || !i));
  return best.flatMap((cell, i) => [
    i ? ", " : "",
    numbered(S.maps.cross.columns, cell.key, "source"),
    ` ${wholePercent(cell.weight)}`,
  ]);
}

/** The key that each of the first heads looks at most. @param {StepperState} S @returns {Content[]} */
function heads(S) {
  const m = S.maps.cross;
  const { layer } = S.pick.cross;
  return Array.from({ length: Math.min(m.heads, 3) }, (_, h) => h + 1).flatMap((head) => {
    const [best] = rankedRow(weightsOf(m, layer, head), m.mask, frontier(S), m.keys).seen;
    return [
      head > 1 ? "; " : "",
      `head ${head} looks most at `,
      numbered(m.columns, best.key, "source"),
      ` (${wholePercent(best.weight)})`,
    ];
  });
}

/** @type {Stop[]} */
export const STOPS = [
  {
    title: "The sentence",
    place: (S) => S.find(".line.source"),
    words: ({ data: { source } }) => [
      `The model reads the whole sentence at once, as ${plural(source.tokens.length, "token")}: words, or pieces of words. The last one, `,
      tokenName(source.tokens[source.tokens.length - 1], "source"),
      ", marks the end. You can type any sentence in the field above.",
    ],
  },
  {
    title: "The translation grows word by word",
    place: (S) => S.find(".line.target"),
    words: (S) => {
      const words = S.data.target.predicted
        .slice(0, S.step)
        .flatMap((text, i) => [i ? " " : "", tokenName(text, "target")]);
      return [
        ...(words.length ? ["So far it has written ", ...words, ". "] : ["Nothing is written yet. "]),
        "The word that it is writing now is ",
        written(S),
        ".",
      ];
    },
  },
  {
    title: "It looks back while it writes",
    place: (S) => S.find(".stage"),
    words: (S) => [
      "To write ",
      written(S),
      ", it looks at ",
      ...keysNow(S, 3),
      ". The heavier a curve, the larger the weight. This is ",
      make("b", "", "attention"),
      ", and these are the very numbers that the model computed with.",
    ],
  },
  {
    title: "One step further",
    ahead: 1,
    place: (S) => S.find(".controls"),
    words: (S) => [
      "Now it writes ",
      written(S),
      " and looks at ",
      ...keysNow(S, 2),
      ...(isTouch()
        ? [". After the tour, ◂ and ▸ step, and the button between them plays the whole sentence."]
        : [
            ". After the tour, ",
            key("←"),
            " and ",
            key("→"),
            " step and ",
            key("Space"),
            " plays the whole sentence.",
          ]),
    ],
  },
  {
    title: "It could have said something else",
    place: (S) => S.find(".options"),
    words: (S) => {
      const { tokens, probabilities } = S.data.alternatives;
      const best = tokens[S.step].slice(0, 3);
      const list = best.flatMap((text, i) => [
        i ? ", " : "",
        tokenName(text, "target"),
        ` ${percent(probabilities[S.step][i])}`,
      ]);
      return [
        "Every word that it knows gets a probability: ",
        ...list,
        `. ${isTouch() ? "Tap" : "Click"} another one: the translation goes on from there, and a button takes you back.`,
      ];
    },
  },
  {
    title: "Several heads, each with weights of its own",
    place: (S) => S.find(".heads"),
    words: (S) => {
      const { layer } = S.pick.cross;
      const m = S.maps.cross;
      const all =
        m.heads > 1
          ? ` has ${m.heads} heads; “mean” is their average. At this step, `
          : " has a single head. At this step, ";
      return [`Layer ${layer}`, all, ...heads(S), "."];
    },
  },
  {
    title: "Where in the model",
    place: (S) => S.find(".model"),
    words: (S) => {
      const n = S.data.order.length;
      const { layer } = S.pick.cross;
      const all =
        n > 1
          ? " Words of the source look at each other in the encoder, words of the translation at each other in the decoder, and cross-attention connects the two."
          : "";
      return [
        `This model has ${NUMBERS[n]} kind${n > 1 ? "s" : ""} of attention.${all} You are at ${TITLES.cross.toLowerCase()}, layer ${layer} of ${S.maps.cross.layers}; ${press()} a block to go elsewhere.`,
      ];
    },
  },
  {
    title: "The same numbers as a map",
    place: (S) => S.find("figure.cross .sheet"),
    words: (S) => [
      "Each row is a step, each column a word of the source; the stronger a cell’s colour, the larger the weight. The framed row reads ",
      numbered(S.maps.cross.rows, frontier(S), SIDES.cross[0]),
      " and predicts ",
      written(S),
      `. Each row sums to 1. ${isTouch() ? "Tap" : "Point at"} a cell for its number.`,
    ],
  },
  {
    title: "Where to go next",
    place: () =>
      [...document.querySelectorAll("[data-testid=stSidebarNav],[data-testid=stExpandSidebarButton]")].find(
        (element) => element.getBoundingClientRect().right > 0,
      ) ?? null, // on a phone the sidebar is folded away
    words: () => [
      make("b", "", "Lessons"),
      " ask and answer questions step by step. ",
      make("b", "", "Attention"),
      " shows all heads at once, ",
      make("b", "", "Inside"),
      " every operation. ",
      ...(isTouch() ? [] : [key("?"), " lists the keys. "]),
      "Have fun.",
    ],
  },
];
