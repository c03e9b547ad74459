// The content of the stage, which stage.js draws: the words that attention connects at this moment, the weight on each,
// the path of a curve, and a sentence that says the same.

import { SIDES, capitalised } from "./names.js";
import { wholePercent } from "./numbers.js";
import { looksAt, numbered, tokenName } from "./wording.js";
import { rowOf } from "./stepper_state.js";
import { rankedRow } from "./weights.js";
import { pieces, t } from "./words.js";

/** @import { Box, Content, Curve, Kind, Look, Side, Span, StageView } from "./types" */
const BESIDE = 1.5; // distance of a line from the last word of a line of words, in pixels
const APART = 7; // distance between lines there, in pixels

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

/** The name of the head in view. @param {StepperState} S */
function headName(S) {
  const { layer, head } = S.pick[S.kind];
  if (head) return t("layer {layer}, head {head}", { layer, head });
  const n = S.maps[S.kind].heads;
  return t("layer {layer}, mean of {n} head", "layer {layer}, mean of {n} heads", { layer, n });
}

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
      .filter(({ mask, weight }) => !mask && weight >= 0.1)
      .sort((a, b) => b.weight - a.weight)
      .slice(0, 3);
    const name = numbered(m.columns, column, "source");
    const head = headName(S);
    if (!best.length)
      return pieces("No word written so far put 10 % of its weight on {token} ({head}).", { token: name, head });
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
  const [side, keySide] = SIDES[S.kind];
  const looks = (/** @type {import("./wording.js").Look} */ look, /** @type {import("./words.js").Fields} */ fields) =>
    looksAt(rowOf(S, S.kind, query), m.columns, keySide, 3, look, fields);
  const read = numbered(m.rows, query, side);
  if (side === "source")
    return [...looks("plain", { who: read }), ` ${t("(Encoder, {head}.)", { head: headName(S) })}`];
  const word = tokenName(writtenAt(S, from.span[0]), "target");
  const given = from.span[0] <= target.given;
  const who = S.kind === "cross" ? t("cross-attention") : t("decoder self-attention");
  return [...looks(given ? "prompt" : "write", { who, word, read }), ` (${capitalised(headName(S))}.)`];
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

/**
 * The ways of lines between the words of a sentence that breaks into lines: from the room between the sentences past the
 * other lines of words, always between two words, to the edge of each line's own word. The free end comes first. Two lines
 * never share a place between two words.
 * @param {{ box: Box, x: number }[]} ends the own word of each line, and where the line meets it
 * @param {Box[]} boxes all words of the sentence
 * @param {1 | -1} down 1 for the upper sentence, which lines leave downwards
 * @returns {{ x: number, y: number }[][]}
 */
export function stemsPast(ends, boxes, down) {
  const [near, far] = /** @type {["top" | "bottom", "top" | "bottom"]} */ (
    down > 0 ? ["top", "bottom"] : ["bottom", "top"]
  );
  const shown = boxes.filter((each) => !each.hidden);
  const edges = [...new Set(shown.map((each) => each[near]))].sort((a, b) => down * (a - b));
  const ways = ends.map(({ box, x }) => [{ x, y: box[far] }]);
  for (const edge of edges) {
    const words = shown.filter((each) => each[near] === edge);
    const passing = ways.filter((_, i) => down * (edge - ends[i].box[far]) > -1).sort(([a], [b]) => a.x - b.x);
    const places = placesBetween(
      words,
      passing.map(([{ x }]) => x),
    );
    passing.forEach((way, i) => {
      const y = (way[0].y + edge) / 2;
      way.unshift({ x: places[i], y: words[0][far] }, { x: places[i], y }, { x: way[0].x, y });
    });
  }
  return ways;
}

/**
 * Places at which no word of a line stands, one for each of `xs` in their order, with the least sum of distances.
 * @param {Box[]} words @param {number[]} xs in ascending order
 */
function placesBetween(words, xs) {
  const inOrder = [...words].sort((a, b) => a.left - b.left);
  const end = inOrder[inOrder.length - 1].right + BESIDE;
  const gaps = inOrder.slice(1).flatMap(({ left }, i) => {
    const { right } = inOrder[i];
    return left - right > 1 ? (right + left) / 2 : [];
  });
  const beside = xs
    .flatMap((x, i) => [Math.max(x, end), Math.max(x, end) + APART * i, end + APART * i])
    .sort((a, b) => a - b);
  const free = beside.reduce((all, x) => (x - (all[all.length - 1] ?? -Infinity) < APART ? all : [...all, x]), gaps);
  // Of the first gaps, as many as have been seen: the best places for the first lines.
  let best = [...free, 0].map(() => ({ cost: 0, places: /** @type {number[]} */ ([]) }));
  for (const x of xs) {
    const next = [{ cost: Infinity, places: /** @type {number[]} */ ([]) }];
    free.forEach((place, j) => {
      const taken = { cost: best[j].cost + Math.abs(place - x), places: [...best[j].places, place] };
      next.push(taken.cost < next[j].cost ? taken : next[j]);
    });
    best = next;
  }
  return best[free.length].places;
}

/** Draws the path of a curve on a canvas. @param {CanvasRenderingContext2D} ctx @param {Curve} curve */
export function trace(ctx, { x0, y0, x1, y1, bend, stems = [] }) {
  // An arc within a sentence bends to one side; a curve between the two leaves and arrives upright.
  const [leave, arrive] = bend ? [y0 + bend, y1 + bend] : [(y0 + y1) / 2, (y0 + y1) / 2];
  ctx.beginPath();
  for (const { x, y } of [...(stems[0]?.slice(1) ?? [])].reverse()) ctx.lineTo(x, y);
  ctx.lineTo(x0, y0);
  ctx.bezierCurveTo(x0, leave, x1, arrive, x1, y1);
  for (const { x, y } of stems[1]?.slice(1) ?? []) ctx.lineTo(x, y);
}
