// Lays out the machine: the encoder in the upper band, the decoder in the lower one, both from left to right; on a
// phone, in lines (machine_lines.js).

import { fitted, readings, route, sideOf, sumsOf, wire } from "./machine_band.js";
import { NARROW, planLines } from "./machine_lines.js";
import { t } from "./words.js";

/** @import { MachineBlock, MachineBox, MachinePlan, MachineWish } from "./types" */

/** @typedef {[number, number]} Point */

const RAIL = 30; // between the bands, where the memory goes to the decoder
const MISSING = 46; // height of the outlines in place of an encoder
const LOOP = 20; // below the lower band, where the next word goes back to the start

/**
 * Plans the machine for this width.
 * @param {MachineBlock[]} blocks
 * @param {number} width
 * @param {MachineWish} wish
 * @returns {MachinePlan}
 */
export function planMachine(blocks, width, wish) {
  if (width < NARROW) return planLines(blocks, width, wish);
  const upper = blocks.filter((block) => sideOf(block) === "source");
  const lower = blocks.filter((block) => !upper.includes(block));
  const above = upper.length ? fitted(upper, "encoder", 0, width, wish) : null;
  const second = fitted(lower, "decoder", (above?.height ?? MISSING) + RAIL, width, wish);
  const first = above ?? outlines(second);
  const boxes = [...first.boxes, ...second.boxes];
  /** @type {Record<string, MachineBox>} */
  const home = {};
  for (const box of boxes) for (const name of box.names) home[name] = box;
  const height = first.height + RAIL + second.height + LOOP;
  const wires = wiresOf(blocks, home, first.height + RAIL / 2, height - LOOP / 3);
  return {
    width: Math.max(first.width, second.width),
    height,
    boxes,
    frames: [...first.frames, ...second.frames],
    wires,
    labels: labelsOf(wires),
    rows: blocks.find(({ name }) => name === wish.open)?.stack === "encoder" ? first.rows : second.rows,
    tight: { encoder: first.tight, decoder: second.tight },
  };
}

/** Faint outlines where a model without encoder would have one, as wide as the layers below them. @param {ReturnType<typeof fitted>} below @returns {ReturnType<typeof fitted>} */
const outlines = (below) => ({
  ...below,
  width: 0,
  height: MISSING,
  boxes: [],
  frames: below.frames.map((frame) => ({ ...frame, stack: "encoder missing", y: 4, height: MISSING - 4 })),
});

/**
 * The texts beside the lines that lead from one band to the other and back to the start.
 * @param {MachinePlan["wires"]} wires
 * @returns {MachinePlan["labels"]}
 */
function labelsOf(wires) {
  const memory = wires.find(({ flow }) => flow === "memory");
  /** @type {MachinePlan["labels"]} */
  const labels = [];
  if (memory)
    labels.push({ flow: "memory before", text: t("memory"), x: memory.points[0][0] - 6, y: memory.points[1][1] });
  const loop = wires.find(({ flow }) => flow === "loop");
  if (loop)
    labels.push({
      flow: "loop",
      text: t("this word is read in the next step"),
      x: loop.points[2][0] + 8,
      y: loop.points[2][1],
    });
  return labels;
}

/** @param {MachineBlock[]} blocks @param {Record<string, MachineBox>} home @param {number} rail @param {number} loop @returns {MachinePlan["wires"]} */
function wiresOf(blocks, home, rail, loop) {
  /** @type {MachinePlan["wires"]} */
  const wires = [];
  for (const { from, to, read } of readings(blocks, home)) {
    if (read === "memory") {
      const x = to.x + to.width / 2;
      const start = from.x + from.width / 2;
      wires.push(wire("memory", [start, from.y + from.height], [start, rail], [x, rail], [x, to.y]));
    } else wires.push(wire(sideOf(from), ...route(from, to)));
  }
  wires.push(...sumsOf(Object.values(home)));
  const word = home.word;
  const start = home["tgt.tokens"];
  if (word && start) {
    const [out, back] = [word.x + word.width / 2, start.x + start.width / 2];
    wires.push(wire("loop", [out, word.y + word.height], [out, loop], [back, loop], [back, start.y + start.height]));
  }
  return wires;
}
