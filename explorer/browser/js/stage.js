// The stage: source above, translation below, as rows of chips with position, token and weight, and curves from the
// word being written to the words that it looks at.

import { columnBeside, contextOf, paper } from "./canvas.js";
import { drawChips, slotsOf } from "./chips.js";
import { rgb } from "./colours.js";
import { buttonsOf, say, sayAll } from "./dom.js";
import { isHidden, questionOf, takeGuess } from "./guess.js";
import { wholePercent } from "./numbers.js";
import { LEAST_PRESENTED, presenting } from "./present.js";
import { arrowOf, placesIn } from "./scripts.js";
import { between, differ, fanOut, sentenceOf, stageView, trace, waysPast } from "./stage_lines.js";
import { currentRow, tokenSpans } from "./stepper_state.js";
import { redraw } from "./view.js";
import { NAMED_FROM, weightsOf } from "./weights.js";
import { t } from "./words.js";

/** @import { Box, Curve, Side, Span, StageView, StepperState } from "./types" */

const MOVE = 200; // ms from one step to the next
const HURRY = 150; // steps that follow each other faster than this are not animated, in ms
const FAINT = 0.4; // opacity of all but the largest three lines
const LOOP = 7; // half the width of the arc of a token that looks at itself, in pixels
const INSIDE = 3; // distance of lines from the edge of the stage, so that it cuts none, in pixels
const TITLE = 20; // height of the title of the translation, above its words, in pixels

/** Measures the positions of the chips, after their text or the width has changed. @param {StepperState} S */
export function measureStage(S) {
  const stage = S.find(".stage");
  const by = stage.getBoundingClientRect().width / stage.offsetWidth || 1;
  const sides = /** @type {Side[]} */ (["source", "target"]).map((side) => {
    const list = S.find(`.${side} .chips`);
    const slots = slotsOf(S, side);
    return { side, list, slots, scrollTop: list.scrollTop, row: slots[0]?.offsetHeight ?? 0 };
  });
  // All is read before anything is written, so that the browser lays out the words once.
  const most = linesOf(S, sides[0].slots, sides[1].slots, Math.max(...sides.map(({ row }) => row)));
  // Only whole lines of words show.
  for (const { side, list, row } of sides)
    list.style.maxHeight = `calc(${most[side]} * (${row}px + var(--gap)) + 5px - var(--gap))`;
  for (const { list, scrollTop } of sides) list.scrollTop = scrollTop;
  S.boxes = { source: [], target: [] };
  const frame = stage.getBoundingClientRect();
  for (const { side, list, slots } of sides) {
    const seen = list.getBoundingClientRect();
    S.boxes[side] = slots.map((slot) => {
      const { left, right, top, bottom } = /** @type {Element} */ (slot.firstChild).getBoundingClientRect();
      const hidden = bottom < seen.top + 4 || top > seen.bottom - 4 || right < seen.left + 4 || left > seen.right - 4; // scrolled out of sight
      return {
        left: (left - frame.left) / by,
        right: (right - frame.left) / by,
        top: (top - frame.top) / by,
        bottom: (bottom - frame.top) / by,
        hidden,
      };
    });
  }
  S.stageSize = { width: stage.clientWidth, height: stage.clientHeight };
  S.scrolled = scrolledTo(S);
  S.scrolls = [".source .chips", ".target .chips"]
    .map((list) => S.find(list))
    .some((list) => list.scrollHeight > list.clientHeight || list.scrollWidth > list.clientWidth);
}

/**
 * The number of lines of words in sight, so that the buttons below stay on the first screen, or in a presentation on the
 * screen. The translation has what the source leaves, and at least two lines if there are more than four; a sentence
 * that looks at itself has all that it needs.
 * @param {StepperState} S
 * @param {HTMLElement[]} read the words of the source
 * @param {HTMLElement[]} written the words of the translation
 * @param {number} row the height of a line
 */
function linesOf(S, read, written, row) {
  const [lines, others] = [read, written].map((slots) => new Set(slots.map(({ offsetTop }) => offsetTop)).size);
  const high = S.find(".stage").clientHeight - CLEAR;
  const room = presenting(S.box) ? (high + 2 * GAP) / (row + GAP) : (innerHeight - 570) / 48;
  const all = Math.max(lines ? 4 : 2, Math.floor(room));
  const single = S.find(".stage").classList.contains("single");
  const least = { encoder: 1, decoder: Math.min(others, all - 1), cross: all > 4 && !single ? 2 : 1 };
  const source = Math.min(lines, all - least[S.kind]);
  return { source, target: single ? 1 : all - source };
}

/** Offers the words that are out of sight on either side, and says how much of the weight on screen they have. @param {StepperState} S @param {StageView} view */
function sayRest(S, { column, lines }) {
  for (const side of /** @type {Side[]} */ (["source", "target"])) {
    const boxes = S.boxes[side];
    const written = side === "source" ? boxes : boxes.slice(0, S.step + 2);
    const earlier = written.findIndex(({ hidden }) => !hidden);
    const later = written.length - 1 - written.findLastIndex(({ hidden }) => !hidden);
    const looked = lines.filter((line) => column < 0 && line.side === side && boxes[line.span[0]]?.hidden);
    const share = looked.reduce((sum, { weight }) => sum + weight, 0);
    const [before, after, weight] = S.find(`.${side} .rest`).children;
    say(before, earlier > 0 ? t("‹ {n} earlier", { n: earlier }) : "");
    say(after, later > 0 && later < written.length ? t("{n} later ›", { n: later }) : "");
    say(weight, share >= 0.005 ? t("{share} of the weight out of sight", { share: wholePercent(share) }) : "");
  }
}

const [LEAST, MOST, PRESENTED] = [15, 24, 40]; // size of type of the words: at least, at most, at most in a presentation
// In a presentation, words whose type would be smaller than the first break into lines, and have at most the second.
const [EASY, SEVERAL] = [18, 28];
// The width of a chip at least, and that of a word beside its text: without its number, with each digit of that, and of
// "seen as <unk>", in pixels.
const [NARROWEST, AROUND, DIGIT, NOTE] = [40, 19, 6.5, 80];
const CLEAR = 80; // height of a presented stage without lines of words: their two titles, and the room for curves
const GAP = 10; // between two lines of words in a presentation, where curves have their tracks, in pixels; stepper.css has the same
const APART = 3; // further room between two words of several lines, in pixels; stepper.css has the same
const TALL = 1.27; // height of a line of type, as a factor of its size
const FILLED = 0.93; // the share of a line that words fill before it breaks

/**
 * Sets the words in the largest type in which source and translation stay on one line, if it can be read; longer
 * sentences break into several lines, in a presentation in the largest type in which all of them are in sight, and as
 * soon as that is larger.
 * @param {StepperState} S
 */
export function fitWords(S) {
  const stage = S.find(".stage");
  const ctx = contextOf(/** @type {HTMLCanvasElement} */ (S.find(".curves")));
  ctx.font = `500 ${LEAST}px ${S.theme.font}`;
  const { source, target } = S.data;
  const room = S.find(".target .chips").offsetWidth; // with a scrollbar, words break into lines in any case
  const [least, most, digit] = presenting(S.box) ? [LEAST_PRESENTED, PRESENTED, DIGIT * 1.2] : [LEAST, MOST, DIGIT];
  const sentences = [source.tokens, [target.tokens[0], ...target.predicted]].map((tokens) =>
    tokens.map((token, i) => ({
      letters: ctx.measureText(token).width / LEAST,
      around: AROUND + digit * `${i + 1}`.length + (tokens === source.tokens && source.unknown.includes(i) ? NOTE : 0),
    })),
  );
  const widthAt = (/** @type {number} */ size, apart = 0) => {
    const wide = (/** @type {{ letters: number, around: number }} */ { letters, around }) =>
      Math.max(NARROWEST, letters * size + around) + apart;
    return Math.max(...sentences.map((words) => words.reduce((sum, word) => sum + wide(word), 0)));
  };
  // In whole pixels: a browser prepares each size of type when it first appears.
  const largest = (/** @type {number} */ size, /** @type {(size: number) => boolean} */ fits) => {
    while (size >= least && !fits(size)) size--;
    return size;
  };
  const single = largest(most, (size) => widthAt(size) <= room);
  const tries = presenting(S.box) && single < EASY;
  S.box.classList.toggle("broken", tries || single < least);
  const high = stage.clientHeight - CLEAR + 2 * GAP;
  const linesAt = (/** @type {number} */ size) => Math.ceil(widthAt(size, APART) / room / FILLED) + 1;
  const several = tries ? largest(SEVERAL, (size) => linesAt(size) * (size * TALL + AROUND + GAP) <= high) : 0;
  if (several <= single) S.box.classList.toggle("broken", single < least);
  stage.style.setProperty("--type", `${Math.max(least, single, several)}px`);
}

/** The scroll positions of the words, as text. @param {StepperState} S */
const scrolledTo = (S) =>
  [".source .chips", ".target .chips"].map((list) => [S.find(list).scrollLeft, S.find(list).scrollTop].join()).join();

/** The view of the stage at this moment, without what is to be guessed. @param {StepperState} S @returns {StageView} */
function viewOf(S) {
  const { layer, head } = S.pick[S.kind];
  const m = S.maps[S.kind];
  const map = { values: weightsOf(m, layer, head), mask: m.mask, keys: m.keys };
  const view = stageView(S.kind, map, tokenSpans(S), S.step, currentRow(S, "encoder"), S.look);
  return isHidden(S) ? { ...view, lines: [], column: -1 } : view;
}

/** Draws chips and the sentence that says the same, so that chips have their positions before anything is laid out. @param {StepperState} S */
export function drawWords(S) {
  const view = viewOf(S);
  drawChips(S, view);
  sayAll(S.find(".says"), ...(isHidden(S) ? questionOf(S) : sentenceOf(S, view)));
  return view;
}

/** Draws the words, unless they are written already, and the curves between them. @param {StepperState} S @param {boolean} written */
export function drawStage(S, written) {
  const now = performance.now();
  if (S.staged?.step !== S.step) {
    S.hurried = now - (S.staged?.at ?? -HURRY) < HURRY;
    S.staged = { step: S.step, at: now };
    S.find(".stage").classList.toggle("hurried", S.hurried);
  }
  // Words that scroll are brought into sight by the layout that there is now.
  const view = !written || S.scrolls ? drawWords(S) : viewOf(S);
  // A word that takes the place of a question mark is wider.
  if (S.scrolls || S.guess || S.guessed) measureStage(S);
  S.guessed = S.guess;
  moveTo(S, curvesOf(S, view));
  sayRest(S, view);
}

/** The curves of the lines that have enough weight and a word in sight. @param {StepperState} S @param {StageView} view @returns {Curve[]} */
function curvesOf(S, { from, column, lines }) {
  const a = boxOf(S, from.side, from.span);
  const drawn = lines.flatMap((line) => {
    const box = line.weight < NAMED_FROM ? null : boxOf(S, line.side, line.span);
    return box ? [{ ...line, box }] : [];
  });
  if (!a || !drawn.length) return [];
  const [, , least] = drawn.map(({ weight }) => weight).sort((one, other) => other - one);
  const to = drawn[0].side;
  const inside = to === from.side; // within a sentence, lines are arcs in the room between the sentences
  const [trunk, ...others] = waysOf(S, from.side, [{ box: a, weight: 1 }, ...(inside ? drawn : [])]);
  const ways = inside ? others : waysOf(S, to, drawn);
  const ends = ways.map(([{ x }]) => x);
  // Among few words, lines meet in one point; from several lines of words, as many arrive as have left.
  const apart = S.box.classList.contains("broken") && trunk.length < 2;
  const starts = apart ? fanOut(a, ends) : ends.map(() => trunk[0].x);
  return drawn.map(({ index, weight }, i) => {
    const loop = inside && Math.abs(ends[i] - starts[i]) < 2 ? LOOP : 0; // a token that looks at itself
    const [x0, x1] = [starts[i] + loop, ends[i] - loop];
    const bend = inside ? bendOf(S, from.side, x1 - x0) : 0;
    const id = `${column < 0 ? "row" : "column"} ${S.kind} ${to} ${index}`;
    const stems = [
      [{ ...trunk[0], x: x0 }, ...trunk.slice(1)],
      [{ ...ways[i][0], x: x1 }, ...ways[i].slice(1)],
    ];
    return {
      id,
      weight,
      from: from.side,
      to,
      x0,
      y0: trunk[0].y,
      x1,
      y1: ways[i][0].y,
      bend,
      stems,
      faint: weight < least,
    };
  });
}

/** How far an arc within a sentence reaches into the room between the sentences, down from the source, or up from the target. @param {StepperState} S @param {Side} side @param {number} wide */
function bendOf({ boxes: { source, target } }, side, wide) {
  const inSight = (/** @type {Box[]} */ words) => words.filter(({ hidden }) => !hidden);
  const end = Math.min(...inSight(target).map(({ top }) => top)) - TITLE;
  const room = end - Math.max(...inSight(source).map(({ bottom }) => bottom));
  // A curve reaches three quarters of the way to its control points.
  return (side === "source" ? 1 : -1) * Math.min(16 + 0.16 * Math.abs(wide), 84, Math.max(room, LOOP) / 0.75);
}

/** The ways of lines from words to the room between the sentences, past the lines of words in between. @param {StepperState} S @param {Side} side @param {import("./stage_lines.js").End[]} ends */
const waysOf = (S, side, ends) => {
  const edge = S.stageSize.width - INSIDE;
  return side === "source"
    ? waysPast(ends, S.boxes.source, 1, edge)
    : waysPast(ends, S.boxes.target.slice(0, S.step + 2), -1, edge);
};

/** @param {StepperState} S @param {Side} side @param {Span} span */
function boxOf(S, side, [start, end]) {
  const first = S.boxes[side][start];
  const last = S.boxes[side][end - 1];
  if (!first || !last || first.hidden) return null;
  // If a word breaks between two lines, the curve ends at its beginning.
  if (last.top > first.top + 2) return first;
  return { ...first, left: Math.min(first.left, last.left), right: Math.max(first.right, last.right) };
}

/** Animates the curves to these; without animation for users who prefer reduced motion. @param {StepperState} S @param {Curve[]} curves */
function moveTo(S, curves) {
  cancelAnimationFrame(S.moving);
  const before = new Map(S.curves.map((curve) => [curve.id, curve]));
  const goals = new Map(curves.map((curve) => [curve.id, curve]));
  const pairs = [
    ...curves.map((goal) => ({ start: before.get(goal.id) ?? { ...goal, weight: 0 }, goal })),
    ...S.curves.flatMap((start) => (goals.has(start.id) ? [] : { start, goal: { ...start, weight: 0 } })),
  ];
  if (S.still || S.hurried || !pairs.some(({ start, goal }) => differ(start, goal))) {
    S.curves = curves;
    return paint(S);
  }
  const start = performance.now();
  const tick = (/** @type {number} */ now) => {
    const part = Math.min(1, Math.max(0, (now - start) / MOVE));
    const ease = 1 - (1 - part) ** 3;
    S.curves = part < 1 ? pairs.map(({ start, goal }) => between(start, goal, ease)) : curves;
    paint(S);
    if (part < 1) S.moving = requestAnimationFrame(tick);
  };
  tick(start);
}

/** @param {StepperState} S */
function paint(S) {
  const { width, height } = S.stageSize;
  const canvas = /** @type {HTMLCanvasElement} */ (S.find(".curves"));
  const ctx = paper(canvas, width, height, S.zoom);
  // Lines that pass between words fit there, so that they are as wide there as elsewhere.
  const widest = !S.box.classList.contains("broken") ? 9 : presenting(S.box) ? 2 + APART : 2;
  // Heavy curves last, so that thin ones do not cross them out.
  const curves = [...S.curves].sort((a, b) => a.weight - b.weight);
  for (const curve of curves) {
    const { x0, y0, x1, y1, weight, from, to, bend, faint } = curve;
    trace(ctx, curve);
    const ink = ctx.createLinearGradient(x0, y0, x1 === x0 && y1 === y0 ? x1 + 1 : x1, y1);
    for (const [at, side] of [from, to].entries())
      ink.addColorStop(at, `rgb(${rgb(S.theme[side])} / ${faint ? FAINT : 1})`.replaceAll(",", " "));
    const lineWidth = 1.25 + widest * weight;
    Object.assign(ctx, { strokeStyle: ink, lineWidth, lineCap: bend ? "round" : "butt", lineJoin: "round" });
    ctx.stroke();
  }
}

/**
 * Pointing at a chip, or focusing it, shows its attention. A click on a word of the translation goes to its step; a
 * click on a word of the source holds its attention until the next click or Esc.
 * @param {StepperState} S
 * @param {(step: number) => void} go
 */
export function listenToStage(S, go) {
  for (const side of /** @type {Side[]} */ (["source", "target"])) {
    const list = S.find(`.${side} .chips`);
    // Curves follow the words when they are scrolled.
    list.onscroll = () => {
      if (!S.data || S.scrolled === scrolledTo(S)) return;
      measureStage(S);
      const view = viewOf(S);
      sayRest(S, view);
      cancelAnimationFrame(S.moving);
      S.curves = curvesOf(S, view);
      paint(S);
    };
    const [before, after] = buttonsOf(S.find, `.${side} .rest`);
    before.onclick = () => list.scrollTo(0, 0);
    after.onclick = () => {
      // Behind the word being written is room for later ones.
      if (side === "source") return list.scrollTo(0, list.scrollHeight);
      S.scrolledFor.target = "";
      redraw(S);
    };
    const under = (/** @type {Event} */ event) => {
      const chip = /** @type {Element} */ (event.target).closest(".chip");
      return chip ? slotsOf(S, side).indexOf(/** @type {HTMLElement} */ (chip.parentNode)) : -1;
    };
    const look = (/** @type {number} */ at) => {
      if (isHidden(S) || S.look?.held || ((S.look?.at ?? -1) === at && S.look?.side === side)) return;
      S.look = at < 0 ? null : { side, at, held: false };
      redraw(S);
    };
    const away = () => {
      if (S.look && !S.look.held && S.look.side === side) {
        S.look = null;
        redraw(S);
      }
    };
    // A pointer that rests points at nothing when words are scrolled below it.
    list.onpointermove = (event) => event.pointerType !== "touch" && look(under(event));
    list.onpointerleave = away;
    list.addEventListener("focusout", away);
    list.addEventListener("focusin", (event) => {
      if (/** @type {Element} */ (event.target).matches(":focus-visible")) look(under(event));
    });
    // The keyboard focus stays where it was, so that arrow keys still step after a click.
    list.onmousedown = (event) => under(event) >= 0 && event.preventDefault();
    list.onclick = (event) => {
      const at = under(event);
      if (at < 0) return;
      if (side === "target") {
        S.look = null;
        if (at > 0) go(at - 1);
      } else if (isHidden(S)) return takeGuess(S, { source: at });
      else {
        const again = S.look?.held && S.look.side === side && S.look.at === at;
        S.look = again ? null : { side, at, held: true };
      }
      redraw(S);
    };
    list.onkeydown = (event) => {
      const by = arrowOf(event.key)?.[1];
      if (side !== "source" || !by) return;
      const { tokens } = S.data.source;
      const beside = columnBeside(placesIn(S, side, tokens), under(event), by, tokens.length);
      const next = /** @type {HTMLElement} */ (slotsOf(S, side)[beside].firstChild);
      event.preventDefault();
      event.stopPropagation();
      S.look = null;
      S.rove = beside;
      redraw(S);
      next.tabIndex = 0;
      next.focus();
    };
  }
}
