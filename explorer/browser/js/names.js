// The three kinds of attention, and the names of kinds, layers, heads and axes, as in explorer/decoding/names.py: tests
// compare both with tests/fixtures/names.json. Layers and heads count from 1; head 0 is the mean of a layer's heads.

import { t } from "./words.js";

/** @import { Kind, Side } from "./types" */

/** @type {Record<Kind, string>} */
export const TITLES = {
  get encoder() {
    return t("Encoder self-attention");
  },
  get decoder() {
    return t("Masked decoder self-attention");
  },
  get cross() {
    return t("Cross-attention");
  },
};

/** Axis titles: queries, then keys. @type {Record<Kind, [string, string]>} */
export const AXES = {
  get encoder() {
    return /** @type {[string, string]} */ ([t("source (query)"), t("source (key)")]);
  },
  get decoder() {
    return /** @type {[string, string]} */ ([t("decoder reads (query)"), t("decoder reads (key)")]);
  },
  get cross() {
    return /** @type {[string, string]} */ ([t("decoder reads (query)"), t("source (key)")]);
  },
};

/** The title of rows that are named by the word that they predict. */
export const predictedRows = () => t("decoder predicts (query)");
/** How a target that was given to the model continues after a row: the model need not have predicted it. */
export const NEXT_READ = "next token read";

/** "layer 1" @param {number} layer */
export const layerName = (layer) => t("layer {layer}", { layer });

/** The name of a head whose layer is given: "head 2", or "mean over its heads". @param {number} head */
export const nameInLayer = (head) => (head ? t("head {head}", { head }) : t("mean over its heads"));

/** The name of a head whose kind is given: "layer 1, head 2". @param {number} layer @param {number} head */
export const nameInKind = (layer, head) =>
  head ? t("layer {layer}, head {head}", { layer, head }) : t("layer {layer}, mean over its heads", { layer });

/** "Cross-attention, layer 1, head 2" @param {Kind} kind @param {number} layer @param {number} head */
export const headTitle = (kind, layer, head) =>
  t("{kind}, {place}", { kind: TITLES[kind], place: nameInKind(layer, head) });

/** The short name of a kind, in sentences: "cross". @param {string} kind */
export const shortKind = (kind) => ({ encoder: t("encoder"), decoder: t("decoder"), cross: t("cross") })[kind] ?? kind;

/** "L1" @param {number} layer */
export const shortLayer = (layer) => t("L{layer}", { layer });

/** "H2", or "mean" @param {number} head */
export const shortHead = (head) => (head ? t("H{head}", { head }) : t("mean"));

/** "L1 H2", or "L1 mean" @param {number} layer @param {number} head */
export const shortName = (layer, head) => `${shortLayer(layer)} ${shortHead(head)}`; // two names side by side

/** A name with a capital first letter: "Layer 1, head 2". @param {string} name */
export const capitalised = (name) => name[0].toUpperCase() + name.slice(1);

/** @type {Kind[]} */
export const KINDS = ["encoder", "decoder", "cross"];

/** The side of the queries, then the side of the keys. @type {Record<Kind, [Side, Side]>} */
export const SIDES = { encoder: ["source", "source"], decoder: ["target", "target"], cross: ["target", "source"] };

export const SPECIALS = ["<pad>", "<sos>", "<eos>", "<unk>"];

// Mask codes, as in model/trace.py: 0 is visible.
export const FUTURE = 1;
