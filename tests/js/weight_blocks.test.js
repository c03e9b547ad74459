import assert from "node:assert/strict";
import { test } from "node:test";

import { SQUARES, headWeights, readBlock, readKind, readNumbers } from "../../explorer/browser/js/weight_blocks.js";
import { readPayload, weightsOf } from "../../explorer/browser/js/stepper_payload.js";
import { bytesOf, fixture } from "./shared.js";

const { bytes, cross, mean } = fixture("blocks");
const kindOf = (name) => {
  const { header, body } = readBlock(bytesOf(bytes[name]));
  return readKind(header, body);
};

test("a kind has its weights, its mask and its labels", () => {
  const m = kindOf("kind");
  assert.deepEqual([m.kind, m.form, m.exact, m.layers, m.heads, m.queries, m.keys], ["cross", "tokens", true, 2, 2, 5, 5]);
  assert.deepEqual([...m.weights], cross.flat(3));
  assert.deepEqual([...m.mask], new Array(25).fill(0));
  assert.deepEqual(m.columns, ["i", "read", "red", "books", "<eos>"]);
  assert.deepEqual([...headWeights(m, 2, 1, null)], cross[1][0].flat());
  assert.deepEqual([...headWeights(m, 2, 0, null)], mean.flat());
});

test("bytes stand for the root of a weight", () => {
  const m = kindOf("coarse");
  assert.equal(m.exact, false);
  assert.deepEqual([...headWeights(m, 2, 1, SQUARES)], cross[1][0].flat());
  assert.deepEqual([...headWeights(m, 2, 0, SQUARES)], mean.flat());
  assert.ok(Math.abs(SQUARES[128] - 0.252) < 1e-4);
});

test("single heads come with their names", () => {
  const { header, body } = readBlock(bytesOf(bytes.numbers));
  const heads = readNumbers(header, body);
  assert.deepEqual(heads.map(([name]) => name), ["cross tokens 1 2", "cross tokens 2 0"]);
  assert.deepEqual([...heads[0][1].values], cross[0][1].flat());
  assert.deepEqual([...heads[1][1].values], mean.flat());
});

test("a block may begin anywhere in a larger buffer", () => {
  const block = bytesOf(bytes.kind), larger = new Uint8Array(block.length + 7);
  larger.set(block, 3);
  const { header, body } = readBlock(larger.subarray(3, 3 + block.length));
  assert.deepEqual([...readKind(header, body).weights], cross.flat(3));
});

test("the stepper's payload has all kinds", () => {
  const { maps, target, step, kind } = readPayload(readBlock(bytesOf(bytes.payload)));
  assert.deepEqual([step, kind, target.tokens[0]], [1, "cross", "<sos>"]);
  assert.deepEqual([...maps.cross.weights], cross.flat(3));
  assert.deepEqual([...weightsOf(maps.cross, 2, 0)], mean.flat());
  assert.equal(weightsOf(maps.cross, 2, 0), weightsOf(maps.cross, 2, 0), "the mean is computed once");
  assert.deepEqual([...maps.decoder.mask.subarray(0, 6)], [0, 1, 1, 1, 1, 0]);
  assert.deepEqual(maps.cross.rows, target.tokens);
});
