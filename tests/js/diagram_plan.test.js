import assert from "node:assert/strict";
import { test } from "node:test";

import { planOf } from "../../explorer/browser/js/diagram.js";

const LAYER = ["decoder", "cross", "feed_forward"];
const transformer = (encoder, decoder) => ({
  encoder: Array(encoder).fill(["encoder", "feed_forward"]),
  decoder: Array(decoder).fill(LAYER),
  heads: {},
  norm: "pre",
  positions: "",
});
const places = (plan, kind) => plan.blocks.filter((block) => block.kind === kind).map(({ layer }) => layer);

test("each layer has its places of attention, and depths may differ", () => {
  const plan = planOf(transformer(3, 2), 244, false);
  assert.deepEqual(
    [places(plan, "encoder"), places(plan, "decoder"), places(plan, "cross")],
    [
      [1, 2, 3],
      [1, 2],
      [1, 2],
    ],
  );
  assert.equal(plan.frames.length, 2);
  assert.equal(plan.wires.filter(({ flow }) => flow === "memory").length, 2);
});

test("in a decoder layer, cross-attention is above self-attention and below the encoder", () => {
  const { blocks } = planOf(transformer(1, 1), 244, false);
  const y = Object.fromEntries(blocks.map((block) => [block.kind, block.y]));
  assert.ok(y.encoder < y.cross && y.cross < y.decoder);
});

test("an LSTM has one place of attention, after its last layer", () => {
  const plan = planOf(
    { ...transformer(1, 1), encoder: [["lstm"], ["lstm"]], decoder: [["lstm"], ["lstm", "cross"]] },
    244,
    false,
  );
  assert.deepEqual([places(plan, "lstm"), places(plan, "cross")], [[1, 2, 1, 2], [1]]);
  assert.equal(plan.blocks.find(({ kind }) => kind === "cross").x, plan.blocks.at(-2).x, "in the last layer");
  assert.deepEqual(
    plan.labels.map(({ text }) => text),
    ["Encoder LSTM", "Cross", "Decoder LSTM"],
  );
});

for (const [depth, width] of [
  [1, 244],
  [6, 244],
  [12, 366],
]) {
  test(`${depth} layers: no block covers another`, () => {
    const { blocks, cell, width: whole, height } = planOf(transformer(depth, depth), width, false);
    for (const [i, a] of blocks.entries()) {
      assert.ok(a.x >= 0 && a.x + cell.width <= whole && a.y >= 0 && a.y + cell.height <= height);
      for (const b of blocks.slice(i + 1))
        assert.ok(Math.abs(a.x - b.x) >= cell.width || Math.abs(a.y - b.y) >= cell.height);
    }
    assert.ok(depth > 6 || whole <= width);
  });
}
