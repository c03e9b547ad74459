import assert from "node:assert/strict";
import { test } from "node:test";

import { planOf } from "../../explorer/browser/js/diagram.js";

const model = (encoder, decoder) => ({ encoder, decoder, heads: {}, norm: "pre", positions: "" });
const LAYER = ["decoder", "cross", "feed_forward"];
const transformer = (encoder, decoder) =>
  model(Array(encoder).fill(["encoder", "feed_forward"]), Array(decoder).fill(LAYER));
const places = (plan, kind) => plan.blocks.filter((block) => block.kind === kind).map(({ layer }) => layer);

test("each layer has its places of attention, cross-attention above self-attention, and depths may differ", () => {
  const plan = planOf(transformer(3, 2), 244, false);
  const layers = ["encoder", "decoder", "cross"].map((kind) => places(plan, kind).join());
  assert.deepEqual(layers, ["1,2,3", "1,2", "1,2"]);
  assert.equal(plan.frames.length, 2);
  assert.equal(plan.wires.filter(({ flow }) => flow === "memory").length, 2);
  const { blocks } = planOf(transformer(1, 1), 244, false);
  const y = Object.fromEntries(blocks.map((block) => [block.kind, block.y]));
  assert.ok(y.encoder < y.cross && y.cross < y.decoder, "and below the encoder");
});

test("an LSTM has one place of attention, after its last layer", () => {
  const plan = planOf(model([["lstm"], ["lstm"]], [["lstm"], ["lstm", "cross"]]), 244, false);
  assert.deepEqual([places(plan, "lstm").join(), places(plan, "cross").join()], ["1,2,1,2", "1"]);
  assert.equal(plan.blocks.find(({ kind }) => kind === "cross").x, plan.blocks.at(-2).x, "in the last layer");
  assert.equal(plan.labels.map(({ text }) => text).join(), "Encoder LSTM,Cross,Decoder LSTM");
});

test("no block covers another", () => {
  for (const depth of [1, 6, 12]) {
    const width = depth > 6 ? 366 : 244;
    const { blocks, cell, width: whole, height } = planOf(transformer(depth, depth), width, false);
    for (const [i, a] of blocks.entries()) {
      assert.ok(a.x >= 0 && a.x + cell.width <= whole && a.y >= 0 && a.y + cell.height <= height);
      for (const b of blocks.slice(i + 1))
        assert.ok(Math.abs(a.x - b.x) >= cell.width || Math.abs(a.y - b.y) >= cell.height);
    }
    assert.ok(depth > 6 || whole <= width);
  }
});
