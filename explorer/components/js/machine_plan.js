// Where the blocks of the machine are. The encoder runs along the upper band, the decoder along the lower one, both from
// left to right; the vectors flow along the stream at the foot of a band, and sublayers stand above it. Layers that find
// no room are folded: each into one block or, where that is still too wide, those beside each other into one.

import { clamp } from "./numbers.js";

/** @typedef {import("./types").MachineBlock} MachineBlock */
/** @typedef {import("./types").MachineBox} MachineBox */
/** @typedef {import("./types").MachinePlan} MachinePlan */
/** @typedef {import("./types").MachineWish} MachineWish */
/** @typedef {[number, number]} Point */

const TITLE = 17; // height of a layer's title
const HIGH = 88; // of a sublayer
const TALL = 140; // of the sublayers of a band whose open block shows two rows
const DROP = 36; // from a sublayer down to the stream
const FOOT = 14; // of a block that the stream passes through, below the stream
const RAIL = 30; // between the bands, where the memory goes to the decoder
const LOOP = 20; // below the lower band, where the next word goes back to the start
const PAD = 7; // inside a layer's frame
const SUM = 18; // the circle that adds
/**
 * Sizes of blocks and of the gaps between them: as they are, and where there is little room. `through` has the widths of
 * blocks that the stream passes through.
 * @typedef {{ gap: number, sublayer: number, folded: number, near: number, norm: number, through: Record<string, number> }} Sizes
 * @type {{ roomy: Sizes, tight: Sizes }}
 */
const SIZES = {
  roomy: {
    gap: 9, sublayer: 64, folded: 40, near: 6, norm: 30,
    through: { tokens: 78, embedding: 64, memory: 54, linear: 60, softmax: 49, word: 113, lstm: 90, combine: 60 },
  },
  tight: {
    gap: 6, sublayer: 56, folded: 40, near: 4, norm: 27,
    through: { tokens: 64, embedding: 56, memory: 52, linear: 50, softmax: 44, word: 84, lstm: 84, combine: 56 },
  },
};
/**
 * How a band is drawn, each way narrower than the one before: what is open in two rows, folded layers beside each other
 * as one block, all blocks narrower.
 * @typedef {{ rows: number, grouped: boolean, sizes: Sizes }} Style
 * @type {Style[]}
 */
const STYLES = [
  { rows: 1, grouped: false, sizes: SIZES.roomy }, { rows: 2, grouped: false, sizes: SIZES.roomy },
  { rows: 2, grouped: true, sizes: SIZES.roomy }, { rows: 2, grouped: true, sizes: SIZES.tight },
];
const RAISED = ["attention", "feed_forward", "positions", "initial"];
const HEAD = 58; // a head of an open block, and a part of an open head
const HEADS = 40; // the heads as a column, beside an open one

/** @param {string} kind */
const isRaised = (kind) => RAISED.includes(kind);

/** The width of an open attention block: its heads, or one head with its parts. @param {number} heads @param {number} parts @param {number} rows */
export const openWidth = (heads, parts, rows) =>
  (parts ? HEADS + Math.ceil(parts / rows) * (HEAD + 12) : Math.ceil(heads / rows) * (HEAD + 5)) + 13;

/** The name of a folded layer. @param {string} stack @param {number} layer */
export const foldedName = (stack, layer) => `${stack}.${layer} folded`;

/**
 * Plans the machine for this width.
 * @param {MachineBlock[]} blocks
 * @param {number} width
 * @param {MachineWish} wish
 * @returns {MachinePlan}
 */
export function planMachine(blocks, width, wish) {
  const upper = blocks.filter(({ stack }) => stack === "source" || stack === "encoder");
  const lower = blocks.filter((block) => !upper.includes(block));
  const first = fitted(upper, "encoder", 0, width, wish), second = fitted(lower, "decoder", first.height + RAIL, width, wish);
  const boxes = [...first.boxes, ...second.boxes];
  /** @type {Record<string, MachineBox>} */
  const home = {};
  for (const box of boxes) for (const name of box.names) home[name] = box;
  const height = first.height + RAIL + second.height + LOOP, wires = wiresOf(blocks, home, first.height + RAIL / 2, height - LOOP / 3);
  return {
    width: Math.max(first.width, second.width), height, boxes, frames: [...first.frames, ...second.frames], wires, labels: labelsOf(wires),
    rows: blocks.find(({ name }) => name === wish.open)?.stack === "encoder" ? first.rows : second.rows,
    tight: { encoder: first.tight, decoder: second.tight },
  };
}

/**
 * What is written beside the lines that lead from one band to the other and back to the start.
 * @param {MachinePlan["wires"]} wires
 * @returns {MachinePlan["labels"]}
 */
function labelsOf(wires) {
  const memory = wires.filter(({ flow }) => flow === "memory"), ends = memory.flatMap(({ points }) => [points[1][0], points[2][0]]);
  /** @type {MachinePlan["labels"]} */
  const labels = [];
  if (ends.length) {
    const [left, right] = [Math.min(...ends), Math.max(...ends)];
    const apart = memory.length > 1 && ends[0] < right; // it also goes to the left, as an LSTM's first state does
    const text = apart ? "memory" : right - left > 250 ? "memory: keys and values for every cross-attention" : right - left > 70 ? "keys, values" : "";
    labels.push({ flow: "memory", text, x: left + 6, y: memory[0].points[1][1] });
  }
  const loop = wires.find(({ flow }) => flow === "loop");
  if (loop) labels.push({ flow: "loop", text: "the chosen word is read in the next step", x: loop.points[2][0] + 8, y: loop.points[2][1] });
  return labels;
}

/** One band with as many layers unfolded as fit. @param {MachineBlock[]} blocks @param {string} stack @param {number} top @param {number} width @param {MachineWish} wish */
function fitted(blocks, stack, top, width, wish) {
  const layers = [...new Set(blocks.map(({ layer }) => layer))].filter(Boolean);
  const opened = blocks.find(({ name }) => name === wish.open)?.layer, wanted = wish.unfolded[stack] ?? [];
  const order = [...new Set([...(opened ? [opened] : []), ...wanted, ...layers])].filter((layer) => layers.includes(layer));
  for (const style of STYLES) {
    /** @type {number[]} */
    let unfolded = [];
    for (const layer of order) {
      const forced = layer === opened || layer === wanted[0], more = [...unfolded, layer];
      if (forced || placed(blocks, stack, top, more, wish, style).width <= width) unfolded = more;
    }
    const plan = placed(blocks, stack, top, unfolded, wish, style);
    if (plan.width <= width || style === STYLES[STYLES.length - 1]) return plan;
  }
  throw new Error("no way of drawing");
}

/**
 * @param {MachineBlock[]} blocks
 * @param {string} stack
 * @param {number} top
 * @param {number[]} unfolded
 * @param {MachineWish} wish
 * @param {Style} style
 */
function placed(blocks, stack, top, unfolded, wish, { rows: most, grouped, sizes }) {
  const rows = blocks.some(({ name, attention }) => name === wish.open && attention) && (wish.parts || wish.heads > 1) ? most : 1;
  const high = rows > 1 ? TALL : HIGH, { gap, sublayer, norm, through } = sizes;
  const roof = top + TITLE, floor = roof + high, stream = floor + DROP, whole = high + DROP + FOOT;
  /** @type {MachineBox[]} */
  const boxes = [];
  /** @type {MachinePlan["frames"]} */
  const frames = [];
  let x = 2, layer = 0, left = 0;
  /** @type {MachineBox | null} */
  let raised = null;
  const add = (/** @type {Partial<MachineBox>} */ box) => boxes.push(/** @type {MachineBox} */ (box));
  const close = () => {
    if (layer && unfolded.includes(layer)) {
      frames.push({ stack, layer, x: left, y: top, width: x - gap + PAD - left, height: whole + TITLE });
      x += PAD;
    }
    layer = 0;
  };
  blocks.forEach((block, i) => {
    const { name, kind } = block;
    if (block.layer !== layer) {
      close();
      layer = block.layer;
      raised = null;
      left = x;
      if (layer && unfolded.includes(layer)) x += PAD;
      else if (layer) {
        const names = blocks.filter((each) => each.layer === layer).map((each) => each.name), before = boxes[boxes.length - 1];
        if (grouped && before?.kind === "folded") Object.assign(before, { names: [...before.names, ...names], last: layer });
        else {
          add({ name: foldedName(stack, layer), kind: "folded", stack, layer, last: layer, names, x, y: roof, width: sizes.folded, height: whole, enter: [x, stream], leave: [x + sizes.folded, stream] });
          x += sizes.folded + sizes.near;
        }
      }
    }
    if (layer && !unfolded.includes(layer)) return;
    const next = blocks[i + 1], own = { name, kind, stack: block.stack, layer, names: [name] };
    if (isRaised(kind)) {
      const open = name === wish.open && block.attention !== "";
      const w = open ? openWidth(wish.heads, wish.parts, rows) : sublayer;
      const settles = !wish.pre && layer > 0 && next?.layer === layer && (next.kind === "add" || next.kind === "norm");
      const out = settles ? x + 24 : x + w - 15;
      /** @type {MachineBox} */
      const box = { ...own, x, y: roof, width: w, height: high, enter: [isBefore(blocks, i - 1, wish) ? x + 17 : x + 7, floor], leave: [out, floor] };
      if (kind === "positions") {
        const middle = x + w / 2;
        Object.assign(box, { sum: [middle, stream], enter: [middle - SUM / 2, stream], leave: [middle + SUM / 2, stream] });
      }
      add(box);
      raised = box;
      x += w + gap;
    } else if (kind === "add") {
      const middle = raised ? raised.leave[0] : x + SUM / 2;
      add({ ...own, x: middle - SUM / 2, y: stream - SUM / 2, width: SUM, height: SUM, enter: [middle - SUM / 2, stream], leave: [middle + SUM / 2, stream] });
      if (!raised) x += SUM + gap;
    } else if (isBefore(blocks, i, wish)) {
      const middle = x + 17;
      add({ ...own, x: middle - norm / 2, y: floor + 9, width: norm, height: 17, enter: [middle, floor + 26], leave: [middle, floor + 9] });
    } else if (kind === "norm") {
      const start = raised && block.layer ? raised.leave[0] + 13 : x;
      add({ ...own, x: start, y: stream - 9, width: norm, height: 18, enter: [start, stream], leave: [start + norm, stream] });
      x = Math.max(x, start + norm + (block.layer ? 4 : gap));
    } else {
      const w = through[kind] ?? sublayer;
      add({ ...own, x, y: roof, width: w, height: whole, enter: [x, stream], leave: [x + w, stream] });
      x += w + gap;
    }
  });
  close();
  return { boxes, frames, width: x - gap + 2, height: TITLE + whole, rows, tight: sizes === SIZES.tight };
}

/** Whether the block at `i` is a norm before a sublayer (pre-norm). @param {MachineBlock[]} blocks @param {number} i @param {MachineWish} wish */
const isBefore = (blocks, i, { pre }) => pre && blocks[i]?.kind === "norm" && blocks[i].layer > 0;

/** @param {MachineBlock[]} blocks @param {Record<string, MachineBox>} home @param {number} rail @param {number} loop @returns {MachinePlan["wires"]} */
function wiresOf(blocks, home, rail, loop) {
  /** @type {MachinePlan["wires"]} */
  const wires = [], known = new Set();
  for (const block of blocks) {
    for (const read of block.reads) {
      const from = home[read], to = home[block.name], name = `${from.name} ${to.name}`;
      if (from === to || known.has(name)) continue;
      known.add(name);
      if (read === "memory") {
        const x = to.x + to.width / 2, start = from.x + from.width / 2;
        wires.push({ flow: "memory", points: [[start, from.y + from.height], [start, rail], [x, rail], [x, to.y]] });
      } else wires.push({ flow: from.stack === "source" || from.stack === "encoder" ? "source" : "target", points: route(from, to) });
    }
  }
  for (const box of Object.values(home)) {
    if (box.sum) wires.push({ flow: box.stack === "source" ? "source" : "target", points: [[box.sum[0], box.y + box.height], [box.sum[0], box.sum[1] - SUM / 2]] });
  }
  const word = home.word, start = home["tgt.tokens"];
  if (word && start) {
    const [out, back] = [word.x + word.width / 2, start.x + start.width / 2];
    wires.push({ flow: "loop", points: [[out, word.y + word.height], [out, loop], [back, loop], [back, start.y + start.height]] });
  }
  return wires;
}

/** From where one block leaves to where the other is entered. @param {MachineBox} from @param {MachineBox} to @returns {Point[]} */
function route(from, to) {
  const [ax, ay] = from.leave, [bx, by] = to.enter, stream = Math.max(ay, by);
  if (to.kind === "add" && isRaised(from.kind) && !from.sum) return [[ax, ay], [ax, to.y]];
  if (ay === by && !isRaised(from.kind)) return [[ax, ay], [bx, by]];
  if (ax === bx) return [[ax, ay], [bx, by]];
  // From above, down to the stream, along it, and up again where the other one stands above it.
  const foot = isRaised(from.kind) && !from.sum ? Math.max(stream, from.y + from.height + DROP) : stream;
  /** @type {Point[]} */
  const points = [[ax, ay]];
  if (ay !== foot) points.push([ax, foot]);
  points.push([bx, foot]);
  if (by !== foot) points.push([bx, by]);
  return points;
}

/**
 * The box that an arrow key leads to from another one: the nearest in that direction; undefined if there is none.
 * @param {{ x: number, y: number, width: number, height: number }[]} boxes
 * @param {number} at
 * @param {string} key
 */
export function boxTowards(boxes, at, key) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [0, 0];
  const middle = (/** @type {typeof boxes[0]} */ box) => [box.x + box.width / 2, box.y + box.height / 2];
  const [x, y] = middle(boxes[at]);
  let best = -1, least = Infinity;
  boxes.forEach((box, i) => {
    const [bx, by] = middle(box), along = (bx - x) * dx + (by - y) * dy, beside = Math.abs((bx - x) * dy) + Math.abs((by - y) * dx);
    if (i === at || along <= 1 || (dx && beside > 110)) return;
    const distance = along + 2 * beside;
    if (distance < least) [best, least] = [i, distance];
  });
  return best < 0 ? undefined : best;
}

/** The next magnification of the diagram. @param {number} zoom @param {string} way "in", "out" or "fit" */
export const zoomAfter = (zoom, way) => (way === "fit" ? 1 : clamp(Math.round(10 * zoom * (way === "in" ? 1.25 : 0.8)) / 10, 0.5, 3));
