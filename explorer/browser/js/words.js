// The function `t`, through which every text passes that people read: an English message with named fields, as in
// explorer/locale/messages.py. Without a catalogue the text is English.

/** @import { Words } from "./structs" */
/** @typedef {Record<string, any>} Fields */

/** @type {Words} */
const ENGLISH = { language: "en", decimal: ".", messages: {} };
/** For each English message its translation, or one for each plural form in gettext's order. */
let words = ENGLISH;
let rules = new Intl.PluralRules("en");

/** Sets the catalogue of the page, or adds to it; without one, texts are English. @param {Words | null} [given] */
export function setWords(given) {
  const had = given?.language === words.language ? words.messages : {}; // of other parts of the program
  words = given ? { ...given, messages: { ...had, ...given.messages } } : ENGLISH;
  rules = new Intl.PluralRules(words.language);
}

/** The catalogue, for a worker. */
export const wordsSet = () => words;

export const isEnglish = () => words === ENGLISH;

/** A text of the markup in the language of the page. @param {string} text */
export function translated(text) {
  const found = Object.hasOwn(words.messages, text) ? words.messages[text] : text;
  return typeof found === "string" ? found : text;
}

/** The language of the page. */
export const language = () => words.language;

/** A number as it is written within a sentence: with the decimal mark of the language. @param {string} number */
export const inSentence = (number) => number.replace(".", words.decimal);

/**
 * Fills the `{named}` fields of a text, and translates it. The message is a whole sentence or label, never a part to be
 * joined with another. If it counts something, a second message is for every number but 1, and the field `n` is the
 * number. Both are literals, so that they can be collected for translators.
 * @param {string} message
 * @param {(string | Fields)[]} rest the message for several, the fields
 */
export function t(message, ...rest) {
  const fields = fieldsOf(rest);
  return chosen(message, rest).replace(FIELD, (_, name) => apart(`${filled(fields, name)}`));
}

/**
 * The same as pieces, where a field may be elements, such as tokens.
 * @template P
 * @param {string} message
 * @param {(string | Record<string, string | number | P | (string | P)[]>)[]} rest
 * @returns {(string | P)[]}
 */
export function pieces(message, ...rest) {
  const fields = fieldsOf(rest);
  const parts = chosen(message, rest).split(FIELD);
  return parts.flatMap((part, i) => (i % 2 ? filled(fields, part) : part)).filter((part) => part !== "");
}

/** @type {Intl.LDMLPluralRule[]} */
const CATEGORIES = ["zero", "one", "two", "few", "many", "other"]; // in gettext's order
// A translation may be shared with Python, whose fields may have a format; here numbers come formatted.
const FIELD = /\{(\w+)(?::[^{}]*)?\}/g;

/** @param {(string | Fields)[]} rest @returns {Fields} */
function fieldsOf(rest) {
  const last = rest[rest.length - 1];
  return typeof last === "object" ? last : {};
}

/** The message in the language of the page, in the form that its number needs. @param {string} message @param {(string | Fields)[]} rest */
function chosen(message, rest) {
  const [several] = rest;
  const found = Object.hasOwn(words.messages, message) ? words.messages[message] : undefined;
  if (typeof several !== "string") return typeof found === "string" ? found : message;
  const n = Number(fieldsOf(rest).n);
  if (typeof found !== "object") return n === 1 ? message : several;
  const { pluralCategories } = rules.resolvedOptions();
  const forms = CATEGORIES.filter((category) => pluralCategories.includes(category));
  return found[Math.min(forms.indexOf(rules.select(n)), found.length - 1)];
}

/** Letters that are written from right to left, such as Hebrew and Arabic ones. */
export const LEFTWARDS = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A text isolated, if its words run from right to left: they would reorder the sentence around them. @param {string} text */
const apart = (text) => (LEFTWARDS.test(text) ? `\u2068${text}\u2069` : text);

/** A field; a counted number has marks between its thousands. @param {Fields} fields @param {string} name */
function filled(fields, name) {
  if (!Object.hasOwn(fields, name)) throw new Error(`The message has no field ${name}.`);
  const value = fields[name];
  if (typeof value !== "number") return value;
  return name === "n" ? value.toLocaleString(words.language) : `${value}`;
}
