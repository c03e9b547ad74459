// Lessons on a page without a server: the list with the reader's progress, or one step beside the figure.

import { copyText } from "./clipboard.js";
import { make, makeButton, say } from "./dom.js";
import {
  MAX_KEPT,
  OUTCOMES,
  firstOpenStep,
  positionOf,
  queryOf,
  readProgress,
  summaryOf,
  united,
  without,
  writeProgress,
} from "./lesson_progress.js";
import { createStep } from "./lesson_step.js";
import { recall, store } from "./memory.js";
import { t } from "./words.js";

/** @import { LessonOnSite } from "./structs" */
/** @import { Query } from "./lesson_checks.js" */
/** @import { Position, Progress } from "./lesson_progress.js" */

/** @typedef {{ open: (query: Query, page?: string) => Promise<void>, query: () => Query }} Desk what shows the figures */
/** @typedef {{ recall: (name: string) => string | null, store: (name: string, text: string) => boolean, where?: string, refused?: string }} Storage as memory.js; `where` says where progress is kept, and `refused` that it is not */
/** @typedef {{ complete: number, steps: number, questions: number, counts: number[] }} Totals of all lessons here; `counts` by outcome */
/**
 * `query` are the address's parameters, and `moved` reports those of the lessons whenever they change. `read` decodes
 * the reader's own sentence. `picture` is the element with the desk: it is shown beside a step. `report` gets the totals.
 * `address` makes the link with these parameters, to hand in.
 * @typedef {{
 *   lessons: LessonOnSite[], desk: Desk, query: Query, moved: (query: Query) => void,
 *   read: (query: Query) => Promise<{ predicted: string[], text: string }>,
 *   picture?: HTMLElement, storage?: Storage, report?: (totals: Totals) => void,
 *   address?: (query: Query) => string,
 * }} LessonOptions
 */

const kept = () => t("Your progress is kept in this browser, and in the link to this page.");
const refused = () =>
  t(
    "This browser lets pages keep nothing (private browsing, or storage is blocked), so your progress is only in the address of this page. Copy the link before you close the tab.",
  );
const NAME = "lessons"; // as in the app (progress_keeper.js)

/** Draws the lessons below `root`. @param {HTMLElement} root @param {LessonOptions} options */
export function mountLessons(root, options) {
  const { lessons, picture, storage = { recall, store } } = options;
  const words = make("div", "lesson-words");
  const slot = make("div", "lesson-picture");
  const box = make("section", "lessons", words, slot);
  const home = picture?.parentElement;
  if (picture) slot.append(picture);
  root.append(box);
  const S = {
    position: /** @type {Position} */ ({ lesson: "", step: 1, progress: new Map() }),
    brought: /** @type {{ added: Progress, before: Progress } | null} */ (null), // by a link
    blocked: false,
    problems: /** @type {string[]} */ ([]),
  };
  /** @type {ReturnType<typeof createStep> | null} */
  let step = null;

  const lessonOf = (/** @type {string} */ name) =>
    /** @type {LessonOnSite} */ (lessons.find((lesson) => lesson.name === name));
  const runnable = lessons.filter((lesson) => lesson.steps.length);

  /** Changes the progress, stores it with that of other tabs, and reports it. @param {Progress} progress @param {boolean} [replaces] */
  const keep = (progress, replaces) => {
    const kept = storage.recall(NAME);
    const theirs = readProgress(kept ?? "", MAX_KEPT).progress;
    S.position = { ...S.position, progress: replaces ? progress : united(progress, theirs) };
    const text = writeProgress(S.position.progress);
    S.blocked = kept === null || (text !== kept && !storage.store(NAME, text));
    tell();
  };

  const tell = () => {
    const each = runnable.map((lesson) => summaryOf(S.position.progress, lesson));
    const sum = (/** @type {(summary: typeof each[number]) => number} */ of) => each.reduce((n, one) => n + of(one), 0);
    options.report?.({
      complete: sum(({ complete }) => complete),
      steps: sum(({ steps }) => steps),
      questions: sum(({ questions }) => questions),
      counts: OUTCOMES.map((_, outcome) => sum(({ counts }) => counts[outcome])),
    });
    options.moved(queryOf(S.position));
  };

  /** Goes to a step; with `opens`, its figure is opened. @param {string} lesson @param {number} at @param {{ opens?: boolean, focuses?: boolean }} [how] */
  const go = (lesson, at, { opens = true, focuses = true } = {}) => {
    S.position = { ...S.position, lesson, step: at };
    S.problems = [];
    tell();
    draw(opens);
    if (!focuses) return;
    if (box.getBoundingClientRect().top < 0) box.scrollIntoView({ block: "start" });
    /** @type {HTMLElement | null} */ (words.querySelector("[tabindex]"))?.focus({ preventScroll: true });
  };

  const draw = (opens = true) => {
    step?.end();
    step = null;
    box.dataset.showing = S.position.lesson ? "step" : "list";
    slot.hidden = true;
    if (!S.position.lesson) return words.replaceChildren(...drawList());
    const lesson = lessonOf(S.position.lesson);
    step = createStep({
      lesson,
      at: S.position.step,
      opens,
      words,
      slot,
      picture,
      desk: options.desk,
      read: options.read,
      progress: () => S.position.progress,
      keep,
      go,
      drawCopy,
      leave: runnable.length > 1 ? () => go("", 1) : null,
      following: runnable[runnable.indexOf(lesson) + 1],
    });
    if (S.problems.length) words.prepend(alertOf(S.problems));
  };

  /** A button that copies the link with the progress, for a teacher. */
  const drawCopy = () => {
    const { address } = options;
    if (!address || !S.position.progress.size) return [];
    const answer = make("output", "small");
    const copy = makeButton("", t("Copy the link with my progress"));
    copy.onclick = async () => {
      const link = address(queryOf(S.position));
      if (await copyText(link)) return say(answer, t("Copied: send it to your teacher."));
      answer.replaceChildren(`${t("Copy it from here:")} `, make("code", "", link));
    };
    return [make("p", "", copy, " ", answer)];
  };

  const drawList = () => {
    const { progress } = S.position;
    const items = lessons.map((lesson, i) => drawEntry(lesson, i + 1));
    const where = S.blocked ? (storage.refused ?? refused()) : (storage.where ?? kept());
    const foot = make("div", "lesson-foot");
    const { brought } = S;
    if (brought) {
      const leaveOut = makeButton("", t("Leave it out"));
      leaveOut.onclick = () => {
        S.brought = null;
        keep(without(progress, brought.added, brought.before), true);
        draw();
      };
      foot.append(make("p", "note", `${t("The link that you opened added progress to yours.")} `, leaveOut));
    }
    foot.append(make("p", "small", where), ...drawCopy());
    if (progress.size) {
      const clear = makeButton("", t("Clear it"));
      clear.onclick = () => {
        S.brought = null;
        keep(new Map(), true);
        draw();
      };
      const summary = make("summary", "", t("Clear my progress"));
      const effect = t("All answers and exercises in this browser will count as not done.");
      foot.append(make("details", "", summary, make("p", "", `${effect} `, clear)));
    }
    return [
      ...(S.problems.length ? [alertOf(S.problems)] : []),
      title(t("What would you like to understand?")),
      make("p", "lead", t("Short tours: look at a model, say what you expect, and check it.")),
      make("ol", "lesson-list", ...items),
      foot,
    ];
  };

  /** @param {LessonOnSite} lesson @param {number} number */
  const drawEntry = (lesson, number) => {
    const { begun, complete, steps } = summaryOf(S.position.progress, lesson);
    const before = lessons.findIndex(({ name }) => name === lesson.after) + 1;
    const done =
      begun && !lesson.why && t("{complete} of {n} page done", "{complete} of {n} pages done", { complete, n: steps });
    const facts = [
      t("{n} min", { n: lesson.minutes }),
      before && t("after {number}", { number: before }),
      lesson.age && t("from age {age}", { age: lesson.age }),
      done,
    ];
    const name = make("b", "", `${number}. ${lesson.title}`);
    name.id = `lesson-${lesson.name}`;
    const text = make("div", "", name, make("p", "", lesson.about));
    text.append(make("p", "small", facts.filter(Boolean).join(" · ")));
    const picture = make("img");
    picture.alt = "";
    if (lesson.picture) picture.src = `data:image/svg+xml,${encodeURIComponent(lesson.picture)}`;
    picture.hidden = !lesson.picture;
    if (lesson.why) {
      text.append(make("p", "small", lesson.why));
      return make("li", "elsewhere", picture, text);
    }
    const start = makeButton("", begun ? (complete === steps ? t("Again") : t("Continue")) : t("Start"));
    start.setAttribute("aria-describedby", name.id);
    start.onclick = () => go(lesson.name, begun ? firstOpenStep(S.position.progress, lesson) : 1);
    return make("li", complete === steps ? "complete" : "", picture, start, text);
  };

  /** Adopts an address. @param {Query} query @param {boolean} opens whether the figure of its step is opened */
  const adopt = (query, opens) => {
    const { problems, ...position } = positionOf(query, lessons);
    const kept = readProgress(storage.recall(NAME) ?? "", MAX_KEPT).progress;
    const before = united(S.position.progress, kept);
    const after = united(before, position.progress);
    if (before.size > 0 && writeProgress(after) !== writeProgress(before))
      S.brought = { added: position.progress, before };
    S.position = { ...position, progress: after };
    keep(after);
    S.problems = problems;
    draw(opens);
  };

  const onStorage = () => {
    const text = storage.recall(NAME);
    if (text === null || text === writeProgress(S.position.progress)) return;
    const { progress } = readProgress(text, MAX_KEPT);
    S.position = { ...S.position, progress: text ? united(S.position.progress, progress) : progress }; // "": cleared
    tell();
    if (step) step.refresh();
    else draw();
  };

  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const turn = { PageUp: -1, PageDown: 1 }[event.key];
    if (!turn || !step || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.composedPath().some((node) => node instanceof Element && node.matches("textarea,select,dialog"))) return;
    const at = S.position.step + turn;
    event.preventDefault();
    if (at >= 1 && at <= lessonOf(S.position.lesson).steps.length) go(S.position.lesson, at);
  };

  window.addEventListener("storage", onStorage);
  document.addEventListener("keydown", onKey);
  adopt(options.query, !("text" in options.query));
  return {
    /** The desk has moved: the reader's place, sentence, model, path or edits. @param {Query} query */
    moved: (query) => step?.moved(query),
    /** Opens the address of a lesson, step and progress. @param {Query} query */
    open: (query) => adopt(query, !("text" in query)),
    /** The lessons' parameters of the address. */
    query: () => queryOf(S.position),
    end() {
      window.removeEventListener("storage", onStorage);
      document.removeEventListener("keydown", onKey);
      step?.end();
      if (picture) home?.append(picture);
      box.remove();
    },
  };
}

/** A heading that takes the focus when a page turns. @param {string} text */
function title(text) {
  const heading = make("h1", "", text);
  heading.tabIndex = -1;
  return heading;
}

/** @param {string[]} sentences */
function alertOf(sentences) {
  const box = make("div", "note", ...sentences.map((sentence) => make("p", "", sentence)));
  box.setAttribute("role", "alert");
  return box;
}
