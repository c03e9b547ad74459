// Decodes the binary blocks that the server sends: a JSON header, then numbers. Layouts: see heads_payload.py,
// stepper_payload.py and film_payload.py.

/** @typedef {import("./types").KindHeader} KindHeader */
/** @typedef {import("./types").KindMap} KindMap */
/** @typedef {import("./types").NumbersHeader} NumbersHeader */
/** @typedef {import("./types").HeadWeights} HeadWeights */

/** The header and the numbers of a block. @param {Uint8Array} bytes @returns {{ header: any, body: ArrayBuffer }} */
export function readBlock(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  // Copied, because a float32 view must start at a multiple of 4 bytes in its buffer.
  return { header, body: bytes.slice(4 + size).buffer };
}

/** All heads of one kind. @param {KindHeader} header @param {ArrayBuffer} body @returns {KindMap} */
export function readKind(header, body) {
  const area = header.queries * header.keys, count = header.layers * header.heads * area;
  const weights = new (header.exact ? Float32Array : Uint8Array)(body, 0, count);
  return { ...header, area, weights, mask: new Uint8Array(body, weights.byteLength, area) };
}

/**
 * The float32 weights of individual heads, by name.
 * @param {NumbersHeader} header
 * @param {ArrayBuffer} body
 * @returns {[string, HeadWeights][]}
 */
export function readNumbers({ kind, form, given }, body) {
  const area = body.byteLength / 4 / given.length;
  return given.map(([layer, head], i) =>
    [headName(kind, form, layer, head), { values: new Float32Array(body, 4 * i * area, area), exact: true }]);
}

/** @param {string} kind @param {string} form @param {number} layer @param {number} head */
export const headName = (kind, form, layer, head) => `${kind} ${form} ${layer} ${head}`;

// The weight that each byte encodes: a byte holds the square root of a weight.
export const SQUARES = Float64Array.from({ length: 256 }, (_, i) => (i / 255) ** 2);

/**
 * Weights of one head [query, key], counted from 1; head 0 is the mean over the heads.
 * @param {Pick<KindMap, "weights" | "heads" | "area">} m
 * @param {number} layer
 * @param {number} head
 * @param {Float64Array | null} table the weight that each number in `m` encodes; null if the numbers are the weights
 */
export function headWeights(m, layer, head, table) {
  const from = (layer - 1) * m.heads * m.area, first = head ? from + (head - 1) * m.area : from;
  if (head && !table) return m.weights.subarray(first, first + m.area);
  const end = head ? first + m.area : from + m.heads * m.area, share = head ? 1 : 1 / m.heads;
  const values = new Float64Array(m.area);
  for (let at = first; at < end; at += m.area) addWeights(values, m.weights, at, share, table);
  return values;
}

/**
 * A function of its own, because browsers compile small functions early; one long loop would delay the first drawing.
 * @param {Float64Array} values
 * @param {ArrayLike<number>} weights
 * @param {number} from
 * @param {number} share
 * @param {Float64Array | null} table
 */
function addWeights(values, weights, from, share, table) {
  const count = values.length;
  if (table) for (let i = 0; i < count; i++) values[i] += share * table[weights[from + i]];
  else for (let i = 0; i < count; i++) values[i] += share * weights[from + i];
}
