// Attention between words: summed over the subwords of a key, averaged over the subwords of a query read so far.

/** @typedef {import("./types").Span} Span */

/**
 * Whether token `i` continues the word before it; -1 marks tokens that belong to no word.
 * @param {number[]} words the word of each token
 * @param {number} i
 */
export const joins = (words, i) => i > 0 && words[i] >= 0 && words[i] === words[i - 1];

/** First token and end (exclusive) of each word. @param {number[]} words @returns {Span[]} */
export function spansOf(words) {
  const starts = words.flatMap((_, i) => (joins(words, i) ? [] : [i]));
  return starts.map((start, i) => [start, starts[i + 1] ?? words.length]);
}

/** The index of the span that holds a token, at least 0. @param {Span[]} spans @param {number} token */
export const spanWith = (spans, token) =>
  Math.max(0, spans.findIndex(([start, end]) => token >= start && token < end));

/**
 * The words. A word that has been read only in part is named by the tokens read so far.
 * @param {string[]} tokens
 * @param {Span[]} spans
 * @param {number} read number of tokens read so far
 */
export const joinedNames = (tokens, spans, read) =>
  spans.map(([start, end]) => tokens.slice(start, start < read ? Math.min(end, read) : end).join(""));

/**
 * All heads of one kind between words: sums over the keys of a word, means over its queries among the first `read`.
 * A cell between words is masked if all of its cells between tokens are.
 * @param {{ weights: ArrayLike<number>, mask: Uint8Array, layers: number, heads: number, keys: number, area: number }} m
 * @param {Span[]} rows
 * @param {Span[]} columns
 * @param {number} read
 */
export function mergeWords(m, rows, columns, read) {
  const area = rows.length * columns.length, heads = m.layers * m.heads;
  const weights = new Float32Array(heads * area), mask = new Uint8Array(area);
  rows.forEach(([top, end], r) => {
    const bottom = Math.max(top + 1, Math.min(end, read));
    columns.forEach(([left, right], c) => {
      const at = r * columns.length + c, sums = new Float64Array(heads);
      let code = 9;
      for (let q = top; q < bottom; q++) for (let k = left; k < right; k++) {
        code = Math.min(code, m.mask[q * m.keys + k]);
        for (let h = 0; h < heads; h++) sums[h] += m.weights[h * m.area + q * m.keys + k];
      }
      mask[at] = code;
      sums.forEach((sum, h) => (weights[h * area + at] = sum / (bottom - top)));
    });
  });
  return { area, weights, mask, queries: rows.length, keys: columns.length };
}
