// Lays out the machine on a phone, in five lines below each other: the source, the encoder with its memory, the target,
// the decoder, and the output. The vectors continue from the end of a line to the start of the next; the memory goes
// down beside the target to the decoder. An open block of attention stands alone, as large as the phone allows.

import { fitted, openWidth, readings, route, sideOf, sumsOf, wire } from "./machine_band.js";
import { clamp } from "./numbers.js";
import { t } from "./words.js";

/** @import { MachineBlock, MachineBox, MachinePlan, MachineWish } from "./types" */

/** @typedef {[number, number]} Point */
/**
 * One line: its boxes and frames, its right end, and the height of its stream. `lead` is the height at which the
 * vectors of the line before run above it, `shelf` that of the memory.
 * @typedef {{ boxes: MachineBox[], frames: MachinePlan["frames"], right: number, stream: number, rows: number, tight: boolean, lead: number, shelf: number }} Line
 */

/** Below this width, lines are used. */
export const NARROW = 600;
const STACKS = ["source", "encoder", "target", "decoder", "output"];
const START = 15; // where lines begin
const TURN = 6; // from a line's end to where its vectors turn down, and from where they arrive to the next line's start
const BACK = 3; // from the left edge to where the next word goes back up
const CLEAR = 10; // between two parallel lines of vectors
const LOOP = 22; // below the last line
/** The room above each line: for the vectors of the line before and, above the decoder, for the memory with its label. @type {Record<string, number>} */
const ABOVE = { source: 0, encoder: 16, target: 12, decoder: 32, output: 16 };

/**
 * @param {MachineBlock[]} blocks
 * @param {number} width
 * @param {MachineWish} wish
 * @returns {MachinePlan}
 */
export function planLines(blocks, width, wish) {
  /** @type {Record<string, Line>} */
  const lines = {};
  const opened = blocks.find(({ name }) => name === wish.open);
  if (opened?.attention) return planOpen(opened, wish);
  let bottom = 0;
  for (const stack of STACKS) {
    const members = blocks.filter((block) => block.stack === stack);
    if (!members.length) continue; // a decoder alone has neither source nor encoder
    const top = bottom + ABOVE[stack];
    // On any width, one layer of each side is unfolded, so that its attention can be seen.
    const unfolded =
      wish.unfolded[stack]?.length || opened?.stack === stack ? wish.unfolded : { ...wish.unfolded, [stack]: [1] };
    const end = stack === "encoder" || stack === "output" ? 0 : TURN + (stack === "target" ? 0 : 2);
    const band = fitted(members, stack, top, width - START - end, { ...wish, unfolded });
    const by = START - 2;
    for (const box of band.boxes) move(box, by);
    lines[stack] = {
      ...band,
      frames: band.frames.map((frame) => ({ ...frame, x: frame.x + by })),
      right: band.width + by,
      lead: stack === "decoder" ? top - 26 : top - ABOVE[stack] / 2,
      shelf: top - 6,
    };
    bottom = top + band.height;
  }
  const all = Object.values(lines);
  const boxes = all.flatMap((line) => line.boxes);
  const height = bottom + LOOP;
  const rows = lines[opened?.stack ?? "decoder"].rows;
  const tight = { encoder: lines.encoder?.tight ?? false, decoder: lines.decoder.tight };
  const { wires, down } = wiresOf(blocks, boxes, lines, height - LOOP / 3);
  return {
    width: Math.max(down + 4, ...all.map(({ right }) => right + TURN + 2)),
    height,
    boxes,
    wires,
    frames: all.flatMap(({ frames }) => frames),
    labels: [
      ...(lines.encoder ? [{ flow: "memory", text: t("memory"), x: START + CLEAR, y: lines.decoder.shelf }] : []),
      { flow: "loop", text: t("this word is read in the next step"), x: START, y: height - LOOP / 3 },
    ],
    rows,
    tight,
  };
}

/** An open block alone: its heads in two columns, or the parts of one head in three. @param {MachineBlock} block @param {MachineWish} wish @returns {MachinePlan} */
function planOpen({ name, kind, stack, layer }, wish) {
  const rows = wish.inside ? Math.ceil(wish.inside / 3) : clamp(Math.ceil(wish.heads / 2), 1, 5);
  const [width, height] = [openWidth(wish, rows), 22 + 62 * rows];
  const place = {
    x: 2,
    y: 2,
    width,
    height,
    enter: /** @type {Point} */ ([2, 2]),
    leave: /** @type {Point} */ ([2, 2]),
  };
  const boxes = [{ name, kind, stack, layer, names: [name], ...place }];
  const tight = { encoder: false, decoder: false };
  return { width: width + 4, height: height + 4, boxes, wires: [], frames: [], labels: [], rows, tight };
}

/** @param {MachineBox} box @param {number} by */
function move(box, by) {
  const moved = (/** @type {Point} */ [x, y]) => /** @type {Point} */ ([x + by, y]);
  Object.assign(box, {
    x: box.x + by,
    enter: moved(box.enter),
    leave: moved(box.leave),
    ...(box.sum ? { sum: moved(box.sum) } : {}),
  });
}

/** The lines between the blocks, and the x at which the memory goes down. @param {MachineBlock[]} blocks @param {MachineBox[]} boxes @param {Record<string, Line>} lines @param {number} loop */
function wiresOf(blocks, boxes, lines, loop) {
  /** @type {MachinePlan["wires"]} */
  const wires = [];
  /** @type {Record<string, MachineBox>} */
  const home = {};
  for (const box of boxes) for (const name of box.names) home[name] = box;
  const { memory, word } = home;
  const middle = memory ? memory.x + memory.width / 2 : 0;
  const below = memory ? memory.y + memory.height : 0;
  const down = Math.max(middle, lines.target.right + TURN + CLEAR);
  for (const { from, to, read } of readings(blocks, home)) {
    if (read === "memory") {
      const x = to.x + to.width / 2;
      const { shelf } = lines[to.stack];
      const level = down > middle ? below + 6 : below; // above it, the memory goes straight down
      wires.push(wire("memory", [middle, below], [middle, level], [down, level], [down, shelf], [x, shelf], [x, to.y]));
    } else wires.push(wire(sideOf(from), ...(from.stack === to.stack ? route(from, to) : over(from, to, lines))));
  }
  wires.push(...sumsOf(boxes));
  const start = home["tgt.tokens"];
  const out = word.x + word.width - 12;
  const level = start.y + start.height / 2;
  wires.push(wire("loop", [out, word.y + word.height], [out, loop], [BACK, loop], [BACK, level], [start.x, level]));
  return { wires, down };
}

/** The points from the end of one line to a block of the next. @param {MachineBox} from @param {MachineBox} to @param {Record<string, Line>} lines @returns {Point[]} */
function over(from, to, lines) {
  const { right, stream } = lines[from.stack];
  const { lead, stream: next } = lines[to.stack];
  const [ax, ay] = from.leave;
  const [bx, by] = to.enter;
  const turn = right + TURN;
  const left = START - TURN;
  /** @type {Point[]} */
  const points = [
    [ax, ay],
    ...(ay === stream ? [] : [/** @type {Point} */ ([ax, stream])]),
    [turn, stream],
    [turn, lead],
    [left, lead],
    [left, next],
    [bx, next],
  ];
  return by === next ? points : [...points, [bx, by]];
}
