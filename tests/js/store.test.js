import assert from "node:assert/strict";
import { test } from "node:test";

import { decodingOf, isWhole, listen, partOf, take } from "../../explorer/browser/js/store.js";
import { weightsOf } from "../../explorer/browser/js/weights.js";
import { readMessage } from "../../explorer/browser/js/wire.js";
import { bytesOf, fixture } from "./shared.js";

const { bytes, weights } = fixture("messages");
const FLAT = weights.flat(3);
const sent = (/** @type {string} */ name) => bytesOf(bytes[name]);
const crossOf = (/** @type {Uint8Array} */ message) => [...readMessage(message).arrays.cross.values];

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

test("a message has the arrays that were sent, wherever it begins in a larger buffer, rounded or not", () => {
  const { header, arrays } = readMessage(sent("whole"));
  assert.equal(header.seq, "first");
  assert.deepEqual(arrays.cross.shape, [2, 2, 5, 5]);
  assert.deepEqual([...arrays["decoder.mask"].values.subarray(0, 6)], [0, 1, 1, 1, 1, 0]);
  for (const name of ["whole", "cross", "rounded"]) {
    for (const shift of [0, 1, 2, 3]) {
      const message = sent(name);
      const larger = new Uint8Array(message.length + 7);
      larger.set(message, shift);
      assert.deepEqual(crossOf(larger.subarray(shift, shift + message.length)), FLAT);
    }
  }
});

test("a decoding has its maps, their labels and the mean over heads", () => {
  take(renamed("whole", "a"));
  const decoding = decodingOf("a");
  const m = decoding.maps.cross;
  assert.ok(isWhole(decoding));
  assert.equal(decoding.order.join(), "encoder,decoder,cross");
  assert.deepEqual(m.columns, ["i", "read", "red", "books", "<eos>"]);
  assert.deepEqual(m.rows, decoding.target.tokens);
  const heads = [1, 2].map((head) => [...weightsOf(m, 2, head)]);
  assert.deepEqual(heads[0], weights[1][0].flat());
  const mean = weightsOf(m, 2, 0);
  for (const [i, weight] of mean.entries()) assert.ok(Math.abs(weight - (heads[0][i] + heads[1][i]) / 2) < 1e-6);
  assert.equal(weightsOf(m, 2, 0), mean, "the mean is computed once");
});

test("kinds of a decoding may follow its header, another header keeps them, and whoever listens hears of each", () => {
  let heard = 0;
  const stop = listen(() => (heard += 1));
  take(renamed("header", "b"));
  const decoding = decodingOf("b");
  assert.equal(decoding.maps.cross.weights, undefined);
  take(renamed("cross", "b"));
  assert.equal(decodingOf("b"), decoding, "the same decoding, with more of it");
  assert.deepEqual([...decoding.maps.cross.weights], FLAT);
  assert.ok(!isWhole(decoding));
  take(renamed("cross", "b"));
  stop();
  const { header } = readMessage(sent("header"));
  take(renamed("header", "b", { decoding: { .../** @type {any} */ (header).decoding, trained: false } }));
  assert.equal(decodingOf("b").trained, false);
  assert.deepEqual([...decodingOf("b").maps.cross.weights], FLAT);
  assert.equal(heard, 2, "what is known, and what comes later, is not heard");
});

test("of a part, the last message counts", () => {
  for (const step of [1, 2, 1]) take(renamed("cross", "e", { part: "details", step }));
  assert.equal(partOf("e", "details").header.step, 1);
  assert.equal(decodingOf("e"), undefined);
});

test("what has not been asked for for longest is dropped first", () => {
  const large = (/** @type {string} */ seq) => {
    const whole = new Uint8Array(20e6);
    whole.set(renamed("cross", seq, { part: "machine" }));
    return whole;
  };
  take(large("old"));
  take(large("kept"), true);
  take(large("used"));
  partOf("old", "machine");
  take(large("new"));
  take(large("newer"));
  const held = ["old", "kept", "used", "new", "newer"].filter((seq) => partOf(seq, "machine") !== undefined);
  assert.equal(held.join(), "kept,new,newer");
});
