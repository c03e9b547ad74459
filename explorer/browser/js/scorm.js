// SCORM 1.2: tells a learning platform how far the reader is. Without a platform it says so, and the page works on.

import { FIRST_TRY, LATER } from "./lesson_progress.js";
import { t } from "./words.js";

/** @import { Query } from "./lesson_checks.js" */
/** @import { Storage, Totals } from "./lesson.js" */

/** @typedef {"LMSInitialize" | "LMSFinish" | "LMSGetValue" | "LMSSetValue" | "LMSCommit" | "LMSGetLastError" | "LMSGetErrorString"} ApiCall */
/** The interface of SCORM 1.2. @typedef {Record<ApiCall, (...texts: string[]) => string>} Api */
/** @typedef {{ API?: Api, parent: Frame, opener?: Frame | null }} Frame a window, as far as it is used here */

const MOST_FRAMES = 20; // above this one
export const MAX_SUSPEND = 4096; // characters of cmi.suspend_data
const MAX_LOCATION = 255; // characters of cmi.core.lesson_location
const PAUSE = 1000; // ms after a change until it is committed

/** The platform's interface in a frame around a window, or around the window that opened it. @param {Frame} start @returns {Api | null} */
export function findApi(start) {
  return above(start) ?? (start.opener ? above(start.opener) : null) ?? openerOfTop(start);
}

/** @param {Frame} start @returns {Api | null} */
function above(start) {
  let frame = start;
  try {
    for (let i = 0; i < MOST_FRAMES; i++) {
      if (frame.API) return frame.API;
      if (!frame.parent || frame.parent === frame) return null;
      frame = frame.parent;
    }
  } catch {
    return null; // a frame of another site, which may not be looked into
  }
  return null;
}

/** @param {Frame} start @returns {Api | null} */
function openerOfTop(start) {
  let frame = start;
  try {
    for (let i = 0; i < MOST_FRAMES && frame.parent && frame.parent !== frame; i++) frame = frame.parent;
    return frame.opener ? above(frame.opener) : null;
  } catch {
    return null; // as above
  }
}

/** A duration as CMITimespan: "0000:01:02.50". @param {number} ms */
export function timespan(ms) {
  const hundredths = Math.min(Math.max(0, Math.round(ms / 10)), 9999 * 360_000 + 359_999);
  const [hours, minutes] = [Math.floor(hundredths / 360_000), Math.floor(hundredths / 6000) % 60];
  const two = (/** @type {number} */ number) => `${number}`.padStart(2, "0");
  return `${`${hours}`.padStart(4, "0")}:${two(minutes)}:${two(Math.floor(hundredths / 100) % 60)}.${two(hundredths % 100)}`;
}

/** The score, 0 to 100: one for each question that was right at the first try, a half after more tries. @param {Totals} totals */
export const scoreOf = ({ questions, counts }) =>
  Math.round((100 * (counts[FIRST_TRY] + counts[LATER] / 2)) / Math.max(questions, 1));

/**
 * Connects a page with the platform around it, and with each change of progress tells it status, score and progress.
 * `trouble` gets a sentence when the platform refuses something, at most once.
 * @param {Frame & EventTarget} here @param {(sentence: string) => void} trouble @param {() => number} [clock]
 */
export function connectScorm(here, trouble, clock = () => performance.now()) {
  let api = /** @type {Api | null} */ (null);
  let open = false;
  let begun = 0; // when this session began
  let failed = false;
  let timer = 0;
  let status = "";
  let browsing = false; // a review, or a look without a record
  let complete = false;
  let kept = "";
  let last = /** @type {Record<string, string>} */ ({}); // what was set

  /** Calls the platform; false, and a sentence, if it refuses. @param {keyof Api} name @param {string[]} texts */
  const call = (name, ...texts) => {
    if (!api) return false;
    try {
      if (String(api[name](...texts)) === "true") return true;
      const code = String(api.LMSGetLastError());
      complain(t("error {code}, {reason}", { code, reason: String(api.LMSGetErrorString(code)) }));
    } catch (error) {
      complain(error instanceof Error ? error.message : String(error));
    }
    return false;
  };
  const complain = (/** @type {string} */ why) => {
    if (!failed)
      trouble(
        t("The learning platform did not take the progress ({why}). It is lost when this page is closed.", {
          why: why.slice(0, 120),
        }),
      );
    failed = true;
  };
  const get = (/** @type {string} */ element) => {
    if (!api || !open) return "";
    try {
      return String(api.LMSGetValue(element));
    } catch (error) {
      complain(error instanceof Error ? error.message : String(error));
      return "";
    }
  };
  /** Sets an element if it changes; false if that failed, or after the end. @param {string} element @param {string} value */
  const set = (element, value) => {
    if (!open) return false;
    if (last[element] === value) return true;
    if (!call("LMSSetValue", element, value)) return false;
    last[element] = value;
    clearTimeout(timer);
    timer = setTimeout(commit, PAUSE);
    return true;
  };
  const commit = () => {
    clearTimeout(timer);
    if (open) call("LMSCommit", "");
  };

  const start = () => {
    api = findApi(here);
    last = {};
    open = call("LMSInitialize", "");
    if (!open) return;
    begun = clock();
    status = get("cmi.core.lesson_status");
    browsing = ["browse", "review"].includes(get("cmi.core.lesson_mode"));
    kept = get("cmi.suspend_data");
    if (status === "not attempted" || status === "") setStatus("incomplete");
  };
  const setStatus = (/** @type {string} */ value) => {
    if (!browsing && set("cmi.core.lesson_status", value)) status = value;
  };
  const finish = () => {
    if (!open) return;
    set("cmi.core.session_time", timespan(clock() - begun));
    set("cmi.core.exit", complete ? "" : "suspend"); // "suspend": the next visit goes on
    commit();
    call("LMSFinish", "");
    open = false;
  };

  start();
  const connected = open;
  const onHide = () => finish();
  const onHidden = () => document.visibilityState === "hidden" && commit();
  // A page that comes back from the browser's cache begins a new session.
  const onShow = (/** @type {any} */ event) => event.persisted && connected && !open && start();
  if (connected) {
    here.addEventListener("pagehide", onHide);
    here.addEventListener("pageshow", onShow);
    here.addEventListener("visibilitychange", onHidden, true);
  }

  return {
    connected,
    /** A sentence about the connection, "" if there is one. */
    message: connected
      ? ""
      : api
        ? t("The learning platform did not answer, so your progress is kept in this browser only.")
        : t("No learning platform was found, so your progress is kept in this browser only."),
    /** Where the progress is stored: with the platform, or undefined. @type {Storage | undefined} */
    storage: connected
      ? {
          where: t("Your progress is kept by the learning platform."),
          refused: t("The learning platform did not take your progress: it is lost when this page is closed."),
          recall: () => kept,
          store(_, text) {
            if (text.length > MAX_SUSPEND || !set("cmi.suspend_data", text)) return false;
            kept = text;
            return true;
          },
        }
      : undefined,
    /** The place where the last visit ended, as parameters of a link. @returns {Query} */
    place() {
      const [lesson, at] = get("cmi.core.lesson_location").split(":");
      return lesson && at ? { lesson, at } : {};
    },
    /** The reader turned to a step. @param {Query} query */
    moved({ lesson, at }) {
      const place = lesson ? `${lesson}:${at}` : "";
      if (place.length <= MAX_LOCATION) set("cmi.core.lesson_location", place);
    },
    /** The progress has changed. @param {Totals} totals */
    report(totals) {
      complete = totals.complete === totals.steps;
      if (!open || browsing) return;
      const answered = totals.counts.slice(FIRST_TRY).some(Boolean);
      if (answered) {
        set("cmi.core.score.min", "0");
        set("cmi.core.score.max", "100");
        set("cmi.core.score.raw", `${scoreOf(totals)}`);
      }
      if (!complete || status === "passed") return;
      const least = get("cmi.student_data.mastery_score"); // "" if the course has none
      setStatus(least !== "" && scoreOf(totals) >= Number(least) ? "passed" : "completed");
      commit();
    },
    /** Ends the session. */
    end() {
      finish();
      here.removeEventListener("pagehide", onHide);
      here.removeEventListener("pageshow", onShow);
      here.removeEventListener("visibilitychange", onHidden, true);
    },
  };
}
