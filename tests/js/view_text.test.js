import assert from "node:assert/strict";
import { test } from "node:test";

import { readView, writeView } from "../../explorer/browser/js/view_text.js";
import { fixture } from "./shared.js";

for (const { text, view } of fixture("view_text")) {
  test(`reads "${text}"`, () => assert.deepEqual(readView(text), view));

  test(`writes what it read from "${text}"`, () => {
    const { heads, ...options } = readView(text);
    assert.deepEqual(readView(writeView(options, heads)), view);
  });
}

test("only what differs from the default is written", () => {
  const { heads, ...options } = readView("");
  assert.equal(writeView(options, heads), "heads");
  assert.equal(writeView({ ...options, view: "lines", words: true, mass: 60, most: 1.5 }, [0, 2]), "lines.words.most-15.mass-60.h-0-2");
});
