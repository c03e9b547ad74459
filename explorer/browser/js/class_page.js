// Class: takes progress links, one a line, and shows who is where. Nothing is stored or sent.

import { copyText } from "./clipboard.js";
import { csvOf } from "./desk_files.js";
import { make, makeButton, say } from "./dom.js";
import { FIRST_TRY, LATER, SHOWN, UNANSWERED, positionOf, summaryOf, lessonsBelow } from "./lesson_progress.js";
import { t } from "./words.js";

/** @import { LessonOnSite } from "./structs" */

/** @typedef {{ name: string, lesson: string, step: number | null, done: number, steps: number, first: number, later: number, shown: number, open: number }} Row `step` is null but in the lesson that is open */

export const MAX_LINES = 500;

/** The columns of the table. @returns {[key: keyof Row, title: string, text: (row: Row) => string][]} */
const columnsOf = () => [
  ["name", t("Name"), (row) => row.name],
  ["lesson", t("Lesson"), (row) => row.lesson],
  ["step", t("At page"), (row) => `${row.step ?? ""}`],
  ["done", t("Pages done"), (row) => t("{done} of {steps}", { done: row.done, steps: row.steps })],
  ["first", t("Right at first try"), (row) => `${row.first}`],
  ["later", t("Right later"), (row) => `${row.later}`],
  ["shown", t("Shown"), (row) => `${row.shown}`],
  ["open", t("Not answered"), (row) => `${row.open}`],
];

/**
 * Reads progress links, one a line, each with a name before it if there is one.
 * @param {string} text @param {LessonOnSite[]} lessons @returns {{ rows: Row[], problems: string[] }}
 */
export function readClass(text, lessons) {
  const rows = /** @type {Row[]} */ ([]);
  const problems = [];
  const lines = text.split(/\r?\n/);
  if (lines.length > MAX_LINES)
    problems.push(t("Only the first {most} of {lines} lines are read.", { most: MAX_LINES, lines: lines.length }));
  for (const [i, line] of lines.slice(0, MAX_LINES).entries()) {
    if (!line.trim()) continue;
    const found = linkIn(line);
    if (!found) {
      problems.push(t("Line {line} has no progress link.", { line: i + 1 }));
      continue;
    }
    const { lesson: open, step, progress, problems: unfit } = positionOf(found.query, lessons.map(listed));
    problems.push(
      ...unfit.map((problem) =>
        t("Line {line}: {problem}", { line: i + 1, problem: problem.replace(` ${lessonsBelow()}`, "") }),
      ),
    );
    const begun = lessons.filter(({ name }) => name === open || progress.has(name));
    if (!begun.length && !unfit.length) problems.push(t("Line {line} has a link without progress.", { line: i + 1 }));
    for (const lesson of begun) {
      const { complete, steps, counts } = summaryOf(progress, lesson);
      rows.push({
        name: found.name || t("Line {line}", { line: i + 1 }),
        lesson: lesson.title,
        step: lesson.name === open ? step : null,
        done: complete,
        steps,
        first: counts[FIRST_TRY],
        later: counts[LATER],
        shown: counts[SHOWN],
        open: counts[UNANSWERED],
      });
    }
  }
  return { rows, problems };
}

/** A lesson of the app alone is a lesson, too: a link to it is not wrong. @param {LessonOnSite} lesson */
const listed = (lesson) => (lesson.why ? { ...lesson, why: "", steps: Array(lesson.parts.length) } : lesson);

/** The name and the parameters of a line. @param {string} line */
function linkIn(line) {
  const match = /^(.*?)(\S*[?#]\S*(?:lesson|done)=\S*)\s*$/.exec(line);
  if (!match) return null;
  const [, before, link] = match;
  // A page that was opened from a disk has its parameters after "#".
  const query = Object.fromEntries(new URLSearchParams(link.split(/[?#]/).slice(1).join("&")));
  return { name: before.trim().replace(/\s*[:,;–-]+$/, "").slice(0, 80), query }; // prettier-ignore
}

/** The rows as a file for spreadsheets. @param {Row[]} rows */
export function tableOf(rows) {
  const titles = [...columnsOf().map(([, title]) => title), t("Pages")];
  const lines = rows.map((row) => [...columnsOf().map(([key]) => `${row[key] ?? ""}`), `${row.steps}`]);
  return csvOf([titles, ...lines]);
}

/** Draws the page below `root`. @param {HTMLElement} root @param {{ lessons: LessonOnSite[] }} options */
export function mountClass(root, { lessons }) {
  let rows = /** @type {Row[]} */ ([]);
  let by = /** @type {keyof Row} */ ("name");
  let turned = false;
  const columns = columnsOf();

  const field = make("textarea");
  field.rows = 8;
  field.spellcheck = false;
  field.placeholder = "Ada …/?lesson=attention&at=3&done=attention.15";
  const label = make("label", "", make("span", "", t("Progress links, one a line, each with a name before it")), field);
  const problems = make("ul", "problems");
  const notice = make("div", "", problems);
  notice.setAttribute("role", "status");
  const table = make("table");
  const caption = make("caption");
  const head = make("tr");
  const body = make("tbody");
  table.append(caption, make("thead", "", head), body);
  const copy = makeButton("", t("Copy as CSV"));
  const answer = make("output");
  const found = make("div", "found", make("div", "wide", table), make("p", "", copy, " ", answer));
  found.hidden = true;
  const heading = make("h1", "", t("Class"));
  heading.tabIndex = -1;
  const about = t(
    "Who is where: paste the links that your class has copied from their lessons. Nothing on this page is stored or sent.",
  );
  const lead = make("p", "lead", about);
  const box = make("section", "class-page", heading, lead, label, notice, found);
  root.append(box);

  for (const [key, name] of columns) {
    const button = makeButton("", name);
    button.onclick = () => {
      turned = by === key && !turned;
      by = key;
      drawTable();
    };
    head.append(Object.assign(make("th", "", button), { scope: "col" }));
  }

  const sorted = () => {
    const sign = turned ? -1 : 1;
    const compare = (/** @type {Row} */ a, /** @type {Row} */ b) => {
      const [one, other] = [a[by] ?? 0, b[by] ?? 0];
      if (typeof one === "number") return one - Number(other);
      return one.localeCompare(String(other), undefined, { numeric: true });
    };
    return rows.toSorted((a, b) => sign * compare(a, b) || a.name.localeCompare(b.name));
  };
  const drawTable = () => {
    found.hidden = !rows.length;
    const people = new Set(rows.map(({ name }) => name)).size;
    const begun = t("{n} lesson begun", "{n} lessons begun", { n: rows.length });
    say(caption, `${t("{n} person", "{n} people", { n: people })}, ${begun}`);
    [...head.children].forEach((cell, i) => {
      const own = columns[i][0] === by;
      cell.setAttribute("aria-sort", own ? (turned ? "descending" : "ascending") : "none");
    });
    body.replaceChildren(
      ...sorted().map((row) =>
        make(
          "tr",
          "",
          ...columns.map(([key, , text]) => {
            const cell = make(key === "name" ? "th" : "td", "", text(row));
            if (key === "name") cell.scope = "row";
            else if (key !== "lesson") cell.className = "number";
            return cell;
          }),
        ),
      ),
    );
  };
  field.oninput = () => {
    const read = readClass(field.value, lessons);
    ({ rows } = read);
    problems.replaceChildren(...read.problems.map((problem) => make("li", "", problem)));
    say(answer, "");
    drawTable();
  };
  copy.onclick = async () => {
    if (await copyText(tableOf(sorted()))) return say(answer, t("Copied: paste it into a spreadsheet."));
    const text = Object.assign(make("textarea"), { value: tableOf(sorted()), readOnly: true, rows: 4 });
    text.setAttribute("aria-label", t("The table as CSV"));
    answer.replaceChildren(t("Copy it from here:"), text);
    text.select();
  };
  return { end: () => box.remove() };
}
