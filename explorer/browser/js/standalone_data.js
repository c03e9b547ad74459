// Reads what a page that stands alone carries: recorded decodings, packed as explorer/files/packing.py describes.

import { KINDS } from "./kinds.js";
import { mergeWords } from "./words.js";

/** @typedef {import("./types").Block} Block */
/** @typedef {import("./types").Kind} Kind */
/** @typedef {import("./types").KindHeader} KindHeader */
/** @typedef {import("./types").Recording} Recording */
/** @typedef {import("./types").RecordedMap} RecordedMap */
/** @typedef {import("./types").StandaloneData} StandaloneData */

const VISIBLE = 0;
const BLOCK = 32; // cells
const PIECE = 4096; // numbers

/**
 * The page's header, with the weights and masks of each recording filled in.
 * @param {{ header: any, body: ArrayBuffer }} pack
 * @returns {StandaloneData}
 */
export function unpack({ header, body }) {
  const bytes = new Uint8Array(body);
  let at = 0;
  for (const recording of header.recordings) {
    for (const kind of KINDS) {
      const m = recording.maps[kind];
      m.area = m.queries * m.keys;
      m.mask = bytes.slice(at, at + m.area);
      at += m.area;
    }
  }
  const words = joinPlanes(bytes.subarray(at), header.width), [first] = header.recordings;
  at = 0;
  for (const recording of header.recordings) {
    for (const kind of KINDS) {
      const m = recording.maps[kind], cells = cellsOf(m), count = cells.length * m.layers * m.heads;
      m.stored = words.subarray(at, at + count);
      at += count;
      // Forks agree with the first recording up to where they leave it, and are stored as the difference in bits.
      const base = recording === first ? [] : first.maps[kind].stored, shared = Math.min(base.length, count);
      for (let i = 0; i < shared; i++) m.stored[i] ^= base[i];
      m.weights = spread(m, cells, header.digits);
    }
  }
  return header;
}

/**
 * The numbers whose bytes are stored by significance, the lowest of all numbers first: so they compress better.
 * @param {Uint8Array} bytes
 * @param {number} width bytes of a number
 */
function joinPlanes(bytes, width) {
  const count = bytes.length / width, words = new Uint32Array(count);
  for (let plane = 0; plane < width; plane++) {
    // In pieces: a function that is called often is compiled early, one long loop would run uncompiled at first.
    for (let from = 0; from < count; from += PIECE) {
      const end = Math.min(from + PIECE, count);
      addPlane(words, bytes, plane * count, from, end, 8 * plane);
    }
  }
  return words;
}

/** @param {Uint32Array} words @param {Uint8Array} bytes @param {number} start @param {number} from @param {number} end @param {number} shift */
function addPlane(words, bytes, start, from, end, shift) {
  for (let i = from; i < end; i++) words[i] |= bytes[start + i] << shift;
}

/** The cells that are stored, in order: those that a query may see, or all of them. @param {RecordedMap} m */
function cellsOf(m) {
  const cells = new Uint32Array(m.area);
  let count = 0;
  for (let i = 0; i < m.area; i++) if (m.whole || m.mask[i] === VISIBLE) cells[count++] = i;
  return cells.subarray(0, count);
}

/**
 * Weights [layer, head, query, key] from stored numbers, where the heads of a cell follow each other.
 * @param {RecordedMap} m
 * @param {Uint32Array} cells
 * @param {number | null} digits decimals of rounded weights; null if float32 is stored
 */
function spread(m, cells, digits) {
  const heads = m.layers * m.heads, weights = new Float32Array(heads * m.area);
  const exact = new Float32Array(m.stored.buffer, m.stored.byteOffset, m.stored.length), unit = 10 ** (digits ?? 0);
  // A few cells at a time, whose numbers and weights all stay in the processor's cache.
  for (let from = 0; from < cells.length; from += BLOCK) {
    const some = cells.subarray(from, from + BLOCK);
    for (let h = 0; h < heads; h++) {
      if (digits === null) copyHead(weights, h * m.area, exact, from * heads + h, heads, some, 1);
      else copyHead(weights, h * m.area, m.stored, from * heads + h, heads, some, unit);
    }
  }
  return weights;
}

/**
 * Some cells of one head.
 * @param {Float32Array} weights
 * @param {number} to
 * @param {ArrayLike<number>} stored
 * @param {number} at
 * @param {number} stride
 * @param {Uint32Array} cells
 * @param {number} unit
 */
function copyHead(weights, to, stored, at, stride, cells, unit) {
  for (let i = 0; i < cells.length; i++, at += stride) weights[to + cells[i]] = stored[at] / unit;
}

/**
 * The block from which the stepper draws a recording (stepper_payload.py).
 * @param {Recording} recording
 * @param {object} changes to its header
 * @returns {Block}
 */
export function stepperBlock(recording, changes) {
  const maps = KINDS.map((kind) => recording.maps[kind]);
  // A copy, because the stepper fills its maps in.
  const header = { ...structuredClone(recording.stepper), ...changes };
  return { header, body: joined([...maps.map((m) => m.weights), ...maps.map((m) => m.mask)]) };
}

/**
 * The block from which the views of heads draw one kind, between tokens or between words (heads_payload.py).
 * @param {Recording} recording
 * @param {Kind} kind
 * @param {string} form
 * @returns {Block}
 */
export function kindBlock(recording, kind, form) {
  const header = /** @type {KindHeader} */ (recording.forms[kind]?.[form]), m = recording.maps[kind];
  const { weights, mask } = form === "tokens" ? m : mergeWords(m, header.rowSpans, header.columnSpans, m.queries);
  return { header, body: joined([weights, mask]) };
}

/** Arrays of numbers as bytes, one after the other. @param {(Float32Array | Uint8Array)[]} arrays @returns {ArrayBuffer} */
function joined(arrays) {
  const bytes = new Uint8Array(arrays.reduce((sum, array) => sum + array.byteLength, 0));
  let at = 0;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += array.byteLength;
  }
  return bytes.buffer;
}
