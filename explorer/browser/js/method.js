// How the next token is chosen. As model/config.py's DecodeConfig, with the same names and values; a test compares both.

import { t } from "./words.js";

/** @typedef {typeof METHOD} Method */

export const METHOD = {
  method: /** @type {"greedy" | "sample" | "beam"} */ ("greedy"),
  beam_size: 4,
  length_penalty: "mean",
  alpha: 1,
  temperature: 1,
  top_k: 0,
  top_p: 1,
  max_length: 0,
  seed: 0,
};

/** The choice in a few words. @param {Method} method */
export function summary({ method, beam_size, temperature }) {
  if (method === "beam") return t("beam of {size}", { size: beam_size });
  return method === "sample" ? t("drawn at temperature {temperature}", { temperature }) : t("likeliest");
}
