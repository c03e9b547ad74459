// The numbers of the open part as a matrix with named rows and columns: each can be chosen, and the card beside it says
// where the chosen one is from.

import { columnBeside, columnUnder } from "./canvas.js";
import { copyText } from "./clipboard.js";
import { make, makeButton, say } from "./dom.js";
import { changeOf } from "./machine_change.js";
import { AFTER, shortOf } from "./machine_link.js";
import { isHeaded, matrixOf, slice, stagesOf, WINDOW, countOf } from "./machine_numbers.js";
import { originOf } from "./machine_origin.js";
import { equationOf, short } from "./machine_origin_text.js";
import { arrayOf, ask, lineOf, rowFor } from "./machine_state.js";
import { clamp, grouped } from "./numbers.js";
import { arrowOf } from "./scripts.js";
import { redraw } from "./view.js";
import { t } from "./words.js";

/** @import { MachineMatrix, MachineSpot, MachineState, OriginTerm } from "./types" */
/** @import { MachineStage } from "./structs" */

const TERMS = 12; // terms of a long sum that are on screen at first

/** The stage whose numbers are shown: the chosen one, the open part, or the result of the block. @param {MachineState} S @returns {MachineStage | undefined} */
export function stageShown(S) {
  const { block, head, part } = S.opened;
  const stages = choices(S);
  const [first] = stages;
  const own = stages.find(({ point }) => point === S.point) ?? stages.find(({ point }) => shortOf(point) === part);
  const usual = head ? "weights" : "out_proj";
  return (
    own ?? stages.find(({ point }) => shortOf(point) === usual) ?? (block.endsWith("attn") ? first : stages.at(-1))
  );
}

/** The stages whose numbers can be chosen: of an open head its own, else those of the block. @param {MachineState} S */
function choices(S) {
  const { block, head } = S.opened;
  return stagesOf(S, block).filter((stage) =>
    head ? isHeaded(S, stage) || AFTER.includes(shortOf(stage.point)) : !isHeaded(S, stage),
  );
}

/** The matrix of the open block or part, with what belongs to it. @param {MachineState} S @returns {HTMLElement[]} */
export function numbersOf(S) {
  const stage = stageShown(S);
  if (!stage) return [];
  const head = isHeaded(S, stage) ? S.opened.head : 0;
  const first = stage.columns ? clamp(S.first, 0, stage.columns - 1) : 0;
  const matrix = matrixOf(S, stage, head, first);
  const spot = spotIn(S, stage, matrix, head);
  S.lit = spot;
  return [
    toolsOf(S, stage, matrix),
    matrix.numbers ? tableOf(S, stage, matrix, spot) : make("p", "hint", t("Requesting the numbers …")),
    make("p", "hint statistics", statisticsOf(S, stage, matrix)),
    ...(spot && matrix.numbers ? [cardOf(S, stage, spot)] : []),
  ];
}

/** The chosen number, or in the current row the largest. @param {MachineState} S @param {MachineStage} stage @param {MachineMatrix} matrix @param {number} head @returns {MachineSpot | null} */
function spotIn(S, stage, { rows, base, columns, first, numbers, ids, width }, head) {
  const { spot } = S;
  const { point } = stage;
  const isShown = (/** @type {MachineSpot} */ { row, column }) =>
    row >= base && row < base + rows.length && (ids ? ids.includes(column) : column < width);
  if (spot && spot.point === point && spot.head === head && isShown(spot)) return spot;
  if (!numbers) return null;
  const row = clamp(rowFor(S, stage.side) - base, 0, rows.length - 1);
  const line = lineOf(numbers, row).slice(0, columns.length);
  const size = stage.columns ? Math.abs : (/** @type {number} */ score) => score; // the key that is looked at most
  const best = line.reduce(
    (most, value, i) => (size(value) > size(line[most]) || Number.isNaN(line[most]) ? i : most),
    0,
  );
  return { point, head, row: base + row, column: ids ? ids[best] : first + best };
}

/** What chooses the numbers on screen, and copies them. @param {MachineState} S @param {MachineStage} stage @param {MachineMatrix} matrix */
function toolsOf(S, stage, matrix) {
  const box = make("div", "tools");
  const stages = choices(S);
  if (stages.length > 1) {
    const select = make("select", "");
    select.setAttribute("aria-label", t("Numbers of"));
    select.append(...stages.map(({ title, point }) => new Option(title, point, false, point === stage.point)));
    select.onchange = () => {
      Object.assign(S, { point: select.value, first: 0, spot: null });
      redraw(S);
    };
    box.append(select);
  } else box.append(make("b", "", stage.title));
  const { first, width, columns, ids } = matrix;
  if (!ids && width > columns.length) {
    const go = (/** @type {number} */ to) => () => {
      Object.assign(S, { first: to, spot: null });
      redraw(S);
    };
    const [before, after] = [makeButton("", "‹"), makeButton("", "›")];
    before.setAttribute("aria-label", t("Columns before these"));
    after.setAttribute("aria-label", t("Columns after these"));
    before.disabled = first === 0;
    after.disabled = first + columns.length >= width;
    before.onclick = go(Math.max(0, first - WINDOW));
    after.onclick = go(first + WINDOW);
    const range = t("{first}–{last} of {count}", {
      first: first + 1,
      last: first + columns.length,
      count: grouped(width),
    });
    box.append(before, make("span", "", range), after);
  }
  const copy = makeButton("copy", t("Copy"));
  copy.title = t("Copy these numbers with their names, as a table for a spreadsheet");
  copy.onclick = async () =>
    say(copy, (await copyText(asText(matrix))) ? t("Copied") : t("Select the table and copy it"));
  box.append(copy);
  return box;
}

/** A matrix as lines of columns separated by tabs. @param {MachineMatrix} matrix */
export function asText({ rows, columns, numbers }) {
  if (!numbers) return "";
  const lines = rows.map((name, r) =>
    [name, ...lineOf(numbers, r).slice(0, columns.length)].map((cell) => (Number.isNaN(cell) ? "" : cell)).join("\t"),
  );
  return [["", ...columns].join("\t"), ...lines].join("\n");
}

/** Goes to a number, wherever in the machine it is. @param {MachineState} S @param {MachineSpot} spot */
export function lead(S, spot) {
  const stage = /** @type {MachineStage} */ (S.data.stages.find(({ point }) => point === spot.point));
  const short_ = shortOf(spot.point);
  const headed = isHeaded(S, stage);
  const part = headed || AFTER.includes(short_) ? short_ : "";
  // What all heads share, such as W_Q·x, is not among the numbers of an open head.
  const head = headed ? spot.head : part && S.opened.block === stage.block ? S.opened.head : 0;
  const first = stage.columns > WINDOW ? WINDOW * Math.floor(spot.column / WINDOW) : 0;
  if (stage.side === "source") S.row = spot.row;
  Object.assign(S, { opened: { block: stage.block, head, part }, point: spot.point, first, allTerms: false });
  Object.assign(S, { spot: { ...spot, head: headed ? spot.head : 0 }, depth: "numbers" });
  ask(S);
  redraw(S);
}

/** @param {MachineState} S @param {MachineStage} stage @param {MachineMatrix} matrix @param {MachineSpot | null} spot */
function tableOf(S, stage, { rows, base, columns, first, numbers, ids, leftwards = false, places = [] }, spot) {
  const table = make("table", "matrix");
  table.dir = leftwards ? "rtl" : "ltr";
  const order = columns.map((_, place) => columnUnder(places, place)); // from the left, in a table that begins there
  if (leftwards) order.reverse();
  const row = spot ? spot.row - base : -1;
  const column = spot ? (ids ? ids.indexOf(spot.column) : spot.column - first) : -1;
  const name = (/** @type {string} */ text, /** @type {boolean} */ lit, /** @type {string} */ scope) =>
    Object.assign(make("th", lit ? "lit" : "", make("bdi", "", text)), { scope });
  table.append(
    make("tr", "", make("th"), ...order.map((c) => name(columns[c], c === column, "col"))),
    ...rows.map((text, r) => {
      const line = lineOf(/** @type {import("./types").Numbers} */ (numbers), r);
      const cells = order.map((c) => {
        const isChosen = r === row && c === column;
        const lit = r === row || c === column ? " lit" : "";
        const closed = Number.isNaN(line[c]);
        const cell = make(
          "td",
          `${isChosen ? "chosen" : lit}${closed ? " closed" : ""}`,
          closed ? t("masked") : short(line[c]),
        );
        cell.tabIndex = isChosen || (column < 0 && !r && !c) ? 0 : -1;
        if (isChosen) cell.setAttribute("aria-selected", "true");
        return cell;
      });
      return make("tr", "", name(text, r === row, "row"), ...cells);
    }),
  );
  table.setAttribute("role", "grid");
  table.setAttribute("aria-label", t("{stage}: choose a number to see where it is from", { stage: stage.title }));
  const choose = (/** @type {number} */ r, /** @type {number} */ c) => {
    const to = { point: stage.point, head: spot?.head ?? 0, row: base + r, column: ids ? ids[c] : first + c };
    S.spot = to;
    S.refocus = true;
    redraw(S);
  };
  const placeOf = (/** @type {EventTarget | null} */ target) => {
    const cell = /** @type {HTMLTableCellElement | null} */ (/** @type {HTMLElement} */ (target).closest("td"));
    return cell && [/** @type {HTMLTableRowElement} */ (cell.parentElement).rowIndex - 1, order[cell.cellIndex - 1]];
  };
  table.onclick = ({ target }) => {
    const place = placeOf(target);
    if (place) choose(place[0], place[1]);
  };
  table.onkeydown = (event) => {
    const place = placeOf(event.target);
    const arrow = arrowOf(event.key);
    if (!place || !arrow) return;
    const [dr, dc] = arrow;
    event.preventDefault();
    event.stopPropagation();
    choose(clamp(place[0] + dr, 0, rows.length - 1), columnBeside(places, place[1], dc, columns.length));
  };
  const box = make("div", "scroll", table);
  requestAnimationFrame(() => reveal(S, table, box));
  return box;
}

/** Brings the chosen cell into the view of its table, and the focus back to it. @param {MachineState} S @param {HTMLElement} table @param {HTMLElement} box */
function reveal(S, table, box) {
  const cell = /** @type {HTMLElement | null} */ (table.querySelector("[aria-selected]"));
  if (!cell) return;
  const [left, top] = [cell.offsetLeft - box.clientWidth / 2, cell.offsetTop - box.clientHeight / 2];
  if (box.scrollWidth > box.clientWidth) {
    // No number is cut by the name of the row, which stays: without its sign, it would read as another.
    const [name, ...cells] = /** @type {HTMLElement[]} */ ([...(cell.parentElement?.children ?? [])]);
    const whole = cells.find((each) => each.offsetLeft - name.offsetWidth >= left);
    const wanted = whole && table.dir !== "rtl" ? whole.offsetLeft - name.offsetWidth : left;
    const missing = wanted - box.scrollWidth + box.clientWidth;
    if (missing > 0) box.style.paddingInlineEnd = `${missing}px`; // so that the last columns come into view whole
    box.scrollLeft = wanted;
  }
  if (box.scrollHeight > box.clientHeight) box.scrollTop = top;
  if (S.refocus) cell.focus({ preventScroll: true });
  S.refocus = false;
}

/** Mean, standard deviation and parameters, as a line. @param {MachineState} S @param {MachineStage} stage @param {MachineMatrix} matrix */
function statisticsOf(S, stage, { rows, width, numbers, ids }) {
  const line = S.details?.numbers.find(({ point }) => point === shortOf(stage.point));
  const learned = line?.parameters ? ` ${t("Parameters: {count}.", { count: grouped(line.parameters) })}` : "";
  if (ids) {
    const counts = { count: ids.length, all: grouped(S.data.vocabulary) };
    return t("The {count} likeliest of {all} target tokens; the others have a score, too.", counts) + learned;
  }
  const shape = `${rows.length} × ${grouped(width)}`;
  const described = line && arrayOf(S, `numbers.${line.point}`);
  if (stage.op === "ids" || (!described && stage.columns) || !numbers) return `${shape}.${learned}`;
  const found = stage.columns && described ? pooled(described, rows.length) : spreadOf(numbers, rows.length, width);
  const described_ = t("{shape} at this step: mean {mean}, standard deviation {deviation}.", {
    shape,
    mean: short(found[0]),
    deviation: short(found[1]),
  });
  return described_ + learned;
}

/** Mean and standard deviation of rows from those of each, of equal length. @param {import("./types").Numbers} described @param {number} count */
function pooled(described, count) {
  let [mean, square] = [0, 0];
  for (let r = 0; r < count; r++) {
    const [own, deviation] = lineOf(described, r);
    mean += own / count;
    square += (deviation ** 2 + own ** 2) / count;
  }
  return [mean, Math.sqrt(Math.max(0, square - mean ** 2))];
}

/** Mean and standard deviation of the open cells. @param {import("./types").Numbers} numbers @param {number} rows @param {number} columns */
function spreadOf(numbers, rows, columns) {
  const open = Array.from({ length: rows }, (_, r) => [...lineOf(numbers, r).slice(0, columns)])
    .flat()
    .filter((value) => !Number.isNaN(value));
  const mean = open.reduce((sum, value) => sum + value / open.length, 0);
  return [mean, Math.sqrt(open.reduce((sum, value) => sum + (value - mean) ** 2 / open.length, 0))];
}

/** The card that says where a number is from. @param {MachineState} S @param {MachineStage} stage @param {MachineSpot} spot */
function cardOf(S, stage, spot) {
  const sizes = { source: countOf(S, "source"), target: countOf(S, "target") };
  const origin = originOf(S.data, spot, sizes, (part) => slice(S, part));
  const card = make("section", "origin");
  card.setAttribute("aria-label", t("Where is this number from?"));
  if (!origin) return (card.append(make("p", "hint", t("Requesting the numbers …"))), card);
  const { head, words, sums, names } = equationOf(S, stage, spot, origin);
  card.append(
    make("h4", "", head),
    make("p", "equation", sums),
    make("p", "hint", stage.op === "ids" ? words : `${words} ${t("Shown rounded; computed with all digits.")}`),
  );
  if (origin.terms.length && names) card.append(termsOf(S, origin.terms, names));
  card.append(...changeOf(S, stage, spot));
  return card;
}

/** Where the probability of the chosen token is from, as far as its score has arrived. @param {MachineState} S */
export function probabilityText(S) {
  const { alternatives, target } = S.data;
  const stage = /** @type {MachineStage} */ (S.data.stages.find(({ point }) => point === "logits"));
  const scores = matrixOf(S, stage, 0, 0).numbers?.values;
  const chosen = alternatives.ids[S.step].indexOf(target.predicted_ids[S.step]);
  if (!scores || chosen < 0) return "";
  const power = Math.exp(scores[chosen] - scores[0]);
  return t(
    "{value} is the probability of “{token}”. Where is it from? e^({score} − {largest}) ÷ sum = {power} ÷ {sum}: the score of “{token}” less the largest score, as a power of e, divided by the sum of these powers of all {all} tokens.",
    {
      value: short(target.probabilities[S.step]),
      score: short(scores[chosen]),
      largest: short(scores[0]),
      power: short(power),
      // The largest score has the power e^0 = 1, so the sum of all powers is 1 ÷ its probability.
      sum: short(1 / alternatives.probabilities[S.step][0]),
      token: target.predicted[S.step],
      all: grouped(S.data.vocabulary),
    },
  );
}

/** The terms of an operation as a table; each leads to where its number is from. @param {MachineState} S @param {OriginTerm[]} terms @param {{ name: (term: OriginTerm, i: number) => string, a: string, b: string, product: ((term: OriginTerm) => number) | null, result: string }} names */
function termsOf(S, terms, { name, a, b, product, result }) {
  const order = terms.map((term, i) => ({ term, i, size: Math.abs(product ? product(term) : term.a) }));
  const isLong = terms.length > TERMS && !S.allTerms;
  const shown = isLong
    ? order
        .sort((x, y) => y.size - x.size)
        .slice(0, TERMS)
        .sort((x, y) => x.i - y.i)
    : order;
  const link = (/** @type {number} */ value, /** @type {MachineSpot | undefined} */ to) => {
    if (!to || !S.data.stages.some(({ point }) => point === to.point)) return make("span", "", short(value));
    const button = makeButton("link", short(value));
    button.title = t("Where is this number from?");
    button.onclick = () => lead(S, to);
    return button;
  };
  const body = shown.map(({ term, i }) =>
    make(
      "tr",
      "",
      make("th", "", make("bdi", "", name(term, i))),
      make("td", "", link(term.a, term.from)),
      ...(b ? [make("td", "", link(term.b, term.with))] : []),
      ...(product ? [make("td", "", short(product(term)))] : []),
    ),
  );
  const heads = ["", a, ...(b ? [b] : []), ...(product ? [result] : [])].map((text) => make("th", "", text));
  const table = make("table", "terms", make("tr", "", ...heads), ...body);
  const box = make("div", "scroll", table);
  if (!isLong || !product) return box;
  const rest =
    order.reduce((sum, { term }) => sum + product(term), 0) - shown.reduce((sum, { term }) => sum + product(term), 0);
  const all = makeButton(
    "link",
    t("and {n} other product, together {rest}: show all", "and {n} other products, together {rest}: show all", {
      n: terms.length - TERMS,
      rest: short(rest),
    }),
  );
  all.onclick = () => {
    S.allTerms = true;
    redraw(S);
  };
  return make("div", "", box, all);
}
