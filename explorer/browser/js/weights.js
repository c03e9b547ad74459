// The weights of heads: between tokens or words, ranked by row, and the heaviest of a row.

/** @import { AttentionMap, Cell, Span } from "./types" */

/** The weight from which a key that a row looks at has a line, here and in exported films, and is named: 5 %, rounded. */
export const NAMED_FROM = 0.045;
const LOOKED_AT = 0.1; // share of a step's cross-attention from which it looked at words
const STRETCH = 3; // words
const SPREAD = 0.98; // effective keys, as a share of the visible ones, from which the weight is called spread out

/**
 * Weights of one head [query, key], counted from 1; head 0 is the mean over the heads, which is cached.
 * @param {AttentionMap} m a map whose numbers have arrived
 * @param {number} layer
 * @param {number} head
 * @returns {ArrayLike<number>}
 */
export function weightsOf(m, layer, head) {
  const weights = /** @type {Float32Array} */ (m.weights);
  const first = (layer - 1) * m.heads * m.area;
  if (head) return weights.subarray(first + (head - 1) * m.area, first + head * m.area);
  const cached = m.means.get(layer);
  if (cached) return cached;
  const mean = new Float64Array(m.area);
  for (let h = 0; h < m.heads; h++) addWeights(mean, weights, first + h * m.area, 1 / m.heads);
  m.means.set(layer, mean);
  return mean;
}

/**
 * Adds a share of weights to values. A function of its own, because browsers compile small functions early; one long
 * loop would delay the first drawing.
 * @param {Float64Array} values
 * @param {Float32Array} weights
 * @param {number} from
 * @param {number} share
 */
function addWeights(values, weights, from, share) {
  for (let i = 0, count = values.length; i < count; i++) values[i] += share * weights[from + i];
}

/**
 * Every key of a row with weight, mask code and rank among the visible keys, from 1 (0 where masked; equal weights share
 * one); `seen` has the visible ones, heaviest first.
 * @param {ArrayLike<number>} values weights [query, key]
 * @param {Uint8Array} mask mask codes [query, key]
 * @param {number} query
 * @param {number} keys number of keys in a row
 */
export function rankedRow(values, mask, query, keys) {
  const at = query * keys;
  const cells = Array.from({ length: keys }, (_, key) => ({
    key,
    weight: values[at + key],
    mask: mask[at + key],
    rank: 0,
  }));
  const seen = cells.filter((c) => !c.mask).sort((a, b) => b.weight - a.weight || a.key - b.key);
  seen.forEach((c, i) => (c.rank = i && seen[i - 1].weight === c.weight ? seen[i - 1].rank : i + 1));
  return { cells, seen };
}

/** What `passedOverIn` found, by decoding. @type {WeakMap<object, Span | null>} */
const passedOver = new WeakMap();

/**
 * The longest stretch of the source, as a span of tokens, of at least three words that together never got a tenth of a
 * step's cross-attention, on average over all heads of all layers; null if there is none.
 * @param {import("./types").Decoding} decoding
 * @returns {Span | null}
 */
export function passedOverIn(decoding) {
  const known = passedOver.get(decoding);
  const { cross } = decoding.maps;
  if (known !== undefined || !cross?.weights) return known ?? null;
  const { layers, keys, queries } = cross;
  const means = Array.from({ length: layers }, (_, i) => weightsOf(cross, i + 1, 0));
  const { words } = decoding.source;
  const spans = spansOf(words);
  const sums = new Float64Array(queries); // of each step, over the words from `first` on
  const add = (/** @type {Span} */ [start, end], /** @type {number} */ share) => {
    for (let query = 0; query < queries; query++)
      for (let key = start; key < end; key++)
        for (const mean of means) sums[query] += (share * mean[query * keys + key]) / layers;
  };
  /** @type {Span | null} */
  let longest = null;
  let most = STRETCH - 1;
  let first = 0;
  spans.forEach((span, i) => {
    add(span, 1);
    // No special is a word.
    while (first <= i && (words[span[0]] < 0 || Math.max(...sums) >= LOOKED_AT)) add(spans[first++], -1);
    if (i - first + 1 <= most) return;
    most = i - first + 1;
    longest = [spans[first][0], span[1]];
  });
  passedOver.set(decoding, longest);
  return longest;
}

/** Entropy of a row in nats; of its shares, if the weights of somebody else's file do not sum to 1. @param {Cell[]} seen */
export function entropyOf(seen) {
  const total = seen.reduce((sum, { weight }) => sum + weight, 0);
  const of = (/** @type {number} */ share) => (share > 0 ? share * Math.log(share) : 0);
  return total > 0 ? Math.max(0, -seen.reduce((sum, { weight }) => sum + of(weight / total), 0)) : 0;
}

/**
 * Whether a row prefers no key: its weight is spread almost evenly over more than two.
 * @param {number} entropy in nats
 * @param {number} visible number of visible keys
 */
export const isSpread = (entropy, visible) => visible > 2 && Math.exp(entropy) >= SPREAD * visible;

/**
 * The heaviest keys of a row, as many as are needed for `mass` percent of its weight.
 * @param {Cell[]} seen visible keys, heaviest first
 * @param {number} mass
 */
export function heaviestKeys(seen, mass) {
  let sum = 0;
  const enough = seen.findIndex(({ weight }) => {
    if (sum >= mass / 100 - 1e-6 || weight <= 0) return true;
    sum += weight;
    return false;
  });
  return enough < 0 ? seen : seen.slice(0, enough);
}

/**
 * Whether token `i` continues the word before it; -1 marks tokens that belong to no word.
 * @param {number[]} words the word of each token
 * @param {number} i
 */
export const joins = (words, i) => i > 0 && words[i] >= 0 && words[i] === words[i - 1];

/** First token and end of each run of tokens of one word. @param {number[]} words @returns {Span[]} */
export function spansOf(words) {
  const starts = words.flatMap((_, i) => (joins(words, i) ? [] : [i]));
  return starts.map((start, i) => [start, starts[i + 1] ?? words.length]);
}

/** The index of the span that contains a token, at least 0. @param {Span[]} spans @param {number} token */
export const spanWith = (spans, token) =>
  Math.max(
    0,
    spans.findIndex(([start, end]) => token >= start && token < end),
  );

/**
 * The words, joined from their tokens. A word that has been read only in part is named by the tokens read so far.
 * @param {string[]} tokens
 * @param {Span[]} spans
 * @param {number} read number of tokens read so far
 */
export const joinedNames = (tokens, spans, read) =>
  spans.map(([start, end]) => tokens.slice(start, start < read ? Math.min(end, read) : end).join(""));

/** The mask code of keys that a view leaves out, beside those of model/trace.py. */
export const LEFT_OUT = 3;

/**
 * Whether each column is a special or a punctuation mark, and no word.
 * @param {string[]} columns
 * @param {Span[]} spans
 * @param {number[]} words the word of each token, -1 for specials
 */
export const noWords = (columns, spans, words) =>
  columns.map((text, i) => words[spans[i][0]] < 0 || /^\p{P}+$/u.test(text));

/**
 * All heads of one kind over some of the keys: each row is scaled to 1 again. `left` is the mean share over the rows
 * that was left out, by head; a row without any weight on the other keys stays empty.
 * @param {{ weights: Float32Array, mask: Uint8Array, layers: number, heads: number, queries: number, keys: number, area: number }} m
 * @param {boolean[]} out whether each key is left out
 */
export function withoutKeys(m, out) {
  const weights = new Float32Array(m.weights);
  const mask = m.mask.map((code, i) => (code || !out[i % m.keys] ? code : LEFT_OUT));
  const left = new Float64Array(m.layers * m.heads);
  left.forEach((_, head) => {
    for (let q = 0; q < m.queries; q++) {
      const row = weights.subarray(head * m.area + q * m.keys, head * m.area + (q + 1) * m.keys);
      const all = row.reduce((sum, weight) => sum + weight, 0);
      row.forEach((_, key) => out[key] && (row[key] = 0));
      const rest = row.reduce((sum, weight) => sum + weight, 0);
      if (all > 0) left[head] += (1 - rest / all) / m.queries;
      if (rest > 0) row.forEach((weight, key) => (row[key] = weight / rest));
    }
  });
  return { weights, mask, left };
}

/**
 * All heads of one kind between words: sums over the keys of a word, means over its queries among the first `read`.
 * A cell between words is masked if all of its cells between tokens are.
 * @param {{ weights: ArrayLike<number>, mask: Uint8Array, layers: number, heads: number, keys: number, area: number }} m
 * @param {Span[]} rows
 * @param {Span[]} columns
 * @param {number} read
 */
export function mergeWords(m, rows, columns, read) {
  const area = rows.length * columns.length;
  const heads = m.layers * m.heads;
  const weights = new Float32Array(heads * area);
  const mask = new Uint8Array(area);
  rows.forEach(([top, end], r) => {
    const bottom = Math.max(top + 1, Math.min(end, read));
    columns.forEach(([left, right], c) => {
      const at = r * columns.length + c;
      const sums = new Float64Array(heads);
      let code = 9;
      for (let q = top; q < bottom; q++)
        for (let k = left; k < right; k++) {
          code = Math.min(code, m.mask[q * m.keys + k]);
          for (let h = 0; h < heads; h++) sums[h] += m.weights[h * m.area + q * m.keys + k];
        }
      mask[at] = code;
      sums.forEach((sum, h) => (weights[h * area + at] = sum / (bottom - top)));
    });
  });
  return { area, weights, mask, queries: rows.length, keys: columns.length };
}

/** The keys that a map brings into sight: the chosen one, or the two that the row looks at most, the first one last. @param {{ seen: { key: number, weight: number }[] }} row @param {number | null | undefined} chosen */
export const keysToShow = ({ seen }, chosen) =>
  typeof chosen === "number"
    ? [chosen]
    : seen
        .slice(0, 2)
        .map(({ key }) => key)
        .reverse();
