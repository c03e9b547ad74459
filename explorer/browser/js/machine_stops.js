// The stops of a token on its way through the machine: all of them, and the short way, which explains one block of
// attention and passes the others in one stop each.

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
  const memory = stages.findLast(({ block }) => block === find("memory").reads[0]); // it has the numbers of the last block
  return stops.toSpliced(end, 0, { ...plain("memory"), stage: memory });
}

/** The part of a block that opens for a stage. @param {MachineStage} stage @param {(name: string) => Block} find */
const partOf = ({ point, block }, find) => (find(block).attention ? shortOf(point) : "");

/** The stages of the attention that is explained; the mask closes nothing in the row of the newest token. */
const EXPLAINED = ["query", "product", "scores", "weights", "output", "joined", "gated", "out_proj"];
const ALONE = ["tokens", "memory", "linear", "word"];

/**
 * The short way: the attention that is open, or the first, with the norm and the sum around it; the other sublayers of
 * its layer in a stop each, and the layers before and after it in a stop that has their numbers in `layers`.
 * @param {TrailStop[]} stops @param {Block[]} blocks @param {string} open the name of the open block @param {boolean} pre whether norms come first
 * @returns {TrailStop[]}
 */
export function shortWay(stops, blocks, open, pre) {
  const find = (/** @type {TrailStop} */ stop) => /** @type {Block} */ (blocks.find(({ name }) => name === stop.block));
  const isOfMemory = (/** @type {TrailStop} */ stop) =>
    find(stop).attention === "cross" && stop.stage?.side === "source";
  const ways = stops.filter((stop) => find(stop).attention && !isOfMemory(stop));
  const main = find(ways.find(({ block }) => block === open) ?? ways[0]);
  const { name, stack, layer } = main;
  const first = stops.findIndex(({ block }) => block === name);
  const end = stops.findLastIndex((stop) => stop.block === name && !isOfMemory(stop));
  const layers = stops.filter((stop) => find(stop).stack === stack).map((stop) => find(stop).layer);
  /** @type {Map<number, [number, number]>} the last stop of the layers before, and of those after */
  const passed = new Map();
  for (const [from, to] of layer
    ? [
        [1, layer - 1],
        [layer + 1, Math.max(...layers)],
      ]
    : [])
    if (from <= to)
      passed.set(
        stops.findLastIndex((stop) => find(stop).stack === stack && find(stop).layer === to),
        [from, to],
      );
  const isAround = (/** @type {number} */ i) => i === end + 1 || i === (pre ? first - 1 : end + 2);
  return stops.flatMap((stop, i) => {
    const block = find(stop);
    const short = stop.stage ? shortOf(stop.stage.point) : "";
    const others = passed.get(i);
    if (others) return [{ ...stop, layers: others }];
    /** @returns {boolean} */
    const isShown = () => {
      if (isOfMemory(stop)) return stack === "encoder" && block.layer === 1; // the key and the value of a source token
      if (block === main) return EXPLAINED.includes(short);
      if (block.stack === stack && layer && block.layer) {
        if (block.layer !== layer) return false;
        if (block.attention) return short === "weights";
        return block.kind === "feed_forward" ? block.name !== stops[i + 1]?.block : isAround(i);
      }
      if (["embedding", "positions"].includes(block.kind)) return short === block.kind && stop.stage?.op !== "copy";
      return ALONE.includes(block.kind) || (!layer && block.kind !== "softmax");
    };
    return isShown() ? [stop] : [];
  });
}
