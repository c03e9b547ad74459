// Decodes the stepper's payload into maps with weights and masks. Layout: see stepper_payload.py.

import { headWeights } from "./weight_blocks.js";
import { KINDS } from "./kinds.js";

/** @typedef {import("./types").Block} Block */
/** @typedef {import("./types").StepperData} StepperData */
/** @typedef {import("./types").StepperMap} StepperMap */

/** The header of a block with its maps filled in. @param {Block} block @returns {StepperData} */
export function readPayload({ header, body }) {
  const { maps, source, target } = header, numbers = /** @type {ArrayBuffer} */ (body);
  let end = 0;
  for (const m of KINDS.map((kind) => maps[kind])) {
    m.area = m.queries * m.keys;
    m.weights = new Float32Array(numbers, end, m.layers * m.heads * m.area);
    m.means = new Map();
    end += m.weights.byteLength;
  }
  for (const m of KINDS.map((kind) => maps[kind])) {
    m.mask = new Uint8Array(numbers, end, m.area);
    end += m.area;
  }
  maps.encoder.rows = maps.encoder.columns = maps.cross.columns = source.tokens;
  maps.decoder.rows = maps.decoder.columns = maps.cross.rows = target.tokens;
  return header;
}

/**
 * Weights of one head, counted from 1; head 0 is the mean, which is cached.
 * @param {StepperMap} m
 * @param {number} layer
 * @param {number} head
 */
export function weightsOf(m, layer, head) {
  if (head) return headWeights(m, layer, head, null);
  const mean = m.means.get(layer) ?? headWeights(m, layer, 0, null);
  m.means.set(layer, mean);
  return mean;
}
