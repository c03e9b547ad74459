import assert from "node:assert/strict";
import { test } from "node:test";

import { boxTowards } from "../../explorer/browser/js/grids.js";
import { openWidth } from "../../explorer/browser/js/machine_band.js";
import { planMachine, zoomAfter } from "../../explorer/browser/js/machine_plan.js";

const block = (name, kind, stack, layer, reads, attention = "") => ({
  name,
  kind,
  stack,
  layer,
  reads,
  attention,
  points: [],
});
/** The blocks of a post-norm or pre-norm Transformer, as machine_blocks.py lists them. */
function transformer(encoder, decoder, pre) {
  const side = (stack) => (stack === "encoder" ? "src" : "tgt");
  const blocks = [];
  for (const [stack, depth] of [
    ["encoder", encoder],
    ["decoder", decoder],
  ]) {
    const lead = stack === "encoder" ? "source" : "target";
    blocks.push(
      block(`${side(stack)}.tokens`, "tokens", lead, 0, []),
      block(`${side(stack)}.embedding`, "embedding", lead, 0, [`${side(stack)}.tokens`]),
      block(`${side(stack)}.positions`, "positions", lead, 0, [`${side(stack)}.embedding`]),
    );
    let x = `${side(stack)}.positions`;
    for (let i = 0; i < depth; i++) {
      for (const [n, part] of (stack === "encoder"
        ? ["self_attn", "feed_forward"]
        : ["self_attn", "cross_attn", "feed_forward"]
      ).entries()) {
        const at = `${stack}.${i}`;
        const [norm, add, sub] = [`${at}.norm${n + 1}`, `${at}.residual${n + 1}`, `${at}.${part}`];
        const attention = part === "cross_attn" ? "cross" : part === "self_attn" ? stack : "";
        if (pre) blocks.push(block(norm, "norm", stack, i + 1, [x]));
        blocks.push(
          block(
            sub,
            attention ? "attention" : part,
            stack,
            i + 1,
            [...(attention === "cross" ? ["memory"] : []), pre ? norm : x],
            attention,
          ),
        );
        blocks.push(block(add, "add", stack, i + 1, [x, sub]));
        if (!pre) blocks.push(block(norm, "norm", stack, i + 1, [add]));
        x = pre ? add : norm;
      }
    }
    if (pre) blocks.push(block(`${stack}.norm`, "norm", stack, 0, [x]));
    x = pre ? `${stack}.norm` : x;
    if (stack === "encoder") blocks.push(block("memory", "memory", "encoder", 0, [x]));
    else
      blocks.push(
        block("logits", "linear", "output", 0, [x]),
        block("softmax", "softmax", "output", 0, ["logits"]),
        block("word", "word", "output", 0, ["softmax"]),
      );
  }
  return blocks;
}
const wish = (pre, more = {}) => ({ open: "", heads: 0, parts: 0, unfolded: {}, pre, ...more });
const WIDTH = 986; // of the page's main part on a screen 1366 pixels wide

for (const pre of [false, true]) {
  const norm = pre ? "pre-norm" : "post-norm";
  test(`${norm}: two layers each fit unfolded beside the sidebar, and below 380 pixels of height`, () => {
    const plan = planMachine(transformer(2, 2, pre), WIDTH, wish(pre));
    assert.ok(plan.width <= WIDTH, `${plan.width}`);
    assert.ok(plan.height <= 380);
    assert.equal(plan.boxes.filter(({ kind }) => kind === "folded").length, 0);
    assert.equal(plan.frames.length, 4);
  });

  for (const [encoder, decoder] of [
    [1, 1],
    [3, 2],
    [6, 6],
  ]) {
    test(`${norm}, ${encoder} + ${decoder} layers: every block has a place, no block covers another, wires end at blocks`, () => {
      const blocks = transformer(encoder, decoder, pre);
      const plan = planMachine(blocks, WIDTH, wish(pre));
      assert.deepEqual(plan.boxes.flatMap(({ names }) => names).sort(), blocks.map(({ name }) => name).sort());
      for (const [i, a] of plan.boxes.entries()) {
        assert.ok(a.x >= 0 && a.x + a.width <= plan.width && a.y >= 0 && a.y + a.height <= plan.height, a.name);
        for (const b of plan.boxes.slice(i + 1)) {
          assert.ok(
            a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y,
            `${a.name} and ${b.name}`,
          );
        }
      }
      for (const { points } of plan.wires) {
        for (const [[x0, y0], [x1, y1]] of points.slice(1).map((point, n) => [points[n], point]))
          assert.ok(x0 === x1 || y0 === y1, "straight");
      }
      assert.equal(plan.wires.filter(({ flow }) => flow === "loop").length, 1);
      assert.equal(
        plan.wires.filter(({ flow }) => flow === "memory").length,
        decoder,
        "the memory goes to each decoder layer",
      );
    });
  }
}

test("six layers are folded, and the width still fits", () => {
  const plan = planMachine(transformer(6, 6, true), WIDTH, wish(true));
  assert.ok(plan.width <= WIDTH, `${plan.width}`);
  assert.equal(plan.boxes.filter(({ kind, stack }) => kind === "folded" && stack === "decoder").length, 5);
});

test("the layer of an open block is unfolded, however narrow the page, and so is the layer last wanted", () => {
  const blocks = transformer(6, 6, false);
  const open = planMachine(blocks, 300, wish(false, { open: "decoder.3.cross_attn", heads: 8, parts: 0 }));
  assert.deepEqual(
    open.frames.filter(({ stack }) => stack === "decoder").map(({ layer }) => layer),
    [4],
  );
  const box = open.boxes.find(({ name }) => name === "decoder.3.cross_attn");
  assert.equal(box.width, openWidth(8, 0, 2));
  const wanted = planMachine(blocks, 300, wish(false, { unfolded: { encoder: [5, 2] } }));
  assert.deepEqual(
    wanted.frames.filter(({ stack }) => stack === "encoder").map(({ layer }) => layer),
    [5],
  );
});

for (const [depth, heads, parts] of [
  [2, 4, 7],
  [4, 4, 7],
  [4, 8, 0],
  [4, 4, 0],
]) {
  test(`${depth} + ${depth} layers with ${parts ? "a head" : `${heads} heads`} open fit the width, in two rows where one is too wide`, () => {
    for (const pre of [false, true]) {
      for (const stack of ["encoder", "decoder"]) {
        const open = `${stack}.1.self_attn`;
        const plan = planMachine(transformer(depth, depth, pre), WIDTH, wish(pre, { open, heads, parts }));
        assert.ok(plan.width <= WIDTH, `${plan.width}`);
        assert.equal(plan.boxes.find(({ name }) => name === open).width, openWidth(heads, parts, plan.rows));
        for (const [i, a] of plan.boxes.entries()) {
          for (const b of plan.boxes.slice(i + 1)) {
            assert.ok(
              a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y,
              `${a.name} and ${b.name}`,
            );
          }
        }
      }
    }
  });
}

test("with little room, folded layers beside each other are one block, and each of them can be told", () => {
  const plan = planMachine(
    transformer(6, 6, true),
    WIDTH,
    wish(true, { open: "decoder.2.self_attn", heads: 8, parts: 7 }),
  );
  const folded = plan.boxes.filter(({ kind, stack }) => kind === "folded" && stack === "decoder");
  assert.deepEqual(
    folded.map(({ layer, last }) => [layer, last]),
    [
      [1, 2],
      [4, 6],
    ],
  );
  assert.ok(folded[1].names.includes("decoder.5.cross_attn"));
  assert.equal(
    plan.wires.filter(({ flow }) => flow === "memory").length,
    3,
    "one to the open layer and one to each group",
  );
});

test("the memory and the way back are written beside their lines, clear of all blocks", () => {
  const { labels, boxes } = planMachine(transformer(2, 2, false), WIDTH, wish(false));
  assert.deepEqual(
    labels.map(({ flow }) => flow),
    ["memory", "loop"],
  );
  for (const { y, text } of labels) {
    assert.ok(text);
    for (const box of boxes) assert.ok(box.y + box.height <= y - 12 || box.y >= y, box.name);
  }
});

test("in post-norm the norm comes after the sum on the stream, in pre-norm before the sublayer and above the stream", () => {
  const at = (plan, name) => plan.boxes.find((box) => box.name === name);
  const post = planMachine(transformer(1, 1, false), WIDTH, wish(false));
  const pre = planMachine(transformer(1, 1, true), WIDTH, wish(true));
  assert.ok(at(post, "encoder.0.residual1").x < at(post, "encoder.0.norm1").x);
  assert.equal(at(post, "encoder.0.residual1").leave[1], at(post, "encoder.0.norm1").enter[1]);
  assert.ok(at(pre, "encoder.0.norm1").x < at(pre, "encoder.0.residual1").x);
  assert.ok(at(pre, "encoder.0.norm1").y + 17 < at(pre, "encoder.0.residual1").leave[1]);
});

/** Whether a line from one point to the next passes through a box. */
const passes = ([[x0, y0], [x1, y1]], { x, y, width, height }) =>
  Math.max(x0, x1) > x + 1 &&
  Math.min(x0, x1) < x + width - 1 &&
  Math.max(y0, y1) > y + 1 &&
  Math.min(y0, y1) < y + height - 1;

for (const width of [296, 366]) {
  // of the page's main part on phones 320 and 390 pixels wide
  for (const pre of [false, true]) {
    for (const [encoder, decoder] of [
      [1, 1],
      [2, 2],
      [2, 3],
      [6, 6],
    ]) {
      test(`a phone ${width + 24} pixels wide, ${pre ? "pre" : "post"}-norm, ${encoder} + ${decoder} layers: all three attentions and the next word, without a swipe`, () => {
        const blocks = transformer(encoder, decoder, pre);
        const plan = planMachine(blocks, width, wish(pre));
        const { boxes } = plan;
        assert.ok(plan.width <= width, `${plan.width}`);
        assert.deepEqual(boxes.flatMap(({ names }) => names).sort(), blocks.map(({ name }) => name).sort());
        const tops = ["source", "encoder", "target", "decoder", "output"].map((stack) =>
          Math.min(...boxes.filter((box) => box.stack === stack).map(({ y }) => y)),
        );
        assert.deepEqual(
          tops,
          [...tops].sort((a, b) => a - b),
          "encoder first, then the decoder, the next word last",
        );
        const attention = boxes.filter(({ kind }) => kind === "attention");
        assert.deepEqual(
          new Set(attention.map(({ name }) => name.replace(/\d/, ""))),
          new Set(["encoder..self_attn", "decoder..self_attn", "decoder..cross_attn"]),
        );
        const [first, last] = [
          Math.min(...attention.map(({ y }) => y)),
          Math.max(...attention.map(({ y, height }) => y + height)),
        ];
        assert.ok(last - first < 550, "seen at once on a screen 844 pixels high");
        for (const [i, a] of boxes.entries()) {
          assert.ok(a.x >= 0 && a.x + a.width <= plan.width && a.y >= 0 && a.y + a.height <= plan.height, a.name);
          for (const b of boxes.slice(i + 1)) {
            assert.ok(
              a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y,
              `${a.name} and ${b.name}`,
            );
          }
        }
        for (const { points, flow } of plan.wires) {
          for (const part of points.slice(1).map((point, n) => [points[n], point])) {
            assert.ok(part[0][0] === part[1][0] || part[0][1] === part[1][1], "straight");
            for (const [x] of part) assert.ok(x >= 0 && x <= plan.width);
            if (flow === "memory" || flow === "loop")
              assert.ok(!boxes.some((box) => passes(part, box)), `${flow} passes beside all blocks`);
          }
        }
        const cross = blocks
          .filter(({ attention: kind }) => kind === "cross")
          .map(({ name }) => boxes.find(({ names }) => names.includes(name)));
        const ends = plan.wires.filter(({ flow }) => flow === "memory").map(({ points }) => points[points.length - 1]);
        assert.equal(ends.length, new Set(cross).size);
        for (const box of cross)
          assert.ok(
            ends.some(([x, y]) => y === box.y && x > box.x && x < box.x + box.width),
            `the memory reaches ${box.name}`,
          );
      });
    }
  }
}

test("arrow keys lead to the nearest box in their direction, and nowhere at an edge", () => {
  const box = (x, y) => ({ x, y, width: 10, height: 10 });
  const boxes = [box(0, 0), box(20, 0), box(40, 0), box(18, 200)];
  assert.equal(boxTowards(boxes, 0, "ArrowRight"), 1);
  assert.equal(boxTowards(boxes, 1, "ArrowRight"), 2);
  assert.equal(boxTowards(boxes, 1, "ArrowDown"), 3);
  assert.equal(boxTowards(boxes, 3, "ArrowUp"), 1);
  assert.equal(boxTowards(boxes, 0, "ArrowLeft"), undefined);
  assert.equal(boxTowards(boxes, 0, "Enter"), undefined);
});

test("the magnification stays between a half and three", () => {
  let zoom = 1;
  for (let i = 0; i < 12; i++) zoom = zoomAfter(zoom, "in");
  assert.equal(zoom, 3);
  for (let i = 0; i < 20; i++) zoom = zoomAfter(zoom, "out");
  assert.equal(zoom, 0.5);
  assert.equal(zoomAfter(zoom, "fit"), 1);
});
