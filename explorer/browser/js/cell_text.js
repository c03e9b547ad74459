// The numbers of one cell in words, from q·k to the output, and as a table.

import { fixed } from "./cell_numbers.js";
import { SIDES } from "./names.js";
import { maskCell, numbered, whyMasked } from "./wording.js";
import { pieces, t } from "./words.js";

/** @import { CellMessage } from "./structs" */
/** @import { CellNumbers, Content, Decoding, Kind, Message } from "./types" */

const TERMS = 4; // terms of an output that are written one by one

/** A cell that was computed in this browser, with the names of its tokens. @param {Message} message @param {Pick<Decoding, "maps" | "target">} decoding @returns {Message} */
export function named({ header, arrays }, { maps, target }) {
  const { rows, columns } = maps[/** @type {Kind} */ (header.kind)];
  const predicted = header.kind === "encoder" ? "" : target.predicted[header.row - 1];
  return { header: { ...header, query: rows[header.row - 1], predicted, tokens: columns }, arrays };
}

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
  const i = dimension ?? 0;
  const product = `${factor(query[i], rest)} × ${factor(keys[key][i], rest)} = ${fixed(products[key][i], rest)}`;
  const fields = { key: name, n: size, sum: fixed(sums[key], rest), dimension: i + 1, product };
  /** @type {[string, ...Content[]][]} */
  const chain = [
    [
      t("query · key"),
      ...(dimension === null
        ? pieces(
            "{key}: the products of all {n} dimension sum to {sum}",
            "{key}: the products of all {n} dimensions sum to {sum}",
            fields,
          )
        : pieces(
            "{key}: dimension {dimension}: {product}; the products of all {n} dimension sum to {sum}",
            "{key}: dimension {dimension}: {product}; the products of all {n} dimensions sum to {sum}",
            fields,
          )),
    ],
    [t("score"), scoreOf(header, numbers, key)],
    [t("weight"), ...weightOf(header, numbers, mask, key)],
  ];
  if (dimension !== null) {
    const part = `${fixed(numbers.weights[key], weight)} × ${factor(values[key][i], rest)} = ${fixed(numbers.weighted[key][i], rest)}`;
    chain.push([t("weight × value"), t("dimension {dimension}: {product}", { dimension: i + 1, product: part })]);
  }
  chain.push([t("output"), ...outputOf(header, numbers, dimension)]);
  return chain;
}

/** "18.66 ÷ √16 = 18.66 ÷ 4 = 4.66" @param {CellMessage} header @param {CellNumbers} numbers @param {number} key */
function scoreOf({ scaled }, { digits, sums, divisor, bias, scores, size }, key) {
  const sum = fixed(sums[key], digits.rest);
  const score = fixed(scores[key], digits.score);
  const by = Number.isInteger(divisor) ? `${divisor}` : fixed(divisor, digits.rest);
  const quotient = `${sum} ÷ √${size} = ${sum} ÷ ${by}`;
  const fields = { sum, quotient, size, score, bias: bias ? factor(bias[key], digits.score) : "" };
  if (scaled)
    return bias ? t("{quotient} + {bias} for the distance (ALiBi) = {score}", fields) : `${quotient} = ${score}`;
  return bias
    ? t("{sum} + {bias} for the distance (ALiBi) = {score}; this model does not divide by √{size}", fields)
    : t("{sum} = {score}; this model does not divide by √{size}", fields);
}

/** @param {CellMessage} header @param {CellNumbers} numbers @param {Uint8Array} mask @param {number} key @returns {Content[]} */
function weightOf({ tokens, kind }, numbers, mask, key) {
  const { digits, scores, exponentials, total, softmax, weights, open, edited, reproduced } = numbers;
  if (!open[key]) return [t("{why}; whatever the score, the weight is exactly 0", { why: whyMasked(mask[key]) })];
  const highest = Math.max(...scores.filter((_, k) => open[k]));
  const powerOf = (/** @type {number} */ k) =>
    `e^(${fixed(scores[k], digits.score)} − ${factor(highest, digits.score)}) = ${fixed(exponentials[k], digits.rest)}`;
  // For the highest score the power is 1 and shows nothing, so the second one is computed, too.
  const others = scores.map((_, k) => k).filter((k) => open[k] && k !== key);
  const second = others.sort((a, b) => scores[b] - scores[a])[0];
  const example =
    scores[key] === highest && second !== undefined
      ? pieces(" For {key}: {power}; ÷ {total} = {weight}.", {
          key: numbered(tokens, second, SIDES[kind][1]),
          power: powerOf(second),
          total: fixed(total, digits.rest),
          weight: fixed(softmax[second], digits.weight),
        })
      : [];
  const sentences = [
    t(
      "The highest score is first subtracted from every score, which changes no weight: {power}. Divided by the sum over {n} visible key, {total}: {weight}",
      "The highest score is first subtracted from every score, which changes no weight: {power}. Divided by the sum over {n} visible keys, {total}: {weight}",
      {
        power: powerOf(key),
        total: fixed(total, digits.rest),
        n: open.filter(Boolean).length,
        weight: fixed(softmax[key], digits.weight),
      },
    ),
  ];
  const used = { weight: fixed(weights[key], digits.weight) };
  if (edited) sentences.push(t("A head edit replaced the weights of this row: {weight} was used", used));
  if (!reproduced) sentences.push(t("The numbers on screen are rounded too much to give the model's weights exactly"));
  return [`${sentences.join(". ")}${example.length ? "." : ""}`, ...example];
}

/** @param {CellMessage} header @param {CellNumbers} numbers @param {number | null} dimension @returns {Content[]} */
function outputOf(header, { digits, weights, values, weighted, output, open, replaced }, dimension) {
  const gate = header.gated ? ` ${t("A gate then multiplies it.")}` : "";
  if (dimension === null) {
    const sum = replaced
      ? t("An edit of this head replaced its output: it is not the sum of weight × value.")
      : t("Σ weight × value over the keys; choose a dimension to see this sum with its numbers.");
    return [sum, gate];
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
  if (others.length)
    terms.push(
      ` + ${t("{sum} from {n} other key", "{sum} from {n} other keys", { sum: factor(left, rest), n: others.length })}`,
    );
  const recorded = fixed(output[dimension], rest);
  const fields = { dimension: dimension + 1, terms, sum: fixed(sum, rest), recorded };
  const sentence = replaced
    ? pieces(
        "dimension {dimension}: {terms} = {sum}. An edit of this head replaced its output: it is {recorded}.",
        fields,
      )
    : recorded === fields.sum
      ? pieces("dimension {dimension}: {terms} = {sum}.", fields)
      : pieces("dimension {dimension}: {terms} = {sum}; with all digits, {recorded}.", fields);
  return [...sentence, gate];
}

/** The columns of the table besides the key. @param {CellMessage} header @param {CellNumbers} numbers */
export const keyColumns = ({ scaled }, { bias, size }) => [
  t("query · key"),
  ...(bias ? [t("distance (ALiBi)")] : []),
  !scaled ? t("score") : bias ? t("score (÷ √{size} + distance)", { size }) : t("score (÷ √{size})", { size }),
  t("e^(score − highest)"),
  t("weight"),
];

/** The texts of a key in these columns. @param {CellNumbers} numbers @param {Uint8Array} mask @param {number} key */
export function keyCells({ digits, sums, bias, scores, exponentials, weights, open }, mask, key) {
  const why = maskCell(mask[key]);
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
    [
      t("row"),
      t("token"),
      ...columns,
      ...each(t("query or key")),
      ...each(t("query × key")),
      ...each(t("weight × value or output")),
    ],
    [t("query"), `${header.row} ${header.query}`, ...none, ...list(query), ...blank, ...list(output)],
    ...keys.map((own, key) => [
      t("key"),
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
