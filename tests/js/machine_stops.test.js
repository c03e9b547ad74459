import assert from "node:assert/strict";
import { test } from "node:test";

import { shortWay, stopsOf } from "../../explorer/browser/js/machine_stops.js";

const HEADED = [
  "q_proj",
  "query",
  "key",
  "product",
  "scores",
  "masked",
  "weights",
  "value",
  "output",
  "joined",
  "out_proj",
];

/** Blocks and stages of a decoder with these layers, whose norms come before or after. */
function model(layers, pre, cross = true) {
  const blocks = [];
  const stages = [];
  const add = (name, kind, stack, layer, points, more = {}) => {
    blocks.push({ name, kind, stack, layer, attention: "", ...more });
    for (const point of points)
      stages.push({ point: `${name}.${point}`, block: name, side: "target", op: "", ...(more.sides?.(point) ?? {}) });
  };
  add("tgt.tokens", "tokens", "target", 0, ["tokens"]);
  add("tgt.embedding", "embedding", "target", 0, ["embedding", "scaled"]);
  add("tgt.positions", "positions", "target", 0, ["positions"]);
  for (let layer = 1; layer <= layers; layer++) {
    const within = (name) => `decoder.${layer}.${name}`;
    const sublayer = (name, kind, points, more) => {
      if (pre) add(within(`norm_${name}`), "norm", "decoder", layer, ["norm"]);
      add(within(name), kind, "decoder", layer, points, more);
      add(within(`sum_${name}`), "add", "decoder", layer, ["residual"]);
      if (!pre) add(within(`norm_${name}`), "norm", "decoder", layer, ["norm"]);
    };
    const sides = (point) => ({ side: ["key", "value"].includes(point) ? "source" : "target" });
    sublayer("self", "attention", HEADED, { attention: "decoder" });
    if (cross) sublayer("cross", "attention", HEADED, { attention: "cross", sides });
    sublayer("network", "feed_forward", ["linear1", "activation", "linear2"]);
  }
  if (pre) add("decoder.norm", "norm", "decoder", 0, ["norm"]);
  add("linear", "linear", "output", 0, ["logits"]);
  add("softmax", "softmax", "output", 0, []);
  add("word", "word", "output", 0, []);
  return { blocks, stages, all: stopsOf(stages, blocks, "target") };
}
const shown = (stops) => stops.map(({ block, stage }) => stage?.point ?? block);
const START = ["tgt.tokens.tokens", "tgt.embedding.embedding", "tgt.positions.positions"];
const INSIDE = ["query", "product", "scores", "weights", "output", "joined", "out_proj"];

test("the short way explains the first attention and passes the other layers in one stop", () => {
  const { all, blocks } = model(4, true);
  const way = shortWay(all, blocks, "", true);
  assert.deepEqual(shown(way), [
    ...START,
    "decoder.1.norm_self.norm",
    ...INSIDE.map((point) => `decoder.1.self.${point}`),
    "decoder.1.sum_self.residual",
    "decoder.1.cross.weights",
    "decoder.1.network.linear2",
    "decoder.4.sum_network.residual",
    "linear.logits",
    "word",
  ]);
  assert.deepEqual(
    way.filter(({ layers }) => layers).map(({ layers }) => layers),
    [[2, 4]],
  );
});

test("it explains the attention that is open, and says which layers came before", () => {
  const { all, blocks } = model(3, true);
  const way = shortWay(all, blocks, "decoder.2.cross", true);
  const points = shown(way);
  for (const point of INSIDE) assert.ok(points.includes(`decoder.2.cross.${point}`), point);
  assert.ok(!points.includes("decoder.2.self.query") && points.includes("decoder.2.self.weights"));
  assert.deepEqual(
    way.filter(({ layers }) => layers).map(({ block, layers }) => [block, layers]),
    [
      ["decoder.1.sum_network", [1, 1]],
      ["decoder.3.sum_network", [3, 3]],
    ],
  );
});

test("norms after the sum follow their sublayer, and one layer passes no other", () => {
  const { all, blocks } = model(1, false, false);
  const way = shortWay(all, blocks, "", false);
  assert.deepEqual(shown(way).slice(-6), [
    "decoder.1.self.out_proj",
    "decoder.1.sum_self.residual",
    "decoder.1.norm_self.norm",
    "decoder.1.network.linear2",
    "linear.logits",
    "word",
  ]);
  assert.ok(way.every(({ layers }) => !layers));
});
