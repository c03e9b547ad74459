import assert from "node:assert/strict";
import { test } from "node:test";

import { isFree } from "../../explorer/browser/js/keys.js";

/** Elements around the focus, each given by the selectors that it matches. */
const path = (...elements) =>
  elements.map((own) => ({ matches: (selectors) => selectors.split(",").some((one) => own.includes(one)) }));
const ARROWS = ["ArrowLeft", "ArrowRight", "Home", "End"];

test("on the page itself all keys are free", () => {
  for (const pointed of [true, false])
    for (const key of [...ARROWS, " ", "?", "f"]) assert.ok(isFree(key, path([]), pointed));
});

test("text fields, menus and dialogs keep theirs", () => {
  for (const own of ["textarea", "select", "[contenteditable]", "dialog", "[role=menu]"]) {
    for (const key of [...ARROWS, " ", "?"]) assert.ok(!isFree(key, path([], [own]), true), `${own} ${key}`);
  }
});

test("a button that was clicked leaves the space bar to the view, one that was reached by Tab does not", () => {
  assert.ok(isFree(" ", path(["button"]), true));
  assert.ok(!isFree(" ", path(["button"]), false));
  assert.ok(!isFree(" ", path(["[type=radio]"]), false));
  assert.ok(isFree("ArrowLeft", path(["button"]), false));
});

test("arrows stay with what they move: cells and thumbnails always, tabs if they were reached by Tab", () => {
  for (const own of ["canvas", ".tiles", "[role=slider]", "[role=application]"])
    assert.ok(!isFree("ArrowLeft", path([], [own]), true), own);
  assert.ok(isFree("ArrowLeft", path(["[role=radio]"]), true));
  assert.ok(!isFree("ArrowLeft", path(["[role=radio]"]), false));
  assert.ok(isFree("f", path(["canvas"]), true));
});
