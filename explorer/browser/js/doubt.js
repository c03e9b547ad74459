// Says why a translation should not be trusted: unseen tokens, an unusual length, little confidence, rare words, a
// sentence that is not in the data. As explorer/decoding/domain.py; a test compares both.

import { wholePercent, listed } from "./numbers.js";
import { t } from "./words.js";

/** @import { SiteModel } from "./structs" */
/** @import { Decoding } from "./types" */

const MOST_NAMED = 4;
const LONGEST_NAMED = 24; // characters
const TINY = 2 ** -1022;
const MANY_PIECES = 3;
// Share of words in pieces, the confidence that it needs, and the number of tokens of a sentence that needs it, too.
const [IN_PIECES, RATHER_LOW, SHORT] = [0.25, 0.68, 10];

/**
 * A sentence, or "".
 * @param {SiteModel} card
 * @param {Decoding} decoding the model's own, without edits
 * @param {import("./live/decode.js").Answer["source"]} source
 * @param {string} text
 * @returns {string}
 */
export function doubtOf({ doubt }, { alternatives, source: { tokens, words } }, source, text) {
  const cut = doubt.letters ? [] : wordsOf(tokens, words);
  const long = tooLong(doubt, source.length, text);
  const others = [...unseen(source.unknown, tokens), ...unsure(doubt, cut, source.length, alternatives.probabilities)];
  const first = [...long, ...others];
  const second = first.length ? first : shredded(doubt.most_pieces, cut);
  const reasons = second.length ? second : notListed(doubt, text);
  if (!reasons.length) return "";
  // A sentence that is too long may be about the right things.
  const data = long.length && !others.length ? "" : doubt.data;
  return [t("Do not trust the answer."), ...reasons, data].filter(Boolean).join(" ");
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
  return [t("{tokens} never occurred in training.", { tokens: named(names) })];
}

/** Lists the first of these words, and counts the others. @param {string[]} words */
function named(words) {
  const n = words.length - MOST_NAMED;
  return listed([...words.slice(0, MOST_NAMED), ...(n > 0 ? [t("{n} more", "{n} more", { n })] : [])]);
}

/** @param {SiteModel["doubt"]} doubt @param {number} tokens @param {string} text */
function tooLong({ longest, longest_words }, tokens, text) {
  const words = text.trim().split(/\s+/).length;
  const sentences = [];
  if (longest && tokens > longest)
    sentences.push(
      t(
        "The sentence has {n} token; the longest in training had {longest}.",
        "The sentence has {n} tokens; the longest in training had {longest}.",
        { n: tokens, longest },
      ),
    );
  if (longest_words && words > longest_words)
    sentences.push(
      t(
        "The sentence has {n} word; the longest in training had {longest}.",
        "The sentence has {n} words; the longest in training had {longest}.",
        { n: words, longest: longest_words },
      ),
    );
  return sentences;
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
  const share = wholePercent(mean);
  if (mean >= (usual || low)) {
    const cut = inPieces(words, 2);
    if (!most_pieces || mean >= RATHER_LOW) return [];
    if (cut.length < IN_PIECES * words.length) {
      if (length > SHORT) return [];
      return [
        t("Although the sentence is short, the model gave only {share} to its likeliest word (geometric mean).", {
          share,
        }),
      ];
    }
    return [
      t("It had to spell {words} in pieces, and gave only {share} to its likeliest word (geometric mean).", {
        words: named(cut),
        share,
      }),
    ];
  }
  const cut = inPieces(words, MANY_PIECES);
  return [
    average(share, usual, letters),
    ...(cut.length ? [t("It had to spell {words} in small pieces.", { words: named(cut) })] : []),
  ];
}

/** @param {string} share @param {number} usual @param {boolean} letters */
function average(share, usual, letters) {
  const more = wholePercent(usual);
  if (usual && letters)
    return t(
      "On average, the model gave only {share} to its likeliest letter (geometric mean); on its own data, it nearly always gives more than {more}.",
      { share, more },
    );
  if (usual)
    return t(
      "On average, the model gave only {share} to its likeliest word (geometric mean); on its own data, it nearly always gives more than {more}.",
      { share, more },
    );
  return letters
    ? t("On average, the model gave only {share} to its likeliest letter (geometric mean).", { share })
    : t("On average, the model gave only {share} to its likeliest word (geometric mean).", { share });
}

/** @param {number} most @param {Words} words */
function shredded(most, words) {
  const cut = most ? inPieces(words, most + 1) : [];
  if (!cut.length) return [];
  return [
    t("It had to spell {words} in more than {n} piece.", "It had to spell {words} in more than {n} pieces.", {
      words: named(cut),
      n: most,
    }),
  ];
}

/** @param {SiteModel["doubt"]} doubt @param {string} text */
function notListed({ sources, spellings, years, not_a_source }, text) {
  if (spellings.length) return isSpelling(text, spellings, years) ? [] : [not_a_source];
  const normal = text
    .toLowerCase()
    .replace(/[ .!?]+$/, "")
    .trim()
    .split(/\s+/)
    .join(" ");
  if (!sources.length || sources.includes(normal)) return [];
  return [t("It is none of the {n} sentences of its task.", { n: sources.length })];
}

/** Whether a text is a spelling of a day, as `is_spelling` of model/data/dates.py. @param {string} text @param {string[]} templates @param {[number, number]} years */
function isSpelling(text, templates, [first, last]) {
  const written = text.trim().toLowerCase();
  const numbers = (written.match(/[0-9]{1,4}/g) ?? []).map(Number);
  if (numbers.length > 3) return false;
  const names = (written.match(/[a-z]+/g) ?? []).map((name) => MONTHS.indexOf(name.slice(0, 3)) + 1).filter(Boolean);
  return numbers
    .filter((year) => year >= first && year <= last)
    .flatMap((year) => (names.length ? names : numbers).flatMap((month) => numbers.map((day) => [year, month, day])))
    .some((day) => spellingsOf(day, templates).includes(written));
}

const inEnglish = (/** @type {Date} */ day, /** @type {Intl.DateTimeFormatOptions} */ part) =>
  day.toLocaleDateString("en", { ...part, timeZone: "UTC" }).toLowerCase();
const MONTHS = Array.from({ length: 12 }, (_, i) =>
  inEnglish(new Date(Date.UTC(2000, i)), { month: "long" }).slice(0, 3),
);
/** @type {Record<number, string>} */
const ENDINGS = { 1: "st", 2: "nd", 3: "rd" };

/** Every spelling of a day in lower case, none if there is no such day. @param {number[]} parts year, month and day @param {string[]} templates */
function spellingsOf([year, month, day], templates) {
  const when = new Date(Date.UTC(year, month - 1, day));
  if (when.getUTCMonth() !== month - 1 || when.getUTCDate() !== day) return [];
  const padded = (/** @type {number} */ number) => `${number}`.padStart(2, "0");
  const th = day > 10 && day < 14 ? "th" : (ENDINGS[day % 10] ?? "th");
  const parts = { y: year, m: month, mm: padded(month), d: day, dd: padded(day), th };
  const [monthName, weekday] = [inEnglish(when, { month: "long" }), inEnglish(when, { weekday: "long" })];
  const before = ["", ...[weekday, weekday.slice(0, 3)].flatMap((name) => [`${name} `, `${name}, `])];
  return [monthName, monthName.slice(0, 3)].flatMap((name) =>
    templates.flatMap((template) => {
      /** @type {Record<string, string | number>} */
      const fields = { ...parts, month: name };
      const date = template.replace(/{(\w+)}/g, (_, field) => `${fields[field]}`);
      return before.map((style) => style + date);
    }),
  );
}
