// Reading weights from a file in the safetensors format: a header in JSON, then the numbers.

import { t } from "../words.js";

const BYTES = /** @type {Record<string, number>} */ ({ F32: 4, F16: 2 });

/**
 * Read all tensors in single precision, one after the other into what `reserve` returns for so many numbers.
 * @param {ArrayBuffer} file @returns {Record<string, Float32Array>}
 */
export function readTensors(file, reserve = (/** @type {number} */ count) => new Float32Array(count)) {
  const view = new DataView(file);
  const length = file.byteLength >= 8 ? Number(view.getBigUint64(0, true)) : 0;
  const cut = () => new Error(t("The file of weights is cut short. Reload the page."));
  if (!length || 8 + length > file.byteLength) throw cut();
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 8, length)));
  delete header.__metadata__;
  const parts = Object.entries(header).map(([name, { dtype, data_offsets }]) => {
    const [start, end] = data_offsets.map((/** @type {number} */ offset) => 8 + length + offset);
    if (!(dtype in BYTES))
      throw new Error(
        t("The weights are stored as {dtype}, which is not read here.", { dtype: String(dtype).slice(0, 20) }),
      );
    if (end > file.byteLength) throw cut();
    return { name, half: dtype === "F16", count: (end - start) / BYTES[dtype], bytes: file.slice(start, end) };
  });
  const numbers = reserve(parts.reduce((sum, { count }) => sum + count, 0));
  let at = 0;
  return Object.fromEntries(
    parts.map(({ name, half, count, bytes }) => {
      const tensor = numbers.subarray(at, (at += count));
      if (half) halves(new Uint16Array(bytes), tensor);
      else tensor.set(new Float32Array(bytes));
      return [name, tensor];
    }),
  );
}

/** Put numbers of half precision into others of single precision. @param {Uint16Array} bits @param {Float32Array} numbers */
function halves(bits, numbers) {
  const table = (known ??= halfTable());
  for (let i = 0; i < bits.length; i++) numbers[i] = table[bits[i]];
}

/** @type {Float32Array | undefined} */
let known;

/** The value of each of the 65,536 numbers of half precision. @returns {Float32Array} */
function halfTable() {
  // In single precision, the same bits three places further on are the number divided by 2^112.
  const small = Uint32Array.from({ length: 65536 }, (_, bits) => ((bits & 0x8000) << 16) | ((bits & 0x7fff) << 13));
  const [factor, infinite] = [2 ** 112, 2 ** -96];
  return new Float32Array(small.buffer).map((value) => {
    if (Math.abs(value) < infinite) return value * factor;
    return Math.abs(value) === infinite ? value * Infinity : NaN;
  });
}
