// The numbers of one cell in words, from q·k to the output, and as a table.

import { fixed } from "./cell_numbers.js";
import { FUTURE, SIDES } from "./names.js";
import { plural } from "./numbers.js";
import { WHY_MASKED, numbered } from "./wording.js";

/** @import { CellMessage } from "./structs" */
/** @import { CellNumbers, Content } from "./types" */

const TERMS = 4; // terms of an output that are written one by one

/** A number within a product or a sum. @param {number} value @param {number} digits */
const factor = (value, digits) => (value < 0 ? `(${fixed(value, digits)})` : fixed(value, digits));

/**
 * The computation of one key's weight and of the output, line by line: a name, then the numbers.
 * @param {CellMessage} header
 * @param {CellNumbers} numbers
 * @param {Uint8Array} mask
 * @param {number} key
 * @param {number | null} dimension the sum over all dimensions, if none is chosen
 * @returns {[string, ...Content[]][]}
 */
export function chainOf(header, numbers, mask, key, dimension) {
  const { digits, query, keys, values, products, sums, size } = numbers;
  const { rest, weight } = digits;
  const name = numbered(header.tokens, key, SIDES[header.kind][1]);
  const sum = `the products of all ${plural(size, "dimension")} sum to ${fixed(sums[key], rest)}`;
  const i = dimension ?? 0;
  const product =
    dimension === null
      ? []
      : [
          `dimension ${i + 1}: ${factor(query[i], rest)} × ${factor(keys[key][i], rest)} = ${fixed(products[key][i], rest)}; `,
        ];
  /** @type {[string, ...Content[]][]} */
  const chain = [
    ["query · key", name, ": ", ...product, sum],
    ["score", scoreOf(header, numbers, key)],
    ["weight", weightOf(numbers, mask, key)],
  ];
  if (dimension !== null)
    chain.push([
      "weight × value",
      `dimension ${i + 1}: ${fixed(numbers.weights[key], weight)} × ${factor(values[key][i], rest)} = ${fixed(numbers.weighted[key][i], rest)}`,
    ]);
  chain.push(["output", ...outputOf(header, numbers, dimension)]);
  return chain;
}

/** "18.66 ÷ √16 = 18.66 ÷ 4 = 4.66" @param {CellMessage} header @param {CellNumbers} numbers @param {number} key */
function scoreOf({ scaled }, { digits, sums, divisor, bias, scores, size }, key) {
  const sum = fixed(sums[key], digits.rest);
  const distance = bias ? ` + ${factor(bias[key], digits.score)} for the distance (ALiBi)` : "";
  const score = fixed(scores[key], digits.score);
  if (!scaled) return `${sum}${distance} = ${score}; this model does not divide by √${size}`;
  const by = Number.isInteger(divisor) ? `${divisor}` : fixed(divisor, digits.rest);
  return `${sum} ÷ √${size} = ${sum} ÷ ${by}${distance} = ${score}`;
}

/** @param {CellNumbers} numbers @param {Uint8Array} mask @param {number} key */
function weightOf({ digits, scores, exponentials, total, softmax, weights, open, edited, reproduced }, mask, key) {
  if (!open[key]) return `${WHY_MASKED[mask[key]]}; whatever the score, the weight is exactly 0`;
  const keys = plural(open.filter(Boolean).length, "visible key");
  const highest = Math.max(...scores.filter((_, k) => open[k]));
  const raised = fixed(exponentials[key], digits.rest);
  const power = `e^(${fixed(scores[key], digits.score)} − ${factor(highest, digits.score)}) = ${raised} (score − highest score)`;
  const share = `; ÷ ${fixed(total, digits.rest)}, the sum over ${keys}, = ${fixed(softmax[key], digits.weight)}`;
  const used = fixed(weights[key], digits.weight);
  const edit = edited ? `. A head edit replaced the weights of this row: ${used} was used` : "";
  const inexact = reproduced ? "" : ". The numbers on screen are rounded too much to give the model's weights exactly";
  return `${power}${share}${edit}${inexact}`;
}

/** @param {CellMessage} header @param {CellNumbers} numbers @param {number | null} dimension @returns {Content[]} */
function outputOf(header, { digits, weights, values, weighted, output, open, replaced }, dimension) {
  const gate = header.gated ? " A gate then multiplies it." : "";
  if (dimension === null) {
    const edit = replaced ? "An edit of this head replaced its output: it is not the sum of weight × value." : "";
    return [edit || "Σ weight × value over the keys; choose a dimension to see this sum with its numbers.", gate];
  }
  const seen = weights.map((_, key) => key).filter((key) => open[key]);
  const ordered = [...seen].sort((a, b) => Math.abs(weighted[b][dimension]) - Math.abs(weighted[a][dimension]));
  const named = ordered.slice(0, ordered.length > TERMS + 1 ? TERMS : ordered.length);
  const others = ordered.slice(named.length);
  const sum = seen.reduce((total, key) => total + weighted[key][dimension], 0);
  const left = others.reduce((total, key) => total + weighted[key][dimension], 0);
  const { rest } = digits;
  const side = SIDES[header.kind][1];
  /** @type {Content[]} */
  const terms = named.flatMap((key, n) => [
    n ? " + " : "",
    `${fixed(weights[key], digits.weight)} × ${factor(values[key][dimension], rest)} (`,
    numbered(header.tokens, key, side),
    ")",
  ]);
  const more = others.length ? ` + ${factor(left, rest)} from ${plural(others.length, "other key")}` : "";
  const recorded = fixed(output[dimension], rest);
  const exact = replaced
    ? `. An edit of this head replaced its output: it is ${recorded}`
    : recorded === fixed(sum, rest)
      ? ""
      : `; with all digits, ${recorded}`;
  return [`dimension ${dimension + 1}: `, ...terms, `${more} = ${fixed(sum, rest)}${exact}.`, gate];
}

/** The columns of the table besides the key. @param {CellMessage} header @param {CellNumbers} numbers */
export const keyColumns = ({ scaled }, { bias, size }) => [
  "query · key",
  ...(bias ? ["distance (ALiBi)"] : []),
  scaled ? `score (÷ √${size}${bias ? " + distance" : ""})` : "score",
  "e^(score − highest)",
  "weight",
];

/** The texts of a key in these columns. @param {CellNumbers} numbers @param {Uint8Array} mask @param {number} key */
export function keyCells({ digits, sums, bias, scores, exponentials, weights, open }, mask, key) {
  const why = mask[key] === FUTURE ? "masked: future" : "masked: padding";
  return [
    fixed(sums[key], digits.rest),
    ...(bias ? [fixed(bias[key], digits.score)] : []),
    fixed(scores[key], digits.score),
    open[key] ? fixed(exponentials[key], digits.rest) : why,
    open[key] ? fixed(weights[key], digits.weight) : why,
  ];
}

/** With the minus that programs read. @param {string} number */
const plainly = (number) => number.replace("−", "-");

/**
 * The row as CSV: the query and each key with all numbers on screen. The position before each token keeps a
 * spreadsheet from reading it as a formula.
 * @param {CellMessage} header @param {CellNumbers} numbers @param {Uint8Array} mask
 */
export function csvOf(header, numbers, mask) {
  const { digits, size, query, keys, products, weighted, output } = numbers;
  const each = (/** @type {string} */ name) => Array.from({ length: size }, (_, i) => `${name} ${i + 1}`);
  const list = (/** @type {number[]} */ values) => values.map((value) => plainly(fixed(value, digits.rest)));
  const columns = keyColumns(header, numbers);
  const none = columns.map(() => "");
  const blank = query.map(() => "");
  const lines = [
    ["row", "token", ...columns, ...each("query or key"), ...each("query × key"), ...each("weight × value or output")],
    ["query", `${header.row} ${header.query}`, ...none, ...list(query), ...blank, ...list(output)],
    ...keys.map((own, key) => [
      "key",
      `${key + 1} ${header.tokens[key]}`,
      ...keyCells(numbers, mask, key).map(plainly),
      ...list(own),
      ...list(products[key]),
      ...list(weighted[key]),
    ]),
  ];
  const quoted = (/** @type {string} */ cell) => `"${cell.replaceAll('"', '""')}"`;
  return lines.map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
}
