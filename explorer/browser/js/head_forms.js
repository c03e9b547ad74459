// The labels of a kind of attention, between tokens or between words, and the numbers that tell its heads apart.
// As explorer/decoding/attention_maps.py.

import { SIDES } from "./names.js";
import { mergeWords, spansOf, spanWith } from "./weights.js";

/** @import { AttentionMap, Decoding, FormOfMap, Kind, Span } from "./types" */
/** @typedef {"tokens" | "words" | "words-next"} Form */

const [CLEAR, ABOVE_CHANCE] = [0.5, 1.5]; // least share of a favourite, and least multiple of chance

/**
 * A map between tokens, or between words, where decoder rows are joined by the word read or the word predicted. Rows
 * whose next token was given are not labelled with a prediction.
 * @param {Pick<Decoding, "maps" | "source" | "target">} decoding @param {Kind} kind whose numbers have arrived @param {Form} form
 */
export function formIn({ maps, source, target }, kind, form) {
  const map = maps[kind];
  const { given } = target;
  const [words, keys] = SIDES[kind].map((side) => ({ source, target })[side].words);
  const predicted = kind === "encoder" ? [] : target.predicted;
  const single = (/** @type {string[]} */ tokens) => spansOf(tokens.map(() => -1));
  const ofTokens = form === "tokens";
  const next = form === "words-next" ? [...words.slice(1), -1] : words;
  const rowSpans = ofTokens ? single(map.rows) : spansOf(next);
  const columnSpans = ofTokens ? single(map.columns) : spansOf(keys);
  const labels = { rows: map.rows, columns: map.columns, predicted, words: ofTokens ? rowSpans : spansOf(words) };
  const found = formOf(map, labels, rowSpans, columnSpans);
  return { ...found, predicted: found.predicted.map((label, i) => (rowSpans[i][1] > given ? label : "")) };
}

/**
 * @param {AttentionMap} map with its numbers @param {{ rows: string[], predicted: string[], columns: string[], words: Span[] }} labels `words`: the tokens of each word of the rows
 * @param {Span[]} rowSpans @param {Span[]} columnSpans
 * @returns {FormOfMap & AttentionMap & { weights: Float32Array }}
 */
function formOf(map, labels, rowSpans, columnSpans) {
  const given = { ...map, weights: /** @type {Float32Array} */ (map.weights) };
  const isMerged = rowSpans.length < map.queries || columnSpans.length < map.keys;
  const merged = isMerged
    ? { ...map, ...mergeWords(given, rowSpans, columnSpans, map.queries), means: new Map() }
    : given;
  const { weights, mask, queries, keys } = merged;
  const visible = Array.from({ length: queries }, (_, q) =>
    mask.subarray(q * keys, (q + 1) * keys).reduce((n, code) => n + Number(!code), 0),
  );
  const hasChoice = visible.map((count) => count > 1);
  const places = Object.entries(placesOf(map.kind, queries, keys)).map(([name, keyOf]) => {
    const rows = visible.flatMap((_, q) => {
      const key = keyOf(q);
      return hasChoice[q] && key >= 0 && key < keys && !mask[q * keys + key] ? [[q, key]] : [];
    });
    return { name, rows, chance: mean(rows.map(([q]) => 1 / visible[q])) };
  });
  /** @type {(number | null)[][]} */
  const effective = [];
  /** @type {Record<string, (number | null)[][]>} */
  const shares = Object.fromEntries(places.map(({ name }) => [name, []]));
  /** @type {string[][]} */
  const roles = [];
  for (let layer = 0; layer < map.layers; layer++) {
    const heads = Array.from({ length: map.heads }, (_, head) => (layer * map.heads + head) * queries * keys);
    effective.push(
      heads.map((at) =>
        rounded(mean(hasChoice.flatMap((choice, q) => (choice ? [effectiveKeys(weights, at + q * keys, keys)] : [])))),
      ),
    );
    const shareOf = (/** @type {number} */ at, /** @type {number[][]} */ rows) =>
      mean(rows.map(([q, key]) => weights[at + q * keys + key]));
    for (const { name, rows } of places) shares[name].push(heads.map((at) => rounded(shareOf(at, rows))));
    roles.push(
      heads.map((at) => {
        const found = places.map(({ name, rows, chance }) => ({ name, share: shareOf(at, rows), chance }));
        const clear = found.filter(
          ({ share, chance }) => share >= Math.max(CLEAR, ABOVE_CHANCE * Math.min(chance, 0.66)),
        );
        clear.sort((a, b) => b.share - a.share || (a.name < b.name ? 1 : -1));
        return clear[0]?.name ?? "mixed";
      }),
    );
  }
  const joined = (/** @type {string[]} */ tokens, /** @type {Span[]} */ spans) =>
    spans.map(([start, end]) => tokens.slice(start, end).join(""));
  // Words are named whole; a prediction that was not read next is a token, because the rest of its word is unknown.
  const { rows, predicted, words } = labels;
  const wordAt = (/** @type {number} */ i) => joined(rows, [words[spanWith(words, i)]])[0];
  const leadsTo = (/** @type {Span} */ [, end]) =>
    rows[end] === predicted[end - 1] ? wordAt(end) : predicted[end - 1];
  return {
    ...merged,
    rows: rowSpans.map(([start]) => wordAt(start)),
    predicted: predicted.length ? rowSpans.map(leadsTo) : [],
    columns: joined(labels.columns, columnSpans),
    row_spans: rowSpans,
    column_spans: columnSpans,
    effective,
    shares,
    roles,
  };
}

/** The key at each relative position of a query. @param {Kind} kind @param {number} queries @param {number} keys @returns {Record<string, (query: number) => number>} */
function placesOf(kind, queries, keys) {
  if (kind !== "cross")
    return {
      itself: (q) => q,
      previous: (q) => q - 1,
      ...(kind === "encoder" && { next: (/** @type {number} */ q) => q + 1 }),
      first: () => 0,
    };
  return {
    diagonal: (q) => toEven((q * (keys - 1)) / Math.max(queries - 1, 1)),
    // The last row and key, <eos>, are paired; the others are counted from the other end.
    mirror: (q) => (q < queries - 1 ? toEven(keys - 2 - (q * (keys - 2)) / Math.max(queries - 2, 1)) : keys - 1),
    first: () => 0,
    last: () => keys - 1,
  };
}

/** Rounds to the nearest whole number, halves to the even one, as numpy does. @param {number} value */
function toEven(value) {
  const below = Math.floor(value);
  return below + (value - below > 0.5 || (value - below === 0.5 && below % 2 !== 0) ? 1 : 0);
}

/** exp(entropy) of one row. @param {ArrayLike<number>} weights @param {number} at @param {number} keys */
function effectiveKeys(weights, at, keys) {
  let entropy = 0;
  for (let i = at; i < at + keys; i++) if (weights[i] > 0) entropy -= weights[i] * Math.log(weights[i]);
  return Math.exp(entropy);
}

const mean = (/** @type {number[]} */ values) =>
  values.reduce((sum, value) => sum + value / values.length, values.length ? 0 : NaN);
const rounded = (/** @type {number} */ value) => (Number.isNaN(value) ? null : Number(value.toPrecision(7)));
