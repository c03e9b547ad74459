import assert from "node:assert/strict";
import test from "node:test";

import { gapsFrom, meeting } from "../../explorer/browser/js/stage_lines.js";

const box = (left, right, top) => ({ left, right, top, bottom: top + 38, hidden: false });
const first = [box(0, 70, 0), box(74, 130, 0), box(134, 210, 0)];
const second = [box(0, 40, 43), box(44, 120, 43)];

test("on one line there is nothing to pass, and a curve meets the middle of the word", () => {
  assert.deepEqual(gapsFrom(first, first[1], "target"), []);
  assert.deepEqual(meeting(first[1], "target", [], false), { x: 102, y: 0 });
  assert.deepEqual(meeting(first[1], "source", [], false), { x: 102, y: 38 });
});

test("from the second line of the translation, a curve passes the first between two words", () => {
  const all = [...first, ...second];
  const gaps = gapsFrom(all, second[0], "target");
  assert.deepEqual(gaps, [{ x: 72, near: 38, far: 0 }]);
  assert.ok(
    first.every(({ left, right }) => gaps[0].x < left || gaps[0].x > right),
    "through no word",
  );
});

test("the word being written is met at its right end, where nothing stands yet; other words at their edge", () => {
  const gaps = gapsFrom([...first, second[0]], second[0], "target");
  assert.deepEqual(meeting(second[0], "target", gaps, true), { x: 40, y: 62 });
  assert.deepEqual(meeting(second[0], "target", gaps, false), { x: 34, y: 43 });
});

test("a word of the first line of the source is reached between the words below it; lines out of sight are not passed", () => {
  const third = [box(0, 90, 86)];
  const all = [...first, ...second, ...third];
  assert.deepEqual(
    gapsFrom(all, first[1], "source").map(({ x, near, far }) => [x, near, far]),
    [
      [124, 43, 81],
      [124, 86, 124],
    ],
  );
  assert.deepEqual(
    gapsFrom(all, first[2], "source").map(({ x }) => x),
    [172, 172],
    "straight down where the lines are shorter",
  );
  const scrolled = all.map((each) => ({ ...each, hidden: each.top > 80 }));
  assert.equal(gapsFrom(scrolled, first[2], "source").length, 1);
});
