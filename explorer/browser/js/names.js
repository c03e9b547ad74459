// The three kinds of attention, and the names of kinds, layers, heads and axes, as in explorer/decoding/names.py: tests
// compare both with tests/fixtures/names.json. Layers and heads count from 1; head 0 is the mean of a layer's heads.

/** @import { Kind, Side } from "./types" */

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

/** The title of rows that are named by the word that they predict. */
export const PREDICTED_ROWS = "decoder predicts (query)";
/** How a target that was given to the model continues after a row: the model need not have predicted it. */
export const NEXT_READ = "next token read";

/** "layer 1" @param {number} layer */
export const layerName = (layer) => `layer ${layer}`;

/** The name of a head whose layer is given: "head 2", or "mean over its heads". @param {number} head */
export const nameInLayer = (head) => (head ? `head ${head}` : "mean over its heads");

/** The name of a head whose kind is given: "layer 1, head 2". @param {number} layer @param {number} head */
export const nameInKind = (layer, head) => `${layerName(layer)}, ${nameInLayer(head)}`;

/** "Cross-attention, layer 1, head 2" @param {Kind} kind @param {number} layer @param {number} head */
export const headTitle = (kind, layer, head) => `${TITLES[kind]}, ${nameInKind(layer, head)}`;

/** "L1" @param {number} layer */
export const shortLayer = (layer) => `L${layer}`;

/** "H2", or "mean" @param {number} head */
export const shortHead = (head) => (head ? `H${head}` : "mean");

/** "L1 H2", or "L1 mean" @param {number} layer @param {number} head */
export const shortName = (layer, head) => `${shortLayer(layer)} ${shortHead(head)}`;

/** A name with a capital first letter: "Layer 1, head 2". @param {string} name */
export const capitalised = (name) => name[0].toUpperCase() + name.slice(1);

/** @type {Kind[]} */
export const KINDS = ["encoder", "decoder", "cross"];

/** The side of the queries, then the side of the keys. @type {Record<Kind, [Side, Side]>} */
export const SIDES = { encoder: ["source", "source"], decoder: ["target", "target"], cross: ["target", "source"] };

// Mask codes, as in model/trace.py: 0 is visible.
export const FUTURE = 1;
