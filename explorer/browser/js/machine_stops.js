// The stops of a token on its way through the machine.

import { shortOf } from "./machine_link.js";

/** @import { TrailStop } from "./types" */
/** @import { Block, MachineStage } from "./structs" */

/** The stacks that a token of each side passes. */
export const SIDES = { source: ["source", "encoder"], target: ["target", "decoder", "output"] };
const WHOLE = ["q_proj", "k_proj", "v_proj"]; // a head's queries, keys and values are parts of these, and have boxes

/**
 * The stops of a token on its way, in the order of computation; a source token ends as key and value of cross-attention.
 * @param {MachineStage[]} stages @param {Block[]} blocks @param {"source" | "target"} side @returns {TrailStop[]}
 */
export function stopsOf(stages, blocks, side) {
  const find = (/** @type {string} */ name) => /** @type {Block} */ (blocks.find((block) => block.name === name));
  const isMine = (/** @type {MachineStage} */ stage) => {
    const { stack, attention, kind } = find(stage.block);
    if (WHOLE.includes(shortOf(stage.point)) || kind === "initial") return false;
    const waits = attention === "cross" && ["key", "value"].includes(shortOf(stage.point));
    return SIDES[side].includes(stack) || (side === "source" && waits);
  };
  /** @type {TrailStop[]} */
  const stops = stages.filter(isMine).map((stage) => ({ block: stage.block, part: partOf(stage, find), stage }));
  const plain = (/** @type {string} */ name) => ({ block: name, part: "", stage: undefined });
  if (side === "target") return [...stops, plain("softmax"), plain("word")];
  const end = stops.findLastIndex(({ block }) => SIDES.source.includes(find(block).stack)) + 1;
  return stops.toSpliced(end, 0, plain("memory"));
}

/** The part of a block that opens for a stage. @param {MachineStage} stage @param {(name: string) => Block} find */
const partOf = ({ point, block }, find) => (find(block).attention ? shortOf(point) : "");

/**
 * The chapters of a way: where the stages of each block begin. An addition belongs to the sublayer before it.
 * @param {TrailStop[]} stops @param {Block[]} blocks
 */
export function chaptersOf(stops, blocks) {
  const sums = blocks.filter(({ kind }) => kind === "add").map(({ name }) => name);
  /** @type {{ at: number, block: string }[]} */
  const chapters = [];
  stops.forEach(({ block }, at) => {
    if (!sums.includes(block) && block !== chapters.at(-1)?.block) chapters.push({ at, block });
  });
  return chapters;
}
