// The content of the stage, which stage.js draws: the words that attention connects at this moment, the weight on each,
// the path of a curve, and a sentence that says the same.

import { SIDES, nameInKind } from "./names.js";
import { clamp, wholePercent } from "./numbers.js";
import { rowInWords } from "./row_in_words.js";
import { numbered, tokenName } from "./wording.js";
import { rowOf } from "./stepper_state.js";
import { NAMED_FROM, rankedRow } from "./weights.js";
import { pieces } from "./words.js";

/** @import { Box, Content, Curve, Kind, Look, Side, Span, StageView } from "./types" */
const NAMED = 3; // words that have a line and that the sentence names, as stepper.html says
const BESIDE = 3; // distance of a line from the last word of a line of words, in pixels
const TRACK = 5; // distance of lines side by side, in pixels
const ROUND = 4; // radius of its corners, in pixels
const TAKEN = 1000; // what it costs to share a gap, as a detour in pixels
const [FAN, CORNER] = [9, 8]; // distance of lines at the word that they come from, and of these from its corners, in pixels

/** The weights of one head [query, key], and their mask codes. @typedef {{ values: ArrayLike<number>, mask: Uint8Array, keys: number }} StageMap */
/** @import { StepperState } from "./types" */

/**
 * The lines of one view. A decoder row belongs to the word that it predicts: the row that reads token t is drawn from
 * token t + 1.
 * - Without `look`, or if it selects nothing: the word being written and the keys of the row that predicts it; in the
 *   encoder, the token `current` and its keys.
 * - `look` at a target token: the row that predicted it. The first one was given, not predicted; it has no lines.
 * - `look` at a source token: in the encoder, its own row; in cross-attention, its column: all words written so far that
 *   looked at it.
 * @param {Kind} kind
 * @param {StageMap} map the weights of the head in view, between tokens or between words
 * @param {{ source: Span[], target: Span[] }} spans the tokens of each row and column
 * @param {number} step the index of the token being read
 * @param {number} current the row of the encoder to show without `look`
 * @param {Look | null} look
 * @returns the row or the column on the stage (the other one is -1), and its lines
 */
export function stageView(kind, map, spans, step, current, look) {
  const at = (/** @type {Span[]} */ list, /** @type {number} */ token) => list.findIndex(([, end]) => token < end);
  if (kind === "encoder") {
    const query = look?.side === "source" ? at(spans.source, look.at) : current;
    return {
      from: { side: /** @type {Side} */ ("source"), span: spans.source[query] },
      query,
      column: -1,
      lines: keysOf(map, query, "source", spans.source),
    };
  }
  if (kind === "cross" && look?.side === "source") {
    const column = at(spans.source, look.at);
    const last = at(spans.target, step);
    const lines = spans.target.slice(0, last + 1).map((span, query) => {
      const written = Math.min(span[1] - 1, step) + 1;
      const i = query * map.keys + column;
      return stageLine("target", query, [written, written + 1], map.values[i], map.mask[i]);
    });
    return { from: { side: /** @type {Side} */ ("source"), span: spans.source[column] }, query: -1, column, lines };
  }
  const written = look?.side === "target" ? look.at : step + 1;
  const from = { side: /** @type {Side} */ ("target"), span: /** @type {Span} */ ([written, written + 1]) };
  if (written < 1) return { from, query: -1, column: -1, lines: [] };
  const query = at(spans.target, Math.min(written - 1, step));
  const side = kind === "cross" ? "source" : "target";
  return { from, query, column: -1, lines: keysOf(map, query, side, spans[side]) };
}

/**
 * @param {StageMap} map
 * @param {number} query
 * @param {"source" | "target"} side
 * @param {Span[]} spans
 */
const keysOf = (map, query, side, spans) =>
  rankedRow(map.values, map.mask, query, map.keys).cells.map((c) =>
    stageLine(side, c.key, spans[c.key], c.weight, c.mask),
  );

/**
 * @param {"source" | "target"} side
 * @param {number} index
 * @param {Span} span
 * @param {number} weight
 * @param {number} mask
 */
const stageLine = (side, index, span, weight, mask) => ({ side, index, span, weight: mask ? 0 : weight, mask });

/**
 * "To write *spielen*, having read *Kinder*, the decoder looks at *playing* 61 % …"
 * @param {StepperState} S
 * @param {StageView} view
 * @returns {Content[]}
 */
export function sentenceOf(S, { from, query, column, lines }) {
  const m = S.maps[S.kind];
  const { target } = S.data;
  if (column >= 0) {
    const best = lines
      .filter(({ mask, weight }) => !mask && weight >= NAMED_FROM)
      .sort((a, b) => b.weight - a.weight)
      .slice(0, NAMED);
    const name = numbered(m.columns, column, "source");
    const { layer, head: which } = S.pick[S.kind];
    const head = nameInKind(layer, which);
    if (!best.length)
      return pieces("No word written so far put 5 % of its weight on {token} ({head}).", { token: name, head });
    const words = best.flatMap(({ span: [at], weight }, i) => [
      i ? ", " : "",
      tokenName(writtenAt(S, at), "target"),
      ` ${wholePercent(weight)}`,
    ]);
    return pieces("{token} was looked at to write {words} ({head}).", { token: name, words, head });
  }
  if (query < 0) {
    const token = tokenName(target.tokens[0], "target");
    return pieces("{token} is given at the start: nothing was looked at to write it.", { token });
  }
  const look = S.kind === "encoder" ? "plain" : from.span[0] <= target.given ? "prompt" : "write";
  const word = tokenName(writtenAt(S, from.span[0]), "target");
  const read = numbered(m.rows, query, SIDES[S.kind][0]);
  const placed = !S.box.classList.contains("presenting"); // a slide has the choice of the head above the sentence
  return rowInWords(m, S.pick[S.kind], rowOf(S, S.kind, query), read, word, look, placed);
}

/** The predicted word at this index of the target. @param {StepperState} S @param {number} at */
const writtenAt = (S, at) => S.data.target.predicted[Math.max(0, at - 1)];

/** @type {("x0" | "y0" | "x1" | "y1" | "bend" | "weight")[]} */
const MOVES = ["x0", "y0", "x1", "y1", "bend", "weight"];

/** @param {Curve} a @param {Curve} b */
export const differ = (a, b) => MOVES.some((name) => Math.abs(a[name] - b[name]) > 1e-6);

/** @param {Curve} a @param {Curve} b @param {number} part @returns {Curve} */
export const between = (a, b, part) => ({
  ...b,
  ...Object.fromEntries(MOVES.map((name) => [name, a[name] + part * (b[name] - a[name])])),
});

/** The end of a line: its word, and its weight. @typedef {{ box: Box, weight: number }} End */
/** @typedef {{ x: number, y: number }} Point */

/**
 * The ways of lines between the words of a sentence that breaks into lines: from the room between the sentences past the
 * other lines of words to the edge of each word. Each line has a gap between two words for itself, the heaviest line the
 * nearest ones; where a line changes its gap, it has a track of its own between two lines of words. Free ends come first.
 * @param {End[]} ends
 * @param {Box[]} boxes all words of the sentence
 * @param {1 | -1} down 1 for the upper sentence, which lines leave downwards
 * @param {number} edge how far to the right lines may run
 * @returns {Point[][]}
 */
export function waysPast(ends, boxes, down, edge) {
  const [near, far] = /** @type {["top" | "bottom", "top" | "bottom"]} */ (
    down > 0 ? ["top", "bottom"] : ["bottom", "top"]
  );
  const seen = boxes.filter(({ hidden }) => !hidden);
  const rows = [...new Set(seen.map((box) => box[near]))]
    .sort((a, b) => down * (a - b))
    .map((edge) => seen.filter((box) => box[near] === edge));
  const first = ends.map(({ box }) => rows.filter(([word]) => down * (word[near] - box[far]) <= -1).length);
  const gaps = rows.map((words) => gapsOf(words, edge));
  /** @type {number[][]} the places of each line: at its word, and at each line of words that it passes */
  const places = [];
  const byWeight = [...ends.keys()].sort((a, b) => ends[b].weight - ends[a].weight);
  for (const i of byWeight) places[i] = nearestGaps(ends[i].box, gaps.slice(first[i]));
  const ways = ends.map(({ box }, i) => [{ x: places[i][0] ?? (box.left + box.right) / 2, y: box[far] }]);
  rows.forEach((words, row) => {
    const passing = [...ends.keys()].filter((i) => row >= first[i]);
    const runs = passing.map((i) => {
      const [from, to] = places[i].slice(row - first[i]);
      return { i, from, to };
    });
    for (const { i, from, to, part } of tracksOf(runs)) {
      const start = ways[i][0].y;
      const y = start + part * (words[0][near] - start);
      const turn =
        from === to
          ? []
          : [
              { x: to, y },
              { x: from, y },
            ];
      ways[i].unshift({ x: to, y: words[0][far] }, ...turn);
    }
  });
  return ways;
}

/** A place where lines pass a line of words, how far to the right if nothing stands beside it, and how many lines do. @typedef {{ at: number, end: number, lines: number }} Gap */

/** @param {Box[]} words a line of them @param {number} edge @returns {Gap[]} */
function gapsOf(words, edge) {
  const inOrder = [...words].sort((a, b) => a.left - b.left);
  return inOrder.flatMap(({ right }, i) => {
    const next = inOrder[i + 1];
    if (!next) return { at: right + BESIDE, end: edge, lines: 0 };
    return next.left - right > 1 ? { at: (right + next.left) / 2, end: 0, lines: 0 } : [];
  });
}

/**
 * The places on the shortest way from a word past lines of words: along the edge of the word, then a gap of each line,
 * which it takes. It shares a gap only if there is no other.
 * @param {Box} box
 * @param {Gap[][]} rows
 * @returns {number[]}
 */
function nearestGaps({ left, right }, rows) {
  /** @type {{ edge: number[], cost: number, taken: Gap[], places: number[] }[]} */
  let ways = [{ edge: [left + CORNER, right - CORNER], cost: 0, taken: [], places: [] }];
  for (const gap of rows)
    ways = gap.map((each) => {
      const tries = ways.map(({ edge: [from, to], cost, taken, places }) => {
        const at = placeIn(each, from, to);
        const last = clamp(at, from, to);
        const shared = each.end ? 0 : each.lines * TAKEN;
        const before = places.length ? places : [last];
        return {
          edge: [at, at],
          cost: cost + Math.abs(at - last) + shared,
          taken: [...taken, each],
          places: [...before, at],
        };
      });
      return tries.reduce((best, way) => (way.cost < best.cost ? way : best));
    });
  const best = ways.reduce((best, way) => (way.cost < best.cost ? way : best));
  for (const gap of best.taken) gap.lines += 1;
  return best.places;
}

/** Where the next line passes a gap, on its way from between two places: beside a short line, there is room for all. @param {Gap} gap @param {number} from @param {number} to */
function placeIn({ at, end, lines }, from, to) {
  if (end) return Math.min(end, Math.max(at + lines * TRACK, (from + to) / 2));
  return at + ((lines % 2 ? 1 : -1) * Math.ceil(lines / 2) * TRACK) / 2;
}

/**
 * The tracks of runs between two lines of words, as a share of the way from one to the other. Runs that would touch have
 * different ones, in an order in which they do not cross if they go in the same direction.
 * @template {{ from: number, to: number }} Run
 * @param {Run[]} runs
 * @returns {(Run & { part: number })[]}
 */
function tracksOf(runs) {
  const start = (/** @type {Run} */ { from, to }) => Math.min(from, to);
  const straight = runs.filter(({ from, to }) => from === to).map((run) => ({ ...run, part: 0 }));
  const inOrder = runs.filter(({ from, to }) => from !== to).sort((a, b) => start(a) - start(b));
  /** @type {Run[][]} */
  const touching = [];
  let end = -Infinity;
  for (const run of inOrder) {
    if (start(run) > end + TRACK) touching.push([]);
    touching[touching.length - 1].push(run);
    end = Math.max(end, run.from, run.to);
  }
  const rank = (/** @type {Run} */ { from, to }) => (to > from ? -from : from);
  const tracks = touching.flatMap((group) =>
    group.sort((a, b) => rank(a) - rank(b)).map((run, i) => ({ ...run, part: (i + 1) / (group.length + 1) })),
  );
  return [...straight, ...tracks];
}

/** Where lines meet the word that they come from: side by side, in the order of their other ends. @param {Box} box @param {number[]} others @returns {number[]} */
export function fanOut(box, others) {
  const apart = Math.min(FAN, (box.right - box.left - 2 * CORNER) / Math.max(1, others.length - 1));
  const order = [...others.keys()].sort((a, b) => others[a] - others[b]);
  const middle = (box.left + box.right - apart * (others.length - 1)) / 2;
  return others.map((_, i) => middle + order.indexOf(i) * apart);
}

/** Draws the path of a curve on a canvas. @param {CanvasRenderingContext2D} ctx @param {Curve} curve */
export function trace(ctx, { x0, y0, x1, y1, bend, stems = [] }) {
  // An arc within a sentence bends to one side; a curve between the two leaves and arrives upright.
  const [leave, arrive] = bend ? [y0 + bend, y1 + bend] : [(y0 + y1) / 2, (y0 + y1) / 2];
  ctx.beginPath();
  round(ctx, [...(stems[0] ?? [])].reverse());
  ctx.lineTo(x0, y0);
  ctx.bezierCurveTo(x0, leave, x1, arrive, x1, y1);
  round(ctx, stems[1] ?? []);
}

/** Draws a way with round corners. @param {CanvasRenderingContext2D} ctx @param {Point[]} way */
function round(ctx, way) {
  way.forEach(({ x, y }, i) => {
    const [before, after] = [way[i - 1], way[i + 1]];
    if (!before || !after) return ctx.lineTo(x, y);
    const most = Math.min(Math.hypot(x - before.x, y - before.y), Math.hypot(after.x - x, after.y - y)) / 2;
    ctx.arcTo(x, y, after.x, after.y, Math.min(ROUND, most));
  });
}
