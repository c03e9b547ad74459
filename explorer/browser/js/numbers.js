// Numbers and counted nouns as written on the screen. Only 0 is written as 0, and only 1 as 1. Files follow the same
// rule (explorer/locale/text.py); tests compare both with tests/fixtures/weights.json.

import { inSentence, language, t } from "./words.js";

/** @param {number} value @param {number} low @param {number} high */
export const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

let format = new Intl.NumberFormat("en"); // to make one takes long, and the machine writes hundreds of sizes
let formatted = "en";

/** A whole number with marks between its thousands. @param {number} number */
export function grouped(number) {
  if (formatted !== language()) [formatted, format] = [language(), new Intl.NumberFormat(language())];
  return format.format(number);
}

/** A token inside a sentence. @param {string} token */
export const quoted = (token) => t("“{token}”", { token });

/** Items of a sentence: "a", "a and b", "a, b and c". @param {string[]} items */
export function listed(items) {
  const last = items[items.length - 1] ?? "";
  return items.length < 2 ? last : t("{first} and {last}", { first: items.slice(0, -1).join(", "), last });
}

/** A probability with one decimal. @param {number} p */
export const percent = (p) => inSentence(p > 0 && p < 0.0005 ? "< 0.1 %" : `${(100 * p).toFixed(1)}\u202f%`);

/** A weight as a whole percentage: "37 %", "< 1 %", "> 99 %". @param {number} weight */
export function wholePercent(weight) {
  if (weight > 0 && weight < 0.005) return "< 1\u202f%";
  return weight < 1 && weight >= 0.995 ? "> 99\u202f%" : `${Math.round(100 * weight)}\u202f%`;
}

/** A weight with three decimals. @param {number} weight */
export const decimals = (weight) => inSentence(weight > 0 && weight < 0.0005 ? "< 0.001" : weight.toFixed(3));

/** A weight with four decimals; a smaller one in scientific notation. @param {number} weight */
export const fourDecimals = (weight) =>
  inSentence(weight > 0 && weight < 0.00005 ? weight.toExponential(2) : weight.toFixed(4));

/**
 * A weight short enough for a cell of a map: ".42", ">.99", "0" or "1"; empty if two decimals would make it 0.
 * @param {number} weight
 */
export function cellNumber(weight) {
  if (weight <= 0 || weight >= 1) return weight > 0 ? "1" : "0";
  return weight < 0.005 ? "" : inSentence(weight >= 0.995 ? ">.99" : weight.toFixed(2).slice(1));
}

/** The number of a cell as languages with a decimal comma write it: "0,42" for ",42", and "0" for ",0". @param {string} short */
export function withZero(short) {
  const mark = inSentence(".");
  if (mark === "." || !short.includes(mark)) return short;
  return /[1-9]/.test(short) ? short.replace(mark, (_, at) => (/\d/.test(short[at - 1]) ? mark : `0${mark}`)) : "0";
}

/** B minus A as both are written, so that the difference of two numbers on screen is what stands below them. @param {number} a @param {number} b */
export const changeSeen = (a, b) => Number((Number(b.toFixed(2)) - Number(a.toFixed(2))).toFixed(2));
