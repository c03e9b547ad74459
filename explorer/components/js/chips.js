// Source and target as rows of chips: position, token, its kind, and how much the decoder attends to it.

import { children, make, say } from "./dom.js";
import { SIDES } from "./kinds.js";
import { wholePercent } from "./numbers.js";
import { weightsOf } from "./payload.js";
import { rankedRow } from "./rows.js";
import { covers } from "./stepper_state.js";
import { SPECIALS } from "./token_names.js";
import { joins } from "./words.js";

/** @typedef {import("./types").Side} Side */
/** @typedef {import("./types").StepperState} StepperState */

function makeChip() {
  const box = make("span", "chip", make("span", "place"), make("bdi", "token"), make("small", "seen"));
  return make("span", "slot", box, make("span", "meter", make("i"), make("span")));
}

/** @param {HTMLElement} slot @param {number} position @param {string} text @param {Record<string, boolean>} classes */
function setChip(slot, position, text, classes) {
  const [place, token, seen] = slot.children[0].children;
  say(place, `${position}`);
  say(token, text);
  say(seen, classes.unknown ? "seen as <unk>" : "");
  slot.className = ["slot", ...Object.keys(classes).filter((name) => classes[name])].join(" ");
}

/** @param {StepperState} S */
export function drawChips(S) {
  const { source, target, maps } = S.data, { layer, head } = S.pick.cross;
  const cross = rankedRow(weightsOf(maps.cross, layer, head), maps.cross.mask, S.step, maps.cross.keys).cells;
  /** @type {Record<Side, number[]>} */
  const touched = { source: [], target: [] };
  if (S.cell) {
    const [queries, keys] = SIDES[S.cell.kind];
    touched[queries].push(S.cell.query);
    touched[keys].push(S.cell.key);
  }
  const isTouched = (/** @type {Side} */ side, /** @type {number} */ i) =>
    touched[side].some((index) => covers(S, side, index, i));
  children(S.find(".source .chips"), source.tokens.length, makeChip).forEach((slot, i) => {
    setChip(slot, i + 1, source.tokens[i], {
      special: source.words[i] < 0,
      unknown: source.unknown.includes(i),
      joined: joins(source.words, i),
      open: joins(source.words, i + 1),
      touched: isTouched("source", i),
    });
    const [bar, number] = /** @type {Iterable<HTMLElement>} */ (slot.children[1].children), { mask, weight } = cross[i];
    bar.style.width = `${mask || weight < 0.005 ? 0 : 100 * weight}%`;
    say(number, mask ? "masked" : weight < 0.005 ? "" : wholePercent(weight));
  });
  const n = target.tokens.length, chips = S.find(".target .chips");
  const slots = children(chips, n + 1, makeChip);
  slots.forEach((slot, i) => {
    const next = i === S.step + 1;
    const text = next || i === n ? target.predicted[next ? S.step : n - 1] : target.tokens[i];
    setChip(slot, i + 1, text, {
      special: SPECIALS.includes(text),
      joined: joins(target.words, i),
      open: joins(target.words, i + 1),
      touched: i < n && isTouched("target", i),
      next,
      later: i > S.step + 1,
    });
  });
  // With many tokens, only the chips scroll, never the page.
  if (!S.scrolls) return;
  const last = slots[S.step + 1];
  chips.scrollTop = last.offsetTop - chips.offsetTop - chips.clientHeight + last.offsetHeight;
}
