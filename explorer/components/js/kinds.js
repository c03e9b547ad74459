// The three kinds of attention: their names, and whether their queries and keys are source or target tokens.

/** @typedef {import("./types").Kind} Kind */
/** @typedef {import("./types").Side} Side */

/** @type {Kind[]} */
export const KINDS = ["encoder", "decoder", "cross"];

/** @type {Record<Kind, string>} */
export const TITLES = {
  encoder: "Encoder self-attention",
  decoder: "Masked decoder self-attention",
  cross: "Cross-attention",
};

/** Axis titles: queries, then keys. @type {Record<Kind, [string, string]>} */
export const AXES = {
  encoder: ["source (query)", "source (key)"],
  decoder: ["decoder reads (query)", "decoder reads (key)"],
  cross: ["decoder reads (query)", "source (key)"],
};

/** The side of the queries, then the side of the keys. @type {Record<Kind, [Side, Side]>} */
export const SIDES = { encoder: ["source", "source"], decoder: ["target", "target"], cross: ["target", "source"] };

// Mask codes, as in model/trace.py: 0 is visible.
export const FUTURE = 1;
