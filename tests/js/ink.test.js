import assert from "node:assert/strict";
import { test } from "node:test";
import { inkOn } from "../../explorer/browser/js/ink.js";

/** @param {number[]} colour */
const luminance = (colour) => {
  const [r, g, b] = colour.map((part) => (part > 10 ? ((part / 255 + 0.055) / 1.055) ** 2.4 : part / 255 / 12.92));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
/** @param {number} a @param {number} b */
const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

test("numbers on any grey or teal have at least the contrast that small text needs", () => {
  const inks = new Map([
    ["#fff", luminance([255, 255, 255])],
    ["#000", 0],
  ]);
  for (let part = 0; part < 256; part++)
    for (const colour of [
      [part, part, part],
      [0.3 * part, 0.75 * part, part],
    ])
      assert.ok(contrast(luminance(colour), Number(inks.get(inkOn(/** @type {any} */ (colour))))) >= 4.5, `${colour}`);
});
