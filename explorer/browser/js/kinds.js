// The three kinds of attention, and whether their queries and keys are source or target tokens. Their names: names.js.

/** @typedef {import("./types").Kind} Kind */
/** @typedef {import("./types").Side} Side */

/** @type {Kind[]} */
export const KINDS = ["encoder", "decoder", "cross"];

/** The side of the queries, then the side of the keys. @type {Record<Kind, [Side, Side]>} */
export const SIDES = { encoder: ["source", "source"], decoder: ["target", "target"], cross: ["target", "source"] };

// Mask codes, as in model/trace.py: 0 is visible.
export const FUTURE = 1;
