import assert from "node:assert/strict";
import { test } from "node:test";

import { fitCell, fitCells, fitTile, fitType } from "../../explorer/browser/js/heads_layout.js";
import { zoomFor } from "../../explorer/browser/js/present.js";

test("cells of a thumbnail fill the space and stay nearly square", () => {
  for (const [wide, high] of [
    [200, 100],
    [100, 200],
    [100, 100],
  ]) {
    const { x, y } = fitCell(wide, high, 10, 10);
    assert.ok(10 * x <= wide && 10 * y <= high);
    assert.ok(Math.max(x / y, y / x) <= 1.6 + 1e-9);
    assert.ok(10 * x > wide - 1e-9 || 10 * y > high - 1e-9, "it touches one of the sides");
  }
});

test("the text below a thumbnail has the lines that its width asks for", () => {
  assert.equal(fitTile(230, 100, 10, 10).form, "line");
  assert.equal(fitTile(130, 300, 10, 10).form, "lines");
  assert.equal(fitTile(70, 300, 10, 10).form, "name");
});

test("maps on one line have cells of one size, within the width and the height", () => {
  const maps = [
    { beside: 100, above: 60, keys: 10, queries: 10 },
    { beside: 150, above: 70, keys: 5, queries: 8 },
  ];
  const cell = fitCells(maps, 700, 400);
  assert.equal(cell, 30);
  assert.equal(fitCells(maps, 700, 150), 9, "the height decides");
});

test("type is as large as lets all words fit", () => {
  assert.equal(fitType([3, 4, 5], 700, 400, 30), 34);
  assert.ok(fitType(Array(60).fill(5), 700, 400, 30) < 25);
  assert.equal(fitType(Array(600).fill(5), 700, 400, 30), 16);
});

test("a presentation is magnified to the screen, and never made smaller", () => {
  assert.equal(zoomFor(1920, 1080), 2);
  assert.equal(zoomFor(1920, 3000), 2);
  assert.equal(zoomFor(390, 844), 1);
});
