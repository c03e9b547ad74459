// Progress through the lessons: for each lesson one digit a step, as in links of the app. As explorer/lessons/progress.py.

import { t } from "./words.js";

/** @import { LessonOnSite } from "./structs" */

/** The digits of each lesson that was begun. @typedef {ReadonlyMap<string, string>} Progress */
/** An open lesson ("" = none) and its step. @typedef {{ lesson: string, step: number, progress: Progress }} Position */

export const MAX_LINK = 2000; // characters of progress in a link
export const MAX_KEPT = 20_000; // characters of progress in a browser
/** How a question was answered. */
export const [UNANSWERED, FIRST_TRY, LATER, SHOWN] = [0, 1, 2, 3];
export const OUTCOMES = [UNANSWERED, FIRST_TRY, LATER, SHOWN];

const DONE = 4; // added to the outcome if the exercise was done
const PART = /^([a-z0-9][a-z0-9-]{0,39})\.([0-7]{1,30})$/;
const [QUESTION, EXERCISE] = [1, 2]; // in `parts` of a lesson

/** Reads progress from a link or a browser. @param {string} text @param {number} most @returns {{ progress: Progress, unreadable: boolean }} */
export function readProgress(text, most = MAX_LINK) {
  const matches = text ? text.slice(0, most).split("~").map((part) => PART.exec(part)) : []; // prettier-ignore
  const read = matches.filter((match) => match !== null);
  return {
    progress: new Map(read.map(([, name, digits]) => [name, digits])),
    unreadable: text.length > most || read.length < matches.length,
  };
}

/** Writes progress as text, such as "attention.1052~masks.1". @param {Progress} progress */
export function writeProgress(progress) {
  return [...progress]
    .map(([name, digits]) => [name, digits.replace(/0+$/, "")])
    .filter(([, digits]) => digits)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map((parts) => parts.join("."))
    .join("~");
}

/** @param {Progress} progress @param {string} lesson @param {number} step */
const codeOf = (progress, lesson, step) => Number(progress.get(lesson)?.[step - 1] ?? 0);

/** The outcome of the question of a step. @param {Progress} progress @param {string} lesson @param {number} step */
export const outcomeOf = (progress, lesson, step) => codeOf(progress, lesson, step) % DONE;

/** Whether the exercise of a step was done. @param {Progress} progress @param {string} lesson @param {number} step */
export const isExerciseDone = (progress, lesson, step) => codeOf(progress, lesson, step) >= DONE;

/** With a question answered; its first outcome is final. @param {Progress} progress @param {string} lesson @param {number} step @param {number} outcome */
export const withOutcome = (progress, lesson, step, outcome) =>
  withCode(progress, lesson, step, { outcome: outcomeOf(progress, lesson, step) || outcome });

/** With an exercise done. @param {Progress} progress @param {string} lesson @param {number} step */
export const withExercise = (progress, lesson, step) => withCode(progress, lesson, step, { done: true });

/** @param {Progress} progress @param {string} lesson @param {number} step @param {{ outcome?: number, done?: boolean }} change @returns {Progress} */
function withCode(progress, lesson, step, { outcome, done }) {
  const digits = [...(progress.get(lesson) ?? "").padEnd(step, "0")];
  const before = Number(digits[step - 1]);
  digits[step - 1] = `${(outcome ?? before % DONE) + (done || before >= DONE ? DONE : 0)}`;
  return new Map([...progress, [lesson, digits.join("")]]);
}

/** Both together: done in either counts as done, and the better outcome counts. @param {Progress} own @param {Progress} other */
export const united = (own, other) => combined(own, other, better);

/** Undoes `added`: steps that still equal it are reset to `before`. @param {Progress} own @param {Progress} added @param {Progress} before */
export const without = (own, added, before) =>
  united(
    combined(own, added, (a, b) => (a === b ? 0 : a)),
    before,
  );

/** @param {Progress} own @param {Progress} other @param {(a: number, b: number) => number} rule @returns {Progress} */
function combined(own, other, rule) {
  const names = [...new Set([...own.keys(), ...other.keys()])];
  const digits = names.map((name) => {
    const length = Math.max(...[own, other].map((each) => each.get(name)?.length ?? 0));
    const codes = Array.from({ length }, (_, i) => rule(codeOf(own, name, i + 1), codeOf(other, name, i + 1)));
    return codes.join("").replace(/0+$/, "");
  });
  return new Map(names.map((name, i) => /** @type {const} */ ([name, digits[i]])).filter(([, each]) => each));
}

/** @param {number} code @param {number} other */
function better(code, other) {
  const outcomes = [code % DONE, other % DONE].filter(Boolean);
  return (outcomes.length ? Math.min(...outcomes) : 0) + (Math.max(code, other) >= DONE ? DONE : 0);
}

/** Whether the question of a step is answered, and its exercise done if it is checked. @param {Progress} progress @param {LessonOnSite} lesson @param {number} step */
export function isComplete(progress, { name, parts }, step) {
  const answered = !(parts[step - 1] & QUESTION) || outcomeOf(progress, name, step) !== UNANSWERED;
  return answered && (!(parts[step - 1] & EXERCISE) || isExerciseDone(progress, name, step));
}

/** What somebody has done of a lesson: steps, questions, and how many of them had each outcome. @param {Progress} progress @param {LessonOnSite} lesson */
export function summaryOf(progress, lesson) {
  const steps = lesson.parts.map((_, i) => i + 1);
  const asked = steps.filter((step) => lesson.parts[step - 1] & QUESTION);
  const outcomes = asked.map((step) => outcomeOf(progress, lesson.name, step));
  return {
    begun: progress.has(lesson.name),
    complete: steps.filter((step) => isComplete(progress, lesson, step)).length,
    steps: steps.length,
    questions: asked.length,
    counts: OUTCOMES.map((_, outcome) => outcomes.filter((each) => each === outcome).length),
  };
}

/** The first step that is not complete; 1 if all are. @param {Progress} progress @param {LessonOnSite} lesson */
export const firstOpenStep = (progress, lesson) =>
  lesson.parts.findIndex((_, i) => !isComplete(progress, lesson, i + 1)) + 1 || 1;

/** What a list of lessons says to somebody whose lesson is not there. */
export const lessonsBelow = () => t("The lessons below are available.");

/** The URL parameters of a position. @param {Position} position @returns {Record<string, string>} */
export function queryOf({ lesson, step, progress }) {
  const done = writeProgress(progress);
  return { ...(lesson && { lesson, at: `${step}` }), ...(done && done.length <= MAX_LINK && { done }) };
}

/**
 * Reads a position from URL parameters, with a sentence for each part that cannot be used.
 * @param {Record<string, string>} query
 * @param {LessonOnSite[]} lessons
 * @returns {Position & { problems: string[] }}
 */
export function positionOf(query, lessons) {
  const problems = [];
  const name = query.lesson ?? "";
  const lesson = lessons.find((each) => each.name === name);
  const at = query.at ?? "1";
  let step = /^[0-9]{1,3}$/.test(at) ? Number(at) : 0;
  if (name && !lesson)
    problems.push(`${t("There is no lesson “{name}” here.", { name: name.slice(0, 40) })} ${lessonsBelow()}`);
  else if (lesson?.why) problems.push(lesson.why);
  else if (lesson && !(step >= 1 && step <= lesson.steps.length)) {
    problems.push(
      t("This lesson has pages 1 to {last}, not “{step}”. It opens at page 1.", {
        last: lesson.steps.length,
        step: at.slice(0, 20),
      }),
    );
    step = 1;
  }
  const { progress, unreadable } = readProgress(query.done ?? "");
  if (unreadable) problems.push(t("Part of the progress in the link is unreadable and was ignored."));
  return { lesson: lesson && !lesson.why ? name : "", step: Math.max(step, 1), progress, problems };
}
