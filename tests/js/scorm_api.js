// A learning platform's side of SCORM 1.2 that enforces the standard: types, vocabularies, access, order of calls.

/** @typedef {{ access: "read" | "write" | "both", fits: (value: string) => boolean }} Element */

/**
 * The API object of one learner; `kept` holds the values of earlier visits, and `log` every call with its result.
 * @param {Record<string, string>} [kept]
 */
export function scormApi(kept = {}) {
  const string = (/** @type {number} */ most) => (/** @type {string} */ value) => value.length <= most;
  const words =
    (/** @type {string[]} */ ...allowed) =>
    (/** @type {string} */ value) =>
      allowed.includes(value);
  const score = (/** @type {string} */ value) =>
    value === "" || (/^\d{1,3}(\.\d+)?$/.test(value) && Number(value) >= 0 && Number(value) <= 100);
  const time = (/** @type {string} */ value) => /^\d{2,4}:[0-5]\d:[0-5]\d(\.\d{1,2})?$/.test(value);
  /** @type {Record<string, Element>} */
  const elements = {
    "cmi.core._children": { access: "read", fits: () => false },
    "cmi.core.student_id": { access: "read", fits: string(255) },
    "cmi.core.student_name": { access: "read", fits: string(255) },
    "cmi.core.lesson_location": { access: "both", fits: string(255) },
    "cmi.core.credit": { access: "read", fits: words("credit", "no-credit") },
    // "not attempted" is the platform's to say.
    "cmi.core.lesson_status": { access: "both", fits: words("passed", "completed", "failed", "incomplete", "browsed") },
    "cmi.core.entry": { access: "read", fits: words("ab-initio", "resume", "") },
    "cmi.core.score._children": { access: "read", fits: () => false },
    "cmi.core.score.raw": { access: "both", fits: score },
    "cmi.core.score.min": { access: "both", fits: score },
    "cmi.core.score.max": { access: "both", fits: score },
    "cmi.core.total_time": { access: "read", fits: time },
    "cmi.core.lesson_mode": { access: "read", fits: words("browse", "normal", "review") },
    "cmi.core.exit": { access: "write", fits: words("time-out", "suspend", "logout", "") },
    "cmi.core.session_time": { access: "write", fits: time },
    "cmi.suspend_data": { access: "both", fits: string(4096) },
    "cmi.launch_data": { access: "read", fits: string(4096) },
    "cmi.comments": { access: "both", fits: string(4096) },
    "cmi.student_data.mastery_score": { access: "read", fits: score },
  };
  /** @type {Record<string, string>} */
  const errors = {
    0: "No error",
    101: "General exception",
    201: "Invalid argument error",
    202: "Element cannot have children",
    301: "Not initialized",
    401: "Not implemented error",
    402: "Invalid set value, element is a keyword",
    403: "Element is read only",
    404: "Element is write only",
    405: "Incorrect data type",
  };
  /** @type {Record<string, string>} */
  const values = {
    "cmi.core._children": "student_id,student_name,lesson_location,credit,lesson_status,entry,score,total_time,lesson_mode,exit,session_time", // prettier-ignore
    "cmi.core.score._children": "raw,min,max",
    "cmi.core.lesson_status": "not attempted",
    "cmi.core.entry": "ab-initio",
    "cmi.core.lesson_mode": "normal",
    "cmi.core.credit": "credit",
    "cmi.core.total_time": "0000:00:00.00",
    ...kept,
  };
  const log = /** @type {string[][]} */ ([]);
  let state = "before";
  let error = "0";
  let committed = { ...values };

  const fail = (/** @type {string} */ code) => {
    error = code;
    return "";
  };
  /** @type {Record<string, (...texts: string[]) => string>} "true" or a value, or "" after `fail` */
  const calls = {
    LMSInitialize(nothing) {
      if (nothing !== "") return fail("201");
      if (state !== "before") return fail("101");
      state = "running";
      return "true";
    },
    LMSFinish(nothing) {
      if (state !== "running") return fail("301");
      if (nothing !== "") return fail("201");
      state = "finished";
      committed = { ...values };
      return "true";
    },
    LMSCommit(nothing) {
      if (state !== "running") return fail("301");
      if (nothing !== "") return fail("201");
      committed = { ...values };
      return "true";
    },
    LMSGetValue(name) {
      if (state !== "running") return fail("301");
      const element = elements[name];
      if (!element) return fail(name?.endsWith("._children") ? "202" : "401");
      if (element.access === "write") return fail("404");
      return values[name] ?? "";
    },
    LMSSetValue(name, value) {
      if (state !== "running") return fail("301");
      const element = elements[name];
      if (!element) return fail("401");
      if (name.endsWith("._children")) return fail("402");
      if (element.access === "read") return fail("403");
      if (typeof value !== "string" || !element.fits(value)) return fail("405");
      values[name] = value;
      return "true";
    },
  };
  const api = Object.fromEntries(
    Object.entries(calls).map(([name, run]) => [
      name,
      (/** @type {string[]} */ ...texts) => {
        error = "0";
        const answer = run(...texts);
        const result = name === "LMSGetValue" ? answer : answer || "false";
        log.push([name, ...texts, result, error]);
        return result;
      },
    ]),
  );
  api.LMSGetLastError = () => error;
  api.LMSGetErrorString = (code) => errors[code] ?? "";
  api.LMSGetDiagnostic = (code) => errors[code] ?? "";
  return {
    api: /** @type {Record<import("../../explorer/browser/js/scorm.js").ApiCall, (...texts: string[]) => string>} */ (
      api
    ),
    log,
    values,
    committed: () => committed,
    failures: () => log.filter((call) => call.at(-1) !== "0"),
    /** Makes the next visit possible: what was committed is what it begins with. */
    again: () => scormApi({ ...committed, "cmi.core.entry": "resume" }),
  };
}
