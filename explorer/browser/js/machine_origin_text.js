// Where a number of the machine is from, in words: the equation with its numbers, and the names of its terms.

import { shortOf } from "./machine_numbers.js";
import { blockOf, tokensOf } from "./machine_state.js";
import { wholePercent } from "./numbers.js";

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
        ? value.toExponential(1).replace("-", "−")
        : value.toFixed(3).replace("-", "−");

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
  if (stage.columns) return `number ${column + 1}`;
  const keys = blockOf(S, stage.block)?.attention === "decoder" ? "target" : "source";
  return `“${tokensOf(S, keys)[column] ?? column + 1}”`;
}

/** What a number is, as a sentence. @param {MachineStage} stage @param {MachineSpot} spot @param {string} value @param {string} row @param {string} column */
function placeText(stage, { head, point }, value, row, column) {
  const where = head ? ` in head ${head}` : "";
  if (stage.op === "ids") return `${value} is the id of ${row}.`;
  if (point === "logits") return `${value} is the score of ${column} as the word after ${row}.`;
  if (stage.columns) return `${value} is ${column} of ${row} in ${stage.title}${head ? `, head ${head}` : ""}.`;
  if (value === "masked") return `The score of ${row} and ${column}${where} is masked.`;
  if (shortOf(point) === "weights") return `${value} is the weight that ${row} gives to ${column}${where}.`;
  return `${value} is the score of ${row} and ${column}${where}: ${stage.title}.`;
}

/**
 * @param {MachineState} S @param {MachineStage} stage @param {MachineSpot} spot @param {MachineOrigin} origin
 * @returns {{ head: string, sums: string, words: string, names: Names | null }}
 */
export function equationOf(S, stage, spot, origin) {
  const { terms, result, recorded, bias = 0 } = origin;
  const short_ = shortOf(stage.point);
  const titleOf = (/** @type {string} */ point) => S.data.stages.find((each) => each.point === point)?.title ?? point;
  const row = `“${tokensOf(S, stage.side)[spot.row] ?? spot.row + 1}”`;
  const value = stage.op === "softmax" ? `${short(recorded)}` : Number.isNaN(recorded) ? "masked" : short(recorded);
  const named = columnName(S, stage, spot.column);
  const head = `${placeText(stage, spot, value, row, named)} Where is it from?`;
  const plus = stage.bias || bias ? ` + bias ${short(bias)}` : "";
  /** @type {(a: string, b: string, name?: Names["name"]) => Names} */
  const sum = (a, b, name = (_, i) => `${i + 1}`) => ({
    name,
    a,
    b,
    product: (term) => term.a * term.b,
    result: "product",
  });
  /** @type {Names} */
  const plain = { name: ({ from }) => titleOf(from.point), a: "number", b: "", product: null, result: "" };
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
      logits: "the output matrix",
    }[short_] ?? "the matrix";

  /** @type {Record<string, () => { sums: string, words: string, names: Names | null }>} */
  const ways = {
    ids: () => ({
      sums: `id ${recorded}`,
      words: "The id is the token's number in the vocabulary: the tokenizer looks it up.",
      names: null,
    }),
    lookup: () => ({
      sums: `${value} = row ${origin.id} of the table, ${named}`,
      words: `The token's id is ${origin.id}, and its vector is that row of the embedding table. Training has set these numbers.`,
      names: null,
    }),
    times: () => ({
      sums: `${value} = ${inSum(first.a)} × ${short(stage.factor)}`,
      words:
        "Each number of the vector is multiplied by the same factor, √d_model, so that the position added next stays small beside it.",
      names: plain,
    }),
    plus: () => ({
      sums: `${value} = ${terms.map(({ a }) => inSum(a)).join(" + ")}`,
      words:
        short_ === "positions"
          ? "The same number of the vector for this position is added."
          : "The sublayer's result is added to what went into it: the residual connection.",
      names: {
        ...plain,
        name: ({ from }, i) =>
          from.point.endsWith(".added") ? "position" : i ? titleOf(from.point) : `before: ${titleOf(from.point)}`,
      },
    }),
    copy: () => ({ sums: `${value} = ${short(first.a)}`, words: "Nothing is added here.", names: plain }),
    linear: () => ({
      sums: `${value} = ${sumOf(terms)}${plus}`,
      words: `${short_ === "out_proj" ? `The joined results of all heads for ${row}` : `The whole vector of ${row}`} (${terms.length} numbers) times ${stage.point === "logits" ? `the row of ${named} in` : `column ${spot.column + 1} of`} ${matrix}: ${terms.length} products, added up${stage.bias ? ", and the bias" : ""}.`,
      names: sum(titleOf(first.from.point), matrix),
    }),
    split: () => ({
      sums: `${value} = number ${first.from.column + 1} of ${titleOf(first.from.point)}`,
      words: `The long vector is the whole vector of ${row} times ${short_ === "query" ? "W_Q" : short_ === "key" ? "W_K" : "W_V"}; head ${spot.head} takes its numbers ${(spot.head - 1) * stage.columns + 1} to ${spot.head * stage.columns}. Choose the number below to see that product.`,
      names: plain,
    }),
    rotate: () => ({
      sums: `${value} = ${sumOf(terms)}`,
      words: "RoPE turns each pair of numbers by an angle that grows with the position: these are its cosine and sine.",
      names: sum("number", "cosine, sine"),
    }),
    dot: () => ({
      sums: `${value} = ${sumOf(terms)}`,
      words: `The query of ${row} times the key of ${named}: ${terms.length} products, number by number, added up.`,
      names: sum(`query of ${row}`, `key of ${named}`),
    }),
    divide: () => ({
      sums: `${value} = ${inSum(first.a)} ÷ ${short(stage.factor)}${bias ? ` + distance ${inSum(bias)}` : ""}`,
      words: `The product of query and key, divided by √d_head = ${short(stage.factor)}${bias ? "; then the number for the distance is added" : ""}.`,
      names: plain,
    }),
    mask: () => ({
      sums: Number.isNaN(recorded) ? "−∞: closed" : `${value} = ${short(first.a)}`,
      words: Number.isNaN(recorded)
        ? `${named} comes later than ${row}: the mask replaces the score ${short(first.a)}, so that softmax gives it 0.`
        : "The mask leaves this score open: it stays as it is.",
      names: plain,
    }),
    softmax: () => ({
      sums: `${value} = e^(${short(terms.find(({ from }) => from.column === spot.column)?.a ?? NaN)} − ${inSum(origin.top ?? 0)}) ÷ sum = ${short(origin.mine ?? 0)} ÷ ${short(origin.total ?? 0)}`,
      words: `Each score of the row of ${row}, less the largest, becomes a power of e; this one is ${wholePercent(result)} of their sum.`,
      names: { name: tokenName, a: "score", b: "", product: ({ b }) => b, result: "e^(score − largest)" },
    }),
    mix: () => ({
      sums: `${value} = ${sumOf(terms)}`,
      words: `Number ${spot.column + 1} of the value of each token, times its weight in the row of ${row}, added up.`,
      names: sum("weight", "value", tokenName),
    }),
    join: () => ({
      sums: `${value} = number ${first.from.column + 1} of head ${first.from.head}`,
      words: "Concatenation: the results of the heads stand side by side; each number stays as it is.",
      names: plain,
    }),
    multiply: () => ({
      sums: `${value} = ${sumOf(terms)}`,
      words: "What the heads found, times the gate.",
      names: sum("heads", "gate", () => ""),
    }),
    norm: () => ({
      sums: `${value} = (${short(first.a)} − ${inSum(origin.mean ?? 0)}) ÷ ${short(origin.root ?? 1)} × ${inSum(origin.scale ?? 1)}${stage.bias ? ` + ${inSum(bias)}` : ""}`,
      words: `The mean of the vector of ${row} (${short(origin.mean ?? 0)}) is subtracted, and the result divided by its standard deviation (${short(origin.root ?? 1)}); then the learned scale γ and shift β of number ${spot.column + 1}.`,
      names: plain,
    }),
    rms: () => ({
      sums: `${value} = ${short(first.a)} ÷ ${short(origin.root ?? 1)} × ${inSum(origin.scale ?? 1)}`,
      words: `The number divided by the root mean square of the vector of ${row}, times a learned scale.`,
      names: plain,
    }),
    other: () => ({ sums: `${value}`, words: "Several operations lie in between; Code has their lines.", names: null }),
  };
  const activation = () => ({
    sums:
      stage.op === "relu"
        ? `${value} = max(0, ${short(first.a)})`
        : `${value} = ${stage.op.replace("_tanh", "").toUpperCase()}(${short(first.a)})`,
    words: "Each number for itself: this is what makes the network more than one matrix.",
    names: plain,
  });
  const found = (ways[stage.op] ?? activation)();
  const differs = !Number.isNaN(recorded) && Math.abs(recorded - result) > 1e-3 * Math.max(1, Math.abs(recorded));
  if (!differs) return { head, ...found };
  const changed = `A change to this head has replaced it: the model's own number would be ${short(result)}.`;
  return { head, ...found, sums: `${short(recorded)}, changed`, words: changed };
}
