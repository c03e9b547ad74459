import assert from "node:assert/strict";
import { test } from "node:test";

import { bare, hashed, isDone, isRight, numberIn, opened, valueOf } from "../../explorer/browser/js/lesson_checks.js";
import { fixture } from "./shared.js";

const FIXTURE = fixture("lessons");
const QUESTION = {
  text: "",
  choices: /** @type {string[]} */ ([]),
  salt: "a.1",
  accepted: /** @type {string[]} */ ([]),
  number: /** @type {number | null} */ (null),
  within: 0,
  here: null,
  wrong: "",
  solution: "",
};

test("answers are normalised, numbers read and texts sealed as in Python", () => {
  for (const [text, expected] of FIXTURE.bare) assert.equal(bare(text), expected, text);
  for (const [text, expected] of FIXTURE.numbers) assert.equal(numberIn(text), expected ?? NaN, text);
  for (const [text, digits, letters] of FIXTURE.sealed) {
    assert.equal(hashed("attention.1", text), digits);
    assert.equal(opened("attention.1", letters), text);
  }
});

test("a choice is right by its index, a word by its letters, a number within its tolerance", () => {
  const accepts = (/** @type {string} */ text) => ({ ...QUESTION, accepted: [hashed("a.1", text)] });
  const choice = { ...accepts("1"), choices: ["h", "o"] };
  assert.deepEqual(
    ["0", "1", "o", ""].map((given) => isRight(choice, given)),
    [false, true, false, false],
  );
  const word = accepts("livres");
  assert.ok(["livres", " `Livres`. "].every((given) => isRight(word, given)));
  assert.ok(!["livre", "", "x".repeat(1000)].some((given) => isRight(word, given)));
  const whole = accepts("6");
  assert.ok(["6", "6.0", " 6 "].every((given) => isRight(whole, given)));
  assert.ok(!["7", "6.1", "six"].some((given) => isRight(whole, given)));
  const share = { ...QUESTION, number: 92.5, within: 2 };
  assert.ok(["92.5", "94,5 %", "91"].every((given) => isRight(share, given)));
  assert.ok(!["95", "", "most"].some((given) => isRight(share, given)));
});

test("a question about the reader's own sentence is answered by its decoding", () => {
  const here = { name: "predicted", values: { row: "2" } };
  const value = valueOf(here, { predicted: ["d", "c"], text: "dc" });
  assert.equal(value, "c");
  assert.ok(isRight({ ...QUESTION, here }, "C.", value));
  assert.ok(!isRight({ ...QUESTION, here }, "d", value));
  assert.equal(valueOf({ name: "translation", values: {} }, { predicted: [], text: "dc" }), "dc");
});

/** @type {[string, Record<string, string>, Record<string, string>, Record<string, string>, boolean][]} */
const EXERCISES = [
  ["at", { step: "3" }, { step: "3" }, {}, true],
  ["at", { step: "3" }, {}, {}, false],
  ["at", { kind: "cross", head: "1" }, { head: "1" }, {}, true],
  ["at", { kind: "cross", head: "1" }, { kind: "encoder", head: "1" }, {}, false],
  ["at", { row: "3", key: "4" }, { cell: "3-4" }, {}, true],
  ["at", { row: "3", key: "4" }, { cell: "4-3" }, {}, false],
  ["at", { row: "3" }, { cell: "3-0" }, {}, true],
  ["at", { row: "3", key: "4" }, { row: "3", key: "4" }, {}, false],
  ["at", { block: "word", step: "2" }, { block: "word", step: "2" }, {}, true],
  ["at", { block: "decoder.0.ff" }, { block: "decoder.0.ff.h1.key" }, {}, true],
  ["at", { block: "decoder.0.ff" }, { block: "decoder.0.ffx" }, {}, false],
  ["at", { block: "decoder.0.ff" }, {}, {}, false],
  ["own_sentence", {}, { text: "abc" }, { text: "hello" }, true],
  ["own_sentence", {}, { text: " hello " }, { text: "hello" }, false],
  ["own_sentence", {}, { text: "  " }, { text: "hello" }, false],
  ["other_path", {}, { path: "5-9" }, {}, true],
  ["other_path", {}, { path: "5-9" }, { path: "5-9" }, false],
  ["other_path", {}, {}, { path: "5-9" }, false],
  ["edited", {}, { edit: "cross.1.1.zero" }, {}, true],
  ["edited", {}, { edit: "" }, {}, false],
];

test("an exercise is done by where the reader is", () => {
  for (const [name, values, here, start, done] of EXERCISES)
    assert.equal(isDone({ name, values }, here, start), done, JSON.stringify([name, values, here]));
});
