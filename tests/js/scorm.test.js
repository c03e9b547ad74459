import assert from "node:assert/strict";
import { test } from "node:test";

import { connectScorm, findApi, MAX_SUSPEND, scoreOf, timespan } from "../../explorer/browser/js/scorm.js";
import { scormApi } from "./scorm_api.js";

const TOTALS = { complete: 0, steps: 4, questions: 4, counts: [4, 0, 0, 0] };

/** A frame inside a platform's frame. @param {any} platform */
function pageIn(platform) {
  const page = /** @type {any} */ (new EventTarget());
  const top = /** @type {any} */ ({});
  top.parent = top;
  const frame = { API: platform?.api, parent: top };
  return Object.assign(page, { parent: frame });
}

/** A page of a platform, and what it is told. @param {any} platform */
function connected(platform) {
  const page = pageIn(platform);
  const troubles = /** @type {string[]} */ ([]);
  let now = 0;
  const scorm = connectScorm(page, (sentence) => troubles.push(sentence), () => now); // prettier-ignore
  return { page, troubles, scorm, wait: (/** @type {number} */ ms) => (now += ms) };
}

test("the interface is found in a frame around the page, or around the page that opened it", () => {
  const { api } = scormApi();
  const alone = /** @type {any} */ ({});
  alone.parent = alone;
  assert.equal(findApi(alone), null);
  assert.equal(findApi({ ...alone, API: api }), api);
  const around = { API: api, parent: alone };
  assert.equal(findApi({ parent: { parent: around } }), api);
  assert.equal(findApi({ ...alone, parent: /** @type {any} */ (alone), opener: { parent: around } }), api);
  const opened = /** @type {any} */ ({ opener: around });
  opened.parent = opened;
  assert.equal(findApi({ parent: opened }), api);
});

test("a frame of another site, and frames without an end, are no platform", () => {
  const foreign = Object.defineProperty({}, "API", {
    get() {
      throw new Error("SecurityError");
    },
  });
  assert.equal(findApi({ parent: /** @type {any} */ (foreign) }), null);
  /** @type {any} */
  let endless = { parent: null };
  const top = endless;
  for (let i = 0; i < 50; i++) endless = { parent: endless };
  top.parent = endless;
  assert.equal(findApi(endless), null);
});

test("a lesson from its first visit to its end: every call is within the standard", () => {
  const platform = scormApi();
  const { page, troubles, scorm, wait } = connected(platform);
  assert.equal(scorm.connected, true);
  assert.equal(scorm.message, "");
  assert.deepEqual(scorm.place(), {});
  assert.equal(platform.values["cmi.core.lesson_status"], "incomplete");
  scorm.moved({ lesson: "attention", at: "2" });
  scorm.report(TOTALS);
  assert.equal(platform.values["cmi.core.score.raw"], undefined, "no score before the first answer");
  assert.ok(scorm.storage?.store("lessons", "attention.1"));
  scorm.report({ ...TOTALS, complete: 2, counts: [2, 1, 1, 0] });
  wait(62_500);
  page.dispatchEvent(new Event("pagehide"));
  assert.deepEqual(troubles, []);
  assert.deepEqual(platform.failures(), []);
  assert.deepEqual(platform.log.at(-1), ["LMSFinish", "", "true", "0"]);
  const kept = platform.committed();
  assert.equal(kept["cmi.suspend_data"], "attention.1");
  assert.equal(kept["cmi.core.lesson_location"], "attention:2");
  assert.equal(kept["cmi.core.exit"], "suspend");
  assert.equal(kept["cmi.core.session_time"], "0000:01:02.50");
  assert.deepEqual(["raw", "min", "max"].map((name) => kept[`cmi.core.score.${name}`]), ["38", "0", "100"]); // prettier-ignore
  // Nothing is said after the end.
  const said = platform.log.length;
  scorm.report({ ...TOTALS, complete: 4 });
  page.dispatchEvent(new Event("pagehide"));
  assert.equal(platform.log.length, said);

  const next = platform.again();
  const later = connected(next);
  assert.deepEqual(later.scorm.place(), { lesson: "attention", at: "2" });
  assert.equal(later.scorm.storage?.recall("lessons"), "attention.1");
  later.scorm.report({ ...TOTALS, complete: 4, counts: [0, 2, 1, 1] });
  assert.equal(next.committed()["cmi.core.lesson_status"], "completed");
  later.scorm.report({ ...TOTALS, complete: 3, counts: [1, 2, 1, 0] });
  later.scorm.end();
  assert.equal(next.committed()["cmi.core.lesson_status"], "completed", "what was completed stays so");
  assert.equal(next.committed()["cmi.core.lesson_location"], "attention:2");
  assert.deepEqual(next.failures(), []);
});

test("with a mastery score, a course is passed or only completed", () => {
  for (const [least, status] of [
    ["60", "completed"],
    ["50", "passed"],
  ]) {
    const platform = scormApi({ "cmi.student_data.mastery_score": least });
    const { scorm } = connected(platform);
    scorm.report({ ...TOTALS, complete: 4, counts: [0, 2, 0, 2] });
    assert.equal(platform.values["cmi.core.lesson_status"], status);
    scorm.end();
    assert.equal(platform.committed()["cmi.core.exit"], "");
    assert.deepEqual(platform.failures(), []);
  }
});

test("a review changes neither status nor score", () => {
  const platform = scormApi({ "cmi.core.lesson_mode": "review", "cmi.core.lesson_status": "completed" });
  const { scorm } = connected(platform);
  scorm.report({ ...TOTALS, complete: 4, counts: [0, 0, 0, 4] });
  scorm.end();
  assert.equal(platform.committed()["cmi.core.lesson_status"], "completed");
  assert.equal(platform.committed()["cmi.core.score.raw"], undefined);
});

test("progress of 4,096 characters is kept, and more is refused before the platform is asked", () => {
  const platform = scormApi();
  const { scorm, troubles } = connected(platform);
  assert.equal(scorm.storage?.store("lessons", "1".repeat(MAX_SUSPEND)), true);
  assert.equal(scorm.storage?.store("lessons", "1".repeat(MAX_SUSPEND + 1)), false);
  assert.equal(scorm.storage?.recall("lessons")?.length, MAX_SUSPEND);
  scorm.moved({ lesson: "l".repeat(300), at: "1" });
  assert.deepEqual([platform.failures(), troubles], [[], []]);
  scorm.end();
});

test("what a platform refuses is said once, with its reason, and the page works on", () => {
  const platform = scormApi();
  const { scorm, troubles } = connected(platform);
  platform.api.LMSFinish(""); // the platform has ended the session by itself
  assert.equal(scorm.storage?.store("lessons", "attention.1"), false);
  scorm.report({ ...TOTALS, counts: [3, 1, 0, 0] });
  assert.deepEqual(troubles, [
    "The learning platform did not take the progress (error 301, Not initialized). It is lost when this page is closed.",
  ]);
  scorm.end();
  const broken = {
    api: {
      LMSInitialize() {
        throw new Error("x".repeat(1000));
      },
    },
  };
  const without = connected(broken);
  assert.equal(without.scorm.connected, false);
  assert.ok(without.troubles[0].length < 250);
  assert.match(without.scorm.message, /^The learning platform did not answer/);
});

test("without a platform one line says so, and nothing fails", () => {
  const { scorm, troubles } = connected(null);
  assert.equal(scorm.message, "No learning platform was found, so your progress is kept in this browser only.");
  assert.equal(scorm.storage, undefined);
  scorm.report({ ...TOTALS, complete: 4 });
  scorm.moved({ lesson: "attention", at: "1" });
  assert.deepEqual(scorm.place(), {});
  scorm.end();
  assert.deepEqual(troubles, []);
});

test("a page that comes back from the browser's cache begins a new session", () => {
  let platform = scormApi();
  const { page, scorm } = connected(platform);
  page.dispatchEvent(new Event("pagehide"));
  platform = platform.again();
  page.parent.API = platform.api;
  page.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: false }));
  assert.deepEqual(platform.log, []);
  page.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
  assert.ok(scorm.storage?.store("lessons", "attention.1"));
  scorm.end();
  assert.equal(platform.committed()["cmi.suspend_data"], "attention.1");
});

test("durations are written as the standard asks", () => {
  assert.deepEqual([0, -5, 994, 59_999, 3_600_000, 1e15].map(timespan), [
    "0000:00:00.00",
    "0000:00:00.00",
    "0000:00:00.99",
    "0000:01:00.00",
    "0001:00:00.00",
    "9999:59:59.99",
  ]);
});

test("the score", () => {
  assert.equal(scoreOf({ complete: 0, steps: 0, questions: 0, counts: [0, 0, 0, 0] }), 0);
  assert.equal(scoreOf({ complete: 3, steps: 3, questions: 3, counts: [0, 3, 0, 0] }), 100);
  assert.equal(scoreOf({ complete: 3, steps: 3, questions: 3, counts: [0, 1, 1, 1] }), 50);
});
