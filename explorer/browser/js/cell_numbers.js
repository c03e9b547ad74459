// The numbers of one row of a head as on paper: each follows from those on screen before it, with as few decimals as
// give the weights that the model used. And which key wins, by how much, and which dimensions bring it there.

import { isSpread } from "./weights.js";
import { inSentence, pieces, t } from "./words.js";
import { listed } from "./numbers.js";

/** @import { CellNumbers, CellText, Message } from "./types" */

const WEIGHT_DIGITS = [3, 4, 5]; // decimals of weights, in the order in which they are tried
const EDITED = 1e-5; // weights further than this from the softmax of their scores come from an edit
const NAMED = 3; // dimensions that the sentence names, at most

/** @param {number} value @param {number} digits */
const round = (value, digits) => Math.round(value * 10 ** digits) / 10 ** digits;

/** A number with this many decimals; what rounds to 0 has no sign. @param {number} value @param {number} digits */
export const fixed = (value, digits) => {
  const text = Math.abs(value).toFixed(digits);
  return inSentence(value < 0 && Number(text) ? `−${text}` : text);
};

/** A weight with this many decimals; one that they cannot show is not 0. @param {number} weight @param {number} digits */
export const weightText = (weight, digits) =>
  weight > 0 && !Number(weight.toFixed(digits)) ? `< ${fixed(10 ** -digits, digits)}` : fixed(weight, digits);

/** A number with its sign: "+0.90", "−0.12". @param {number} value */
const signed = (value, digits = 2) => (value < 0 ? "" : "+") + fixed(value, digits);

/** @param {number[]} values */
const sumOf = (values) => values.reduce((sum, value) => sum + value, 0);

/**
 * The computation of a row, step by step. Products, sums and exponentials have `rest` decimals. Weights that differ are
 * not shown as equal at the top: they get another decimal.
 * @param {Message} message @returns {CellNumbers}
 */
export function numbersOf(message) {
  /** @type {CellNumbers | undefined} */
  let numbers;
  for (const weight of WEIGHT_DIGITS)
    for (let score = weight; score < weight + 5; score++)
      for (let rest = score + 1; rest < score + 3; rest++) {
        const tried = withDigits(message, { weight, score, rest });
        if (tried.reproduced && heaviest(tried).length < 2) return tried;
        if (!numbers?.reproduced) numbers = tried;
      }
  return /** @type {CellNumbers} */ (numbers);
}

/**
 * The same with these decimals: of weights, of scores, and of everything else.
 * @param {Message} message @param {{ weight: number, score: number, rest: number }} digits
 */
export function withDigits({ header, arrays }, digits) {
  const all = (/** @type {string} */ name, /** @type {number} */ decimals) =>
    Array.from(arrays[name]?.values ?? [], (value) => round(value, decimals));
  const query = all("query", digits.rest);
  const size = query.length;
  const rows = (/** @type {string} */ name) => {
    const flat = all(name, digits.rest);
    return Array.from({ length: flat.length / size }, (_, k) => flat.slice(k * size, (k + 1) * size));
  };
  const [keys, values] = [rows("keys"), rows("values")];
  const bias = arrays.bias ? all("bias", digits.score) : null;
  const open = Array.from(arrays.mask.values, (code) => !code);
  const divisor = header.scaled ? round(Math.sqrt(size), digits.rest) : 1;
  const products = keys.map((key) => key.map((value, i) => round(query[i] * value, digits.rest)));
  const sums = products.map((row) => round(sumOf(row), digits.rest));
  const scores = sums.map((sum, k) => round(sum / divisor + (bias?.[k] ?? 0), digits.score));
  const exponentials = softened(scores, open).map((value) => round(value, digits.rest));
  const total = round(sumOf(exponentials), digits.rest);
  const softmax = exponentials.map((value) => (total ? round(value / total, digits.weight) : 0));
  const recorded = all("weights", digits.weight);
  const edited = isEdited(arrays, open);
  const weights = edited ? recorded : softmax;
  const weighted = values.map((row, k) => row.map((value) => round(weights[k] * value, digits.rest)));
  const output = all("output", digits.rest);
  return {
    digits,
    size,
    query,
    keys,
    values,
    bias,
    open,
    divisor,
    products,
    sums,
    scores,
    exponentials,
    total,
    softmax, // the weights that follow from the scores
    weights, // those that were used
    weighted,
    output,
    edited,
    replaced: isReplaced(arrays, size),
    reproduced: weights.every((weight, k) => fixed(weight, digits.weight) === fixed(recorded[k], digits.weight)),
  };
}

/** e^(score − highest score) of each key; 0 where masked. @param {number[]} scores @param {boolean[]} open */
function softened(scores, open) {
  const highest = Math.max(...scores.filter((_, k) => open[k]));
  return scores.map((score, k) => (open[k] ? Math.exp(score - highest) : 0));
}

/** Whether the weights are not the softmax of the scores. @param {Message["arrays"]} arrays @param {boolean[]} open */
function isEdited({ scores, weights }, open) {
  const raised = softened([...scores.values], open);
  const total = sumOf(raised) || 1;
  return raised.some((value, k) => Math.abs(value / total - weights.values[k]) > EDITED);
}

/** Whether the output is not the sum of the weighted values. @param {Message["arrays"]} arrays @param {number} size */
function isReplaced({ weights, values, output }, size) {
  const largest = Math.max(1, ...values.values.map(Math.abs));
  return output.values.some((value, i) => {
    const sum = sumOf(Array.from(weights.values, (weight, k) => weight * values.values[k * size + i]));
    return Math.abs(sum - value) > 1e-4 * largest;
  });
}

/** The visible keys, the highest score first. @param {CellNumbers} numbers */
const ranked = ({ scores, open }) =>
  scores
    .map((_, key) => key)
    .filter((key) => open[key])
    .sort((a, b) => scores[b] - scores[a]);

/**
 * The keys with the largest weight: one, or all that tie in the decimals on screen; none if every key is masked.
 * @param {CellNumbers} numbers
 */
export function heaviest({ weights, open }) {
  const seen = weights.map((_, key) => key).filter((key) => open[key]);
  const most = Math.max(...seen.map((key) => weights[key]));
  return most > 0 ? seen.filter((key) => weights[key] === most) : [];
}

/** How the winner wins, or why there is none; keys are given by their index. @param {CellNumbers} numbers @returns {CellText[]} */
export function explainWinner(numbers) {
  const { weights, scores, digits, edited } = numbers;
  const order = ranked(numbers);
  const best = heaviest(numbers);
  const say = (/** @type {number} */ weight) => fixed(weight, digits.weight);
  if (!order.length) return [t("Every key is masked: there is nothing to see, and the weights are 0.")];
  const keyOf = (/** @type {number} */ key) => ({ key });
  if (edited)
    return [
      `${t("A head edit replaced the weights of this row, so its scores do not decide.")} `,
      ...(numbers.softmax[order[0]] > (numbers.softmax[order[1]] ?? 0)
        ? pieces("By its scores, {key} would be heaviest, with {weight}.", {
            key: keyOf(order[0]),
            weight: say(numbers.softmax[order[0]]),
          })
        : [t("By its scores, no key would be alone at the top.")]),
    ];
  if (order.length < 2)
    return pieces("{key} is the only visible key: its weight is 1, whatever its score.", { key: keyOf(order[0]) });
  if (best.length > 1) {
    const tie = { n: best.length, weight: say(weights[best[0]]) };
    if (best.length === order.length)
      return [t("The only visible key has {weight}.", "No key wins: all {n} visible keys have {weight} each.", tie)];
    if (best.length > 4)
      return [
        t(
          "No key wins alone: {n} key ties, with {weight}.",
          "No key wins alone: {n} keys tie, with {weight} each.",
          tie,
        ),
      ];
    const names = best.map(keyOf);
    return pieces("No key wins alone: {keys} and {last} tie, with {weight} each.", {
      keys: names.slice(0, -1).flatMap((key, i) => (i ? [", ", key] : [key])),
      last: names[names.length - 1],
      weight: tie.weight,
    });
  }
  const [first, second] = order;
  const lead = scores[first] - scores[second];
  const equal = order.filter((key) => scores[key] === scores[second]).length;
  const entropy = -sumOf(order.map((key) => (weights[key] ? weights[key] * Math.log(weights[key]) : 0)));
  const even = isSpread(entropy, order.length);
  const decimals = decimalsOf(lead, digits.score);
  const spread = () =>
    t(
      "The weight is spread out: each of {n} key would have {weight} if it were even.",
      "The weight is spread out: each of {n} keys would have {weight} if it were even.",
      { n: order.length, weight: say(1 / order.length) },
    );
  const fields = {
    first: keyOf(first),
    second: keyOf(second),
    weight: say(weights[first]),
    lead: fixed(lead, decimals),
    times: timesOf(lead),
  };
  return [
    ...(even ? [`${spread()} `] : []),
    ...(equal > 1
      ? pieces(
          "{first} is heaviest, with {weight}: its score leads that of {second}, one of {equal} that tie for second, by {lead}, so its weight is {times} times as large.",
          { ...fields, equal },
        )
      : pieces(
          "{first} is heaviest, with {weight}: its score leads that of {second}, the second, by {lead}, so its weight is {times} times as large.",
          fields,
        )),
    ` ${shareOfLead(numbers, first, second, decimals)}`,
  ];
}

/** e^lead, as a number for a sentence. @param {number} lead */
function timesOf(lead) {
  const ratio = Math.exp(lead);
  if (ratio >= 1000) return t("more than 1,000");
  if (ratio < 2) return inSentence(ratio.toFixed(ratio < 1.005 ? 4 : 2));
  return t("about {number}", { number: inSentence(`${Number(ratio.toPrecision(2))}`) });
}

/**
 * What each dimension adds to the lead of one key's score over another's, after the division.
 * @param {CellNumbers} numbers @param {number} first @param {number} second
 */
export const contributions = ({ products, divisor }, first, second) =>
  products[first].map((product, i) => (product - products[second][i]) / divisor);

/**
 * The dimensions that contribute most to the lead of one key's score over another's, the largest first.
 * @param {CellNumbers} numbers @param {number} first @param {number} second @param {number} decimals
 */
function leading(numbers, first, second, decimals) {
  const shares = contributions(numbers, first, second);
  const largest = Math.max(...shares);
  return shares
    .map((share, i) => ({ i, share: round(share, decimals) }))
    .filter(({ share }) => share > 0 && share >= largest / 4)
    .sort((a, b) => b.share - a.share)
    .slice(0, NAMED);
}

/** The dimensions that the sentence on the winner names; none if no key wins. @param {CellNumbers} numbers */
export function namedDimensions(numbers) {
  const { scores, edited, digits } = numbers;
  const [first, second] = ranked(numbers);
  if (edited || second === undefined || heaviest(numbers).length > 1) return [];
  return leading(numbers, first, second, decimalsOf(scores[first] - scores[second], digits.score)).map(({ i }) => i);
}

/**
 * The dimensions that a ruler names: those of the sentence, and the first and the last one where there is room.
 * Dimensions close to each other share a place: "27 28".
 * @param {number} size @param {number[]} named
 */
export function ticksFor(size, named) {
  const apart = Math.ceil(size / 8); // dimensions between two places, at least
  /** @type {number[][]} */
  const ticks = [];
  for (const i of named.toSorted((a, b) => a - b)) {
    const last = ticks[ticks.length - 1];
    if (last && i - last[last.length - 1] < apart) last.push(i);
    else ticks.push([i]);
  }
  for (const end of [0, size - 1]) if (ticks.flat().every((i) => Math.abs(i - end) >= apart)) ticks.push([end]);
  return ticks;
}

/** The decimals with which a lead is written. @param {number} lead @param {number} digits */
const decimalsOf = (lead, digits) => (lead < 0.1 ? digits : 2);

/** What the dimensions bring to the lead, and the distance. @param {CellNumbers} numbers @param {number} first @param {number} second @param {number} decimals */
function shareOfLead(numbers, first, second, decimals) {
  const { bias, scores, size } = numbers;
  const lead = round(scores[first] - scores[second], decimals);
  const distance = bias ? round(bias[first] - bias[second], decimals) : 0;
  const nearer = distance ? ` ${t("The distance (ALiBi) brings {share}.", { share: signed(distance, decimals) })}` : "";
  const named = leading(numbers, first, second, decimals);
  if (!named.length) return `${t("No single dimension brings this lead.")}${nearer}`;
  const together = sumOf(named.map(({ share }) => share));
  const others = size - named.length;
  const fields = {
    n: named.length,
    list: listed(named.map(({ i, share }) => `${i + 1} (${signed(share, decimals)})`)),
    others,
    rest: signed(lead - distance - together, decimals),
  };
  const sentence =
    others > 1
      ? t(
          "Dimension {list} contributes most to this lead; the other {others} together bring {rest}.",
          "Dimensions {list} contribute most to this lead; the other {others} together bring {rest}.",
          fields,
        )
      : others
        ? t(
            "Dimension {list} contributes most to this lead; the other one brings {rest}.",
            "Dimensions {list} contribute most to this lead; the other one brings {rest}.",
            fields,
          )
        : t(
            "Dimension {list} contributes most to this lead.",
            "Dimensions {list} contribute most to this lead.",
            fields,
          );
  return `${sentence}${nearer}`;
}
