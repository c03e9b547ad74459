// One sentence decoded in the browser, as the message that the views draw. As model/decoding/decode.py and payload.py.

import { METHOD } from "../method.js";
import { KINDS } from "../names.js";
import { editTap, scopeOf } from "./edits.js";
import { argmax, beamSearch, best, EOS, openingOf, sampler, UNK, walk } from "./search.js";
import { largestOf, power } from "./vectors.js";
import { joins, spansOf } from "../weights.js";
import { t } from "../words.js";

/** @import { Kind, Message } from "../types" */
/** @typedef {import("./transformer.js").Transformer} Transformer */
/** @typedef {import("./transformer.js").Tap} Tap */
/** @typedef {ReturnType<typeof import("./tokenizer.js").readTokenizers>} Tokenizers */
/** @typedef {{ name: string, trained: boolean, model: Transformer, tokenizers: Tokenizers, means: Record<string, Float32Array> }} LiveModel `means`: of the output of each head, by kind, layer and head */
/** @typedef {import("../method.js").Method} Method */
/** @typedef {{ kind: Kind, shape: import("../structs").Shape, weights: Float32Array, mask: Uint8Array }} KindWeights all heads of one kind [layer, head, query, key]; no layers if the model has none of it */
/** @typedef {Map<string, Float32Array[][][]>} Calls of each block, the weights [head][query][key] of each call */
/** @typedef {{ message: Message, path: number[], text: string, source: { length: number, unknown: string[] }, hypotheses: { path: number[], text: string, score: number, logProb: number, finished: boolean }[] }} Answer */
/** @typedef {{ path?: number[], method?: Partial<Method>, edits?: import("./edits.js").HeadEdit[] }} Request */

export const ALTERNATIVES = 10;
const TEMPERATURES = [0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0];
const BY = /** @type {const} */ ({ greedy: "chosen", sample: "drawn at random", beam: "taken by beam search" });

/**
 * Decode a text after the target ids of `path`, recording every head. A path that ends with <eos> is the whole target.
 * A decoder alone reads the source itself, so a path has what each of its rows predicts: first the rest of the source.
 * @param {LiveModel} live @param {string} text @param {Request} request @returns {Answer} with the message for the store
 */
export function decode({ name, trained, model, tokenizers }, text, { path = [], method = {}, edits = [] } = {}) {
  const { config } = model;
  const { source, target } = tokenizers;
  const encoded = source.encode(text);
  if (!encoded.ids.length || !text.trim()) throw new Error(t("Type a sentence."));
  const longest = config.max_positions - (model.hasEncoder ? 1 : 2);
  if (encoded.ids.length > longest)
    throw new Error(
      t(
        "This model reads at most {n} source token; this sentence has {own}.",
        "This model reads at most {n} source tokens; this sentence has {own}.",
        { n: longest, own: encoded.ids.length },
      ),
    );
  const src = model.hasEncoder ? [...encoded.ids, EOS] : [];
  const prompt = openingOf(config, encoded.ids);
  if (path.some((id) => id >= config.tgt_vocab_size))
    throw new Error(t("The link’s path does not fit this model; the model’s own choice is shown."));
  const how = { ...METHOD, ...method };
  const asked = path.length ? path : prompt.slice(1);
  const others = prompt.slice(1).findIndex((id, i) => asked[i] !== id);
  const opening = others < 0 ? prompt : prompt.slice(0, others + 1);
  const before = opening.length - 1; // rows that lead to the rest of the prompt
  const most = Math.min(how.max_length || 2 * (src.length || prompt.length) + 10, config.max_positions);
  let limit = Math.min(Math.max(before + most, asked.length), config.max_positions);
  let given = asked.slice(before, limit);
  const edited = editTap(edits, model);
  /** @type {import("./search.js").Hypothesis[]} */
  let hypotheses = []; // of beam search
  if (how.method === "beam" && given[given.length - 1] !== EOS && (model.hasEncoder || limit > asked.length)) {
    const step = (/** @type {number} */ token, /** @type {any} */ state) => model.step(token, state, edited);
    let state = model.start(src, edited);
    // A decoder alone continues what it has read; the scores are those of what follows.
    const read = model.hasEncoder ? opening : [...opening, ...given];
    for (const token of read.slice(0, -1)) ({ state } = step(token, state));
    const known = read.slice(1);
    const prefix = model.hasEncoder ? given : [];
    const found = beamSearch(step, state, config, limit - known.length, prefix, how, read[read.length - 1]);
    hypotheses = found.map((each) => ({ ...each, path: [...known, ...each.path] }));
    given = hypotheses[0].path.slice(before);
    limit = before + Math.max(1, given.length); // a hypothesis that was cut off stays cut off
  }

  /** @type {Calls} */
  const calls = new Map();
  const once = computedOnce(model, JSON.stringify([src, edits]), calls);
  const step = (/** @type {number} */ token, /** @type {import("./transformer.js").DecodeState} */ state) =>
    once(`${[...state.tokens, token]}`, edited, (tap) => model.step(token, state, tap));
  const start = once("", edited, (tap) => model.start(src, tap));
  const choose = how.method === "sample" ? sampler(how.seed, how.temperature, how.top_k, how.top_p) : argmax;
  const steps = [...walk(step, start, config, limit, given, choose, opening)];
  const ids = steps.map(({ token }) => token);
  const read = [opening[0], ...ids.slice(0, -1)];
  const ranked = steps.map(
    ({ logProbs, next }) => (next.ranked ??= { top: best(logProbs, ALTERNATIVES), sums: logSums(logProbs) }),
  );
  const tops = ranked.map(({ top }) => top);
  const ending = { tokens: [target.label(EOS)], words: [-1] };
  // A prompt that was read as it was typed is labelled as it was typed; its words are counted before those that follow.
  const isTyped = !model.hasEncoder && config.separator && before + 1 >= encoded.tokens.length;
  const typed = isTyped ? encoded : NOTHING;
  const rest = read.slice(typed.tokens.length);
  const shift = Math.max(-1, ...typed.words) + 1;
  const words = target.wordsOf([...rest, ids[ids.length - 1]]).slice(0, -1);
  const sides = {
    source: model.hasEncoder ? joined(encoded, ending) : NOTHING,
    target: joined(typed, {
      tokens: rest.map(target.label),
      words: words.map((word) => (word < 0 ? word : word + shift)),
    }),
  };
  const predicted = ids.map(target.label);
  const untaught = config.separator ? before : 0; // rows in which the model was never trained to predict
  const maps = KINDS.map((kind) => weightsOf(kind, calls, src.length, ids.length));
  const arrays = maps.flatMap(({ kind, shape, weights, mask }) => [
    [kind, { values: weights, shape: Object.values(shape) }],
    [`${kind}.mask`, { values: mask, shape: [shape.queries, shape.keys] }],
  ]);
  const subwords = Object.values(sides).some(({ words }) => spansOf(words).length < words.length);
  const chosen = tops.flatMap((top, row) => (row < before || top[0] === ids[row] ? [] : [row]));
  /** @template T @param {(top: number[], row: number) => T} what @returns {(T | never[])[]} */
  const offered = (what) => tops.map((top, row) => (row < untaught ? [] : what(top, row)));
  const probability = (/** @type {number} */ logProb) => Math.fround(Math.exp(logProb));
  const decoding = {
    model: name,
    trained,
    edits: edits.map(described),
    source: { ...sides.source, unknown: unknown(src) },
    target: {
      ...sides.target,
      predicted,
      predicted_ids: ids,
      probabilities: steps.map(({ logProbs, token }) => probability(logProbs[token])),
      chosen,
      by: path.length ? "chosen" : BY[how.method],
      given: before,
    },
    alternatives: {
      tokens: offered((top) => top.map(target.label)),
      ids: offered((top) => top),
      joined: tops.map((top, row) => top.map((id) => joins(target.wordsOf([read[row], id]), 1))),
      probabilities: offered((top, row) => top.map((id) => probability(steps[row].logProbs[id]))),
    },
    heat: { temperatures: TEMPERATURES, log_sums: ranked.map(({ sums }) => sums) },
    diagram: null, // the page has it
    checks: checksOf(maps),
    shapes: Object.fromEntries(maps.map(({ kind, shape }) => [kind, shape])),
    subwords,
  };
  return {
    message: { header: { decoding }, arrays: Object.fromEntries(arrays) },
    path: ids,
    text: target.decode(ids.slice(before)),
    source: { length: encoded.ids.length, unknown: unknown(encoded.ids).map((i) => encoded.tokens[i]) },
    hypotheses: hypotheses.map((each) => ({ ...each, text: target.decode(each.path.slice(before)) })),
  };
}

/** The places of the tokens that the model does not know. @param {number[]} ids */
const unknown = (ids) => ids.flatMap((id, i) => (id === UNK ? [i] : []));

/** @typedef {{ tokens: string[], words: number[] }} Labels tokens, and the word of each */
const NOTHING = /** @type {Labels} */ ({ tokens: [], words: [] });

/** One side after another. @param {Labels} one @param {Labels} other @returns {Labels} */
const joined = (one, other) => ({ tokens: [...one.tokens, ...other.tokens], words: [...one.words, ...other.words] });

/** An edit as on screen, counted from 1. @param {import("./edits.js").HeadEdit} edit */
const described = ({ kind, layer, head, op, row, to }) =>
  to !== undefined
    ? `${kind === "encoder" ? "source" : "target"} token ${(row ?? 0) + 1} at position ${to + 1}`
    : `${kind} layer ${layer + 1} head ${head + 1}: ${op}${row === undefined ? "" : ` row ${row + 1}`}`;

/** ln Σ p^(1/T) at each of `TEMPERATURES`, 0 at temperature 1. @param {Float32Array} logProbs */
function logSums(logProbs) {
  const largest = largestOf(logProbs);
  const sums = new Float64Array(TEMPERATURES.length);
  for (let i = 0; i < logProbs.length; i++) {
    // Powers of p^(1/3) cost a fraction of an exponential each.
    const third = power((logProbs[i] - largest) / 3);
    const square = third * third;
    const cube = square * third; // p
    const tenth = square * square * square * square * square; // p^(10/3)
    sums[0] += tenth * tenth * tenth;
    sums[1] += tenth;
    sums[2] += cube * cube;
    sums[3] += power((logProbs[i] - largest) / 0.7);
    sums[5] += square;
    sums[6] += Math.sqrt(cube);
    sums[7] += third;
  }
  return Array.from(sums, (sum, i) => sum && Math.fround(Math.log(sum) + largest / TEMPERATURES[i]));
}

/** What a model computed for the last source and its edits: each step by its tokens, with the weights recorded in it. @type {WeakMap<Transformer, { of: string, steps: Map<string, { value: any, weights: [string, any][] }> }>} */
const last = new WeakMap();
const MOST_STEPS = 100;

/**
 * What decodings of the same source computed is taken from them: a fork, or the way back, computes only what is new.
 * @param {Transformer} model @param {string} of the source and its edits @param {Calls} calls receives all weights, taken over or not
 */
function computedOnce(model, of, calls) {
  const before = last.get(model);
  const steps = before?.of === of && before.steps.size < MOST_STEPS ? before.steps : new Map();
  last.set(model, { of, steps });
  /** @template T @param {string} name @param {Tap} tap @param {(tap: Tap) => T} compute @returns {T} */
  return (name, tap, compute) => {
    let one = steps.get(name);
    if (!one) {
      /** @type {[string, any][]} */
      const weights = [];
      const value = compute((point, given) => {
        const found = tap(point, given);
        if (point.endsWith(".weights")) weights.push([point, found]);
        return found;
      });
      one = { value, weights };
      steps.set(name, one);
    }
    for (const [point, found] of one.weights) calls.set(point, [...(calls.get(point) ?? []), found]);
    return one.value;
  };
}

/** The weights of a kind from all calls. @param {Kind} kind @param {Calls} calls @param {number} nSource @param {number} nTarget @returns {KindWeights} */
function weightsOf(kind, calls, nSource, nTarget) {
  const points = Array.from({ length: calls.size }, (_, layer) => `${scopeOf({ kind, layer })}.weights`);
  const blocks = points.flatMap((point) => (calls.has(point) ? [calls.get(point) ?? []] : []));
  const queries = kind === "encoder" ? nSource : nTarget;
  const keys = kind === "decoder" ? nTarget : nSource;
  const heads = blocks[0]?.[0].length ?? 0;
  const weights = new Float32Array(blocks.length * heads * queries * keys);
  blocks.forEach((block, layer) =>
    block.forEach((call, t) =>
      call.forEach((rows, head) => {
        // The encoder's only call has all rows. A decoder that is not causal computes its rows again; the newest counts.
        const fresh = kind === "encoder" ? rows : rows.slice(-1);
        const first = (layer * heads + head) * queries + (kind === "encoder" ? 0 : t);
        fresh.forEach((row, q) => weights.set(row, (first + q) * keys));
      }),
    ),
  );
  const mask = Uint8Array.from({ length: queries * keys }, (_, i) =>
    Number(kind === "decoder" && i % keys > Math.floor(i / keys)),
  );
  return { kind, shape: { layers: blocks.length, heads, queries, keys }, weights, mask };
}

/** Rows that see a key sum to 1 (largest error), masked cells are 0 (number that are not). @param {KindWeights[]} maps */
function checksOf(maps) {
  let [error, leaks, heads] = [0, 0, 0];
  for (const { shape, mask, weights } of maps) {
    const { keys } = shape;
    heads += shape.layers * shape.heads;
    for (let at = 0; at < weights.length; at += keys) {
      const codes = mask.subarray(at % mask.length, (at % mask.length) + keys);
      const row = weights.subarray(at, at + keys);
      if (codes.includes(0)) error = Math.max(error, Math.abs(row.reduce((sum, weight) => sum + weight, 0) - 1));
      codes.forEach((code, i) => (leaks += Number(code !== 0 && row[i] !== 0)));
    }
  }
  return { error: Number(error.toExponential(1)), leaks, heads };
}
