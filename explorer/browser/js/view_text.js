// The view and its options as written in the address: "lines.words.log", one word per option that differs from its
// default. Python parses the same text; both are tested on tests/fixtures/view_text.json.

import { PLACES } from "./head_list.js";
import { clamp } from "./numbers.js";

/** @import { ViewOptions } from "./types" */

export const VIEWS = ["heads", "head", "lines", "text"];
/** @type {("words" | "next" | "steps" | "beside")[]} */
const FLAGS = ["words", "next", "steps", "beside"];

/** @type {ViewOptions} */
export const DEFAULT_OPTIONS = {
  view: "heads", words: false, next: false, scale: "unit", palette: "theme", steps: false, beside: false, by: "place",
  role: "", most: 0, mass: 80,
};

/** Numbers have at most three digits. @param {string} text */
const isNumber = (text) => text.length > 0 && text.length < 4 && [...text].every((digit) => "0123456789".includes(digit));

/**
 * The options, and the heads whose lines are drawn. Unknown words are ignored; of contradicting ones, the last counts.
 * @param {string} text
 * @returns {ViewOptions & { heads: number[] }}
 */
export function readView(text) {
  const options = { ...DEFAULT_OPTIONS, heads: /** @type {number[]} */ ([]) };
  for (const word of text.split(".")) {
    const [name, ...rest] = word.split("-"), value = rest.join("-"), number = isNumber(value) && Number(value);
    const flag = FLAGS.find((known) => known === word);
    if (flag) options[flag] = true;
    else if (VIEWS.includes(word)) options.view = word;
    else if (["max", "log"].includes(word)) options.scale = word;
    else if (["cividis", "grey"].includes(word)) options.palette = word;
    else if (name === "by" && ["keys", ...PLACES].includes(value)) options.by = value;
    else if (name === "role" && ["mixed", ...PLACES].includes(value)) options.role = value;
    else if (name === "most" && number) options.most = number / 10;
    else if (name === "mass" && number) options.mass = clamp(number, 10, 100);
    else if (name === "h") options.heads = [...new Set(rest.filter(isNumber).map(Number))];
  }
  return options;
}

/**
 * The text for these options.
 * @param {ViewOptions} options
 * @param {number[]} heads the heads whose lines are drawn, unless it is only the head in view
 */
export function writeView(options, heads) {
  const { view, scale, palette, by, role, most, mass } = options;
  return [
    view, ...FLAGS.filter((name) => options[name]), scale === "unit" ? "" : scale, palette === "theme" ? "" : palette,
    by === "place" ? "" : `by-${by}`, role && `role-${role}`, most ? `most-${Math.round(10 * most)}` : "",
    mass === 80 ? "" : `mass-${mass}`, heads.length ? `h-${heads.join("-")}` : "",
  ].filter(Boolean).join(".");
}
