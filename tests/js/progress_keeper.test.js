import assert from "node:assert/strict";
import { test } from "node:test";

import mount from "../../explorer/browser/js/progress_keeper.js";

/** A browser profile with what is kept in it, and tabs that show the component. @param {Record<string, string>} kept */
function profile(kept = {}) {
  const storage = {
    getItem: (/** @type {string} */ name) => kept[name] ?? null,
    setItem: (/** @type {string} */ name, /** @type {string} */ text) => void (kept[name] = text),
    removeItem: (/** @type {string} */ name) => void delete kept[name],
  };
  const shared = /** @type {any} */ (globalThis);
  const tab = () => {
    const events = new EventTarget();
    const reports = /** @type {[string, unknown][]} */ ([]);
    /** @type {any} */
    const root = {};
    let wrote = /** @type {string | undefined} */ (undefined);
    let unmount = () => {};
    const within = (/** @type {() => void} */ action) => {
      Object.assign(shared, { localStorage: storage, window: events, __headlightProgress: wrote });
      action();
      wrote = shared.__headlightProgress;
    };
    return {
      reports,
      show: (/** @type {string} */ text, seen = "") =>
        within(() => {
          unmount = mount({
            data: { text, seen },
            parentElement: root,
            setStateValue: (name, value) => reports.push([name, value]),
            setTriggerValue() {},
          });
        }),
      unmount: () => within(() => unmount()),
      changedElsewhere: () => within(() => events.dispatchEvent(new Event("storage"))),
    };
  };
  return { kept, tab };
}

test("progress is kept, and a visit later it is reported before anything is written over it", () => {
  const { kept, tab } = profile();
  const first = tab();
  first.show("");
  first.show("attention.1");
  assert.deepEqual(kept, { "headlight.lessons": "attention.1" });
  assert.deepEqual(first.reports, []);
  const later = tab();
  later.show("masks.4");
  assert.deepEqual(later.reports, [["kept", "attention.1"]]);
  assert.deepEqual(kept, { "headlight.lessons": "attention.1" });
  later.show("attention.1~masks.4", "attention.1");
  assert.deepEqual(kept, { "headlight.lessons": "attention.1~masks.4" });
  assert.equal(later.reports.length, 1);
});

test("another tab's progress is reported, and clearing it there, too", () => {
  const { kept, tab } = profile();
  const one = tab();
  const other = tab();
  one.show("attention.1");
  other.show("", "");
  assert.deepEqual(other.reports, [["kept", "attention.1"]]);
  other.show("attention.11", "attention.1");
  one.changedElsewhere();
  assert.deepEqual(one.reports, [["kept", "attention.11"]]);
  one.show("", "attention.11");
  assert.deepEqual(kept, {});
  other.changedElsewhere();
  assert.deepEqual(other.reports.at(-1), ["kept", ""]);
});

test("after an unmount nothing is reported, and after another mount on the same root, changes are again", () => {
  const { tab } = profile();
  const mine = tab();
  const other = tab();
  mine.show("");
  mine.unmount();
  other.show("masks.1");
  mine.changedElsewhere();
  assert.deepEqual(mine.reports, []);
  mine.show("");
  assert.deepEqual(mine.reports, [["kept", "masks.1"]]);
  mine.show("masks.1", "masks.1");
  other.show("masks.11", "masks.1");
  mine.changedElsewhere();
  assert.deepEqual(mine.reports.at(-1), ["kept", "masks.11"]);
});

test("a browser that keeps nothing says so", () => {
  const { tab } = profile();
  const one = tab();
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    get: () => {
      throw new Error("denied");
    },
  });
  const reports = /** @type {unknown[]} */ ([]);
  Object.assign(globalThis, { window: new EventTarget() });
  mount(
    /** @type {any} */ ({
      data: { text: "attention.1", seen: "" },
      parentElement: {},
      setStateValue: (/** @type {string} */ name, /** @type {unknown} */ value) => reports.push([name, value]),
    }),
  );
  assert.deepEqual(reports, [["blocked", true]]);
  assert.deepEqual(one.reports, []);
});
