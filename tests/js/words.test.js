import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { layerName, TITLES } from "../../explorer/browser/js/names.js";
import { percent } from "../../explorer/browser/js/numbers.js";
import { withZero } from "../../explorer/browser/js/numbers.js";
import { pieces, setWords, t } from "../../explorer/browser/js/words.js";

afterEach(() => setWords());

test("fields are filled in by name, and what was typed is no message", () => {
  assert.equal(t("Layer {layer}, head {head}", { head: 2, layer: 1 }), "Layer 1, head 2");
  assert.equal(t("Translated: {text}", { text: "{n} $& {0}" }), "Translated: {n} $& {0}");
  assert.throws(() => t("{n} heads"), /no field n/);
});

test("a number chooses the form and has marks between its thousands", () => {
  const words = (/** @type {number} */ n) => t("{n} word", "{n} words", { n });
  assert.deepEqual([0, 1, 2, 1200].map(words), ["0 words", "1 word", "2 words", "1,200 words"]);
  assert.equal(t("At {at}", { at: 1200 }), "At 1200");
});

test("a field of pieces may be anything, also several things", () => {
  const [token, other] = [{ token: 1 }, { token: 2 }];
  const found = pieces("{who} looks at {keys}.", { who: token, keys: [token, " and ", other] });
  assert.deepEqual(found, [token, " looks at ", token, " and ", other, "."]);
});

test("a catalogue translates, orders its forms as gettext does, and leaves the rest in English", () => {
  const messages = {
    "{n} word": ["{n} слово", "{n} слова", "{n} слов"],
    "layer {layer}": "слой {layer}",
    "Cross-attention": "Кросс-внимание",
    "{who} looks at {what}.": "На {what} смотрит {who}.",
  };
  setWords({ language: "ru", decimal: ",", messages });
  const words = (/** @type {number} */ n) => t("{n} word", "{n} words", { n });
  assert.deepEqual([1, 2, 5, 21].map(words), ["1 слово", "2 слова", "5 слов", "21 слово"]);
  assert.deepEqual(
    [layerName(3), TITLES.cross, TITLES.encoder],
    ["слой 3", "Кросс-внимание", "Encoder self-attention"],
  );
  const sentence = pieces("{who} looks at {what}.", { who: { a: 1 }, what: "x" });
  assert.deepEqual(sentence, ["На ", "x", " смотрит ", { a: 1 }, "."]);
  assert.equal(t("{n} head", "{n} heads", { n: 1 }), "1 head");
  assert.equal(percent(0.123), "12,3\u202f%");
});

test("fewer forms than the browser has categories: the last one stands for the rest", () => {
  setWords({ language: "fr", messages: { "{n} word": ["{n} mot", "{n} mots"] } });
  const words = (/** @type {number} */ n) => t("{n} word", "{n} words", { n });
  assert.deepEqual([0, 1, 2].map(words), ["0 mot", "1 mot", "2 mots"]);
});

test("a number of a cell has a zero before a decimal comma, and none before a point", () => {
  const shorts = [".42", "−.6", ">.99", ".0", "−1.8", "1", "0", "", "10.5"];
  assert.deepEqual(shorts.map(withZero), shorts);
  setWords({ language: "de", decimal: ",", messages: {} });
  const german = shorts.map((short) => withZero(short.replace(".", ",")));
  assert.deepEqual(german, ["0,42", "−0,6", ">0,99", "0", "−1,8", "1", "0", "", "10,5"]);
});
