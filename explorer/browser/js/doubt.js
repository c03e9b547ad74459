// Says why a translation should not be trusted: unseen tokens, an unusual length, little confidence, rare words, a
// sentence that is not in the data. As explorer/decoding/domain.py; a test compares both.

import { plural, wholePercent } from "./numbers.js";

/** @import { SiteModel } from "./structs" */
/** @import { Decoding } from "./types" */

const MOST_NAMED = 4;
const LONGEST_NAMED = 24; // characters
const TINY = 2 ** -1022;
const MANY_PIECES = 3;
// Share of words in pieces, the confidence that it needs, and the number of tokens of a sentence that needs it, too.
const [IN_PIECES, RATHER_LOW, SHORT] = [0.25, 0.6, 10];

/**
 * A sentence, or "".
 * @param {SiteModel} card
 * @param {Decoding} decoding the model's own, without edits
 * @param {import("./live/engine.js").Answer["source"]} source
 * @param {string} text
 * @returns {string}
 */
export function doubtOf({ doubt }, { alternatives, source: { tokens, words } }, source, text) {
  const cut = doubt.letters ? [] : wordsOf(tokens, words);
  const first = [
    ...unseen(source.unknown, tokens),
    ...tooLong(doubt, source.length, text),
    ...unsure(doubt, cut, source.length, alternatives.probabilities),
  ];
  const second = first.length ? first : shredded(doubt.most_pieces, cut);
  const reasons = second.length ? second : notListed(doubt.sources, text);
  return reasons.length ? `${doubt.data}, so do not trust the answer. ${reasons.join(" ")}` : "";
}

const BYTES = /(?:<0x[0-9A-F]{2}>)+/g; // how tokenizers write the bytes of characters that are not in their alphabet

/** Reads tokens that are bytes of UTF-8. @param {string} bytes */
const characters = (bytes) =>
  new TextDecoder().decode(Uint8Array.from(bytes.match(/(?<=x)../g) ?? [], (byte) => parseInt(byte, 16)));

/** Tokens that are not in the vocabulary, and characters spelt in bytes. @param {string[]} unknown @param {string[]} tokens */
function unseen(unknown, tokens) {
  const spelt = (tokens.join("").match(BYTES) ?? []).map(characters).join("").replace(/\s/g, "");
  const names = [...new Set([...unknown, ...spelt])].map((token) => `“${[...token].slice(0, LONGEST_NAMED).join("")}”`);
  if (!names.length) return [];
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return [`${listed(names.slice(0, MOST_NAMED))}${more} never occurred in training.`];
}

/** @param {SiteModel["doubt"]} doubt @param {number} tokens @param {string} text */
function tooLong({ longest, longest_words }, tokens, text) {
  /** @type {[string, number, number][]} */
  const sizes = [
    ["token", tokens, longest],
    ["word", text.trim().split(/\s+/).length, longest_words],
  ];
  return sizes
    .filter(([, length, most]) => most && length > most)
    .map(([unit, length, most]) => `It has ${plural(length, unit)}; the longest in training had ${most}.`);
}

/** The words of the source in quotation marks, with the number of their pieces. @typedef {{ name: string, pieces: number }[]} Words */

/** @param {string[]} tokens @param {number[]} words @returns {Words} */
function wordsOf(tokens, words) {
  return [...new Set(words)]
    .filter((word) => word >= 0)
    .map((word) => {
      const pieces = tokens.filter((_, i) => words[i] === word);
      return { name: `“${pieces.join("").replace(BYTES, characters)}”`, pieces: pieces.length };
    });
}

/** @param {Words} words @param {number} least */
const inPieces = (words, least) => [...new Set(words.filter(({ pieces }) => pieces >= least).map(({ name }) => name))];

/** @param {SiteModel["doubt"]} doubt @param {Words} words @param {number} length in tokens @param {number[][]} probabilities */
function unsure({ low, usual, letters, most_pieces }, words, length, probabilities) {
  // Rows of a prompt that the model was never trained to predict have none.
  const logs = probabilities.filter((row) => row.length).map((row) => Math.log(Math.max(TINY, ...row)));
  const mean = Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
  if (mean >= (usual || low)) {
    const cut = inPieces(words, 2);
    if (!most_pieces || mean >= RATHER_LOW) return [];
    if (cut.length < IN_PIECES * words.length) {
      if (length > SHORT) return [];
      const little = wholePercent(mean);
      return [`Although the sentence is short, the model gave only ${little} to its likeliest word (geometric mean).`];
    }
    const names = listed(cut.slice(0, MOST_NAMED));
    return [
      `It had to spell ${names} in pieces, and gave only ${wholePercent(mean)} to its likeliest word (geometric mean).`,
    ];
  }
  const mostly = usual ? `; on its own data, it nearly always gives more than ${wholePercent(usual)}` : "";
  const unit = letters ? "letter" : "word";
  const cut = inPieces(words, MANY_PIECES);
  const spelt = cut.length ? ` It had to spell ${listed(cut.slice(0, MOST_NAMED))} in small pieces.` : "";
  return [
    `On average, the model gave only ${wholePercent(mean)} to its likeliest ${unit} (geometric mean)${mostly}.${spelt}`,
  ];
}

/** @param {number} most @param {Words} words */
function shredded(most, words) {
  const cut = most ? inPieces(words, most + 1) : [];
  return cut.length
    ? [`It had to spell ${listed(cut.slice(0, MOST_NAMED))} in more than ${plural(most, "piece")}.`]
    : [];
}

/** @param {string[]} sources every source of the task, or none @param {string} text */
function notListed(sources, text) {
  const normal = text
    .toLowerCase()
    .replace(/[ .!?]+$/, "")
    .trim()
    .split(/\s+/)
    .join(" ");
  if (!sources.length || sources.includes(normal)) return [];
  return [`It is none of the ${sources.length.toLocaleString("en")} sentences of its task.`];
}

/** @param {string[]} names */
const listed = (names) =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
