// One stage of the followed token as one picture: its numbers as a strip of colours with the followed number framed, the
// numbers that made that one as strips below, and the sum.

import { make, makeButton } from "./dom.js";
import { changeOf } from "./machine_change.js";
import { shortOf } from "./machine_link.js";
import { countOf, isHeaded, keysOf, matrixOf, slice } from "./machine_numbers.js";
import { originOf } from "./machine_origin.js";
import { equationOf, short } from "./machine_origin_text.js";
import { levelOf } from "./maps.js";
import { diverging, paintRows, scaleOf } from "./machine_pictures.js";
import { blockOf, rowFor, tokensOf } from "./machine_state.js";
import { clamp, decimals, grouped } from "./numbers.js";
import { redraw } from "./view.js";
import { t } from "./words.js";

/** @import { MachineOrigin, OriginTerm, MachineSpot, MachineState, MachineStrip, StageNumbers } from "./types" */
/** @import { MachineStage } from "./structs" */

const PALE = 2.5; // full colour is this many times the largest number, so that numbers in cells can be read
const MARKED = 3; // the largest products, which the sum writes out

/** @param {MachineState} S @param {string} point @returns {MachineStage | undefined} */
const stageAt = (S, point) => S.data.stages.find((stage) => stage.point === point);

/** The name of a stage: that of its part, if it has a box in a block of attention. @param {MachineState} S @param {MachineStage} stage */
export function stageTitle(S, { block, point, title }) {
  const { attention = "" } = blockOf(S, block) ?? {};
  return (attention && S.data.parts[attention]?.[shortOf(point)]?.title) || title;
}

/** The row of a point; undefined until it has arrived. @param {MachineState} S @param {string} point @param {number} head @param {number} row @param {number} columns of a point without a stage */
function lineAt(S, point, head, row, columns) {
  const stage = stageAt(S, point);
  if (stage && !stage.columns && stage.op !== "ids") {
    const { numbers, columns: keys } = matrixOf(S, stage, head, 0, row);
    return numbers?.values.subarray(0, keys.length);
  }
  const own = stage && isHeaded(S, stage) ? head : 0;
  return slice(S, { name: point, head: own, row, rows: 1, column: 0, columns: stage?.columns || columns })?.values;
}

/** The column of the largest number, or of the largest in size. @param {ArrayLike<number>} line @param {(value: number) => number} size @param {number} from @param {number} to */
function largest(line, size, from = 0, to = line.length) {
  let best = from;
  for (let i = from; i < to; i++) if (size(line[i]) > size(line[best]) || Number.isNaN(line[best])) best = i;
  return best;
}

/**
 * The number that is followed in a row: of a vector the chosen one, the same wherever vectors are as long; of keys the
 * chosen one, or that with the largest weight; of all target tokens the predicted one. Undefined until it is known.
 * @param {MachineState} S @param {MachineStage} stage @param {number} head @param {number} row @param {ArrayLike<number>} line
 */
function columnOf(S, stage, head, row, line) {
  const { chosen } = S.trail;
  if (stage.op === "ids") return 0;
  const axis = axisOf(S, stage, head, row);
  if (stage.point === "logits")
    return Math.max(0, S.data.alternatives.ids[S.step].indexOf(S.data.target.predicted_ids[S.step]));
  if (!stage.columns) {
    const weights = lineAt(S, `${stage.block}.weights`, head, row, 0);
    return weights && clamp((chosen[axis] ??= largest(weights, Number)), 0, line.length - 1);
  }
  const start = firstOf(S, stage);
  const end = start + (headSize(S, stage) || line.length);
  return start + (chosen[axis] ??= largest(line, Math.abs, start, end) - start);
}

/** The numbers of one head where those of all heads stand side by side; else 0. @param {MachineState} S @param {MachineStage} stage */
const headSize = (S, { point, block, columns }) =>
  ["joined", "gated"].includes(shortOf(point)) ? columns / S.data.facts[block].shape[0] : 0;

/** The first column of the followed head, where all heads stand side by side. @param {MachineState} S @param {MachineStage} stage */
const firstOf = (S, stage) => (S.trail.head - 1) * headSize(S, stage);

/** What has the same followed number: the vectors of one length, those of a head, or the keys of a row. @param {MachineState} S @param {MachineStage} stage @param {number} head @param {number} row */
function axisOf(S, stage, head, row) {
  if (!stage.columns) return `${stage.block} ${head} ${row}`;
  return isHeaded(S, stage) || headSize(S, stage) ? "head" : `${stage.columns}`;
}

/** The numbers that the picture of a stage needs; undefined until they have arrived. `made` is the number of which `origin` tells. @param {MachineState} S @param {MachineStage} stage */
export function numbersAt(S, stage, title = stageTitle(S, stage)) {
  const head = isHeaded(S, stage) ? S.opened.head || S.trail.head : 0;
  const row = rowAt(S, stage, head);
  if (row === undefined) return undefined;
  const options = stage.point === "logits" ? matrixOf(S, stage, 0, 0) : null;
  const line = options ? options.numbers?.values : lineAt(S, stage.point, head, row, 1);
  const at = line && columnOf(S, stage, head, row, line);
  if (!line || at === undefined) return undefined;
  const spot = { point: stage.point, head, row, column: options?.ids?.[at] ?? at };
  const sizes = { source: countOf(S, "source"), target: countOf(S, "target") };
  const from = (/** @type {MachineSpot} */ of) => originOf(S.data, of, sizes, (part) => slice(S, part));
  const own = from(spot);
  // A head's number is one of a longer vector, and that one is the sum.
  const whole = own?.op === "split" ? own.terms[0].from : spot;
  const made = /** @type {MachineStage} */ (stageAt(S, whole.point)).op === "linear" ? whole : spot;
  const origin = made === spot ? own : from(made);
  if (!own || !origin) return undefined;
  const mine = /** @type {MachineStage} */ (stageAt(S, made.point));
  const { names } = equationOf(S, mine, made, origin);
  const keys = stage.columns ? null : named(tokensOf(S, keysOf(S, stage)).slice(0, line.length));
  /** @type {MachineStrip} */
  const result = {
    name: t("{stage} of “{token}”", { stage: title, token: tokensOf(S, stage.side)[row] ?? "" }),
    values: line,
    lit: at,
    names: options ? options.columns : keys,
    weights: stage.op === "softmax",
  };
  const inputs = stripsOf(S, mine, made, origin, names, stage.columns ? named(tokensOf(S, keysOf(S, stage))) : keys);
  return inputs && { stage, spot, own, made, origin, mine, result, inputs };
}

/** @param {string[]} tokens */
const named = (tokens) => tokens.map((token, i) => `${i + 1} ${token}`);

/** The row that is shown: that of the followed token; of keys and values of the other side, that of the followed key. @param {MachineState} S @param {MachineStage} stage @param {number} head @returns {number | undefined} */
function rowAt(S, stage, head) {
  if (stage.side === S.trail.side) return rowFor(S, stage.side);
  const weights = /** @type {MachineStage} */ (stageAt(S, `${stage.block}.weights`));
  const line = lineAt(S, weights.point, head, S.step, 0);
  return line && columnOf(S, weights, head, S.step, line);
}

/** The numbers that made the followed one: factors and products of a sum, else the rows that were read. @param {MachineState} S @param {MachineStage} stage @param {MachineSpot} spot @param {MachineOrigin} origin @param {ReturnType<typeof equationOf>["names"]} names @param {string[] | null} keys @returns {MachineStrip[] | undefined} */
function stripsOf(S, stage, spot, { terms, op }, names, keys) {
  if (!names || !terms.length || op === "rotate") return [];
  const { product } = names;
  if (product && op !== "multiply") {
    const isOfKeys = op === "softmax" || op === "mix";
    const place = (/** @type {number} */ i) => (isOfKeys ? terms[i].from.column : i);
    const count = isOfKeys && keys ? keys.length : terms.length;
    const strip = (/** @type {string} */ name, /** @type {(term: OriginTerm) => number} */ valueOf) => {
      const values = new Array(count).fill(NaN); // a closed key has no term
      terms.forEach((term, i) => (values[place(i)] = valueOf(term)));
      return { name, values, lit: op === "softmax" ? spot.column : -1, names: isOfKeys ? keys : null };
    };
    const first = { ...strip(names.a, ({ a }) => a), weights: op === "mix" };
    const second = names.b ? [strip(names.b, ({ b }) => b)] : [];
    return [first, ...second, { ...strip(names.result, product), total: op !== "softmax" }];
  }
  const strips = terms.flatMap((term, i) =>
    [term.from, ...(term.with ? [term.with] : [])].map((from, k) => ({
      from,
      name: k || op === "multiply" ? (stageAt(S, from.point)?.title ?? "") : names.name(term, i),
    })),
  );
  const lines = strips.map(({ from, name }) => ({
    name,
    from,
    values: lineAt(S, from.point, from.head, from.row, stage.columns),
  }));
  if (lines.some(({ values }) => !values)) return undefined;
  return lines.map(({ name, from, values }) => ({
    name,
    values: values ?? [],
    lit: from.column,
    names: stage.columns ? null : keys,
    alike: !["norm", "rms"].includes(op), // a norm changes the scale, and its input has its own
  }));
}

/** Draws the picture of a stage, with its sentences. @param {MachineState} S @param {HTMLElement} content @param {Node[]} text what the stage is @param {StageNumbers | undefined} numbers */
export function drawStage(S, content, text, numbers) {
  if (!numbers) return content.replaceChildren(...text, make("p", "hint", t("Requesting the numbers …")));
  const { stage, spot, own, made, origin, mine, result, inputs } = numbers;
  const { head } = equationOf(S, stage, spot, own);
  const { sums, words } = equationOf(S, mine, made, origin);
  const alike = [result, ...inputs].filter((strip, i) => !i || strip.alike);
  const scale = Math.max(...alike.map(({ values }) => scaleOf(values)));
  const choose = (/** @type {number} */ column) => {
    const start = firstOf(S, stage);
    S.trail.chosen[axisOf(S, stage, spot.head, spot.row)] = clamp(
      column - start,
      0,
      (headSize(S, stage) || Infinity) - 1,
    );
    S.refocus = true;
    redraw(S);
  };
  /** @type {(() => void)[]} */
  const paints = [];
  /** @type {(strip: MachineStrip, i: number, all: MachineStrip[]) => HTMLElement[]} */
  const draw = (strip, i, all) => {
    const pick = stage.op !== "ids" && stage.point !== "logits" && strip === result ? choose : null;
    if (strip.names) return cellsOf(S, strip, strip.names, !all[i - 1]?.names, pick);
    return stripOf(S, strip, strip.alike || strip === result ? scale : scaleOf(strip.values), pick, paints);
  };
  const [own_, ...made_] = [result, ...inputs].map(draw);
  const table = make("div", "strips", ...(stage.op === "ids" ? [] : own_), make("h4", "", head), ...made_.flat());
  const isColoured = [result, ...inputs].some(({ names }) => !names) && stage.op !== "ids";
  const notes = [
    ...(isColoured ? [t("Blue is below 0, orange above; the colour is full from ± on.")] : []),
    ...(stage.op === "ids" ? [] : [t("Shown rounded; computed with all digits.")]),
  ];
  const said = make("p", "hint", [words, ...notes].join(" "));
  const from = make("section", "origin", make("p", "equation", sums), said);
  from.setAttribute("aria-label", t("Where is this number from?"));
  content.replaceChildren(...text, table, from, ...changeOf(S, stage, spot));
  S.paints = paints;
  if (S.refocus)
    /** @type {HTMLElement | null} */ (content.querySelector("[role=slider], [aria-pressed=true]"))?.focus({
      preventScroll: true,
    });
  S.refocus = false;
}

/** A vector as a strip of colours. @param {MachineState} S @param {MachineStrip} strip @param {number} scale @param {((column: number) => void) | null} choose @param {(() => void)[]} paints */
function stripOf(S, { name, values, lit, total }, scale, choose, paints) {
  const canvas = make("canvas");
  const box = make("div", "strip", canvas);
  const { length } = values;
  const place = (/** @type {number} */ i) => `${(100 * (i + 0.5)) / length}%`;
  const marks = total
    ? [...Array(length).keys()].sort((a, b) => Math.abs(values[b]) - Math.abs(values[a])).slice(0, MARKED)
    : lit < 0
      ? []
      : [lit];
  for (const i of marks) box.append(Object.assign(make("i", "mark"), { style: `left: ${place(i)}` }));
  const value = total ? t("sum {value}", { value: short(sumOf(values)) }) : lit < 0 ? "" : short(values[lit]);
  const end = make("span", "end", make("b", "", value), make("small", "", total ? "" : ` ±${short(scale)}`));
  canvas.setAttribute("aria-hidden", "true");
  paints.push(() =>
    paintRows(canvas, S.theme, S.box.dataset.theme === "dark", { rows: [values], scale, marked: -1, column: lit }),
  );
  if (!choose) return [make("span", "name", name), box, end];
  const named_ = t("number {number} of {count}", { number: lit + 1, count: grouped(length) });
  const to = (/** @type {number} */ column) => choose(clamp(column, 0, length - 1));
  box.onclick = (event) =>
    to(Math.floor((length * (event.clientX - box.getBoundingClientRect().left)) / box.getBoundingClientRect().width));
  box.classList.add("choice");
  const [before, after] = [makeButton("", "‹"), makeButton("", "›")];
  before.onclick = () => to(lit - 1);
  after.onclick = () => to(lit + 1);
  before.ariaLabel = t("The number before");
  after.ariaLabel = t("The next number");
  const shown = make("span", "which", before, make("span", "", named_), after);
  Object.assign(box, { tabIndex: 0, role: "slider", ariaLabel: t("The followed number of {stage}", { stage: name }) });
  Object.assign(box, {
    ariaValueMin: "1",
    ariaValueMax: `${length}`,
    ariaValueNow: `${lit + 1}`,
    ariaValueText: `${named_}: ${value}`,
  });
  box.onkeydown = (event) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    to(lit + by);
  };
  return [make("span", "name", name, " ", shown), box, end];
}

/** Numbers of keys as cells with the number in each, below their names. @param {MachineState} S @param {MachineStrip} strip @param {string[]} names @param {boolean} headed @param {((column: number) => void) | null} choose */
function cellsOf(S, { name, values, lit, total, weights }, names, headed, choose) {
  const row = (/** @type {Node[]} */ cells) => {
    const box = make("div", "cells", ...cells);
    box.style.setProperty("--keys", `${names.length}`);
    return box;
  };
  const titles = names.map((text, i) => {
    const title = Object.assign(make(choose ? "button" : "span", "key", make("bdi", "", text)), { title: text });
    if (!choose) return title;
    Object.assign(title, { type: "button", ariaPressed: `${i === lit}` });
    title.onclick = () => choose(i);
    return title;
  });
  const scale = Math.max(...Array.from(values, (value) => Math.abs(value) || 0)) || 1;
  const colourOf = weights
    ? (/** @type {number} */ value) => S.theme.inks[levelOf(value, { top: PALE })]
    : diverging(S.theme, S.box.dataset.theme === "dark", PALE * scale);
  const areShares = weights || Array.from(values).every((value) => !(value < 0 || value > 1)); // "< 0.001", not 6.2e−4
  const cells = Array.from(values, (value, i) => {
    const closed = Number.isNaN(value);
    const cell = make(
      "span",
      `cell${i === lit ? " lit" : ""}${closed ? " closed" : ""}`,
      closed ? t("masked") : areShares ? decimals(value) : short(value),
    );
    const pixel = colourOf(value);
    if (!closed) cell.style.background = `rgb(${[pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255]})`;
    return cell;
  });
  const end = total ? t("sum {value}", { value: short(sumOf(values)) }) : "";
  const line = [make("span", "name", name), row(cells), make("span", "end", make("b", "", end))];
  return headed ? [make("span", "name"), row(titles), make("span", "end"), ...line] : line;
}

/** @param {ArrayLike<number>} values */
const sumOf = (values) => Array.from(values).reduce((all, each) => all + each, 0);
