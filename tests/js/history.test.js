import assert from "node:assert/strict";
import { test } from "node:test";

import mount from "../../explorer/browser/js/history.js";

test("an act of the user is one entry, in however many steps the address is written, and Back makes none", () => {
  const entries = ["/probe"];
  let at = 0;
  /** @typedef {(state: unknown, title: string, url: string) => void} Write */
  const history = {
    pushState: /** @type {Write} */ ((_, __, url) => entries.splice(++at, Infinity, url)),
    replaceState: /** @type {Write} */ ((_, __, url) => void (entries[at] = url)),
  };
  const tab = Object.assign(new EventTarget(), { history });
  Object.assign(globalThis, { window: tab });
  mount();
  mount(); // the theme has changed

  const write = (/** @type {string[]} */ ...urls) => urls.forEach((url) => tab.history.pushState(null, "", url));
  write("/probe?a=1");
  tab.dispatchEvent(new Event("keydown"));
  write("/probe?a=2");
  tab.dispatchEvent(new Event("pointerdown"));
  write("/probe", "/probe?b=1", "/experiments?b=1");
  assert.deepEqual(entries, ["/probe?a=1", "/probe?a=2", "/experiments?b=1"]);
  at = 1;
  tab.dispatchEvent(new Event("popstate"));
  write("/probe?a=2&c=1");
  assert.deepEqual(entries, ["/probe?a=1", "/probe?a=2&c=1", "/experiments?b=1"], "Forward still leads on");
});
