// Lays out one band of the machine, with blocks from left to right. The vectors flow along the stream at the foot of
// the band, and sublayers stand above it. Layers that do not fit are folded into one block each or, if that is still
// too wide, adjacent ones into one block.

/** @import { MachineBlock, MachineBox, MachinePlan, MachineWish } from "./types" */

/** @typedef {[number, number]} Point */

const TITLE = 17; // height of a layer's title
const HIGH = 88; // of a sublayer
const TALL = 166; // of the sublayers of a band whose open block shows two rows
const DROP = 36; // from a sublayer down to the stream
const FOOT = 14; // the part below the stream of a block that the stream passes through
const PAD = 7; // inside a layer's frame
const SUM = 18; // the circle of an addition
/**
 * Sizes of blocks and of the gaps between them, by default and in little space. `through` has the widths of blocks that
 * the stream passes through.
 * @typedef {{ gap: number, sublayer: number, folded: number, near: number, norm: number, through: Record<string, number> }} Sizes
 * @type {{ roomy: Sizes, tight: Sizes }}
 */
const SIZES = {
  roomy: {
    gap: 9,
    sublayer: 64,
    folded: 40,
    near: 6,
    norm: 32,
    through: { tokens: 78, embedding: 64, memory: 54, linear: 60, softmax: 49, word: 113, lstm: 90, combine: 60 },
  },
  tight: {
    gap: 6,
    sublayer: 56,
    folded: 36,
    near: 4,
    norm: 28,
    through: { tokens: 73, embedding: 45, memory: 50, linear: 44, softmax: 34, word: 84, lstm: 84, combine: 56 },
  },
};
/**
 * Styles of a band, each narrower than the one before: the open block in two rows, adjacent folded layers as one block,
 * all blocks narrower.
 * @typedef {{ rows: number, grouped: boolean, sizes: Sizes }} Style
 * @type {Style[]}
 */
const STYLES = [
  { rows: 1, grouped: false, sizes: SIZES.roomy },
  { rows: 2, grouped: false, sizes: SIZES.roomy },
  { rows: 2, grouped: true, sizes: SIZES.roomy },
  { rows: 2, grouped: true, sizes: SIZES.tight },
];
const RAISED = ["attention", "feed_forward", "positions", "initial"];
const HEAD = 62; // a head of an open block
const PART = 53; // a part of an open head, and what follows the heads
const HEADS = 34; // the heads as a column, beside an open one

/** Whether a block stands above the stream. @param {string} kind */
const isRaised = (kind) => RAISED.includes(kind);

/** The width of an open attention block: its heads and what follows them, or one head with its parts. @param {Pick<MachineWish, "heads" | "inside" | "after">} wish @param {number} rows */
export const openWidth = ({ heads, inside, after }, rows) =>
  (inside ? HEADS : Math.ceil(heads / rows) * (HEAD + 5)) +
  Math.ceil((inside || after) / rows) * (PART + 10) +
  (inside ? 9 : 15);

/** The name of a folded layer. @param {string} stack @param {number} layer */
export const foldedName = (stack, layer) => `${stack}.${layer} folded`;

/** Lays out a band with as many layers unfolded as fit. @param {MachineBlock[]} blocks @param {string} stack @param {number} top @param {number} width @param {MachineWish} wish */
export function fitted(blocks, stack, top, width, wish) {
  const layers = [...new Set(blocks.map(({ layer }) => layer))].filter(Boolean);
  const opened = blocks.find(({ name }) => name === wish.open)?.layer;
  const wanted = wish.unfolded[stack] ?? [];
  const order = [...new Set([...(opened ? [opened] : []), ...wanted, ...layers])].filter((layer) =>
    layers.includes(layer),
  );
  for (const style of STYLES) {
    /** @type {number[]} */
    let unfolded = [];
    for (const layer of order) {
      const forced = layer === opened || layer === wanted[0];
      const more = [...unfolded, layer];
      if (forced || placed(blocks, stack, top, more, wish, style).width <= width) unfolded = more;
    }
    const plan = placed(blocks, stack, top, unfolded, wish, style);
    if (plan.width <= width || style === STYLES[STYLES.length - 1]) return plan;
  }
  throw new Error("There is no style for this band.");
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
  const rows =
    blocks.some(({ name, attention }) => name === wish.open && attention) && (wish.inside || wish.heads > 1) ? most : 1;
  const high = rows > 1 ? TALL : HIGH;
  const { gap, sublayer, norm, through } = sizes;
  const title = blocks.some((block) => block.layer) ? TITLE : 0;
  const roof = top + title;
  const floor = roof + high;
  const stream = floor + DROP;
  const whole = high + DROP + FOOT;
  /** @type {MachineBox[]} */
  const boxes = [];
  /** @type {MachinePlan["frames"]} */
  const frames = [];
  let x = 2;
  let layer = 0;
  let left = 0;
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
  /** Where the stream enters and leaves the circle of an addition. @type {(middle: number) => Pick<MachineBox, "enter" | "leave">} */
  const around = (middle) => ({ enter: [middle - SUM / 2, stream], leave: [middle + SUM / 2, stream] });
  blocks.forEach((block, i) => {
    const { name, kind } = block;
    if (block.layer !== layer) {
      close();
      layer = block.layer;
      raised = null;
      left = x;
      if (layer && unfolded.includes(layer)) x += PAD;
      else if (layer) {
        const names = blocks.filter((each) => each.layer === layer).map((each) => each.name);
        const before = boxes[boxes.length - 1];
        if (grouped && before?.kind === "folded")
          Object.assign(before, { names: [...before.names, ...names], last: layer });
        else {
          add({
            name: foldedName(stack, layer),
            kind: "folded",
            stack,
            layer,
            last: layer,
            names,
            x,
            y: roof,
            width: sizes.folded,
            height: whole,
            enter: [x, stream],
            leave: [x + sizes.folded, stream],
          });
          x += sizes.folded + sizes.near;
        }
      }
    }
    if (layer && !unfolded.includes(layer)) return;
    const next = blocks[i + 1];
    const own = { name, kind, stack: block.stack, layer, names: [name] };
    if (isRaised(kind)) {
      const open = name === wish.open && block.attention !== "";
      const w = open ? openWidth(wish, rows) : sublayer;
      const settles = !wish.pre && layer > 0 && next?.layer === layer && (next.kind === "add" || next.kind === "norm");
      const out = settles ? x + 24 : x + w - 15;
      /** @type {MachineBox} */
      const box = {
        ...own,
        x,
        y: roof,
        width: w,
        height: high,
        enter: [isBefore(blocks, i - 1, wish) ? x + 17 : x + 7, floor],
        leave: [out, floor],
      };
      if (kind === "positions") {
        const middle = x + w / 2;
        Object.assign(box, { sum: [middle, stream], ...around(middle) });
      }
      add(box);
      raised = box;
      x += w + gap;
    } else if (kind === "add") {
      const middle = raised ? raised.leave[0] : x + SUM / 2;
      add({ ...own, x: middle - SUM / 2, y: stream - SUM / 2, width: SUM, height: SUM, ...around(middle) });
      if (!raised) x += SUM + gap;
    } else if (isBefore(blocks, i, wish)) {
      const middle = x + 17;
      add({
        ...own,
        x: middle - norm / 2,
        y: floor + 9,
        width: norm,
        height: 17,
        enter: [middle, floor + 26],
        leave: [middle, floor + 9],
      });
    } else if (kind === "norm") {
      const start = raised && block.layer ? raised.leave[0] + 17 : x;
      add({
        ...own,
        x: start,
        y: stream - 9,
        width: norm,
        height: 18,
        enter: [start, stream],
        leave: [start + norm, stream],
      });
      x = Math.max(x, start + norm + (block.layer ? 4 : gap));
    } else {
      const w = through[kind] ?? sublayer;
      const y = kind === "tokens" ? top : roof; // the more of the sentence is seen
      add({ ...own, x, y, width: w, height: floor + DROP + FOOT - y, enter: [x, stream], leave: [x + w, stream] });
      x += w + gap;
    }
  });
  close();
  return { boxes, frames, width: x - gap + 2, height: title + whole, stream, rows, tight: sizes === SIZES.tight };
}

/** Whether the block at `i` is a norm before a sublayer (pre-norm). @param {MachineBlock[]} blocks @param {number} i @param {MachineWish} wish */
const isBefore = (blocks, i, { pre }) => pre && blocks[i]?.kind === "norm" && blocks[i].layer > 0;

/**
 * The pairs of boxes of which one reads the other; each pair is listed once, whatever blocks are folded into the boxes.
 * @param {MachineBlock[]} blocks @param {Record<string, MachineBox>} home
 * @returns {{ from: MachineBox, to: MachineBox, read: string }[]}
 */
export function readings(blocks, home) {
  const seen = new Set();
  const pairs = [];
  for (const block of blocks) {
    for (const read of block.reads) {
      const from = home[read];
      const to = home[block.name];
      const name = `${from.name} ${to.name}`;
      if (from === to || seen.has(name)) continue;
      seen.add(name);
      pairs.push({ from, to, read });
    }
  }
  return pairs;
}

/** A line and what flows there. @param {string} flow @param {Point[]} points @returns {import("./types").Wiring} */
export const wire = (flow, ...points) => ({ flow, points });

/** The side whose tokens a box or block is about. @param {{ stack: string }} box */
export const sideOf = ({ stack }) => (stack === "source" || stack === "encoder" ? "source" : "target");

/** The lines down to the circles where positions are added. @param {MachineBox[]} boxes */
export const sumsOf = (boxes) =>
  boxes.flatMap((box) =>
    box.sum ? [wire(sideOf(box), [box.sum[0], box.y + box.height], [box.sum[0], box.sum[1] - SUM / 2])] : [],
  );

/** The points of the line from one block's exit to another block's entry. @param {MachineBox} from @param {MachineBox} to @returns {Point[]} */
export function route(from, to) {
  const [ax, ay] = from.leave;
  const [bx, by] = to.enter;
  const stream = Math.max(ay, by);
  if (to.kind === "add" && isRaised(from.kind) && !from.sum) return [from.leave, [ax, to.y]];
  if (ax === bx || (ay === by && !isRaised(from.kind))) return [from.leave, to.enter];
  // From above, down to the stream, along it, and up again if the other block stands above it.
  const foot = isRaised(from.kind) && !from.sum ? Math.max(stream, from.y + from.height + DROP) : stream;
  /** @type {Point[]} */
  const points = [[ax, ay]];
  if (ay !== foot) points.push([ax, foot]);
  points.push([bx, foot]);
  if (by !== foot) points.push([bx, by]);
  return points;
}
