import assert from "node:assert/strict";
import { test } from "node:test";

import { boxTowards } from "../../explorer/browser/js/grids.js";
import { openWidth } from "../../explorer/browser/js/machine_band.js";
import { planMachine } from "../../explorer/browser/js/machine_plan.js";

const block = (name, kind, stack, layer, reads, attention = "") => ({
  ...{ name, kind, stack, layer, reads, attention },
  points: [],
});
const PARTS = { encoder: ["self_attn", "feed_forward"], decoder: ["self_attn", "cross_attn", "feed_forward"] };

/** The blocks of a post-norm or pre-norm Transformer, as machine_blocks.py lists them. */
function transformer(encoder, decoder, pre) {
  const blocks = [];
  const add = (...given) => blocks.push(block(...given));
  for (const [stack, depth] of Object.entries({ encoder, decoder })) {
    const [side, lead] = stack === "encoder" ? ["src", "source"] : ["tgt", "target"];
    add(`${side}.tokens`, "tokens", lead, 0, []);
    add(`${side}.embedding`, "embedding", lead, 0, [`${side}.tokens`]);
    add(`${side}.positions`, "positions", lead, 0, [`${side}.embedding`]);
    let x = `${side}.positions`;
    for (let i = 0; i < depth; i++) {
      for (const [n, part] of PARTS[stack].entries()) {
        const at = `${stack}.${i}`;
        const [norm, sum, sub] = [`${at}.norm${n + 1}`, `${at}.residual${n + 1}`, `${at}.${part}`];
        const attention = { cross_attn: "cross", self_attn: stack }[part] ?? "";
        const reads = [...(attention === "cross" ? ["memory"] : []), pre ? norm : x];
        if (pre) add(norm, "norm", stack, i + 1, [x]);
        add(sub, attention ? "attention" : part, stack, i + 1, reads, attention);
        add(sum, "add", stack, i + 1, [x, sub]);
        if (!pre) add(norm, "norm", stack, i + 1, [sum]);
        x = pre ? sum : norm;
      }
    }
    if (pre) add(`${stack}.norm`, "norm", stack, 0, [x]);
    x = pre ? `${stack}.norm` : x;
    if (stack === "encoder") add("memory", "memory", "encoder", 0, [x]);
  }
  add("logits", "linear", "output", 0, [pre ? "decoder.norm" : `decoder.${decoder - 1}.norm3`]);
  add("softmax", "softmax", "output", 0, ["logits"]);
  add("word", "word", "output", 0, ["softmax"]);
  return blocks;
}
const WIDTH = 986; // of the page's main part on a screen 1366 pixels wide
const NOTHING = { open: "", heads: 0, inside: 0, after: 0, unfolded: {} };
/** The plan of a Transformer, given as "encoder + decoder" layers. */
const planned = (depths, pre, more = {}, width = WIDTH) =>
  planMachine(transformer(...depths.split(" + ").map(Number), pre), width, { ...NOTHING, pre, ...more });
const flows = (plan, wanted) => plan.wires.filter(({ flow }) => flow === wanted);
const foldedIn = (plan) => plan.boxes.filter(({ kind, stack }) => kind === "folded" && stack === "decoder");
const unfolded = (plan, wanted) => plan.frames.filter(({ stack }) => stack === wanted).map(({ layer }) => layer);
const segments = ({ points }) => points.slice(1).map((point, n) => [points[n], point]);

/** Check that a plan fits: every box is inside, none covers another, and wires are straight. */
function checkPlan(plan, width = plan.width) {
  assert.ok(plan.width <= width, `${plan.width}`);
  for (const [i, a] of plan.boxes.entries()) {
    assert.ok(a.x >= 0 && a.x + a.width <= plan.width && a.y >= 0 && a.y + a.height <= plan.height, a.name);
    for (const b of plan.boxes.slice(i + 1)) {
      const beside = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
      assert.ok(beside, `${a.name} and ${b.name}`);
    }
  }
  for (const [[x0, y0], [x1, y1]] of plan.wires.flatMap(segments)) assert.ok(x0 === x1 || y0 === y1, "straight");
}

for (const pre of [false, true]) {
  const norm = pre ? "pre-norm" : "post-norm";
  test(`${norm}: two layers each fit unfolded beside the sidebar, and below 380 pixels of height`, () => {
    const plan = planned("2 + 2", pre);
    checkPlan(plan, WIDTH);
    assert.ok(plan.height <= 380);
    assert.equal(plan.boxes.filter(({ kind }) => kind === "folded").length, 0);
    assert.equal(plan.frames.length, 4);
  });

  for (const depths of ["1 + 1", "3 + 2", "6 + 6"]) {
    test(`${norm}, ${depths} layers: every block has a place, and the memory goes to each decoder layer`, () => {
      const plan = planned(depths, pre);
      const decoder = Number(depths.at(-1));
      checkPlan(plan);
      const names = transformer(Number(depths[0]), decoder, pre).map(({ name }) => name);
      assert.deepEqual(plan.boxes.flatMap((box) => box.names).sort(), names.sort());
      assert.deepEqual([flows(plan, "loop").length, flows(plan, "memory").length], [1, decoder]);
    });
  }
}

test("six layers are folded, and the width still fits", () => {
  const plan = planned("6 + 6", true);
  checkPlan(plan, WIDTH);
  assert.equal(foldedIn(plan).length, 5);
});

test("boxes of tokens are as high as their band, so that eleven tokens of twelve pixels fit below the title", () => {
  for (const { kind, height } of planned("4 + 4", true).boxes)
    if (kind === "tokens") assert.ok(height >= 22 + 11 * 12, `${height}`);
});

test("the layer last wanted is unfolded, however narrow the page; open attention stands alone on a phone", () => {
  assert.deepEqual(unfolded(planned("6 + 6", false, { unfolded: { encoder: [5, 2] } }, 300), "encoder"), [5]);
  for (const wish of [
    { heads: 8, after: 2 },
    { heads: 4, inside: 10 },
    { heads: 1, inside: 11 },
  ]) {
    const plan = planned("6 + 6", false, { open: "decoder.3.cross_attn", ...wish }, 296);
    assert.deepEqual(
      plan.boxes.map(({ name }) => name),
      ["decoder.3.cross_attn"],
    );
    assert.ok(plan.width <= 296 && plan.width >= 180, "it can be enlarged to the width of the phone");
  }
});

for (const [depths, heads, inside] of ["2 + 2/4/10", "4 + 4/4/10", "4 + 4/8/0", "4 + 4/4/0"].map((text) =>
  text.split("/"),
)) {
  test(`${depths} layers with ${heads} heads and ${inside} parts open fit the width, in two rows where one is too wide`, () => {
    for (const pre of [false, true]) {
      for (const stack of ["encoder", "decoder"]) {
        const open = `${stack}.1.self_attn`;
        const wish = { open, heads: Number(heads), inside: Number(inside), after: Number(inside) ? 0 : 2 };
        const plan = planned(depths, pre, wish);
        checkPlan(plan, WIDTH);
        const width = openWidth(wish, plan.rows);
        assert.equal(plan.boxes.find(({ name }) => name === open).width, width);
      }
    }
  });
}

test("with little room, folded layers beside each other are one block, and each of them can be told", () => {
  const plan = planned("6 + 6", true, { open: "decoder.2.self_attn", heads: 8, inside: 10 });
  const [first, second, ...others] = foldedIn(plan);
  assert.deepEqual([first.layer, first.last, second.layer, second.last, others.length], [1, 2, 4, 6, 0]);
  assert.ok(second.names.includes("decoder.5.cross_attn"));
  assert.equal(flows(plan, "memory").length, 3, "one to the open layer and one to each group");
});

test("the memory and the way back are written beside their lines, clear of all blocks", () => {
  const { labels, boxes } = planned("2 + 2", false);
  assert.equal(labels.map(({ flow }) => flow).join(), "memory before,loop");
  for (const { y, text } of labels) {
    assert.ok(text);
    for (const box of boxes) assert.ok(box.y + box.height <= y - 12 || box.y >= y, box.name);
  }
});

test("in post-norm the norm comes after the sum on the stream, in pre-norm before the sublayer and above the stream", () => {
  const placed = (pre, name) => planned("1 + 1", pre).boxes.find((box) => box.name === `encoder.0.${name}`);
  assert.ok(placed(false, "residual1").x < placed(false, "norm1").x);
  assert.equal(placed(false, "residual1").leave[1], placed(false, "norm1").enter[1]);
  assert.ok(placed(true, "norm1").x < placed(true, "residual1").x);
  assert.ok(placed(true, "norm1").y + 17 < placed(true, "residual1").leave[1]);
});

/** Whether a line from one point to the next passes through a box. */
const passes = ([[x0, y0], [x1, y1]], { x, y, width, height }) =>
  Math.max(x0, x1) > x + 1 &&
  Math.min(x0, x1) < x + width - 1 &&
  Math.max(y0, y1) > y + 1 &&
  Math.min(y0, y1) < y + height - 1;

for (const depths of ["1 + 1", "2 + 2", "2 + 3", "6 + 6"]) {
  test(`on a phone, ${depths} layers: all three attentions and the next word, without a swipe`, () => {
    for (const pre of [false, true]) {
      // of the page's main part on phones 320 and 390 pixels wide
      for (const width of [296, 366]) {
        const blocks = transformer(...depths.split(" + ").map(Number), pre);
        const plan = planned(depths, pre, {}, width);
        const { boxes } = plan;
        checkPlan(plan, width);
        assert.deepEqual(boxes.flatMap(({ names }) => names).sort(), blocks.map(({ name }) => name).sort());
        const top = (stack) => Math.min(...boxes.filter((box) => box.stack === stack).map(({ y }) => y));
        const tops = ["source", "encoder", "target", "decoder", "output"].map(top);
        assert.deepEqual(
          tops,
          tops.toSorted((a, b) => a - b),
        );
        const attention = boxes.filter(({ kind }) => kind === "attention");
        const places = new Set(attention.map(({ name }) => name.replace(/\d/, "")));
        assert.equal([...places].sort().join(), "decoder..cross_attn,decoder..self_attn,encoder..self_attn");
        const last = Math.max(...attention.map(({ y, height }) => y + height));
        assert.ok(last - Math.min(...attention.map(({ y }) => y)) < 550, "seen at once on a screen 844 pixels high");
        for (const wire of plan.wires) {
          assert.ok(wire.points.every(([x]) => x >= 0 && x <= plan.width));
          if (wire.flow !== "memory" && wire.flow !== "loop") continue;
          const passed = segments(wire).some((part) => boxes.some((box) => passes(part, box)));
          assert.ok(!passed, `${wire.flow} passes beside all blocks`);
        }
        const cross = blocks.filter((each) => each.attention === "cross");
        const reached = new Set(cross.map(({ name }) => boxes.find(({ names }) => names.includes(name))));
        const ends = flows(plan, "memory").map(({ points }) => points.at(-1));
        assert.equal(ends.length, reached.size);
        for (const box of reached)
          assert.ok(
            ends.some(([x, y]) => y === box.y && x > box.x && x < box.x + box.width),
            `reaches ${box.name}`,
          );
      }
    }
  });
}

test("arrow keys lead to the nearest box in their direction, and nowhere at an edge", () => {
  const box = (x, y) => ({ x, y, width: 10, height: 10 });
  const boxes = [box(0, 0), box(20, 0), box(40, 0), box(18, 200)];
  const moves = { "0 ArrowRight": 1, "1 ArrowRight": 2, "1 ArrowDown": 3, "3 ArrowUp": 1 };
  for (const move of [...Object.keys(moves), "0 ArrowLeft", "0 Enter"]) {
    const [from, key] = move.split(" ");
    assert.equal(boxTowards(boxes, Number(from), key), moves[move], move);
  }
});
