// Where the blocks of the small diagram of a model are: the encoder above, the decoder below, and between them what the
// decoder takes from the encoder. Layers go from left to right.

import { clamp } from "./numbers.js";

/** @typedef {import("./types").Diagram} Diagram */
/** @typedef {import("./types").DiagramPlan} DiagramPlan */

const NAMES = 92; // width of the names of the rows
const OUT = 20; // room for the arrow to the next word
const TOP = 2;
const INSET = 3;
const BEND = 9;
/** The row of each kind of block: encoder, cross-attention, decoder. @type {Record<string, number>} */
const ROWS = { encoder: 0, cross: 1, decoder: 2 };

/**
 * Plans a diagram for this width; `roomy` makes blocks that a finger can hit, `low` saves height.
 * @param {Diagram} diagram
 * @param {number} width
 * @param {boolean} roomy
 * @param {boolean} low
 * @returns {DiagramPlan}
 */
export function planOf({ encoder, decoder }, width, roomy, low = false) {
  const n = Math.max(encoder.length, decoder.length), gap = n > 8 ? 6 : 10;
  const cell = { width: clamp(Math.floor((width - NAMES - OUT) / n - gap), 12, 46), height: roomy ? 34 : low ? 16 : 21 };
  const [between, within] = low ? [12, 9] : [25, 14];
  const tops = [TOP, TOP + cell.height + between, TOP + 2 * cell.height + between + within];
  const left = (/** @type {number} */ i) => NAMES + i * (cell.width + gap), middle = (/** @type {number} */ i) => left(i) + cell.width / 2;
  const level = (/** @type {number} */ row) => tops[row] + cell.height / 2;
  /** @type {DiagramPlan["blocks"]} */
  const blocks = [];
  /** @type {DiagramPlan["wires"]} */
  const wires = [{ points: [[NAMES - 12, level(0)], [NAMES - 1, level(0)]], flow: "source" }];
  const frames = decoder.map((parts, i) => {
    const top = tops[parts.includes("cross") ? 1 : 2] - INSET;
    return { x: left(i) - INSET, y: top, width: cell.width + 2 * INSET, height: tops[2] + cell.height + INSET - top };
  });
  encoder.forEach((parts, i) => {
    const kind = parts.find((part) => part !== "feed_forward") ?? "";
    blocks.push({ kind, layer: i + 1, x: left(i), y: tops[0] });
    if (i) wires.push({ points: [[left(i - 1) + cell.width, level(0)], [left(i) - 1, level(0)]], flow: "source" });
  });
  let places = 0;
  decoder.forEach((parts, i) => {
    for (const kind of parts) {
      if (kind === "feed_forward") continue;
      // An LSTM has one layer of attention, wherever it stands.
      if (kind === "cross") places += 1;
      blocks.push({ kind, layer: kind === "cross" ? places : i + 1, x: left(i), y: tops[kind === "cross" ? 1 : 2] });
    }
    const before = i ? frames[i - 1].x + frames[i - 1].width : NAMES - 12;
    wires.push({ points: [[before, level(2)], [frames[i].x - 1, level(2)]], flow: "target" });
    if (parts.includes("cross")) wires.push({ points: [[middle(i), tops[2]], [middle(i), tops[1] + cell.height + 1]], flow: "target" });
  });
  const end = left(encoder.length - 1) + cell.width, last = frames[frames.length - 1], out = last.x + last.width;
  const crossed = decoder.flatMap((parts, i) => (parts.includes("cross") ? [i] : []));
  const shelf = tops[0] + cell.height + (low ? 6 : 12);
  crossed.forEach((i, n) => {
    /** @type {[number, number][]} */
    const out = [[end, level(0)], [end + BEND, level(0)], [end + BEND, shelf]], down = /** @type {[number, number][]} */ ([[middle(i), shelf], [middle(i), tops[1] - 1]]);
    wires.push({ points: n ? down : [...out, ...down], flow: "memory" });
  });
  wires.push({ points: [[out, level(1)], [out + OUT - INSET - 4, level(1)]], flow: "target" });
  const lstm = [...encoder, ...decoder].some((parts) => parts.includes("lstm")), how = lstm ? "LSTM" : "self";
  const names = [`Encoder ${how}`, "Cross", `Decoder ${how}`];
  return {
    width: Math.max(end + BEND + 2, out + OUT), height: tops[2] + cell.height + INSET + 1, cell, blocks, wires, frames,
    labels: Object.values(ROWS).map((row) => ({ text: names[row], x: 0, y: level(row), side: row ? "target" : "source" })),
  };
}
