// Checks answers and exercises in the browser, as explorer/lessons/answers.py, exercises.py and sealed.py.

/** @import { LessonQuestion, LessonTerm } from "./structs" */

/** Where the reader is, as parameters of a link. @typedef {Record<string, string>} Query */

export const MAX_ANSWER = 200; // characters of a typed answer
export const ANSWER = "⟦answer⟧"; // the place of the answer in an explanation

const NUMBER = /^[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})$/;
const MARKS = "`*.\"'“”„‘’ ";
const [START, FACTOR] = [0xcbf29ce484222325n, 0x100000001b3n];

/** An answer without extra spaces, capitals, Markdown marks, quotation marks and full stops at its ends. @param {string} text */
export function bare(text) {
  const letters = [...text.trim().split(/\s+/).join(" ")];
  const kept = (/** @type {string} */ letter) => !MARKS.includes(letter);
  const inside = letters.slice(letters.findIndex(kept), letters.findLastIndex(kept) + 1).join("");
  return letters.some(kept) ? inside.toUpperCase().toLowerCase().replaceAll("ς", "σ") : "";
}

/** A number written as "0.25", "0,25" or "25 %" (25); NaN if it is not a number. @param {string} text */
export function numberIn(text) {
  const cleaned = text.trim().replace(/%$/, "").trim().replaceAll("−", "-").replaceAll(",", ".");
  return NUMBER.test(cleaned) ? Number(cleaned) : NaN;
}

/** The FNV-1a hash of 64 bits of a normalised answer. @param {string} salt @param {string} text */
export const hashed = (salt, text) =>
  new TextEncoder()
    .encode(`${salt}\n${text}`)
    .reduce((value, byte) => BigInt.asUintN(64, (value ^ BigInt(byte)) * FACTOR), START)
    .toString(16)
    .padStart(16, "0");

/** Decodes a sealed text. @param {string} salt @param {string} text */
export function opened(salt, text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  for (let at = 0; at < bytes.length; at += 8) {
    const key = hashed(salt, `${at / 8}`);
    for (let i = at; i < Math.min(at + 8, bytes.length); i++) bytes[i] ^= parseInt(key.substr(2 * (i - at), 2), 16);
  }
  return new TextDecoder().decode(bytes);
}

/**
 * Whether an answer is right: a typed text, or the index of a choice. `value` is that of a question about the reader's
 * own sentence.
 * @param {LessonQuestion} question @param {string} given @param {string} value
 */
export function isRight({ choices, salt, accepted, number, within, here }, given, value = "") {
  if (choices.length) return accepted.includes(hashed(salt, given));
  const text = bare(given.slice(0, MAX_ANSWER));
  if (here) return text === bare(value);
  const typed = numberIn(text);
  if (number !== null) return Math.abs(typed - number) <= within + 1e-9;
  return (
    accepted.includes(hashed(salt, Number.isNaN(typed) ? text : `${typed}`)) || accepted.includes(hashed(salt, text))
  );
}

/** @type {Record<string, (here: Query, start: Query, values: Query) => boolean>} */
const EXERCISES = {
  at: (here, _, values) => {
    const [row = "0", key = "0"] = (here.cell ?? "0-0").split("-");
    /** @type {Query} */
    const place = { kind: "cross", layer: "0", head: "0", step: "0", ...here, row, key };
    const { block = "", ...rest } = values;
    const inside = !block || `${here.block ?? ""}.`.startsWith(`${block}.`); // it, or a part of it
    return inside && Object.entries(rest).every(([name, wanted]) => wanted === "" || place[name] === wanted);
  },
  own_sentence: (here, start) => textOf(here) !== "" && textOf(here) !== textOf(start),
  other_path: (here, start) => here.path !== undefined && here.path !== start.path,
  edited: (here) => Boolean(here.edit),
};

/** @param {Query} query */
const textOf = (query) => (query.text ?? "").trim();

/** Whether the reader has done an exercise. @param {LessonTerm} exercise @param {Query} here @param {Query} start */
export const isDone = ({ name, values }, here, start) => EXERCISES[name](here, start, values);

/** The value of a check of the reader's own sentence. @param {LessonTerm} check @param {{ predicted: string[], text: string }} decoding */
export const valueOf = ({ name, values }, { predicted, text }) =>
  name === "translation" ? text : predicted[Number(values.row) - 1];
