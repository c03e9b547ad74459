// The machine of a sentence that was decoded in the browser: the two messages of explorer/browser/machine_payload.py.
// What they say of the model whatever it reads comes from Python (machine_model.py, `exported`).

import { ALTERNATIVES } from "./decode.js";
import { editTap } from "./edits.js";
import { allowedLogProbs, best, EOS, openingOf } from "./search.js";
import { largestOf } from "./vectors.js";
import { t } from "../words.js";

/** @import { MachineBlock, MachineOpened, MachinePicture, Numbers } from "../types" */
/** @import { MachineDetails, MachineMessage, MachineWords } from "../structs" */
/** @typedef {import("./vectors.js").Vector} Vector */
/** @typedef {import("./decode.js").LiveModel} LiveModel */
/** @typedef {import("./decode.js").Request} Request */
/** @typedef {Record<string, any>} Run what passed each point */

const [NUMBERS, COLUMNS] = [16, 64]; // of a vector in a small and in a large picture
const MATRIX = 32; // most rows and columns in the picture of a matrix
const SPLIT = ["query", "key", "value", "output"]; // points with the vectors of all heads side by side
const MAPS = ["scores", "masked", "weights"]; // points with a map for each head
const AFTER = ["joined", "gated", "out_proj"]; // points that follow the heads

/** The runs of the sentence that was asked for last, since every block of it is opened from them. @type {{ live?: LiveModel, of?: string, runs: Run[] }} */
let latest = { runs: [] };

/**
 * The data of the diagram; `seq`, the name of the decoding, is empty.
 * @param {LiveModel} live @param {string} text @param {Request} request with the whole path @param {MachineWords} words
 * @returns {{ header: MachineMessage, arrays: Record<string, Numbers> }}
 */
export function machineOf(live, text, request, { machine }) {
  const runs = runsOf(live, text, request);
  const sources = runs[0]["src.embedding"]?.length ?? 0;
  /** @type {Record<string, MachinePicture>} */
  const pictures = {};
  /** @type {Vector[]} */
  const drawn = [];
  let at = 0;
  for (const block of machine.blocks) {
    const { picture } = machine.facts[block.name];
    if (!picture || block.kind === "memory") continue;
    const rows = pictured(live, block, picture, runs);
    const { values, shape } = matrixOf(rows);
    if (!values.every(Number.isFinite))
      throw new Error(t("{block} holds a value that is not a number; the model is broken.", { block: block.name }));
    const scale = block.attention ? fullColour(rows) : usualSize(values);
    pictures[block.name] = { ...picture, scale, at, rows: shape[0], width: shape[1] };
    drawn.push(values);
    at += values.length;
  }
  const facts = machine.blocks.map(({ name, kind, reads }) => {
    const { shape, ...known } = machine.facts[name];
    const picture = pictures[kind === "memory" ? reads[0] : name] ?? null;
    return [name, { ...known, shape: shape.map((size) => (size < 0 ? sources : size)), picture }];
  });
  return { header: { ...machine, facts: Object.fromEntries(facts) }, arrays: { numbers: joined(drawn, [at]) } };
}

/**
 * The data of the open block; `seq`, the name of the decoding, is empty.
 * @param {LiveModel} live @param {string} text @param {Request} request with the whole path @param {MachineWords} words
 * @param {number} step that on screen, from 1, if each has rows of its own (`stepwise`), otherwise 0
 * @param {MachineOpened} opened
 * @returns {{ header: MachineDetails, arrays: Record<string, Numbers> }}
 */
export function detailsOf(live, text, request, words, step, opened) {
  const runs = runsOf(live, text, request);
  const run = runs[step ? step - 1 : runs.length - 1];
  const block = words.machine.blocks.find(({ name }) => name === opened.block);
  if (!block || !run) throw new Error(t("There is no block {block} at step {step}.", { block: opened.block, step }));
  const { attention, name } = block;
  const heads = attention ? words.machine.facts[name].shape[0] : 0;
  /** @type {Record<string, Numbers>} */
  const arrays = {};
  const numbers = Object.entries(words.points[name]).map(([point, known]) => {
    const parts = partsOf(run, point, heads);
    const rows = parts[Math.max(opened.head, 1) - 1] ?? parts[0];
    arrays[`numbers.${known.point}`] = matrixOf(rows.map((row) => Float32Array.of(...described(row))));
    const headed = attention !== "" && [...SPLIT, ...MAPS].includes(known.point);
    const after = AFTER.includes(known.point);
    if (attention ? (opened.head && headed) || after : point !== "logits")
      arrays[known.point] = matrixOf(attention && !after ? rows : rows.map((row) => row.subarray(0, COLUMNS)));
    const [mean, deviation] = described(joined(parts.flat(), []).values).map((value) => Number(value.toPrecision(5)));
    const shape = [...(headed ? [heads] : []), rows.length, rows[0].length];
    return { ...known, shape, mean, deviation };
  });
  if (attention) Object.assign(arrays, projectionsOf(live, run, words, name, attention === "cross", heads));
  const full = attention ? fullColour(partsOf(run, `${name}.weights`, heads).flat()) : 1;
  return { header: { part: "details", seq: "", step, opened, heads, full, numbers, code: words.code[name] }, arrays };
}

/**
 * Numbers by place; as explorer/browser/machine_numbers.py.
 * @param {LiveModel} live @param {string} text @param {Request} request with the whole path @param {MachineWords} words
 * @param {number} step that on screen, from 1, if each has rows of its own, otherwise 0
 * @param {import("../structs").TensorSlice[]} slices
 * @returns {{ header: import("../structs").MachineNumbers, arrays: Record<string, Numbers> }}
 */
export function numbersOf(live, text, request, words, step, slices) {
  const runs = runsOf(live, text, request);
  const run = runs[step ? step - 1 : runs.length - 1];
  const found = slices.map(({ name, head, row, rows, column, columns }) => {
    const whole = rowsOf(live, run, words, name, head).slice(row, row + rows);
    const cut = whole.map((numbers) => numbers.subarray(column, column + columns));
    return joined(cut, [cut.length, cut[0]?.length ?? 0]);
  });
  return { header: { part: "numbers", seq: "", step, slices }, arrays: Object.fromEntries(found.entries()) };
}

/** A point or a parameter as rows. @param {LiveModel} live @param {Run} run @param {MachineWords} words @param {string} name @param {number} head @returns {Vector[]} */
function rowsOf({ model }, run, { machine }, name, head) {
  const [, stage, kind] = /** @type {RegExpExecArray} */ (/^(?:(.*)\.)?([^.]*)$/.exec(name));
  if (kind === "tokens") return run[name].map((/** @type {number} */ id) => Float32Array.of(id));
  if (kind === "added")
    return run[`${stage}.positions`].map((/** @type {Vector} */ _, /** @type {number} */ i) =>
      addedAt(model, run, stage, i),
    );
  if (name in run) {
    const block = machine.stages.find(({ point }) => point === name)?.block ?? "";
    const { attention } = /** @type {MachineBlock} */ (machine.blocks.find((each) => each.name === block));
    return partsOf(run, name, attention ? machine.facts[block].shape[0] : 0)[Math.max(head, 1) - 1];
  }
  const numbers = model.weights[name];
  const known = machine.stages.find(({ weight }) => weight && weight === stage);
  if (!known || !numbers) throw new Error(t("There are no numbers {name}.", { name }));
  const width = kind === "bias" ? numbers.length : known.width;
  return Array.from({ length: numbers.length / width }, (_, i) => numbers.subarray(i * width, (i + 1) * width));
}

/**
 * The run over the whole path, or for a decoder that is not causal, a run for each step.
 * @param {LiveModel} live @param {string} text @param {Request} request @returns {Run[]}
 */
export function runsOf(live, text, { path = [], edits = [] }) {
  const of = JSON.stringify([text, path, edits]);
  if (latest.live === live && latest.of === of) return latest.runs;
  const { model, tokenizers } = live;
  const edit = editTap(edits, model);
  const tapInto = (/** @type {Run} */ run) => (/** @type {string} */ point, /** @type {any} */ value) =>
    (run[point] = edit(point, value));
  /** @type {Run} */
  const source = { edits };
  const ids = tokenizers.source.encode(text).ids;
  const [first] = openingOf(model.config, ids);
  const start = model.start([...ids, EOS], tapInto(source));
  const lengths = model.config.causal ? [path.length] : path.map((_, i) => i + 1);
  const runs = lengths.map((length) => {
    const run = { ...source };
    model.read([first, ...path.slice(0, length - 1)], start, tapInto(run));
    return run;
  });
  latest = { live, of, runs };
  return runs;
}

/** The rows of a point for each head; all in one if it has no heads. @param {Run} run @param {string} point @param {number} heads @returns {Vector[][]} */
export function partsOf(run, point, heads) {
  const short = point.slice(point.lastIndexOf(".") + 1);
  const value = run[point];
  if (!heads) return [value];
  if (MAPS.includes(short)) return value.map((/** @type {Vector[]} */ rows) => padded(rows, short));
  if (!SPLIT.includes(short)) return [value];
  const size = value[0].length / heads;
  return Array.from({ length: heads }, (_, h) =>
    value.map((/** @type {Vector} */ row) => row.slice(h * size, (h + 1) * size)),
  );
}

/** Rows of weights or scores with all keys of the last row: closed cells have weight 0, or no number. @param {Vector[]} rows @param {string} short */
function padded(rows, short) {
  const empty = new Float32Array(rows[rows.length - 1].length).fill(short === "masked" ? NaN : 0);
  return rows.map((row) => {
    const whole = empty.slice();
    whole.set(row);
    return whole;
  });
}

/** The rows in the picture of a block's result. @param {LiveModel} live @param {MachineBlock} block @param {MachinePicture} picture @param {Run[]} runs @returns {Vector[]} */
function pictured({ model }, block, { kind, side }, runs) {
  const each = side === "source" ? runs.slice(-1) : runs;
  const result = block.points[block.points.length - 1];
  if (kind === "map") {
    const rows = each.flatMap((run) => {
      /** @type {Vector[][]} */
      const maps = run[`${block.name}.weights`];
      return maps[0].map((first, q) =>
        first.map((_, key) => maps.reduce((sum, rows) => sum + rows[q][key], 0) / maps.length),
      );
    });
    return padded(rows, "weights");
  }
  if (side === "step") {
    /** @type {Vector[]} */
    const rows = each.length > 1 ? each.map((run) => run[result].at(-1)) : each[0][result];
    const likeliest = (/** @type {Vector} */ logits, /** @type {number} */ row) =>
      best(allowedLogProbs(logits, model.config, row === 0), ALTERNATIVES);
    return rows.map((logits, row) => Float32Array.from(likeliest(logits, row), (id) => logits[id]));
  }
  const cut = (/** @type {Vector} */ row) => row.subarray(0, NUMBERS);
  if (block.kind !== "positions") return each.flatMap((run) => run[result].map(cut));
  const stack = block.stack === "source" ? "src" : "tgt";
  const count = runs[runs.length - 1][result].length;
  return Array.from({ length: count }, (_, i) => cut(addedAt(model, runs[runs.length - 1], stack, i)));
}

/** The vector that is added to a token, at its own position or where a change has put it. @param {LiveModel["model"]} model @param {Run} run @param {string} side "src" or "tgt" @param {number} row @returns {Vector} */
function addedAt(model, { edits }, side, row) {
  const moved = /** @type {NonNullable<Request["edits"]>} */ (edits).find(
    (edit) => edit.op === "position" && (edit.kind === "encoder") === (side === "src") && edit.row === row,
  );
  return /** @type {Vector} */ (model.position(/** @type {"src" | "tgt"} */ (side), moved?.to ?? row));
}

/** The weights of all heads; the inputs of the three matrices, the matrices as pictures, and the outputs. @param {LiveModel} live @param {Run} run @param {MachineWords} words @param {string} name @param {boolean} cross @param {number} heads */
function projectionsOf({ model }, run, { reads }, name, cross, heads) {
  const maps = partsOf(run, `${name}.weights`, heads);
  /** @type {Record<string, Numbers>} */
  const arrays = { heads: joined(maps.flat(), [heads, maps[0].length, maps[0][0].length]) };
  for (const short of ["q_proj", "k_proj", "v_proj"]) {
    const point = `${name}.${short}`;
    const { weight } = model.affine(point.replace(/^(\w+)\./, "$1.layers."));
    arrays[`W.${short}`] = pooled(weight.map(Math.abs), model.config.d_model, heads);
    arrays[short] = matrixOf(run[point]);
    // In self-attention, all three read the same.
    if (short === "q_proj" || (cross && short === "k_proj")) arrays[`x.${short}`] = matrixOf(run[reads[point]]);
  }
  return arrays;
}

/** A matrix [out, in] as a small picture [in, out]: means over equal tiles, each within one head. @param {Float32Array} matrix @param {number} high @param {number} heads @returns {Numbers} */
function pooled(matrix, high, heads) {
  const wide = matrix.length / high;
  const divisor = (/** @type {number} */ size, /** @type {number} */ most) => {
    let part = Math.min(size, most);
    while (size % part) part--;
    return part;
  };
  const columns = heads * divisor(wide / heads, Math.max(1, Math.floor(MATRIX / heads)));
  const rows = divisor(high, MATRIX);
  const sums = new Float64Array(rows * columns);
  matrix.forEach((value, i) => {
    const row = Math.floor(((i % high) * rows) / high);
    sums[row * columns + Math.floor((Math.floor(i / high) * columns) / wide)] += value;
  });
  return { values: Float32Array.from(sums, (sum) => (sum * sums.length) / matrix.length), shape: [rows, columns] };
}

/** Mean, standard deviation and length of the numbers that are not masked. @param {Vector} row */
function described(row) {
  const known = row.filter((value) => !Number.isNaN(value));
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const squares = (/** @type {number} */ from) => known.reduce((sum, value) => sum + (value - from) ** 2, 0);
  return [mean, Math.sqrt(squares(mean) / known.length), Math.sqrt(squares(0))];
}

/** The weight that has the full colour: the median of the largest weights of the rows. @param {Vector[]} rows */
const fullColour = (rows) => Number(Math.max(quantile(Float32Array.from(rows, largestOf), 0.5), 1e-6).toPrecision(4));

/** The magnitude that has the full colour: 98 % of the numbers are smaller. @param {Float32Array} values */
const usualSize = (values) => Number(Math.max(quantile(values.map(Math.abs), 0.98), 1e-9).toPrecision(4));

/** A quantile, between two numbers if it falls there. @param {Float32Array} values @param {number} share */
function quantile(values, share) {
  const sorted = values.toSorted();
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * (sorted[Math.ceil(at)] - sorted[low]);
}

/** @param {Vector[]} rows of the same length @returns {Numbers} */
export const matrixOf = (rows) => joined(rows, [rows.length, rows[0].length]);

/** @param {Vector[]} vectors @param {number[]} shape @returns {Numbers} */
function joined(vectors, shape) {
  const values = new Float32Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const vector of vectors) {
    values.set(vector, at);
    at += vector.length;
  }
  return { values, shape };
}
