// Two sentences and their translations, with the words that only one of them has in bold; as
// explorer/decoding/word_changes.py.

import { make } from "./dom.js";
import { matched } from "./matching.js";
import { pieces } from "./words.js";

/** @import { Content } from "./types" */

const WORDS = /(?:[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+)\s*/gu;
const SIGNS = /^[^\p{L}\p{N}]+$/u; // bold is hardly to be seen in punctuation

/** Both sentences with their translations; words that only one of them has are bold. @param {[string, string][]} texts @returns {Content[][]} */
export function pairOf([a, b]) {
  const [source, target] = [0, 1].map((i) => marksOf(a[i], b[i]));
  return [
    pieces("A: {source} → {target}", { source: source[0], target: target[0] }),
    pieces("B: {source} → {target}", { source: source[1], target: target[1] }),
  ];
}

/** Two texts, each with the words that only it has in bold. @param {string} before @param {string} after @returns {Content[][]} */
function marksOf(before, after) {
  const written = [before, after].map((text) => text.trimStart().match(WORDS) ?? []);
  const bare = written.map((words) => words.map((word) => word.trim()));
  const { only } = matched(bare[0], bare[1]);
  return written.map((words, side) =>
    words.flatMap((word, i) =>
      only[side].has(i)
        ? [make("b", SIGNS.test(bare[side][i]) ? "sign" : "", bare[side][i]), word.slice(bare[side][i].length)]
        : [word],
    ),
  );
}
