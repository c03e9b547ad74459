import assert from "node:assert/strict";
import { test } from "node:test";

import { heated } from "../../explorer/browser/js/next_word.js";

test("without sums there is only temperature 1; what is 0 stays 0", () => {
  assert.equal(heated(null, 0, 3, 0.4), 0.4);
  assert.equal(heated({ temperatures: [3], log_sums: [[1]] }, 0, 0, 0), 0);
});
