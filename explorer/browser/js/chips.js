// The words of the stage as chips, with position, token and weight.

import { children, make, makeButton, say } from "./dom.js";
import { UNKNOWN, isGuessed, isHidden } from "./guess.js";
import { SIDES, SPECIALS } from "./names.js";
import { wholePercent } from "./numbers.js";
import { layWords } from "./scripts.js";
import { covers } from "./stepper_state.js";
import { joinedNames, joins, passedOverIn, spansOf } from "./weights.js";
import { choiceName } from "./wording.js";
import { t } from "./words.js";

/** @import { Side, StageView, StepperState } from "./types" */

const [EDGE, BELOW, BORDER] = [8, 3, 2]; // space beside and below the word being written, and before the first in sight, in pixels
const SMALLEST = 0.005; // smaller weights are not written: they would be rounded to 0 %

function makeChip() {
  const name = make("span", "name", make("span", "place"), make("bdi", "token"), make("small", "seen"));
  return make("span", "slot", makeButton("chip", name, make("span", "meter")));
}

/** The chips of a sentence, in their order. @param {StepperState} S @param {Side} side */
export const slotsOf = (S, side) =>
  /** @type {HTMLElement[]} */ ([...S.find(`.${side} .chips`).querySelectorAll(".slot")]);

/** A chip for each token; those of one word are together, so that no line ends within it. @param {StepperState} S @param {Side} side @param {number[]} words the word of each token */
function layChips(S, side, words) {
  const spans = spansOf(words);
  const parts = children(S.find(`.${side} .chips`), spans.length, () => make("span", "word"));
  parts.forEach((part, i) => children(part, spans[i][1] - spans[i][0], makeChip));
  return slotsOf(S, side);
}

/**
 * @param {HTMLElement} slot
 * @param {string} position
 * @param {string} text
 * @param {{ weight: number, mask: number, of: string } | null} share its weight, and whether it is the first token of a word
 * @param {Record<string, boolean>} classes
 */
function setChip(slot, position, text, share, classes) {
  const chip = /** @type {HTMLButtonElement} */ (slot.firstChild);
  const [name, meter] = chip.children;
  const [place, token, seen] = name.children;
  say(place, position);
  say(token, text);
  say(seen, classes.unknown ? t("seen as <unk>") : "");
  const weight = share && !share.mask && share.weight >= SMALLEST ? share.weight : 0;
  chip.style.setProperty("--weight", weight.toFixed(3));
  say(meter, !share || share.of !== "first" ? "" : share.mask ? t("masked") : weight ? wholePercent(weight) : "");
  slot.className = ["slot", ...Object.keys(classes).filter((key) => classes[key])].join(" ");
}

/** Names the stretch of the source that no step looked at; returns its tokens. @param {StepperState} S @returns {import("./types").Span} */
function sayPassed(S) {
  const { tokens, words } = S.data.source;
  const passed = passedOverIn(S.data);
  S.find(".passed").hidden = !passed;
  const [start, end] = passed ?? [0, 0];
  const spans = spansOf(words).filter(([at]) => start <= at && at < end);
  const names = joinedNames(tokens, spans, end);
  say(
    S.find(".passed"),
    t("Wavy line: averaged over all heads and layers, “{words}” together never got a tenth of a step’s attention", {
      words: names.length > 4 ? `${names[0]} … ${names[names.length - 1]}` : names.join(" "),
    }),
  );
  return [start, end];
}

/** @param {StepperState} S @param {StageView} view */
export function drawChips(S, view) {
  const { source, target } = S.data;
  /** @type {Record<Side, number[]>} */
  const touched = { source: [], target: [] };
  if (S.cell) {
    const [queries, keys] = SIDES[S.cell.kind];
    touched[queries].push(S.cell.query);
    touched[keys].push(S.cell.key);
  }
  const isTouched = (/** @type {Side} */ side, /** @type {number} */ i) =>
    touched[side].some((index) => covers(S, side, index, i));
  const shareOf = (/** @type {Side} */ side, /** @type {number} */ i) => {
    const line = view.lines.find((each) => each.side === side && each.span[0] <= i && i < each.span[1]);
    return line ? { weight: line.weight, mask: line.mask, of: line.span[0] === i ? "first" : "rest" } : null;
  };
  const looking = (/** @type {Side} */ side, /** @type {number} */ i) =>
    view.from.side === side && view.from.span[0] <= i && i < view.from.span[1];
  // Among whole words, a chip has the number of its word, as the rows and columns of the maps have.
  const numberOf = (/** @type {Side} */ side, /** @type {number} */ i) => {
    if (!S.words) return `${i + 1}`;
    const spans = S.spans[side];
    const at = spans.findIndex(([start]) => start === i);
    return at >= 0 ? `${at + 1}` : i === S.data[side].tokens.length ? `${spans.length + 1}` : "";
  };
  const alone = !source.tokens.length;
  S.find(".line.source").hidden = alone;
  say(S.find(".line.target .tag span"), alone ? t("Text") : t("Target"));
  const read = layChips(S, "source", source.words);
  const [first, after] = sayPassed(S);
  read.forEach((slot, i) => {
    setChip(slot, numberOf("source", i), source.tokens[i], shareOf("source", i), {
      special: source.words[i] < 0,
      unknown: source.unknown.includes(i),
      passed: first <= i && i < after,
      joined: joins(source.words, i),
      open: joins(source.words, i + 1),
      touched: isTouched("source", i),
      "guessed-word": isGuessed(S, i),
      looking: looking("source", i),
    });
    const chip = /** @type {HTMLButtonElement} */ (slot.firstChild);
    chip.tabIndex = i === S.rove ? 0 : -1;
    chip.setAttribute("aria-pressed", `${S.look?.held === true && S.look.side === "source" && S.look.at === i}`);
  });
  const n = target.tokens.length;
  const chips = S.find(".target .chips");
  const slots = layChips(S, "target", [...target.words, -1]);
  /** @type {string[]} */
  const written = [];
  slots.forEach((slot, i) => {
    const next = i === S.step + 1;
    const word = next || i === n ? target.predicted[next ? S.step : n - 1] : target.tokens[i];
    const text = next && isHidden(S) ? UNKNOWN : word;
    const later = i > S.step + 1;
    written.push(text);
    // A word that has not been read yet has no weight.
    setChip(slot, numberOf("target", i), text, i > S.step && view.column < 0 ? null : shareOf("target", i), {
      special: SPECIALS.includes(text),
      joined: joins(target.words, i),
      open: joins(target.words, i + 1),
      touched: i < n && isTouched("target", i),
      looking: looking("target", i),
      chosen: i > 0 && target.chosen.includes(i - 1),
      given: alone && i <= target.given,
      next,
      later,
    });
    const chip = /** @type {HTMLButtonElement} */ (slot.firstChild);
    chip.tabIndex = -1; // the arrow keys of the stepper go through these
    chip.title = !i
      ? t("given at the start")
      : target.chosen.includes(i - 1)
        ? t("{how} at step {step}; click to go there", { how: choiceName(target.by), step: i })
        : i <= target.given
          ? t("given in the prompt; read at step {step}; click to go there", { step: i })
          : t("predicted by the model at step {step}; click to go there", { step: i });
  });
  layWords(S, S.find(".source .chips"), "source", read, source.tokens);
  layWords(S, chips, "target", slots, written);
  // With many tokens, only the chips scroll, never the page: to the token with the most weight.
  if (!S.scrolls) return;
  // What a reader has scrolled stays until there is something else to show.
  const { clientWidth: room, clientHeight } = chips;
  const shown = [S.seq, S.step, S.words, room, clientHeight, chips.dir, ...written].join();
  const { kind, pick, look } = S;
  const looked = [shown, kind, ...Object.values(pick[kind]), view.from.side, view.from.span].join();
  if (look?.side !== "source" && S.scrolledFor.source !== looked) {
    followWeight(S.find(".source .chips"), read, view);
    S.scrolledFor.source = looked;
  }
  if (S.scrolledFor.target === shown) return;
  S.scrolledFor.target = shown;
  // The translation is scrolled so that its lines end with the word being written; its one line begins with a whole word.
  const { offsetTop, offsetHeight } = slots[S.step + 1];
  chips.scrollTop = offsetTop - chips.offsetTop + offsetHeight + BELOW - clientHeight;
  const by = chips.dir === "rtl" ? -1 : 1;
  const starts = slots.map(({ offsetLeft, offsetWidth }) => {
    const left = offsetLeft - chips.offsetLeft;
    return by < 0 ? room - left - offsetWidth : left;
  });
  const end = starts[S.step + 1] + slots[S.step + 1].offsetWidth + EDGE;
  chips.scrollLeft = end > room ? by * (Math.min(...starts.filter((start) => start >= end - room)) - BORDER) : 0;
}

/**
 * Scrolls the source to the lines of words that have most of the weight, among them that of its heaviest word; it stays if
 * as much is in sight already.
 * @param {HTMLElement} list
 * @param {HTMLElement[]} slots
 * @param {StageView} view
 */
function followWeight(list, slots, { from, lines }) {
  const looked = lines.filter(({ side }) => side === "source").sort((a, b) => b.weight - a.weight);
  const shares = new Map(looked.map(({ span: [at], weight }, i) => [at, weight + Number(i === 0)]));
  if (from.side === "source") shares.set(from.span[0], 2);
  const inSight = (/** @type {number} */ start) =>
    slots.reduce((sum, { offsetTop, offsetHeight }, i) => {
      const seen = offsetTop >= start - BELOW && offsetTop + offsetHeight <= start + list.clientHeight + BELOW;
      return sum + (seen ? (shares.get(i) ?? 0) : 0);
    }, 0);
  const starts = [...new Set(slots.map(({ offsetTop }) => offsetTop))].map((start) => [start, inSight(start)]);
  const [top, most] = starts.reduce((best, each) => (each[1] > best[1] ? each : best));
  if (most > inSight(list.offsetTop + list.scrollTop) + SMALLEST) list.scrollTop = top - list.offsetTop;
}
