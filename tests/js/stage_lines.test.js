import assert from "node:assert/strict";
import test from "node:test";

import { gapsFrom, meeting, stageView } from "../../explorer/browser/js/stage_lines.js";

const spansOf = (text) => text.split(" ").map((span) => span.split("-").map(Number));
const spans = { source: spansOf("0-1 1-2 2-3"), target: spansOf("0-1 1-2 2-3") };
// Rows are queries: what the decoder reads. Token 1 of the target is predicted by row 0.
const cross = { values: [0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.2, 0.2, 0.6], mask: new Uint8Array(9), keys: 3 };
const mask = Uint8Array.from([0, 1, 1, 0, 0, 1, 0, 0, 0]);
const causal = { values: [1, 0, 0, 0.4, 0.6, 0, 0.1, 0.2, 0.7], mask, keys: 3 };
const at = (side, token, held = false) => ({ side, at: token, held });
/** The lines as text: where each goes, its weight, and whether it is masked. */
const lines = (view) =>
  view.lines.map((line) => `${line.side} ${line.span.join("-")} ${line.weight}${line.mask ? " masked" : ""}`);
const from = (view) => `${view.from.side} ${view.from.span.join("-")}`;

test("the word being written looks back by the row of the token that is read", () => {
  const view = stageView("cross", cross, spans, 1, 0, null);
  assert.deepEqual([from(view), view.query, view.column], ["target 2-3", 1, -1]);
  assert.deepEqual(lines(view), ["source 0-1 0.1", "source 1-2 0.8", "source 2-3 0.1"]);
});

test("a word of the translation shows the row that predicted it, one before its own; the first was given", () => {
  const view = stageView("cross", cross, spans, 2, 0, at("target", 1));
  assert.deepEqual([from(view), view.query, lines(view)[0]], ["target 1-2", 0, "source 0-1 0.7"]);
  const given = stageView("cross", cross, spans, 2, 0, at("target", 0));
  assert.deepEqual([given.query, given.lines], [-1, []], "nothing looked anywhere to predict it");
});

test("a source token shows the words that looked at it, as far as they are written", () => {
  const view = stageView("cross", cross, spans, 1, 0, at("source", 1, true));
  assert.deepEqual([view.query, view.column], [-1, 1]);
  assert.deepEqual(lines(view), ["target 1-2 0.2", "target 2-3 0.8"]);
});

test("decoder self-attention ends at what has been read; later keys are masked and weigh nothing", () => {
  const view = stageView("decoder", causal, spans, 1, 0, null);
  assert.deepEqual(lines(view), ["target 0-1 0.4", "target 1-2 0.6", "target 2-3 0 masked"]);
  assert.deepEqual(stageView("decoder", causal, spans, 1, 0, at("source", 1)), view);
});

test("the encoder shows the row of the token in question", () => {
  const current = stageView("encoder", cross, spans, 1, 2, null);
  assert.deepEqual([from(current), current.query], ["source 2-3", 2]);
  assert.equal(stageView("encoder", cross, spans, 1, 2, at("source", 1)).query, 1);
  assert.equal(stageView("encoder", cross, spans, 1, 2, at("target", 1)).query, 2);
});

test("between words, a row is a word, and the word being written is still one token", () => {
  const words = { source: spansOf("0-2 2-3"), target: spansOf("0-1 1-3") };
  const merged = { values: [0.9, 0.1, 0.3, 0.7], mask: new Uint8Array(4), keys: 2 };
  const view = stageView("cross", merged, words, 2, 0, null);
  assert.deepEqual([from(view), view.query], ["target 3-4", 1]);
  assert.deepEqual(lines(view), ["source 0-2 0.3", "source 2-3 0.7"]);
  assert.deepEqual(lines(stageView("cross", merged, words, 1, 0, at("source", 1))), [
    "target 1-2 0.9",
    "target 2-3 0.3",
  ]);
});

const box = (left, right, top) => ({ left, right, top, bottom: top + 38, hidden: false });
const first = [box(0, 70, 0), box(74, 130, 0), box(134, 210, 0)];
const second = [box(0, 40, 43), box(44, 120, 43)];

test("on one line there is nothing to pass, and a curve meets the middle of the word", () => {
  assert.deepEqual(gapsFrom(first, first[1], "target"), []);
  assert.deepEqual(meeting(first[1], "target", [], false), { x: 102, y: 0 });
  assert.deepEqual(meeting(first[1], "source", [], false), { x: 102, y: 38 });
});

test("from the second line, a curve passes the first between two words", () => {
  const gaps = gapsFrom([...first, ...second], second[0], "target");
  assert.deepEqual(gaps, [{ x: 72, near: 38, far: 0 }]);
  assert.ok(first.every(({ left, right }) => gaps[0].x < left || gaps[0].x > right));
  // The word being written is met at its right end, where nothing stands yet; other words at their edge.
  const alone = gapsFrom([...first, second[0]], second[0], "target");
  assert.deepEqual(meeting(second[0], "target", alone, true), { x: 40, y: 62 });
  assert.deepEqual(meeting(second[0], "target", alone, false), { x: 34, y: 43 });
});

test("a word of the first line of the source is reached between the words below it; lines out of sight are not passed", () => {
  const all = [...first, ...second, box(0, 90, 86)];
  const passed = (boxes, word) => gapsFrom(boxes, word, "source").map(({ x, near, far }) => `${x}: ${near}-${far}`);
  assert.deepEqual(passed(all, first[1]), ["128: 43-81", "128: 86-124"]);
  assert.deepEqual(passed(all, first[2]), ["172: 43-81", "172: 86-124"], "straight down where lines are shorter");
  const scrolled = all.map((each) => ({ ...each, hidden: each.top > 80 }));
  assert.equal(passed(scrolled, first[2]).length, 1);
});

test("no curve passes between the pieces of a word", () => {
  const [one, two, three] = first;
  const joined = [one, { ...two, right: three.left + 1 }, three];
  const x = (boxes) => gapsFrom([...boxes, second[0]], { ...second[0], left: 140, right: 160 }, "target")[0].x;
  assert.ok(x(first) > two.right && x(first) < three.left, "between two words");
  assert.ok(x(joined) < two.left || x(joined) > three.right);
});
