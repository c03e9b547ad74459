import assert from "node:assert/strict";
import { test } from "node:test";

import mount from "../../explorer/browser/js/history.js";

/** A browser tab at an address, and what the component reports in it. @param {string} pathname */
function tab(pathname) {
  const events = Object.assign(new EventTarget(), { location: { pathname } });
  const reports = /** @type {[string, unknown][]} */ ([]);
  Object.assign(globalThis, { window: events });
  /** @type {any} */
  const root = {};
  return {
    reports,
    events,
    show: () =>
      mount({
        data: null,
        parentElement: root,
        setStateValue: (name, value) => reports.push([name, value]),
        setTriggerValue() {},
      }),
    goBack: () => events.dispatchEvent(new Event("popstate")),
  };
}

test("a move through the history is reported once, however often the component was called", () => {
  const { show, goBack, reports } = tab("/attention");
  show();
  show();
  goBack();
  assert.deepEqual(
    reports.map(([name]) => name),
    ["moved"],
  );
});

test("after an unmount nothing is reported, and after another mount on the same root, moves are again", () => {
  const { show, goBack, reports } = tab("/attention");
  show()();
  goBack();
  assert.equal(reports.length, 0);
  show();
  goBack();
  assert.equal(reports.length, 1);
});

test("a move to another page of the app is not reported", () => {
  const { show, goBack, reports, events } = tab("/attention");
  show();
  events.location.pathname = "/masks";
  goBack();
  assert.equal(reports.length, 0);
});
