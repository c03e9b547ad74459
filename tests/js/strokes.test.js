import assert from "node:assert/strict";
import { test } from "node:test";

import { strokeOf } from "../../explorer/browser/js/head_list.js";
import { fixture } from "./shared.js";

for (const { head, colour, dashes } of fixture("head_strokes")) {
  test(`the colour and dashes of head ${head}`, () => assert.deepEqual(strokeOf(head), { colour, dashes }));
}

test("no two of the first sixty heads look alike", () => {
  const looks = Array.from({ length: 60 }, (_, i) => JSON.stringify(strokeOf(i)));
  assert.equal(new Set(looks).size, looks.length);
});
