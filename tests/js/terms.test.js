import assert from "node:assert/strict";
import { test } from "node:test";

import { splitAtTerms } from "../../explorer/browser/js/terms.js";

const TERMS = {
  attention: "#term-attention",
  "self-attention": "#term-self-attention",
  token: "#term-token",
  tokens: "#term-token",
};
const links = (text, said) =>
  splitAtTerms(text, TERMS, said)
    .filter(({ address }) => address)
    .map(({ text: part, address }) => `${part} ${address}`);

test("the first mention of each term leads to its explanation, the longest term wins, and no character is lost", () => {
  const text = "Self-attention: tokens look at tokens, a token at itself. Attention rests; inattention does not.";
  assert.deepEqual(links(text), [
    "Self-attention #term-self-attention",
    "tokens #term-token",
    "Attention #term-attention",
  ]);
  assert.equal(
    splitAtTerms(text, TERMS)
      .map(({ text: part }) => part)
      .join(""),
    text,
  );
});

test("what was mentioned before is not linked again, and a page without terms has no links", () => {
  const said = new Set();
  assert.equal(links("A token.", said).length, 1);
  assert.equal(links("Two tokens.", said).length, 0);
  assert.deepEqual(splitAtTerms("A token.", {}), [{ text: "A token.", address: "" }]);
});
