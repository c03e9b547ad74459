// One step of a lesson: its text, its exercise, its question, and its figure in the desk.

import { make, makeButton, say } from "./dom.js";
import { ANSWER, MAX_ANSWER, isDone, isRight, opened, valueOf } from "./lesson_checks.js";
import {
  FIRST_TRY,
  LATER,
  SHOWN,
  UNANSWERED,
  isComplete,
  isExerciseDone,
  outcomeOf,
  summaryOf,
  withExercise,
  withOutcome,
} from "./lesson_progress.js";
import { pieces, t } from "./words.js";
import { listed } from "./numbers.js";
import { lettersOf } from "./scripts.js";

/** @import { LessonOnSite } from "./structs" */
/** @import { Query } from "./lesson_checks.js" */
/** @import { Progress } from "./lesson_progress.js" */

const CONTROLS = ["views", "kinds", "steps", "bars", "temperature"];

/** An answer in this visit; `value` is the right one to a question about the reader's own sentence. @typedef {{ text: string, right: boolean, value: string, tries: number }} Answer */

/** Answers by lesson and step, for as long as the page is open. @type {Map<string, Answer>} */
const answers = new Map();

/**
 * @param {{
 *   lesson: LessonOnSite, at: number, opens: boolean, words: HTMLElement, slot: HTMLElement, picture?: HTMLElement,
 *   desk: import("./lesson.js").Desk, read: import("./lesson.js").LessonOptions["read"],
 *   progress: () => Progress, keep: (progress: Progress) => void,
 *   go: (lesson: string, at: number) => void, leave: (() => void) | null, following?: LessonOnSite, drawCopy: () => HTMLElement[],
 * }} options
 */
export function createStep(options) {
  const { lesson, at, words, slot, picture, desk, read } = options;
  let { opens } = options;
  const { progress, keep, go, leave, following, drawCopy } = options;
  const step = lesson.steps[at - 1];
  const { question } = step;
  const key = `${lesson.name}.${at}`;
  const last = at === lesson.steps.length;
  let ended = false;
  let watching = false; // whether moves of the desk are the reader's
  let shown = false; // whether the figure is shown
  let here = /** @type {Query} */ ({});

  const outcome = () => outcomeOf(progress(), lesson.name, at);
  const hasAnswered = () => outcome() !== UNANSWERED || answers.has(key);

  // The bar: where the reader is, and where they can go.
  const numbers = make("ol", "lesson-steps");
  numbers.setAttribute("aria-label", t("Pages"));
  lesson.steps.forEach((each, i) => {
    const button = makeButton("", `${i + 1}`);
    button.title = each.title;
    button.onclick = () => go(lesson.name, i + 1);
    if (i + 1 === at) button.setAttribute("aria-current", "step");
    numbers.append(make("li", "", button));
  });
  const [back, next] = [makeButton("turn", t("Back")), makeButton("turn next", t("Next"))];
  back.disabled = at === 1;
  next.disabled = last;
  back.onclick = () => go(lesson.name, at - 1);
  next.onclick = () => go(lesson.name, at + 1);
  const all = makeButton("turn", t("All lessons"));
  if (leave) all.onclick = leave;
  const bar = make("nav", "lesson-bar", make("h1", "", lesson.title), numbers, make("div", "turns", back, next)); // prettier-ignore
  bar.setAttribute("aria-label", t("Lesson"));
  if (leave) bar.lastElementChild?.append(all);

  const heading = make("h2", "", step.title);
  heading.tabIndex = -1;
  const text = make("div", "prose", fragment(step.text));
  // On a narrow screen the text is a sheet over the picture, which this button folds (lesson.css).
  const fold = makeButton("fold", "");
  const foldTo = (/** @type {boolean} */ folded) => {
    body.dataset.folded = `${folded}`;
    fold.setAttribute("aria-expanded", `${!folded}`);
    say(fold, folded ? t("Text") : t("Fold"));
  };
  fold.onclick = () => foldTo(body.dataset.folded !== "true");
  const body = make("div", "lesson-text", fold, heading, ...(step.needs ? [make("p", "note", step.needs)] : []), text);
  body.lang = lesson.language;

  // The exercise; it follows a question whose answer the figure shows.
  const done = make("p", "done");
  done.setAttribute("role", "status");
  const exercise = make("div", "do", make("p", "", make("b", "", `${t("Do:")} `), fragment(step.do)), done);
  const asksFirst = !!question && (step.after || (step.query.view ?? "").split(".").includes("guess"));
  const stepped = !step.done || step.done.name !== "at" || "step" in step.done.values || "follow" in step.query;
  if (step.do && !asksFirst) body.append(exercise);

  // The figure.
  const away = make("p", "away");
  const failed = make("p", "note");
  failed.setAttribute("role", "alert");
  const caption = make("p", "caption", t("The picture is shown once you have answered."));
  const wide = makeButton("", "");
  const tools = make("div", "picture-tools", away, wide);
  slot.replaceChildren(failed, caption, tools, ...(picture ? [picture] : []));

  const openFigure = async () => {
    shown = true;
    watching = false;
    failed.textContent = "";
    drawFigure();
    try {
      if (opens) await desk.open(step.query, step.page);
    } catch (error) {
      if (!ended) say(failed, `${t("The figure of this page could not be opened.")} ${sentenceOf(error)}`);
    }
    if (ended) return;
    opens = true; // another time
    here = desk.query();
    watching = true;
    drawFigure();
    drawFeedback();
  };

  const drawFigure = () => {
    slot.hidden = !step.page;
    caption.hidden = shown;
    if (picture) picture.hidden = !shown;
    slot.dataset.page = step.page;
    const full = slot.dataset.full === "yes";
    body.classList.toggle("sheet", shown && !full);
    for (const name of CONTROLS)
      slot.style.setProperty(`--${name}`, full || step.controls.includes(name) ? "" : "none");
    for (const name of ["settings", "maps", "machine-tools"]) slot.style.setProperty(`--${name}`, full ? "" : "none");
    const asked = asksFirst && !hasAnswered();
    exercise.hidden = asked;
    slot.style.setProperty("--player", full || (stepped && !asked) ? "" : "none");
    slot.style.setProperty("--guess", asked ? "none" : "");
    slot.style.setProperty("--machine-near", step.query.block ? "" : (step.done?.values.block ?? ""));
    // Without the choice of view, only this line above the pictures of all heads says what the step reads.
    slot.style.setProperty("--reads", full || step.controls.includes("views") ? "" : "block");
    wide.hidden = !shown || step.page === "inside";
    say(wide, full ? t("Back beside the text") : t("Open on its own page"));
    const elsewhere = watching && (here.model !== step.query.model || here.text !== step.query.text);
    away.hidden = !elsewhere;
    if (!elsewhere) return;
    const putBack = makeButton("", t("Put it back"));
    putBack.onclick = openFigure;
    const sentences = [
      t("You are looking at a sentence or model of your own."),
      ...(question && !question.here ? [t("The question is about the page's.")] : []),
    ];
    away.replaceChildren(`${sentences.join(" ")} `, putBack);
  };
  wide.onclick = () => {
    slot.dataset.full = slot.dataset.full === "yes" ? "no" : "yes";
    drawFigure();
    wide.scrollIntoView({ block: "nearest" });
  };
  slot.dataset.full = "no";

  // The question.
  const feedback = make("div", "feedback");
  feedback.setAttribute("aria-live", "polite");
  const check = makeButton("", t("Check the answer"));
  check.type = "submit";
  const form = make("form", "question");
  if (question) form.append(...fieldOf(question), make("div", "", check), feedback);
  if (question) body.append(form);
  if (step.do && asksFirst) body.append(exercise);
  form.onsubmit = (event) => {
    event.preventDefault();
    takeAnswer();
  };

  const takeAnswer = async () => {
    if (!question) return;
    const given = String(new FormData(form).get("answer") ?? "");
    if (!given.trim()) {
      feedback.replaceChildren(make("p", "small", t("Choose or type an answer first.")));
      return;
    }
    const value = await valueHere();
    if (value === null) return;
    const right = isRight(question, given, value);
    const tries = (answers.get(key)?.tries ?? 0) + 1;
    const choice = question.choices.length ? (form.querySelector(":checked")?.parentElement?.textContent ?? "") : given;
    answers.set(key, { text: choice.trim(), right, value, tries });
    if (right && outcome() === UNANSWERED) keep(withOutcome(progress(), lesson.name, at, tries === 1 ? FIRST_TRY : LATER)); // prettier-ignore
    if (ended) return;
    if (step.after && !shown) openFigure();
    await refresh();
    feedback.scrollIntoView({ block: "nearest" });
  };

  /** The right answer to a question about the reader's own sentence, "" to another; null, and a sentence, if there is none. */
  const valueHere = async () => {
    if (!question?.here) return "";
    try {
      return valueOf(question.here, await read(desk.query()));
    } catch (error) {
      if (!ended)
        feedback.replaceChildren(make("p", "wrong", `${t("The answer could not be computed.")} ${sentenceOf(error)}`));
      return null;
    }
  };

  const drawFeedback = async () => {
    if (!question || !hasAnswered()) return;
    const answer = answers.get(key);
    if (question.here && !answer && !watching) return; // until the figure is open
    const value = answer?.value || (await valueHere());
    if (value === null || ended) return;
    const solution = /** @type {import("./structs").LessonSolution} */ (
      JSON.parse(opened(question.salt, question.solution))
    );
    const right = question.here ? value : solution.answer;
    const explanation = () => fragment(solution.right, right);
    const messages = [];
    if (answer && !answer.right) {
      const fields = { verdict: make("b", "", t("Not quite:")), answer: answer.text, n: answer.tries };
      const said = pieces(
        "{verdict} you answered {answer}.",
        "{verdict} you answered {answer} ({n} tries so far).",
        fields,
      );
      messages.push(make("p", "wrong", ...said, " ", fragment(question.wrong, right)));
    }
    if (outcome() !== UNANSWERED) {
      const now = answer?.right;
      const lead = now ? t("Right:") : outcome() === SHOWN ? t("The answer:") : t("You had it right:");
      const words = solution.opens ? " " : ` ${now ? answer.text : right}. `;
      messages.push(make("p", now ? "right" : "neutral", make("b", "", lead), words, explanation()));
    }
    feedback.replaceChildren(...messages);
    if (outcome() !== UNANSWERED || !answer) return;
    const show = makeButton("", t("Show me the answer"));
    show.onclick = () => {
      keep(withOutcome(progress(), lesson.name, at, SHOWN));
      refresh();
      feedback.querySelector("p")?.scrollIntoView({ block: "nearest" });
    };
    feedback.append(show);
  };

  // The end of the lesson.
  const ending = make("div", "ending");
  const drawEnding = () => {
    const summary = summaryOf(progress(), lesson);
    const counts = [FIRST_TRY, LATER, SHOWN].filter((outcome) => summary.counts[outcome]);
    const score = counts.map((outcome) => countOf(outcome, summary.counts[outcome])).join(", ");
    const questions = t("{n} question: {score}.", "{n} questions: {score}.", {
      n: summary.questions,
      score: score || t("none answered yet"),
    });
    ending.replaceChildren(
      make("p", "", make("b", "", t("That was “{lesson}”.", { lesson: lesson.title }))),
      !question || hasAnswered()
        ? make("ul", "", ...lesson.recap.map((sentence) => make("li", "", fragment(sentence))))
        : make("p", "small", t("What there was to learn is summed up here once you have answered the last question.")),
      make("p", "", questions),
      make("p", "", stillOpen(progress(), lesson)),
      ...drawCopy(),
    );
    if (!following) return;
    const button = makeButton("next", t("Next lesson: {lesson}", { lesson: following.title }));
    button.onclick = () => go(following.name, 1);
    ending.append(button, make("p", "small", following.about));
  };
  if (last) body.append(ending);

  /** Draws what depends on the progress. */
  const refresh = () => {
    say(done, step.done && isExerciseDone(progress(), lesson.name, at) ? `✓ ${t("Done.")}` : "");
    [...numbers.children].forEach((item, i) => {
      const complete = isComplete(progress(), lesson, i + 1);
      item.className = complete && summaryOf(progress(), lesson).begun ? "complete" : "";
      const named = { step: i + 1, title: lesson.steps[i].title };
      const label = item.className ? t("Page {step}, done: {title}", named) : t("Page {step}: {title}", named);
      item.firstElementChild?.setAttribute("aria-label", label);
    });
    drawFigure();
    const settled = !question || outcome() !== UNANSWERED;
    next.classList.toggle("primary", settled && !last);
    check.classList.toggle("primary", !settled);
    if (last) drawEnding();
    return drawFeedback();
  };

  foldTo(false);
  words.replaceChildren(bar, body);
  refresh();
  if (step.page && (!step.after || hasAnswered())) openFigure();

  return {
    refresh,
    /** The reader moved the desk. @param {Query} query */
    moved(query) {
      if (!watching) return;
      here = query;
      drawFigure();
      if (!step.done || isExerciseDone(progress(), lesson.name, at) || !isDone(step.done, here, step.query)) return;
      keep(withExercise(progress(), lesson.name, at));
      refresh();
    },
    end() {
      ended = true;
    },
  };
}

/** A sentence that names each question without an answer and each checked exercise that was not done. @param {Progress} progress @param {LessonOnSite} lesson */
function stillOpen(progress, lesson) {
  const parts = lesson.steps.flatMap(({ question, done }, i) => [
    ...(question && outcomeOf(progress, lesson.name, i + 1) === UNANSWERED
      ? [t("the question of page {at}", { at: i + 1 })]
      : []),
    ...(done && !isExerciseDone(progress, lesson.name, i + 1) ? [t("the exercise of page {at}", { at: i + 1 })] : []),
  ]);
  if (parts.length) return t("Still open: {parts}.", { parts: listed(parts) });
  return t("Nothing is open: every question is answered, and every exercise that the page can check is done.");
}

/** How many questions had an outcome. @param {number} outcome @param {number} n */
function countOf(outcome, n) {
  if (outcome === FIRST_TRY) return t("{n} right at the first try", "{n} right at the first try", { n });
  if (outcome === LATER) return t("{n} right after more tries", "{n} right after more tries", { n });
  return t("{n} shown", "{n} shown", { n });
}

/** The field of a question: choices, or a line to type. @param {NonNullable<import("./structs").LessonStep["question"]>} question */
function fieldOf(question) {
  if (!question.choices.length) {
    const field = Object.assign(make("input"), {
      type: "text",
      name: "answer",
      maxLength: MAX_ANSWER,
      autocomplete: "off",
    });
    field.spellcheck = false;
    return [make("label", "", make("span", "", fragment(question.text)), field)];
  }
  const choices = question.choices.map((choice, i) => {
    const button = Object.assign(make("input"), { type: "radio", name: "answer", value: `${i}` });
    return make("label", "choice", button, make("span", "", fragment(choice)));
  });
  return [make("fieldset", "", make("legend", "", fragment(question.text)), ...choices)];
}

/**
 * Markup of a lesson, made when the site was built; `answer` replaces its placeholder, as text.
 * @param {string} markup @param {string} [answer]
 */
export function fragment(markup, answer = "") {
  const made = document.createRange().createContextualFragment(markup);
  for (const link of made.querySelectorAll("a[href^=http]"))
    Object.assign(link, { target: "_blank", rel: "noopener noreferrer" });
  const walker = document.createTreeWalker(made, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (node.nodeValue?.includes(ANSWER)) node.nodeValue = node.nodeValue.replaceAll(ANSWER, answer);
  return made;
}

/** An error as a sentence, cut to a length that fits. @param {unknown} error */
function sentenceOf(error) {
  const text = error instanceof Error ? error.message : String(error);
  const letters = lettersOf(text);
  return letters.length > 200 ? `${letters.slice(0, 199).join("")}…` : text;
}
