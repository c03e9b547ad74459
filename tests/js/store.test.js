import assert from "node:assert/strict";
import { test } from "node:test";

import { decodingOf, isWhole, listen, partOf, take } from "../../explorer/browser/js/store.js";
import { weightsOf } from "../../explorer/browser/js/weights.js";
import { readMessage } from "../../explorer/browser/js/wire.js";
import { bytesOf, fixture } from "./shared.js";

const { bytes, weights } = fixture("messages");
const sent = (/** @type {string} */ name) => bytesOf(bytes[name]);
const near = (/** @type {number} */ a, /** @type {number} */ b) =>
  assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);

/** The message under another name. @param {string} name @param {string} seq @param {object} changes */
function renamed(name, seq, changes = {}) {
  const whole = sent(name);
  const end = 4 + new DataView(whole.buffer).getUint32(0, true);
  const header = { ...JSON.parse(new TextDecoder().decode(whole.subarray(4, end))), seq, ...changes };
  const text = JSON.stringify(header);
  const size = Math.ceil(text.length / 4) * 4;
  const out = new Uint8Array(4 + size + whole.length - end);
  new DataView(out.buffer).setUint32(0, size, true);
  out.set(new TextEncoder().encode(text.padEnd(size)), 4);
  out.set(whole.subarray(end), 4 + size);
  return out;
}

test("a message has the arrays that were sent", () => {
  const { header, arrays } = readMessage(sent("whole"));
  assert.equal(header.seq, "first");
  assert.deepEqual(arrays.cross.shape, [2, 2, 5, 5]);
  assert.deepEqual([...arrays.cross.values], weights.flat(3));
  assert.deepEqual([...arrays["decoder.mask"].values.subarray(0, 6)], [0, 1, 1, 1, 1, 0]);
});

test("a message may begin anywhere in a larger buffer", () => {
  for (const shift of [0, 1, 2, 3]) {
    const message = sent("cross");
    const larger = new Uint8Array(message.length + 7);
    larger.set(message, shift);
    const { arrays } = readMessage(larger.subarray(shift, shift + message.length));
    assert.deepEqual([...arrays.cross.values], weights.flat(3));
  }
});

test("rounded numbers come back as they are written", () => {
  const { arrays } = readMessage(sent("rounded"));
  assert.deepEqual([...arrays.cross.values], weights.flat(3), "0 and 1 are the same rounded");
});

test("a decoding has its maps, their labels and the mean over heads", () => {
  take(renamed("whole", "a"));
  const decoding = decodingOf("a");
  const m = decoding.maps.cross;
  assert.ok(isWhole(decoding));
  assert.deepEqual(decoding.order, ["encoder", "decoder", "cross"]);
  assert.deepEqual(m.columns, ["i", "read", "red", "books", "<eos>"]);
  assert.deepEqual(m.rows, decoding.target.tokens);
  assert.deepEqual(decoding.forms.cross.tokens.columns, m.columns);
  assert.deepEqual([...weightsOf(m, 2, 1)], weights[1][0].flat());
  [...weightsOf(m, 2, 0)].forEach((weight, i) => near(weight, (weights[1][0].flat()[i] + weights[1][1].flat()[i]) / 2));
  assert.equal(weightsOf(m, 2, 0), weightsOf(m, 2, 0), "the mean is computed once");
});

test("kinds of a decoding may follow its header, and whoever listens hears of each", () => {
  let heard = 0;
  const stop = listen(() => (heard += 1));
  take(renamed("header", "b"));
  const decoding = decodingOf("b");
  assert.equal(decoding.maps.cross.weights, undefined);
  take(renamed("cross", "b"));
  assert.equal(decodingOf("b"), decoding, "the same decoding, with more of it");
  assert.deepEqual([...decoding.maps.cross.weights], weights.flat(3));
  assert.ok(!isWhole(decoding));
  take(renamed("cross", "b"));
  stop();
  take(renamed("header", "c"));
  assert.equal(heard, 2, "what is known, and what comes later, is not heard");
});

test("another header of the same decoding keeps its numbers", () => {
  take(renamed("header", "d"));
  take(renamed("cross", "d"));
  const { decoding } = JSON.parse(new TextDecoder().decode(renamed("header", "d").subarray(4)).split("\0")[0].trim());
  take(renamed("header", "d", { decoding: { ...decoding, trained: false } }));
  assert.equal(decodingOf("d").trained, false);
  assert.deepEqual([...decodingOf("d").maps.cross.weights], weights.flat(3));
});

test("of a part, the last message counts", () => {
  for (const step of [1, 2, 1]) take(renamed("cross", "e", { part: "details", step }));
  assert.equal(partOf("e", "details").header.step, 1);
  assert.equal(decodingOf("e"), undefined);
});

test("what has not been asked for for longest is dropped first", () => {
  const large = (/** @type {string} */ seq) => {
    const message = renamed("cross", seq, { part: "machine" });
    const whole = new Uint8Array(20e6);
    whole.set(message);
    return whole;
  };
  take(large("old"));
  take(large("kept"), true);
  take(large("used"));
  partOf("old", "machine");
  take(large("new"));
  take(large("newer"));
  assert.deepEqual(
    ["old", "kept", "used", "new", "newer"].map((seq) => partOf(seq, "machine") !== undefined),
    [false, true, false, true, true],
  );
});
