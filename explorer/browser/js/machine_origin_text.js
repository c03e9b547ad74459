// Where a number of the machine is from, in words: the equation with its numbers, and the names of its terms.

import { shortOf } from "./machine_link.js";
import { keysOf } from "./machine_numbers.js";
import { blockOf, tokensOf } from "./machine_state.js";
import { grouped, wholePercent } from "./numbers.js";
import { inSentence, t } from "./words.js";

/** @import { MachineOrigin, MachineSpot, MachineState, OriginTerm } from "./types" */
/** @import { MachineStage } from "./structs" */
/** @typedef {{ name: (term: OriginTerm, i: number) => string, a: string, b: string, product: ((term: OriginTerm) => number) | null, result: string }} Names */

const SHOWN = 3; // products that an equation writes out

/** @param {number | null} value */
export const short = (value) =>
  value === null || Number.isNaN(value)
    ? "–"
    : Number.isInteger(value) // such as the id of a token
      ? `${value}`.replace("-", "−")
      : Math.abs(value) >= 1000 || Math.abs(value) < 0.001
        ? inSentence(value.toExponential(1).replace("-", "−"))
        : inSentence(value.toFixed(3).replace("-", "−"));

/** A number inside a sum: negative ones in brackets. @param {number} value */
const inSum = (value) => (value < 0 ? `(${short(value)})` : short(value));

/** "0.12 × 1.3 + (−0.5) × 0.2 + …", the largest products first. @param {OriginTerm[]} terms */
function sumOf(terms) {
  const sorted = [...terms].sort((x, y) => Math.abs(y.a * y.b) - Math.abs(x.a * x.b)).slice(0, SHOWN);
  const written = sorted.map(({ a, b }) => `${inSum(a)} × ${inSum(b)}`).join(" + ");
  return terms.length > SHOWN ? `${written} + …` : written;
}

/** The token or number of a column. @param {MachineState} S @param {MachineStage} stage @param {number} column */
function columnName(S, stage, column) {
  if (stage.point === "logits") {
    const at = S.data.alternatives.ids[S.step].indexOf(column);
    return `“${S.data.alternatives.tokens[S.step][at] ?? column}”`;
  }
  if (stage.columns) return t("number {number}", { number: column + 1 });
  return `“${tokensOf(S, keysOf(S, stage))[column] ?? column + 1}”`;
}

/** What a number is, as a sentence. @param {MachineStage} stage @param {MachineSpot} spot @param {{ value: string, row: string, column: string }} named */
function placeText(stage, { head, point }, named) {
  const inStage = { ...named, stage: stage.title };
  if (stage.op === "ids") return t("{value} is the id of {row}.", named);
  if (point === "logits") return t("{value} is the score of {column} as the word after {row}.", named);
  const ofHead = {
    query: () => t("{value} is {column} of the query of {row} in head {head}.", { ...named, head }),
    key: () => t("{value} is {column} of the key of {row} in head {head}.", { ...named, head }),
    value: () => t("{value} is {column} of the value of {row} in head {head}.", { ...named, head }),
  }[shortOf(point)];
  if (head && ofHead) return ofHead();
  if (stage.columns)
    return head
      ? t("{value} is {column} of {row} in {stage}, head {head}.", { ...inStage, head })
      : t("{value} is {column} of {row} in {stage}.", inStage);
  if (named.value === t("masked"))
    return head
      ? t("The score of {row} and {column} in head {head} is masked.", { ...named, head })
      : t("The score of {row} and {column} is masked.", named);
  if (shortOf(point) === "weights")
    return head
      ? t("{value} is the weight that {row} gives to {column} in head {head}.", { ...named, head })
      : t("{value} is the weight that {row} gives to {column}.", named);
  return head
    ? t("{value} is the score of {row} and {column} in head {head}: {stage}.", { ...inStage, head })
    : t("{value} is the score of {row} and {column}: {stage}.", inStage);
}

/**
 * @param {MachineState} S @param {MachineStage} stage @param {MachineSpot} spot @param {MachineOrigin} origin
 * @returns {{ head: string, sums: string, words: string, names: Names | null }}
 */
export function equationOf(S, stage, spot, origin) {
  const { terms, result, recorded, bias = 0 } = origin;
  const short_ = shortOf(stage.point);
  const memory = S.data.blocks.find(({ kind }) => kind === "memory")?.reads[0];
  const titleOf = (/** @type {string} */ point) => {
    const read = S.data.stages.find((each) => each.point === point);
    const here = blockOf(S, stage.block);
    if (!read) return point;
    if (read.block === memory && here?.attention === "cross") return t("memory");
    const layer = blockOf(S, read.block)?.layer;
    return layer && layer !== here?.layer ? t("{stage}, layer {layer}", { stage: read.title, layer }) : read.title;
  };
  const row = `“${tokensOf(S, stage.side)[spot.row] ?? spot.row + 1}”`;
  const value = stage.op === "softmax" ? `${short(recorded)}` : Number.isNaN(recorded) ? t("masked") : short(recorded);
  const named = columnName(S, stage, spot.column);
  const head = `${placeText(stage, spot, { value, row, column: named })} ${t("Where is it from?")}`;
  const plus = stage.bias || bias ? ` + ${t("bias {value}", { value: short(bias) })}` : "";
  /** @type {(a: string, b: string, name?: Names["name"]) => Names} */
  const sum = (a, b, name = (_, i) => `${i + 1}`) => ({
    name,
    a,
    b,
    product: (term) => term.a * term.b,
    result: t("product"),
  });
  /** @type {Names} */
  const plain = { name: ({ from }) => titleOf(from.point), a: t("number"), b: "", product: null, result: "" };
  const tokenName = (/** @type {OriginTerm} */ { from }) => columnName(S, { ...stage, columns: 0 }, from.column);
  const [first] = terms;
  const matrix =
    {
      q_proj: "W_Q",
      k_proj: "W_K",
      v_proj: "W_V",
      out_proj: "W_O",
      linear1: "W₁",
      linear2: "W₂",
      logits: t("the output matrix"),
    }[short_] ?? t("the matrix");

  /** @type {Record<string, () => { sums: string, words: string, names: Names | null }>} */
  const ways = {
    ids: () => ({
      sums: t("id {id}", { id: recorded }),
      words: t("The id is the token's number in the vocabulary: the tokenizer looks it up."),
      names: null,
    }),
    lookup: () => ({
      sums: t("{value} = row {id} of the table, {number}", { value, id: origin.id ?? 0, number: named }),
      words: t(
        "The token's id is {id}, and its vector is that row of the embedding table. Training has set these numbers.",
        { id: origin.id ?? 0 },
      ),
      names: null,
    }),
    times: () => ({
      sums: `${value} = ${inSum(first.a)} × ${short(stage.factor)}`,
      words: t(
        "Each number of the vector is multiplied by the same factor, √d_model, so that the position added next stays small beside it.",
      ),
      names: plain,
    }),
    plus: () => ({
      sums: `${value} = ${terms.map(({ a }) => inSum(a)).join(" + ")}`,
      words:
        short_ === "positions"
          ? t("The same number of the vector for this position is added.")
          : t("The sublayer's result is added to what went into it: the residual connection."),
      names: {
        ...plain,
        name: ({ from }, i) =>
          from.point.endsWith(".added")
            ? t("position")
            : i
              ? titleOf(from.point)
              : t("before: {stage}", { stage: titleOf(from.point) }),
      },
    }),
    copy: () => ({ sums: `${value} = ${short(first.a)}`, words: t("Nothing is added here."), names: plain }),
    linear: () => ({
      sums: `${value} = ${sumOf(terms)}${plus}`,
      words: linearText(stage, { row, token: named, column: spot.column + 1, matrix, count: grouped(terms.length) }),
      names: sum(titleOf(first.from.point), matrix),
    }),
    split: () => ({
      sums: t("{value} = number {number} of {stage}", {
        value,
        number: first.from.column + 1,
        stage: titleOf(first.from.point),
      }),
      words: t(
        "The long vector is the whole vector of {row} times {matrix}; head {head} takes its numbers {first} to {last}. Choose the number below to see that product.",
        {
          row,
          matrix: short_ === "query" ? "W_Q" : short_ === "key" ? "W_K" : "W_V",
          head: spot.head,
          first: (spot.head - 1) * stage.columns + 1,
          last: spot.head * stage.columns,
        },
      ),
      names: plain,
    }),
    rotate: () => ({
      sums: `${value} = ${sumOf(terms)}`,
      words: t(
        "RoPE turns each pair of numbers by an angle that grows with the position: these are its cosine and sine.",
      ),
      names: sum(t("number"), t("cosine, sine")),
    }),
    dot: () => ({
      sums: `${value} = ${sumOf(terms)}`,
      words: t("The query of {row} times the key of {key}: {count} products, number by number, added up.", {
        row,
        key: named,
        count: terms.length,
      }),
      names: sum(t("query of {token}", { token: row }), t("key of {token}", { token: named })),
    }),
    divide: () => ({
      sums: `${value} = ${inSum(first.a)} ÷ ${short(stage.factor)}${bias ? ` + ${t("distance {value}", { value: inSum(bias) })}` : ""}`,
      words: bias
        ? t("The product of query and key, divided by √d_head = {root}; then the number for the distance is added.", {
            root: short(stage.factor),
          })
        : t("The product of query and key, divided by √d_head = {root}.", { root: short(stage.factor) }),
      names: plain,
    }),
    mask: () => ({
      sums: Number.isNaN(recorded) ? t("−∞: closed") : `${value} = ${short(first.a)}`,
      words: Number.isNaN(recorded)
        ? t("{key} comes later than {row}: the mask replaces the score {score}, so that softmax gives it 0.", {
            key: named,
            row,
            score: short(first.a),
          })
        : spot.row === S.step && blockOf(S, S.opened.block)?.attention === "decoder"
          ? t("{row} is the newest token: nothing comes later, so the mask closes nothing in its row.", { row })
          : t("The mask leaves this score open: it stays as it is."),
      names: plain,
    }),
    softmax: () => ({
      sums: t("{value} = e^({score} − {largest}) ÷ sum = {power} ÷ {sum}", {
        value,
        score: short(terms.find(({ from }) => from.column === spot.column)?.a ?? NaN),
        largest: inSum(origin.top ?? 0),
        power: short(origin.mine ?? 0),
        sum: short(origin.total ?? 0),
      }),
      words: t(
        "Each score of the row of {row}, less the largest, becomes a power of e; this one is {share} of their sum.",
        { row, share: wholePercent(result) },
      ),
      names: { name: tokenName, a: t("score"), b: "", product: ({ b }) => b, result: t("e^(score − largest)") },
    }),
    mix: () => ({
      sums: `${value} = ${sumOf(terms)}`,
      words: t("Number {number} of the value of each token, times its weight in the row of {row}, added up.", {
        number: spot.column + 1,
        row,
      }),
      names: sum(t("weight"), t("value"), tokenName),
    }),
    join: () => ({
      sums: t("{value} = number {number} of head {head}", {
        value,
        number: first.from.column + 1,
        head: first.from.head,
      }),
      words: t("Concatenation: the results of the heads stand side by side; each number stays as it is."),
      names: plain,
    }),
    multiply: () => ({
      sums: `${value} = ${sumOf(terms)}`,
      words: t("What the heads found, times the gate."),
      names: sum(t("heads"), t("gate"), () => ""),
    }),
    norm: () => ({
      sums: `${value} = (${short(first.a)} − ${inSum(origin.mean ?? 0)}) ÷ ${short(origin.root ?? 1)} × ${inSum(origin.scale ?? 1)}${stage.bias ? ` + ${inSum(bias)}` : ""}`,
      words: t(
        "The mean of the vector of {row} ({mean}) is subtracted, and the result divided by its standard deviation ({deviation}); then the learned scale γ and shift β of number {number}.",
        { row, mean: short(origin.mean ?? 0), deviation: short(origin.root ?? 1), number: spot.column + 1 },
      ),
      names: plain,
    }),
    rms: () => ({
      sums: `${value} = ${short(first.a)} ÷ ${short(origin.root ?? 1)} × ${inSum(origin.scale ?? 1)}`,
      words: t("The number divided by the root mean square of the vector of {row}, times a learned scale.", { row }),
      names: plain,
    }),
    other: () => ({
      sums: `${value}`,
      words: t("Several operations lie in between; Code has their lines."),
      names: null,
    }),
  };
  const activation = () => ({
    sums:
      stage.op === "relu"
        ? `${value} = max(0, ${short(first.a)})`
        : `${value} = ${stage.op.replace("_tanh", "").toUpperCase()}(${short(first.a)})`,
    words: t("Each number for itself: this is what makes the network more than one matrix."),
    names: plain,
  });
  const found = (ways[stage.op] ?? activation)();
  const differs = !Number.isNaN(recorded) && Math.abs(recorded - result) > 1e-3 * Math.max(1, Math.abs(recorded));
  if (!differs) return { head, ...found };
  const changed = t("A change to this head has replaced it: the model's own number would be {value}.", {
    value: short(result),
  });
  return { head, ...found, sums: t("{value}, changed", { value: short(recorded) }), words: changed };
}

/** What a linear operation multiplies and adds. @param {MachineStage} stage @param {{ row: string, token: string, column: number, matrix: string, count: string }} fields */
function linearText({ point, bias }, fields) {
  if (point === "logits")
    return bias
      ? t(
          "The whole vector of {row} ({count} numbers) times the row of {token} in {matrix}: {count} products, added up, and the bias.",
          fields,
        )
      : t(
          "The whole vector of {row} ({count} numbers) times the row of {token} in {matrix}: {count} products, added up.",
          fields,
        );
  if (shortOf(point) === "out_proj")
    return bias
      ? t(
          "The joined results of all heads for {row} ({count} numbers) times column {column} of {matrix}: {count} products, added up, and the bias.",
          fields,
        )
      : t(
          "The joined results of all heads for {row} ({count} numbers) times column {column} of {matrix}: {count} products, added up.",
          fields,
        );
  return bias
    ? t(
        "The whole vector of {row} ({count} numbers) times column {column} of {matrix}: {count} products, added up, and the bias.",
        fields,
      )
    : t(
        "The whole vector of {row} ({count} numbers) times column {column} of {matrix}: {count} products, added up.",
        fields,
      );
}
