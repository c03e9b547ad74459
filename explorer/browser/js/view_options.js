// The options of the views of heads as text in the address, such as "lines.words.mass-60". As
// explorer/decoding/view_options.py; a test compares both.

import { clamp } from "./numbers.js";

/** @import { ViewOptions } from "./structs" */

const FLAGS = /** @type {const} */ (["words", "next", "steps", "beside", "content", "guess"]);
/** @type {ViewOptions} */
const DEFAULT = {
  view: "heads",
  words: false,
  next: false,
  steps: false,
  beside: false,
  content: false,
  guess: false,
  scale: "unit",
  direction: "",
  mass: 80,
  heads: [],
};

/** The options that a view has, with these heads. @param {Omit<ViewOptions, "heads">} view @param {number[]} heads @returns {ViewOptions} */
export function optionsOf(view, heads) {
  const names = /** @type {(keyof typeof view)[]} */ (Object.keys(DEFAULT));
  return { ...DEFAULT, ...Object.fromEntries(names.map((name) => [name, view[name]])), heads };
}

/** Reads options; unknown words are ignored, and of two that disagree the last one counts. @param {string} text @returns {ViewOptions} */
export const parseView = (text) =>
  text.split(".").reduce((options, word) => ({ ...options, ...option(word) }), DEFAULT);

/** The option that one word sets. @param {string} word @returns {Partial<ViewOptions>} */
function option(word) {
  if (["heads", "head", "lines", "text"].includes(word)) return { view: /** @type {ViewOptions["view"]} */ (word) };
  if (FLAGS.some((flag) => flag === word)) return { [word]: true };
  if (["max", "log"].includes(word)) return { scale: word };
  if (word === "ltr" || word === "rtl") return { direction: word };
  const [name, ...rest] = word.split("-");
  const value = rest.join("-");
  const number = isNumber(value) ? Number(value) : 0;
  if (name === "mass" && number) return { mass: clamp(number, 10, 100) };
  if (name === "h") return { heads: [...new Set(rest.filter(isNumber).map(Number))] };
  return {};
}

const isNumber = (/** @type {string} */ text) => /^\d{1,3}$/.test(text);

/** Writes options as text, which `parseView` reads back; "" for the default. @param {ViewOptions} options @returns {string} */
export function formatView(options) {
  const { view, scale, direction, mass, heads } = options;
  const words = [
    view,
    ...FLAGS.filter((flag) => options[flag]),
    ...(scale === DEFAULT.scale ? [] : [scale]),
    ...(direction ? [direction] : []),
    ...(mass === DEFAULT.mass ? [] : [`mass-${mass}`]),
    ...(heads.length ? [`h-${heads.join("-")}`] : []),
  ];
  return words.join(".") === DEFAULT.view ? "" : words.join(".");
}
