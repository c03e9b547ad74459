// The decodings that this tab has received, for any page; views find them here as soon as they are mounted.

import { KINDS, SIDES } from "./names.js";
import { isLeftwards } from "./scripts.js";
import { headerOf, readMessage } from "./wire.js";

/** @import { AttentionMap, Decoding, Kind, Message } from "./types" */

/** @typedef {{ decoding?: Decoding, parts: Map<string, Message>, read: Map<string, string>, size: number, keep: boolean }} Entry */

const LIMIT = 64e6; // bytes of messages; the least recently used are dropped first

/** By the name of the decoding, the least recently used first. @type {Map<string, Entry>} */
const entries = new Map();
/** @type {Set<() => void>} */
const listeners = new Set();

/** Calls `listener` whenever something has arrived, until the returned function is called. @param {() => void} listener */
export function listen(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** A decoding, if it has arrived. @param {string} seq @returns {Decoding | undefined} */
export const decodingOf = (seq) => recent(seq)?.decoding;

/** Another part of a decoding, such as its machine. @param {string} seq @param {string} part @returns {Message | undefined} */
export const partOf = (seq, part) => recent(seq)?.parts.get(part);

/** Finds an entry and marks it as used. @param {string} seq */
function recent(seq) {
  const entry = entries.get(seq);
  if (!entry) return undefined;
  entries.delete(seq);
  entries.set(seq, entry);
  return entry;
}

/** Stores a message as bytes, unless the same one is stored; with `keep`, it is never dropped. @param {Uint8Array} bytes @param {boolean} [keep] */
export function take(bytes, keep = false) {
  hold(readMessage(bytes), headerOf(bytes).text, bytes.length, keep);
}

/**
 * Stores a message that was computed in this browser.
 * @param {Message} message @param {string} text tells it from other messages of its decoding and part
 */
export function put(message, text) {
  const size = Object.values(message.arrays).reduce((sum, { values }) => sum + values.byteLength, 0);
  hold(message, text, size, false);
}

/** @param {Message} message @param {string} text @param {number} size in bytes @param {boolean} keep */
function hold(message, text, size, keep) {
  const { seq, part } = message.header;
  const entry = recent(seq) ?? { parts: new Map(), read: new Map(), size: 0, keep };
  const what = part ?? Object.keys(message.arrays).join();
  if (entry.read.get(what) === text) return;
  entries.set(seq, entry);
  if (!entry.read.has(what)) entry.size += size;
  entry.read.set(what, text);
  if (part) entry.parts.set(part, message);
  else add(entry, message);
  let total = [...entries.values()].reduce((sum, other) => sum + other.size, 0);
  for (const [name, other] of entries) {
    if (total <= LIMIT || name === seq) break;
    if (other.keep) continue;
    entries.delete(name);
    total -= other.size;
  }
  for (const listener of [...listeners]) listener();
}

/** Adds a message to a decoding: its header, or the numbers of some kinds. @param {Entry} entry @param {Message} message */
function add(entry, { header, arrays }) {
  if (header.decoding) entry.decoding = begin(header.seq, header.decoding, entry.decoding, arrays);
  const { decoding } = entry;
  if (!decoding) return;
  for (const kind of KINDS) {
    if (!arrays[kind]) continue;
    decoding.maps[kind].weights = /** @type {Float32Array} */ (arrays[kind].values);
    decoding.maps[kind].mask = /** @type {Uint8Array} */ (arrays[`${kind}.mask`].values);
  }
}

/** Makes a decoding from its header; numbers of an earlier version stay unless the message replaces them. @param {string} seq @param {import("./structs").DecodingHeader} header @param {Decoding | undefined} earlier @param {Message["arrays"]} arrays @returns {Decoding} */
function begin(seq, header, earlier, arrays) {
  const maps = Object.fromEntries(
    KINDS.map((kind) => [kind, (!arrays[kind] && earlier?.maps[kind]) || emptyMap(header, kind)]),
  );
  const order = KINDS.filter((kind) => header.shapes[kind].layers);
  const { source, target } = header;
  const leftwards = {
    source: isLeftwards(source.tokens, source.words),
    target: isLeftwards([...target.tokens, ...target.predicted], target.words),
  };
  return { ...header, seq, order, leftwards, maps: /** @type {Decoding["maps"]} */ (maps) };
}

/** @param {import("./structs").DecodingHeader} header @param {Kind} kind @returns {AttentionMap} */
function emptyMap(header, kind) {
  const shape = header.shapes[kind];
  const [rows, columns] = SIDES[kind].map((side) => header[side].tokens);
  const arrived = !shape.layers; // a kind that the model does not have has no numbers to wait for
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
