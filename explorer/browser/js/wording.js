// Tokens and numbers in words: the lines of a readout, what a row looks at, and the badges of a translation.

import { make, say } from "./dom.js";
import { NEXT_READ, SPECIALS } from "./names.js";
import { fourDecimals, wholePercent } from "./numbers.js";
import { NAMED_FROM, entropyOf, isSpread, joinedNames, spansOf } from "./weights.js";
import { pieces, t } from "./words.js";

/** @import { Content, Find, Row } from "./types" */

/** What a decoder read and predicted, as a sentence. @param {import("./structs").Target} target */
export function sentenceIn({ tokens, words, predicted }) {
  const all = [...tokens, predicted[predicted.length - 1]];
  const names = joinedNames(all, spansOf([...words, -1]), all.length);
  return names
    .filter((name) => !SPECIALS.includes(name))
    .join(" ")
    .replace(/ (?=[.,;:!?…)\]](?: |$))/g, "");
}

/** Why a cell has no weight; "" if it has. @param {number} mask its code */
export const whyMasked = (mask) =>
  [
    "",
    t("masked (future): the decoder may not look at later positions"),
    t("masked (padding): filler, not a word"),
    t("left out: <eos>, another special, or punctuation"),
  ][mask] ?? "";
/** The same, below a map. @param {number} mask */
export const maskName = (mask) => ["", t("future"), t("padding")][mask];
/** The same, for a table. @param {number} mask */
export const maskCell = (mask) => ["", t("masked: future"), t("masked: padding"), t("left out")][mask];

/** What the attention of a sentence is of: the row itself, or a kind of attention when something has been read. @typedef {"plain" | "write" | "prompt"} Look */
/** @typedef {Record<"none" | "spread" | "keys", (fields: import("./words.js").Fields) => Content[]>} Looks */
/** @type {Record<Look, Looks>} */
const LOOKS = {
  plain: {
    none: (f) => pieces("{who} sees nothing: every key is masked.", f),
    spread: (f) =>
      pieces(
        "{who} spreads its weight over {n} key ({even} each if even), at most {most} on {key}.",
        "{who} spreads its weight over {n} keys ({even} each if even), at most {most} on {key}.",
        f,
      ),
    keys: (f) => pieces("{who} looks at {keys}.", f),
  },
  write: {
    none: (f) => pieces("To write {word}, having read {read}, {who} sees nothing: every key is masked.", f),
    spread: (f) =>
      pieces(
        "To write {word}, having read {read}, {who} spreads its weight over {n} key ({even} each if even), at most {most} on {key}.",
        "To write {word}, having read {read}, {who} spreads its weight over {n} keys ({even} each if even), at most {most} on {key}.",
        f,
      ),
    keys: (f) => pieces("To write {word}, having read {read}, {who} looks at {keys}.", f),
  },
  prompt: {
    none: (f) => pieces("{read} (the prompt goes on with {word}), {who} sees nothing: every key is masked.", f),
    spread: (f) =>
      pieces(
        "{read} (the prompt goes on with {word}), {who} spreads its weight over {n} key ({even} each if even), at most {most} on {key}.",
        "{read} (the prompt goes on with {word}), {who} spreads its weight over {n} keys ({even} each if even), at most {most} on {key}.",
        f,
      ),
    keys: (f) => pieces("{read} (the prompt goes on with {word}), {who} looks at {keys}.", f),
  },
};

/** The keys that a sentence names: the heaviest, at most `most`; or the one that a row without a preference gives most. @param {Pick<Row, "seen">} row @param {number} most */
export const namedKeys = ({ seen }, most) =>
  isSpread(entropyOf(seen), seen.length)
    ? seen.slice(0, 1)
    : seen.slice(0, most).filter((c, i) => c.weight >= NAMED_FROM || i < 1);

/** A line of a readout: its name, then its content. @param {string} name @param {Content[]} content */
export const line = (name, ...content) => make("div", "", make("span", "name", name), ...content);

/**
 * "*Hund* looks at *dog* 62 %, *a* 21 %.": the heaviest keys of a row, at most `most`; or that it prefers none.
 * @param {Row} row
 * @param {string[]} columns
 * @param {string} side
 * @param {number} most
 * @param {Look} look how the sentence begins
 * @param {import("./words.js").Fields} fields `who` looks, and what else the beginning names
 * @returns {Content[]}
 */
export function looksAt({ seen }, columns, side, most, look, fields) {
  if (!seen.length) return LOOKS[look].none(fields);
  if (isSpread(entropyOf(seen), seen.length)) {
    const even = wholePercent(1 / seen.length);
    const key = numbered(columns, seen[0].key, side);
    return LOOKS[look].spread({ ...fields, n: seen.length, even, most: wholePercent(seen[0].weight), key });
  }
  return LOOKS[look].keys({ ...fields, keys: weighed(namedKeys({ seen }, most), columns, side) });
}

/** Keys with their weights: "*dog* 62 %, *a* 21 %". @param {{ key: number, weight: number }[]} keys @param {string[]} columns @param {string} side @returns {Content[]} */
export const weighed = (keys, columns, side) =>
  keys.flatMap(({ key, weight }, i) => [i ? ", " : "", numbered(columns, key, side), ` ${wholePercent(weight)}`]);

/**
 * The keys of a row, for a table: each with its weight and its rank, or with its weight in each of several heads.
 * @param {Row[]} heads the row in each head
 * @param {string[]} columns
 * @param {string} side
 */
export function keyRows(heads, columns, side) {
  return columns.map((_, key) => {
    const cells = heads.map((row) => row.cells[key]);
    const { mask, rank } = cells[0];
    const ranked = cells.length < 2;
    const weights = cells.map(({ weight }) => (mask ? null : weight));
    const texts = cells.map(({ weight }) => (mask ? maskCell(mask) : fourDecimals(weight)));
    return {
      at: [key, ...weights, ...(ranked ? [mask ? null : rank] : [])],
      cells: [numbered(columns, key, side), ...texts, ...(ranked ? [mask ? "–" : `${rank}`] : [])],
    };
  });
}

/** The edits of a decoding, which are English in files (as explorer/decoding/head_change.py). @param {string[]} edits */
export function editsInWords(edits) {
  /** @type {Record<string, string>} */
  const names = {
    ...{ encoder: t("encoder"), decoder: t("decoder"), cross: t("cross"), source: t("source"), target: t("target") },
    ...{ zero: t("zero"), uniform: t("uniform"), mean: t("mean"), pattern: t("pattern"), output: t("output") },
  };
  return edits.map((edit) => {
    const [, kind, layer, head, op, row] = /^(\w+) layer (\d+) head (\d+): (\w+)(?: row (\d+))?$/.exec(edit) ?? [];
    const fields = { kind: names[kind], layer, head, row, op: names[op] };
    if (row) return t("{kind} layer {layer} head {head}: row {row}", fields);
    if (kind) return t("{kind} layer {layer} head {head}: {op}", fields);
    const [, side, token, place] = /^(\w+) token (\d+) at position (\d+)$/.exec(edit) ?? [];
    return side ? t("{side} token {token} at position {place}", { side: names[side], token, place }) : edit;
  });
}

/**
 * Shows whether the model is untrained, and which heads were edited.
 * @param {Find} find
 * @param {{ trained: boolean, edits: string[] }} run
 */
export function drawBadges(find, { trained, edits }) {
  find(".untrained").hidden = trained;
  find(".edited").hidden = !edits.length;
  say(find(".edited"), t("edited: {edits}", { edits: editsInWords(edits).join(", ") }));
}

/**
 * A token, isolated so that its writing direction cannot move the text beside it.
 * @param {string} text
 * @param {string} side
 */
export function tokenName(text, side) {
  const token = make("bdi", `token ${side}`, text);
  if (SPECIALS.includes(text)) token.classList.add("special");
  return token;
}

/**
 * What a row of the decoder reads, and the token that follows: the model predicted it, read it next, somebody chose it,
 * or it is of the prompt.
 * @param {{ by: string }} target
 * @param {Content} read
 * @param {Content} word
 * @param {"predicted" | "chosen" | "given"} [how]
 */
export function readsOn({ by }, read, word, how = "predicted") {
  if (how === "given") return pieces("reads {read} → the prompt goes on: {word}", { read, word });
  if (how === "chosen") return pieces("reads {read} → {how}: {word}", { read, word, how: choiceName(by) });
  return by === NEXT_READ
    ? pieces("reads {read} → next token read: {word}", { read, word })
    : pieces("reads {read} → predicts {word}", { read, word });
}

/** How a token that the model did not simply predict came about. @param {string} by */
export const choiceName = (by) =>
  ({
    chosen: t("chosen"),
    "drawn at random": t("drawn at random"),
    "taken by beam search": t("taken by beam search"),
    [NEXT_READ]: t("next token read"),
  })[by] ?? by;

/** A token with its position, counted from 1. @param {string[]} tokens @param {number} i @param {string} side */
export const numbered = (tokens, i, side) =>
  make("span", "named", make("span", "place", `${i + 1}`), "\u2009", tokenName(tokens[i], side));
