// What this tab has been given of decodings, whichever page it was for: views find it here as soon as they are mounted.

import { KINDS, SIDES } from "./names.js";
import { headerOf, readMessage } from "./wire.js";

/** @import { AttentionMap, Decoding, Kind, Message } from "./types" */

/** @typedef {{ decoding?: Decoding, parts: Map<string, Message>, read: Map<string, string>, size: number, keep: boolean }} Held */

const LIMIT = 64e6; // bytes of messages; what has not been asked for for longest is dropped first

/** By the name of the decoding. @type {Map<string, Held>} */
const held = new Map();
/** @type {Set<() => void>} */
const listeners = new Set();

/** Calls back whenever something has arrived, until the function that it returns is called. @param {() => void} listener */
export function listen(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** A decoding, if it has arrived. @param {string} seq @returns {Decoding | undefined} */
export const decodingOf = (seq) => recent(seq)?.decoding;

/** Another part of a decoding, such as its machine. @param {string} seq @param {string} part @returns {Message | undefined} */
export const partOf = (seq, part) => recent(seq)?.parts.get(part);

/** @param {string} seq */
function recent(seq) {
  const found = held.get(seq);
  if (!found) return undefined;
  held.delete(seq);
  held.set(seq, found);
  return found;
}

/** Takes a message, unless it is the one that was taken last for the same; `keep` it whatever else comes. @param {Uint8Array} bytes @param {boolean} [keep] */
export function take(bytes, keep = false) {
  const message = readMessage(bytes);
  const { seq, part, forms } = message.header;
  const { text } = headerOf(bytes);
  const entry = recent(seq) ?? { parts: new Map(), read: new Map(), size: 0, keep };
  const what = part ?? Object.keys(forms).join();
  if (entry.read.get(what) === text) return;
  held.set(seq, entry);
  if (!entry.read.has(what)) entry.size += bytes.length;
  entry.read.set(what, text);
  if (part) entry.parts.set(part, message);
  else add(entry, message);
  let size = [...held.values()].reduce((sum, one) => sum + one.size, 0);
  for (const [name, one] of held) {
    if (size <= LIMIT || name === seq) break;
    if (one.keep) continue;
    held.delete(name);
    size -= one.size;
  }
  for (const listener of [...listeners]) listener();
}

/** Adds to a decoding: its header, or the numbers of some kinds. @param {Held} entry @param {Message} message */
function add(entry, { header, arrays }) {
  if (header.decoding) entry.decoding = begin(header.seq, header.decoding, entry.decoding, arrays);
  const { decoding } = entry;
  if (!decoding) return;
  Object.assign(decoding.forms, header.forms);
  for (const kind of KINDS) {
    if (!arrays[kind]) continue;
    decoding.maps[kind].weights = /** @type {Float32Array} */ (arrays[kind].values);
    decoding.maps[kind].mask = /** @type {Uint8Array} */ (arrays[`${kind}.mask`].values);
  }
}

/** A decoding from its header; of one that was known, the numbers that do not come anew stay. @param {string} seq @param {import("./structs").DecodingHeader} header @param {Decoding | undefined} known @param {Message["arrays"]} arrays @returns {Decoding} */
function begin(seq, header, known, arrays) {
  const maps = Object.fromEntries(
    KINDS.map((kind) => [kind, (!arrays[kind] && known?.maps[kind]) || emptyMap(header, kind)]),
  );
  const order = KINDS.filter((kind) => header.shapes[kind].layers);
  return { ...header, seq, order, forms: known?.forms ?? {}, maps: /** @type {Decoding["maps"]} */ (maps) };
}

/** @param {import("./structs").DecodingHeader} header @param {Kind} kind @returns {AttentionMap} */
function emptyMap(header, kind) {
  const shape = header.shapes[kind];
  const [rows, columns] = SIDES[kind].map((side) => header[side].tokens);
  const arrived = !shape.layers; // nothing will come of a kind that the model does not have
  return {
    ...shape,
    kind,
    area: shape.queries * shape.keys,
    weights: arrived ? new Float32Array(0) : undefined,
    mask: new Uint8Array(shape.queries * shape.keys),
    means: new Map(),
    rows,
    columns,
  };
}

/** Whether the numbers of all its kinds have arrived. @param {Decoding} decoding */
export const isWhole = ({ maps }) => KINDS.every((kind) => maps[kind].weights);
