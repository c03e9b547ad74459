import assert from "node:assert/strict";
import test from "node:test";

import { fanOut, stageView, waysPast } from "../../explorer/browser/js/stage_lines.js";

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

/** Words of a sentence, four pixels apart. */
const line = (top, widths) =>
  widths.map((width, i) => {
    const left = widths.slice(0, i).reduce((sum, each) => sum + each + 4, 0);
    return { left, right: left + width, top, bottom: top + 30, hidden: false };
  });

/** The way of one line alone. */
const wayOf = (box, boxes, down = 1) => waysPast([{ box, weight: 1 }], boxes, down, Infinity)[0];
/** The pieces of ways, each as its two ends. */
const piecesOf = (way) => way.slice(1).map((to, i) => [way[i], to]);
const overlap = (a0, a1, b0, b1) =>
  Math.min(Math.max(a0, a1), Math.max(b0, b1)) - Math.max(Math.min(a0, a1), Math.min(b0, b1));
/** Whether two pieces lie on each other over some length: both upright or both level, less than a pixel apart. */
const onEachOther = ([a, b], [c, d]) => {
  if (a.x === b.x && c.x === d.x) return Math.abs(a.x - c.x) < 1 && overlap(a.y, b.y, c.y, d.y) > 0;
  return a.y === b.y && c.y === d.y && Math.abs(a.y - c.y) < 1 && overlap(a.x, b.x, c.x, d.x) > 0;
};

test("a line passes another line of words in the gap nearest to it, and none that is out of sight", () => {
  const words = [...line(0, [40, 40]), ...line(35, [50, 60])];
  assert.deepEqual(wayOf(words[2], words), [{ x: 25, y: 65 }], "nothing lies between");
  const way = wayOf(words[0], words);
  assert.deepEqual(way[0], { x: 52, y: 65 });
  assert.deepEqual(way.at(-1), { x: 32, y: 30 }, "it ends at its word, where the gap is nearest");
  assert.ok(
    way.slice(0, 2).every(({ x }) => x === 52),
    "between the two words",
  );
  assert.deepEqual(wayOf(words[0], [...words.slice(0, 2), { ...words[2], hidden: true }]), [{ x: 20, y: 30 }]);
});

test("beside a short line it goes straight on, and never through the pieces of one word", () => {
  const words = [...line(0, [40, 40, 40]), ...line(35, [30])];
  assert.deepEqual(wayOf(words[2], words), [
    { x: 108, y: 65 },
    { x: 108, y: 30 },
  ]);
  const joined = [words[0], { left: 0, right: 30, top: 35, bottom: 65 }, { left: 29, right: 90, top: 35, bottom: 65 }];
  assert.ok(wayOf(words[0], joined)[0].x > 90);
});

test("a line to the translation leaves it upwards", () => {
  const words = [...line(100, [40, 40]), ...line(135, [50])];
  assert.deepEqual(wayOf(words[2], words, -1)[0], { x: 42, y: 100 });
});

test("lines of several words never lie on each other, and the heaviest has the shortest way", () => {
  const words = [...line(0, [40, 40, 40, 40, 40]), ...line(40, [60, 50, 60, 50]), ...line(80, [35, 80, 70, 30])];
  const ends = [0.1, 0.2, 0.4, 0.15, 0.05].map((weight, i) => ({ box: words[i], weight }));
  const ways = waysPast(ends, words, 1, Infinity);
  assert.deepEqual(ways[2], wayOf(words[2], words), "the heaviest goes as if it were alone");
  for (const [i, way] of ways.entries()) {
    for (const other of ways.slice(i + 1))
      for (const piece of piecesOf(way))
        for (const beside of piecesOf(other)) assert.ok(!onEachOther(piece, beside), JSON.stringify([way, other]));
    for (const [{ x, y }, to] of piecesOf(way))
      for (const { left, right, top, bottom } of words)
        assert.ok(x !== to.x || x <= left || x >= right || overlap(y, to.y, top, bottom) <= 0, "through no word");
  }
  assert.equal(new Set(ways.map(([{ x }]) => x)).size, 5, "as many arrive as leave");
});

test("lines share a gap, side by side, only if there is no other", () => {
  const words = [
    ...line(0, [40, 40]),
    { left: 0, right: 60, top: 40, bottom: 70 },
    { left: 64, right: 2000, top: 40, bottom: 70 },
  ];
  const ways = waysPast(
    [words[0], words[1]].map((box) => ({ box, weight: 0.3 })),
    words,
    1,
    Infinity,
  );
  assert.deepEqual(
    ways.map(([{ x }]) => x),
    [62, 64.5],
  );
});

test("lines beside the last word of a line stay on the stage", () => {
  const words = [...line(0, [40, 40, 60]), ...line(40, [148])];
  const ends = words.slice(0, 3).map((box) => ({ box, weight: 0.3 }));
  const ways = waysPast(ends, words, 1, 158);
  assert.deepEqual(
    ways.map(([{ x }]) => x),
    [151, 156, 158],
  );
});

test("lines meet the word that they come from side by side, in the order of their other ends", () => {
  const box = { left: 100, right: 180, top: 0, bottom: 30 };
  assert.deepEqual(fanOut(box, [500]), [140]);
  assert.deepEqual(fanOut(box, [500, 20, 90]), [149, 131, 140]);
  const many = fanOut(
    box,
    Array.from({ length: 20 }, (_, i) => i),
  );
  assert.ok(many[0] > 100 && many[19] < 180);
});
