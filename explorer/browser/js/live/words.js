// The words of a text as spaCy's tokenizer splits it, by its rules as data (explorer/browser/word_rules.py).

/** @typedef {{ exceptions: Record<string, string[]>, prefix: string, suffix: string, infix: string, token: string | null, url: string | null }} WordRules */
/** @typedef {{ text: string, start: number }} Word */

// What Python's str.isspace holds of; \s in JavaScript is not quite the same.
const SPACES = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
export const SPACE = new RegExp(`[${SPACES}]`);
const RUNS = new RegExp(`[${SPACES}]+|[^${SPACES}]+`, "g");
const CHUNKS = new RegExp(`[^${SPACES}]+`, "g");

/** The stretches of a text between whitespace. @param {string} text @returns {Word[]} */
export const chunks = (text) =>
  Array.from(text.matchAll(CHUNKS), ({ 0: found, index }) => ({ text: found, start: index }));

/** Splits texts of one language. */
export class WordSplitter {
  /** @param {WordRules} rules */
  constructor(rules) {
    const pattern = (/** @type {string | null} */ source) => (source ? new RegExp(source, "u") : null);
    this.exceptions = new Map(Object.entries(rules.exceptions));
    this.prefix = /** @type {RegExp} */ (pattern(rules.prefix));
    this.suffix = /** @type {RegExp} */ (pattern(rules.suffix));
    this.infix = new RegExp(rules.infix, "gu");
    this.token = pattern(rules.token);
    this.url = pattern(rules.url);
    // Exceptions that the patterns below would split are found in the finished list of words.
    this.phrases = [...this.exceptions.keys()]
      .filter(
        (text) =>
          this.prefix.test(text) || this.suffix.test(text) || text.search(this.infix) >= 0 || text.includes(" "),
      )
      .map((text) => ({ text, parts: this.pieces(text, false).map((piece) => piece.text) }));
  }

  /** The words of a text, without whitespace. @param {string} text @returns {Word[]} */
  split(text) {
    const pieces = this.mended(this.pieces(text, true), text);
    return pieces.flatMap((piece) =>
      chunks(piece.text).map((word) => ({ text: word.text, start: piece.start + word.start })),
    );
  }

  /** Split at whitespace, and each stretch by affixes; whitespace but for single spaces is a piece, too. @param {string} text @param {boolean} special @returns {Word[]} */
  pieces(text, special) {
    /** @type {Word[]} */
    const found = [];
    for (const { 0: run, index } of text.matchAll(RUNS)) {
      // A space that ends a stretch belongs to it; what whitespace is left stands for itself.
      const skipped = SPACE.test(run) && run[0] === " " && index > 0 ? 1 : 0;
      const rest = run.slice(skipped);
      if (!rest) continue;
      let start = index + skipped;
      for (const piece of this.parts(rest, special)) {
        found.push({ text: piece, start });
        start += piece.length;
      }
    }
    return found;
  }

  /** The parts of a stretch: prefixes and suffixes come off one by one, then the rest is split inside. @param {string} text @param {boolean} special @returns {string[]} */
  parts(text, special) {
    const isSpecial = (/** @type {string} */ part) => special && this.exceptions.has(part);
    /** @type {string[]} */
    const before = [];
    /** @type {string[]} */
    const after = [];
    let last = -1;
    while (text && text.length !== last) {
      if (this.token?.test(text) || isSpecial(text)) break;
      last = text.length;
      const prefix = lengthOf(this.prefix, text);
      if (prefix && isSpecial(text.slice(prefix))) {
        before.push(text.slice(0, prefix));
        text = text.slice(prefix);
        break;
      }
      const suffix = lengthOf(this.suffix, text.slice(prefix));
      if (suffix && isSpecial(text.slice(0, -suffix))) {
        after.push(text.slice(-suffix));
        text = text.slice(0, -suffix);
        break;
      }
      const both = prefix + suffix <= text.length;
      if (prefix) before.push(text.slice(0, prefix));
      if (suffix && (!prefix || both)) after.push(text.slice(-suffix));
      text = text.slice(prefix, suffix && (!prefix || both) ? text.length - suffix : undefined);
    }
    return [...before, ...(text ? this.inner(text, special) : []), ...after.reverse()];
  }

  /** What is left of a stretch without its affixes. @param {string} text @param {boolean} special @returns {string[]} */
  inner(text, special) {
    const exception = special && this.exceptions.get(text);
    if (exception) return exception;
    if (this.token?.test(text) || this.url?.test(text)) return [text];
    /** @type {string[]} */
    const parts = [];
    let start = 0;
    for (const { 0: infix, index } of text.matchAll(this.infix)) {
      if (index === 0) continue;
      if (index !== start) parts.push(text.slice(start, index));
      if (infix) parts.push(infix);
      start = index + infix.length;
    }
    if (start < text.length) parts.push(text.slice(start));
    return parts;
  }

  /** Put exceptions in place of the pieces that spell them, the longest first. @param {Word[]} pieces @param {string} text @returns {Word[]} */
  mended(pieces, text) {
    const matches = pieces.flatMap((_, start) =>
      this.phrases
        .filter(({ parts }) => parts.every((part, i) => pieces[start + i]?.text === part))
        .map(({ parts }) => ({ start, end: start + parts.length })),
    );
    matches.sort((a, b) => b.end - b.start - (a.end - a.start) || a.start - b.start);
    const seen = new Set();
    /** @type {Map<number, number>} */
    const chosen = new Map();
    for (const { start, end } of matches) {
      if (!seen.has(start) && !seen.has(end - 1)) chosen.set(start, end);
      for (let i = start; i < end; i++) seen.add(i);
    }
    /** @type {Word[]} */
    const mended = [];
    for (let i = 0; i < pieces.length; i++) {
      const end = chosen.get(i) ?? i;
      const last = pieces[end - 1];
      // Matched word by word, so spaces may stand between them: then it is another text, and no exception.
      const exception = end > i && this.exceptions.get(text.slice(pieces[i].start, last.start + last.text.length));
      if (!exception) {
        mended.push(pieces[i]);
        continue;
      }
      let start = pieces[i].start;
      for (const part of exception) {
        mended.push({ text: part, start });
        start += part.length;
      }
      i = end - 1;
    }
    return mended;
  }
}

/** How much of the text a pattern takes. @param {RegExp} pattern @param {string} text @returns {number} */
const lengthOf = (pattern, text) => text.match(pattern)?.[0].length ?? 0;
