import assert from "node:assert/strict";
import { test } from "node:test";
import { condensed, drawMark, hiddenNumbers, writeRows } from "../../explorer/browser/js/map_marks.js";

const map = { keys: 4, cell: 15, places: [] };

/** @param {number[]} values @param {number[]} [framed] @param {Partial<typeof map>} [changes] */
function hidden(values, framed = [], changes = {}) {
  const widths = values.map((value) => (value ? 14 : 0));
  const isHidden = hiddenNumbers(widths, values, new Set(framed), { ...map, ...changes });
  return [...values.keys()].filter(isHidden);
}

test("of neighbours whose numbers would touch, the larger one is written", () => {
  assert.deepEqual(hidden([0.1, 0.7, 0.1, 0.1]), [0, 2]);
  assert.deepEqual(hidden([-0.1, -0.7, 0, 0.1]), [0], "by their size");
  assert.deepEqual(hidden([0.7, 0.1, 0.2, 0]), [1], "what is left out leaves room");
  assert.deepEqual(hidden([0, 0, 0, 0.7, 0.1, 0, 0, 0]), [], "the next row is no neighbour");
  assert.deepEqual(hidden([0.1, 0.7, 0.1, 0.1], [2]), [1, 3], "the framed one in any case");
  assert.deepEqual(hidden([0.1, 0.3, -0.4, 0.1], [1, 2]), [1, 3], "of two framed ones the larger, with a sign too");
});

test("where there is room between them, all numbers are written", () => {
  assert.deepEqual(hidden([0.1, 0.7, 0.1, 0.1], [], { cell: 16 }), []);
});

test("a number with a sign is condensed to the width of its cell, while it can be read", () => {
  assert.equal(condensed(14, 20), 14);
  assert.equal(condensed(21, 20), 18);
  assert.equal(condensed(50, 12), 39);
});

test("neighbours are those on screen, where columns run from right to left", () => {
  assert.deepEqual(hidden([0.3, 0, 0.2, 0], [], { places: [1, 3, 0, 2] }), [2]);
});

test("the frame of a cell stands around it, and not over its number", () => {
  /** @type {number[][]} */
  const drawn = [];
  const ctx = {
    strokeRect: (/** @type {number[]} */ ...box) => drawn.push([...box, ctx.lineWidth]),
    setLineDash() {},
    lineWidth: 0,
  };
  for (const cell of [15, 24]) {
    drawn.length = 0;
    const pen = {
      ctx,
      theme: { ground: "#fff" },
      left: 50,
      top: 40,
      cell,
      tall: 20,
      places: [],
      wide: 4 * cell,
      high: 80,
    };
    drawMark(/** @type {any} */ (pen), { row: 1, column: 2, colour: "#f00" });
    const [x, y, , , line] = drawn[1];
    const free = cell < 18 ? 1 : 0; // beside a number as wide as its cell
    assert.deepEqual([x + line / 2, y + line / 2], [50 + 2 * cell - free, 60 - free]);
  }
});

/** A pen for one row of cells on which each letter is as wide as 0.6 of its type; what is written is recorded. */
function penOf(keys, cell, tall) {
  const written = [];
  const ctx = {
    canvas: { closest: () => null },
    font: "",
    measureText: (text) => ({ width: 0.6 * parseFloat(ctx.font) * text.length }),
    fillRect: () => {},
    fillText: (text, x, y, most) =>
      written.push({ text, x, size: parseFloat(ctx.font), share: most / ctx.measureText(text).width }),
  };
  const theme = { font: "sans" };
  return { written, pen: { ctx, theme, left: 0, top: 0, cell, tall, places: [], keys } };
}
const values = [0.04, 0.39, 0.1, 0, 0.15, 0.06, 0.14, 0.12];
const write = (cell, tall) => {
  const { written, pen } = penOf(values.length, cell, tall);
  const isWritten = writeRows(pen, [0], values, () => [0, 0, 0]);
  return { isWritten, written: written.sort((a, b) => a.x - b.x) };
};

test("of the numbers of a row that would touch, the larger one is written, as wide as it is", () => {
  const { written } = write(13, 13);
  assert.deepEqual(
    written.map(({ text }) => text),
    [".39", ".15", ".14"],
  );
  for (const { size, share } of written) assert.ok(size >= 9 && share >= 0.9, `${size} px, ${share}`);
});

test("where cells have room, all numbers from 5 % on are written, in larger type", () => {
  const { written } = write(24, 16);
  assert.equal(written.length, 6);
  for (const { size, share } of written) assert.ok(size > 9 && share === 1, `${size} px, ${share}`);
});

test("rows that are lower than a number have none", () => {
  assert.deepEqual(write(13, 11), { isWritten: false, written: [] });
});
