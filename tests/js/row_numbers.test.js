import assert from "node:assert/strict";
import test from "node:test";

import { writeRows } from "../../explorer/browser/js/row_numbers.js";

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
