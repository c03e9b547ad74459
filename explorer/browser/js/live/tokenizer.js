// Text to token ids and back: letters, whitespace, words and subwords. As model/text/tokenizer.py and subwords.py.

import { UNK } from "./search.js";
import { chunks, SPACE, WordSplitter } from "./words.js";
import { t } from "../words.js";

/** @typedef {import("./words.js").WordRules} WordRules */
/** @typedef {import("./words.js").Word} Word */
/** @typedef {{ key: string, start: number, end: number, word: number }} Piece offsets count UTF-16 units */
/** @typedef {{ ids: number[], tokens: string[], words: number[] }} Encoding */
/** @typedef {{ kind: string, lang: string, lowercase: boolean, pieces?: string[], alphabet?: string[], merges?: [string, string][] }} StoredTokenizer */

const SPECIALS = ["<pad>", "<sos>", "<eos>", "<unk>"];
const FIRST_BYTE = SPECIALS.length;
const FIRST_PIECE = FIRST_BYTE + 256;
const LONGEST_WORD = 100; // characters; longer words are merged in parts
const BYTE_KEY = 0xdc00; // the key of a byte is a lone surrogate, which no text contains

const isSpace = (/** @type {string} */ text) => SPACE.test(text);
/** Whether a piece begins with the mark for a space before it; a lone space is whitespace. @param {string} piece */
const isMarked = (piece) => piece.length > 1 && piece[0] === " ";

/** @abstract */
class Tokenizer {
  /** @param {StoredTokenizer} stored @param {WordRules} [rules] @param {readonly string[]} [pieces] spellings of the ids after the special ones */
  constructor({ lowercase, lang, pieces: listed = [] }, rules, pieces = listed) {
    this.lowercase = lowercase;
    this.lang = lang;
    this.spellings = [...SPECIALS, ...pieces];
    this.ids = new Map(pieces.map((piece, i) => [piece, i + SPECIALS.length]));
    this.rules = rules;
    /** Made of the rules when a text is first read, which a target never is. @type {WordSplitter | undefined} */
    this.splitter = undefined;
  }

  /**
   * The pieces of a cleaned, lower-cased text.
   * @type {(text: string) => Piece[]}
   */
  cut = () => [];

  /** The words of a text with marks for spaces. @param {string} text @returns {Piece[]} */
  markedWords(text) {
    if (!this.rules)
      throw new Error(t("The rules for words of the language {language} are not here.", { language: this.lang }));
    this.splitter ??= new WordSplitter(this.rules);
    return markSpaces(text, this.splitter.split(text));
  }

  /** Tokens of a text, without <sos> and <eos>. @param {string} given @returns {Encoding} */
  encode(given) {
    const text = given.toWellFormed();
    const { lowered, origin } = this.lowercase ? lower(text) : { lowered: text, origin: null };
    const pieces = this.cut(lowered);
    const ids = pieces.map((piece) => this.ids.get(piece.key) ?? UNK);
    const spelled = (/** @type {Piece} */ { key, start, end }) =>
      (origin ? text.slice(origin[start].start, origin[end - 1].end) : text.slice(start, end)) || key;
    const tokens = pieces.map((piece, i) => (ids[i] === UNK ? show(spelled(piece)) : this.label(ids[i])));
    return { ids, tokens, words: pieces.map(({ word }) => word) };
  }

  /** Ordinary text; <pad>, <sos> and <eos> are left out. @param {number[]} ids */
  decode(ids) {
    return this.texts(ids, SPECIALS[UNK]).join("");
  }

  /** The text of each id. @param {number[]} ids @param {string} unknown */
  texts(ids, unknown) {
    return join(ids.map((id) => this.spelling(id, unknown)));
  }

  /** @param {number} id @param {string} unknown */
  spelling(id, unknown) {
    if (id === UNK) return unknown && ` ${unknown}`;
    return id < SPECIALS.length ? "" : this.spellings[id];
  }

  /** The word of each id in the decoded text, -1 for <pad>, <sos> and <eos>. @param {number[]} ids @returns {number[]} */
  wordsOf(ids) {
    let word = 0;
    return ids.map((id) => (id < UNK ? -1 : word++));
  }

  /** An id as it is displayed. @param {number} id */
  label = (id) => show(this.spellings[id]);
}

class CharacterTokenizer extends Tokenizer {
  /** @param {string} text */
  cut = (text) => {
    let word = -1;
    let start = 0;
    /** @type {boolean | undefined} */
    let space;
    return [...text].map((key) => {
      if (isSpace(key) || space !== false) word++;
      space = isSpace(key);
      const piece = { key, start, end: start + key.length, word };
      start = piece.end;
      return piece;
    });
  };

  /** @param {number} id @param {string} unknown */
  spelling(id, unknown) {
    return id === UNK ? unknown : super.spelling(id, unknown);
  }

  /** @param {number[]} ids */
  wordsOf(ids) {
    const words = this.cut(this.texts(ids, "\ufffd").join("")).map(({ word }) => word);
    let at = 0;
    return ids.map((id) => (id < UNK ? -1 : words[at++]));
  }
}

class WhitespaceTokenizer extends Tokenizer {
  /** @param {string} text */
  cut = (text) => markSpaces(text, chunks(text));
}

class WordTokenizer extends Tokenizer {
  /** @param {string} text */
  cut = (text) => this.markedWords(text);
}

class SubwordTokenizer extends Tokenizer {
  /** @param {StoredTokenizer} stored @param {WordRules} [rules] */
  constructor(stored, rules) {
    const { alphabet = [], merges = [] } = stored;
    const pieces = [...new Set([...alphabet, ...merges.map(([left, right]) => left + right)])];
    const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
    super(stored, rules, [...bytes, ...pieces]);
    this.pieces = pieces;
    this.ids = new Map(pieces.map((piece, i) => [piece, i + FIRST_PIECE]));
    for (let byte = 0; byte < 256; byte++) this.ids.set(String.fromCharCode(BYTE_KEY + byte), FIRST_BYTE + byte);
    this.learned = merges;
    /** @type {Map<string, [number, number]> | undefined} */
    this.ranks = undefined;
  }

  /** Rank and result of each pair, listed when a text is first read. */
  get merges() {
    const id = (/** @type {string} */ piece) => /** @type {number} */ (this.ids.get(piece));
    return (this.ranks ??= new Map(
      this.learned.map(([left, right], rank) => [`${id(left)} ${id(right)}`, [rank, id(left + right)]]),
    ));
  }

  /** The ids of one marked word: the earliest learned merge applies first, at its leftmost position. @param {string} word @returns {number[]} */
  subwords(word) {
    const characters = [...word];
    if (characters.length > LONGEST_WORD) {
      const starts = Array.from({ length: Math.ceil(characters.length / LONGEST_WORD) }, (_, i) => i * LONGEST_WORD);
      return starts.flatMap((start) => this.subwords(characters.slice(start, start + LONGEST_WORD).join("")));
    }
    const symbols = characters.flatMap((character) => {
      const letter = this.ids.get(character); // a piece of one character is a letter
      return letter === undefined ? [...utf8(character)].map((byte) => FIRST_BYTE + byte) : [letter];
    });
    for (;;) {
      let best = -1;
      /** @type {[number, number]} */
      let merge = [Infinity, 0];
      for (let i = 0; i + 1 < symbols.length; i++) {
        const option = this.merges.get(`${symbols[i]} ${symbols[i + 1]}`);
        if (option && option[0] < merge[0]) [best, merge] = [i, option];
      }
      if (best < 0) return symbols;
      symbols.splice(best, 2, merge[1]);
    }
  }

  /** @param {string} text @returns {Piece[]} */
  cut = (text) => {
    /** @type {Piece[]} */
    const pieces = [];
    let end = 0;
    for (const { key: marked, start: begins, end: ends, word } of this.markedWords(text)) {
      const spaced = begins > end; // by exactly one space; any other whitespace is a word of its own
      let position = begins - (isMarked(marked) ? 1 : 0);
      let left = 0; // bytes of the present character
      for (const id of this.subwords(marked)) {
        if (id < FIRST_PIECE) {
          const character = String.fromCodePoint(/** @type {number} */ (text.codePointAt(position)));
          left = (left || utf8(character).length) - 1;
          const key = String.fromCharCode(BYTE_KEY + id - FIRST_BYTE);
          pieces.push({ key, start: position, end: position + character.length, word });
          if (!left) position += character.length;
          continue;
        }
        const key = this.pieces[id - FIRST_PIECE];
        const start = position;
        position += key.length;
        if (position > begins) pieces.push({ key, start: Math.max(start, begins), end: position, word });
        else if (spaced) pieces.push({ key, start, end: position, word });
      }
      end = ends;
    }
    return pieces;
  };

  /** @param {number[]} ids @param {string} unknown */
  texts(ids, unknown) {
    /** @type {string[]} */
    const spelled = [];
    let decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    ids.forEach((id, i) => {
      if (id < FIRST_BYTE || id >= FIRST_PIECE) {
        spelled.push(this.spelling(id, unknown));
        return;
      }
      const goesOn = ids[i + 1] >= FIRST_BYTE && ids[i + 1] < FIRST_PIECE;
      spelled.push(decoder.decode(Uint8Array.of(id - FIRST_BYTE), { stream: goesOn }));
      if (!goesOn) decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    });
    return join(spelled);
  }

  /** @param {number[]} ids */
  wordsOf(ids) {
    const texts = this.texts(ids, "\ufffd");
    const spelled = texts.join("");
    const words = new Array(spelled.length + 1).fill(0); // of each character; the space before a word belongs to it
    let end = 0;
    let last = 0;
    for (const word of this.markedWords(spelled)) {
      words.fill(word.word, end, word.end);
      [end, last] = [word.end, word.word];
    }
    words.fill(last, end);
    let place = 0;
    return ids.map((id, i) => {
      const word = words[place + (isMarked(texts[i]) ? 1 : 0)];
      place += texts[i].length;
      return id < UNK ? -1 : word;
    });
  }
}

const utf8 = (/** @type {string} */ text) => new TextEncoder().encode(text);

/** Pieces for words, each with a mark for a space before it, and for the whitespace that no mark stands for. @param {string} text @param {Word[]} words @returns {Piece[]} */
function markSpaces(text, words) {
  /** @type {Piece[]} */
  const pieces = [];
  let end = 0;
  let word = 0;
  const whitespace = (/** @type {string} */ gap) => {
    for (const key of gap) pieces.push({ key, start: end, end: (end += key.length), word: word++ });
  };
  for (const { text: found, start } of words) {
    const gap = text.slice(end, start);
    const mark = gap || !end ? " " : "";
    if (gap && (gap !== " " || !end)) whitespace(gap);
    end = start + found.length;
    pieces.push({ key: mark + found, start, end, word: word++ });
  }
  whitespace(text.slice(end));
  return pieces;
}

/** The text of each piece: a mark becomes a space, except at the start and after whitespace. @param {string[]} pieces @returns {string[]} */
function join(pieces) {
  let afterSpace = true;
  return pieces.map((piece) => {
    const text = afterSpace && isMarked(piece) ? piece.slice(1) : piece;
    if (text) afterSpace = isSpace(/** @type {string} */ ([...text].pop()));
    return text;
  });
}

/** Lower-cased text and, where its length changed, the original character of each unit. @param {string} text */
function lower(text) {
  const lowered = text.toLowerCase();
  if (lowered.length === text.length) return { lowered, origin: null };
  /** @type {{ start: number, end: number }[]} */
  const origin = [];
  const parts = [];
  let start = 0;
  for (const character of text) {
    const part = character.toLowerCase();
    const end = start + character.length;
    for (let n = 0; n < part.length; n++) origin.push({ start, end });
    parts.push(part);
    start = end;
  }
  return { lowered: parts.join(""), origin };
}

/** @type {Record<string, string>} */
const VISIBLE = { " ": "␣", "\t": "⇥", "\n": "↵", "\r": "␍", "\u00a0": "⍽" };

/** A piece for display: without its mark, with whitespace, control and lone combining characters made visible. @param {string} piece */
function show(piece) {
  const bare = isMarked(piece) ? piece.slice(1) : piece;
  return Array.from(bare, (character, i) => {
    if (character in VISIBLE) return VISIBLE[character];
    const code = /** @type {number} */ (character.codePointAt(0));
    if (character < " ") return String.fromCharCode(0x2400 + code);
    if (/[\p{Cc}\p{Zs}\p{Zl}\p{Zp}]/u.test(character) || (i === 0 && /\p{Cf}/u.test(character)))
      return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
    return i === 0 && /\p{M}/u.test(character) ? `◌${character}` : character;
  }).join("");
}

const KINDS = {
  characters: CharacterTokenizer,
  whitespace: WhitespaceTokenizer,
  words: WordTokenizer,
  subwords: SubwordTokenizer,
};

/**
 * The source and target tokenizer of a model folder's tokenizer.json.
 * @param {{ source: StoredTokenizer, target: StoredTokenizer | { same_as: "source", lang: string } }} stored
 * @param {Record<string, WordRules>} rules by language @returns {{ source: Tokenizer, target: Tokenizer }}
 */
export function readTokenizers({ source, target }, rules) {
  const make = (/** @type {StoredTokenizer} */ one) => {
    const Kind = KINDS[/** @type {keyof typeof KINDS} */ (one.kind)];
    if (!Kind)
      throw new Error(
        t("Tokenizers of the kind {kind} are not computed in the browser.", { kind: String(one.kind).slice(0, 20) }),
      );
    return new Kind(one, rules[one.lang]);
  };
  return { source: make(source), target: make("same_as" in target ? { ...source, lang: target.lang } : target) };
}
