import assert from "node:assert/strict";
import { test } from "node:test";

import { tableOf, MAX_LINES, readClass } from "../../explorer/browser/js/class_page.js";

const lesson = (/** @type {string} */ name, why = "") => ({
  name,
  title: name.toUpperCase(),
  about: "",
  minutes: 5,
  language: "en",
  parts: [3, 1, 1],
  why,
  recap: [],
  steps: why ? [] : Array(3),
});
const LESSONS = [lesson("attention"), lesson("train", "It needs the app.")];
const SITE = ["https:", "", "example.org"].join("/"); // in parts: no code of ours names an address

test("each link gives a row for each lesson that was begun", () => {
  const text = `Ada Lovelace ${SITE}/?lesson=attention&at=3&done=attention.52~train.1\n\nBob: ?done=attention.3`;
  const { rows, problems } = readClass(text, LESSONS);
  assert.deepEqual(problems, []);
  const counts = { steps: 3, first: 1, later: 0, shown: 0 };
  assert.deepEqual(rows, [
    { name: "Ada Lovelace", lesson: "ATTENTION", step: 3, done: 2, ...counts, later: 1, open: 1 },
    { name: "Ada Lovelace", lesson: "TRAIN", step: null, done: 0, ...counts, open: 2 },
    { name: "Bob", lesson: "ATTENTION", step: null, done: 0, ...counts, first: 0, shown: 1, open: 2 },
  ]);
});

test("a link of a page that was opened from a disk has its parameters after a hash", () => {
  const { rows, problems } = readClass(
    "Ada page.html#/translate?lesson=attention&at=2&done=attention.1%7Etrain.1",
    LESSONS,
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(
    rows.map(({ lesson: title, step }) => [title, step]),
    [
      ["ATTENTION", 2],
      ["TRAIN", null],
    ],
  );
});

test("wrong lines are named with their number and stop nothing", () => {
  const text = [
    "Ada",
    "?lesson=attention&at=99&done=attention.1",
    "Eve ?done=!!",
    "?lesson=nothing",
    "?done=",
    "Bob ?lesson=train&at=2",
  ];
  const { rows, problems } = readClass(text.join("\n"), LESSONS);
  assert.deepEqual(
    rows.map(({ name, lesson: title, step }) => [name, title, step]),
    [
      ["Line 2", "ATTENTION", 1],
      ["Bob", "TRAIN", 2],
    ],
  );
  assert.deepEqual(problems, [
    "Line 1 has no progress link.",
    "Line 2: This lesson has pages 1 to 3, not “99”. It opens at page 1.",
    "Line 3: Part of the progress in the link is unreadable and was ignored.",
    "Line 4: There is no lesson “nothing” here.",
    "Line 5 has a link without progress.",
  ]);
  const long = readClass("x ?done=attention.1\n".repeat(MAX_LINES + 5), LESSONS);
  assert.equal(long.rows.length, MAX_LINES);
  assert.match(long.problems[0], /^Only the first 500 of 506 lines/);
});

test("the table as CSV: quoted, and no name is a formula", () => {
  const { rows } = readClass('=1+1, "x" ?done=attention.1', LESSONS);
  const [titles, line] = tableOf(rows).split("\r\n");
  assert.equal(titles, "Name,Lesson,At page,Pages done,Right at first try,Right later,Shown,Not answered,Pages");
  assert.equal(line, `"'=1+1, ""x""",ATTENTION,,0,1,0,0,2,3`);
});
