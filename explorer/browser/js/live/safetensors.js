// Reading weights from a file in the safetensors format: a header in JSON, then the numbers.

import { t } from "../words.js";

const READERS = /** @type {Record<string, (bytes: ArrayBuffer) => Float32Array>} */ ({
  F32: (bytes) => new Float32Array(bytes),
  F16: (bytes) => halves(new Uint16Array(bytes)),
});

/** Read all tensors in single precision. @param {ArrayBuffer} file @returns {Record<string, Float32Array>} */
export function readTensors(file) {
  const view = new DataView(file);
  const length = file.byteLength >= 8 ? Number(view.getBigUint64(0, true)) : 0;
  const cut = () => new Error(t("The file of weights is cut short. Reload the page."));
  if (!length || 8 + length > file.byteLength) throw cut();
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 8, length)));
  delete header.__metadata__;
  /** @type {Record<string, Float32Array>} */
  const tensors = {};
  for (const [name, { dtype, data_offsets }] of Object.entries(header)) {
    const [start, end] = data_offsets.map((/** @type {number} */ offset) => 8 + length + offset);
    if (!(dtype in READERS))
      throw new Error(
        t("The weights are stored as {dtype}, which is not read here.", { dtype: String(dtype).slice(0, 20) }),
      );
    if (end > file.byteLength) throw cut();
    tensors[name] = READERS[dtype](file.slice(start, end));
  }
  return tensors;
}

/** Numbers of half precision in single precision. @param {Uint16Array} bits @returns {Float32Array} */
function halves(bits) {
  const table = halfTable();
  const numbers = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) numbers[i] = table[bits[i]];
  return numbers;
}

/** @type {Float32Array | undefined} */
let known;

/** The value of each of the 65,536 numbers of half precision. @returns {Float32Array} */
function halfTable() {
  return (known ??= Float32Array.from({ length: 65536 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : (2 ** -14 * fraction) / 1024);
  }));
}
