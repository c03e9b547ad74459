// A tour of the page: at each stop, a frame around an element, and a card that describes its current content.

import { readTheme } from "./colours.js";
import { buttonsOf, finder, isTouch, make, say, sayAll } from "./dom.js";
import { toggleGuess } from "./guess.js";
import { hub } from "./hub.js";
import { store } from "./memory.js";
import { SIDES } from "./names.js";
import { clamp, percent, wholePercent } from "./numbers.js";
import { numbered, tokenName, weighed } from "./wording.js";
import { frontier, pick, rowOf } from "./stepper_state.js";
import { goTo } from "./view.js";
import { NAMED_FROM, rankedRow, weightsOf } from "./weights.js";
import { pieces, t } from "./words.js";

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
  say(find(".count"), t("{at} of {last}", { at: at + 1, last: STOPS.length }));
  say(find("h2"), stop.title());
  sayAll(find(".words"), ...stop.words(stepper));
  find("[value=back]").hidden = !at;
  say(find("[value=next]"), at + 1 < STOPS.length ? t("Next →") : t("Done"));
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

/** @param {string} text */
const key = (text) => make("kbd", "", text);

/** The token being written. @param {StepperState} S */
const written = (S) => tokenName(S.data.target.predicted[S.step], "target");

/** The keys of the step on screen: "*football* 64 %, *park* 21 %". @param {StepperState} S @param {number} most @returns {Content[]} */
function keysNow(S, most) {
  const best = rowOf(S, "cross", frontier(S)).seen.filter(({ weight }, i) => i < most && (weight >= NAMED_FROM || !i));
  return weighed(best, S.maps.cross.columns, "source");
}

/** The key that each of the first heads looks at most. @param {StepperState} S @returns {Content[]} */
function heads(S) {
  const m = S.maps.cross;
  const { layer } = S.pick.cross;
  return Array.from({ length: Math.min(m.heads, 3) }, (_, h) => h + 1).flatMap((head) => {
    const [best] = rankedRow(weightsOf(m, layer, head), m.mask, frontier(S), m.keys).seen;
    const fields = { head, key: numbered(m.columns, best.key, "source"), weight: wholePercent(best.weight) };
    return [...(head > 1 ? ["; "] : []), ...pieces("head {head} looks most at {key} ({weight})", fields)];
  });
}

/** @type {Stop[]} */
export const STOPS = [
  {
    title: () => t("The sentence"),
    place: (S) => S.find(".line.source"),
    words: ({ data: { source } }) =>
      pieces(
        "The model reads the whole sentence at once, as {n} token: words, or pieces of words. The last one, {last}, marks the end. You can type any sentence in the field above.",
        "The model reads the whole sentence at once, as {n} tokens: words, or pieces of words. The last one, {last}, marks the end. You can type any sentence in the field above.",
        { n: source.tokens.length, last: tokenName(source.tokens[source.tokens.length - 1], "source") },
      ),
  },
  {
    title: () => t("The translation grows word by word"),
    place: (S) => S.find(".line.target"),
    words: (S) => {
      const words = S.data.target.predicted
        .slice(0, S.step)
        .flatMap((text, i) => [i ? " " : "", tokenName(text, "target")]);
      return [
        ...(words.length ? pieces("So far it has written {words}.", { words }) : [t("Nothing is written yet.")]),
        " ",
        ...pieces("The word that it is writing now is {word}.", { word: written(S) }),
      ];
    },
  },
  {
    title: () => t("It looks back while it writes"),
    place: (S) => S.find(".stage"),
    words: (S) =>
      pieces(
        "To write {word}, it looks at {keys}. The heavier a curve, the larger the weight. This is {attention}, and these are the very numbers that the model computed with.",
        { word: written(S), keys: keysNow(S, 3), attention: make("b", "", t("attention")) },
      ),
  },
  {
    title: () => t("One step further"),
    ahead: 1,
    place: (S) => S.find(".controls"),
    words: (S) => [
      ...pieces("Now it writes {word} and looks at {keys}.", { word: written(S), keys: keysNow(S, 2) }),
      " ",
      ...(isTouch()
        ? [t("After the tour, ◂ and ▸ step, and the button between them plays the whole sentence.")]
        : pieces("After the tour, {left} and {right} step and {space} plays the whole sentence.", {
            left: key("←"),
            right: key("→"),
            space: key(t("Space")),
          })),
    ],
  },
  {
    title: () => t("It could have said something else"),
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
        ...pieces("Every word that it knows gets a probability: {list}.", { list }),
        " ",
        isTouch()
          ? t("Tap another one: the translation goes on from there, and a button takes you back.")
          : t("Click another one: the translation goes on from there, and a button takes you back."),
      ];
    },
  },
  {
    title: () => t("Several heads, each with weights of its own"),
    place: (S) => S.find(".heads"),
    words: (S) => {
      const { layer } = S.pick.cross;
      const m = S.maps.cross;
      const fields = { layer, n: m.heads, heads: heads(S) };
      return pieces(
        "Layer {layer} has a single head. At this step, {heads}.",
        "Layer {layer} has {n} heads; “mean” is their average. At this step, {heads}.",
        fields,
      );
    },
  },
  {
    title: () => t("Where in the model"),
    place: (S) => S.find(".kinds"),
    words: (S) => {
      const n = S.data.order.length;
      const { layer } = S.pick.cross;
      const kinds = [
        t("This model has one kind of attention."),
        t("This model has two kinds of attention."),
        t("This model has three kinds of attention."),
      ][n - 1];
      const all = t(
        "Words of the source look at each other in the encoder, words of the translation at each other in the decoder, and cross-attention connects the two.",
      );
      const at = { layer, layers: S.maps.cross.layers };
      const here = t("You are at cross-attention, layer {layer} of {layers}.", at);
      return [[kinds, ...(n > 1 ? [all] : []), here].join(" ")];
    },
  },
  {
    title: () => t("The same numbers as a map"),
    place: (S) => S.find("figure.cross .sheet"),
    words: (S) => [
      ...pieces(
        "Each row is a step, each column a word of the source; the stronger a cell’s colour, the larger the weight. The framed row reads {read} and predicts {word}. Each row sums to 1.",
        { read: numbered(S.maps.cross.rows, frontier(S), SIDES.cross[0]), word: written(S) },
      ),
      isTouch() ? ` ${t("Tap a cell for its number.")}` : ` ${t("Point at a cell for its number.")}`,
    ],
  },
  {
    title: () => t("Where to go next"),
    place: () =>
      [...document.querySelectorAll("[data-testid=stSidebarNav],[data-testid=stExpandSidebarButton]")].find(
        (element) => element.getBoundingClientRect().right > 0,
      ) ?? null, // on a phone the sidebar is folded away
    words: () => [
      ...pieces(
        "{lessons} ask and answer questions step by step. {attention} shows all heads at once, {inside} every operation.",
        {
          lessons: make("b", "", t("Lessons")),
          attention: make("b", "", t("Attention")),
          inside: make("b", "", t("Inside")),
        },
      ),
      " ",
      ...(isTouch() ? [] : [...pieces("{key} lists the keys.", { key: key("?") }), " "]),
      t("Have fun."),
    ],
  },
];
