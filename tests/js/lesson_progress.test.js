import assert from "node:assert/strict";
import { test } from "node:test";

import {
  firstOpenStep,
  isComplete,
  positionOf,
  queryOf,
  readProgress,
  summaryOf,
  united,
  withExercise,
  without,
  withOutcome,
  writeProgress,
} from "../../explorer/browser/js/lesson_progress.js";
import { fixture } from "./shared.js";

const FIXTURE = fixture("lessons");
const read = (/** @type {string} */ text) => readProgress(text).progress;
const lesson = (name = "attention", why = "") => ({
  name,
  title: "T",
  about: "",
  minutes: 5,
  language: "en",
  parts: [3, 1, 2, 0],
  why,
  recap: [],
  steps: why ? [] : Array(4),
});

test("progress is read, written, united and undone as in Python", () => {
  for (const [text, codes, unreadable, written] of FIXTURE.read) {
    assert.deepEqual([Object.fromEntries(read(text)), readProgress(text).unreadable], [codes, unreadable], text);
    assert.equal(writeProgress(read(text)), written);
  }
  for (const [own, other, both] of FIXTURE.united) assert.equal(writeProgress(united(read(own), read(other))), both);
  for (const [own, added, before, left] of FIXTURE.without)
    assert.equal(writeProgress(without(read(own), read(added), read(before))), left);
  for (const [text, step, outcome, after] of FIXTURE.outcomes)
    assert.equal(writeProgress(withOutcome(read(text), "a", step, outcome)), after);
  for (const [text, step, after] of FIXTURE.exercises)
    assert.equal(writeProgress(withExercise(read(text), "a", step)), after);
});

test("a link that is too long is read as far as it may be, and says so", () => {
  const long = Array.from({ length: 400 }, (_, i) => `lesson${i}.1`).join("~");
  assert.equal(readProgress(long).unreadable, true);
  assert.equal(readProgress(long, 20_000).unreadable, false);
  assert.equal(read(long).get("lesson0"), "1");
});

test("a step is complete if its question is answered and its exercise done", () => {
  const complete = (/** @type {string} */ digits) => [1, 2, 3, 4].map((step) => isComplete(read(digits), lesson(), step)); // prettier-ignore
  assert.deepEqual(complete(""), [false, false, false, true]);
  assert.deepEqual(complete("attention.124"), [false, true, true, true]);
  assert.deepEqual(complete("attention.734"), [true, true, true, true]);
  assert.equal(firstOpenStep(read("attention.53"), lesson()), 3);
  assert.equal(firstOpenStep(read("attention.534"), lesson()), 1);
  const summary = summaryOf(read("attention.53"), lesson());
  assert.deepEqual(summary, { begun: true, complete: 3, steps: 4, questions: 2, counts: [0, 1, 0, 1] });
});

test("a position comes back from its parameters, and what cannot be used is named", () => {
  const lessons = [lesson(), lesson("train", "It needs the app.")];
  const position = { lesson: "attention", step: 3, progress: read("attention.53~masks.1") };
  const query = queryOf(position);
  assert.deepEqual(query, { lesson: "attention", at: "3", done: "attention.53~masks.1" });
  assert.deepEqual(positionOf(query, lessons), { ...position, problems: [] });
  assert.deepEqual(queryOf({ lesson: "", step: 1, progress: new Map() }), {});
  const problems = (/** @type {Record<string, string>} */ wrong) => positionOf(wrong, lessons).problems.join(" ");
  assert.match(problems({ lesson: "<b>" }), /^There is no lesson “<b>” here\./);
  assert.match(problems({ lesson: "attention", at: "9" }), /^This lesson has pages 1 to 4, not “9”\. It opens at page 1\.$/); // prettier-ignore
  assert.equal(problems({ lesson: "train" }), "It needs the app.");
  assert.equal(positionOf({ lesson: "train" }, lessons).lesson, "");
  assert.equal(problems({ done: "x" }), "Part of the progress in the link is unreadable and was ignored.");
  assert.equal(positionOf({ lesson: "attention", at: "1e1" }, lessons).step, 1);
});
