// Reads messages: a header in JSON, then raw arrays. For the layout, see wire.py.

/** @import { Message, Stored } from "./types" */

/** The header of a message and its arrays by name. @param {Uint8Array} bytes @returns {Message} */
export function readMessage(bytes) {
  const { text, start } = headerOf(bytes);
  const header = JSON.parse(text);
  const end = bytes.byteOffset + start;
  // Copied if its numbers do not start at a multiple of 4 in their buffer, as a float32 view requires.
  const [buffer, first] = end % 4 ? [bytes.slice(start).buffer, 0] : [bytes.buffer, end];
  let at = first;
  /** @type {Message["arrays"]} */
  const arrays = {};
  for (const [name, type, shape, unit] of header.arrays) {
    const count = shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
    const stored = new TYPES[/** @type {keyof typeof TYPES} */ (type)](/** @type {ArrayBuffer} */ (buffer), at, count);
    at += Math.ceil(stored.byteLength / 4) * 4;
    arrays[name] = {
      shape,
      values: unit === 1 ? /** @type {Stored} */ (stored) : Float32Array.from(stored, (value) => value / unit),
    };
  }
  return { header, arrays };
}

const TYPES = { f4: Float32Array, u2: Uint16Array, u1: Uint8Array };

/** The header as text, and the offset of its end. @param {Uint8Array} bytes */
export function headerOf(bytes) {
  const start = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return { text: new TextDecoder().decode(bytes.subarray(4, start)), start };
}
