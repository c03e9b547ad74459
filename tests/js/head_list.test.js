import assert from "node:assert/strict";
import { test } from "node:test";

import { describeHead, listHeads } from "../../explorer/browser/js/head_list.js";
import { fixture } from "./shared.js";

const summary = fixture("head_list");

test("heads are listed layer by layer", () => {
  const places = listHeads(summary).map(({ layer, head }) => `${layer}.${head}`);
  assert.equal(places.join(" "), "1.1 1.2 1.3 2.1 2.2 2.3");
});

test("a head is described by its keys and the place that it favours, if it does", () => {
  assert.deepEqual(describeHead(summary, 1, 1), { keys: "1.5 keys", role: "previous 90\u202f%" });
  assert.equal(describeHead(summary, 1, 3).role, "", "its largest share, 30 %, is no name of it");
  assert.equal(describeHead(summary, 1, 2).keys, "no choice");
});
