// One sentence decoded in the browser, as the message that the views draw. As model/decoding/decode.py and payload.py.

import { METHOD } from "../method.js";
import { KINDS, SIDES } from "../names.js";
import { editTap } from "./edits.js";
import { formOf, spansOf } from "./maps.js";
import { argmax, beamSearch, best, EOS, outputRules, sampler, SOS, UNK, walk } from "./search.js";

/** @import { AttentionMap, Kind } from "../types" */
/** @typedef {import("./transformer.js").Transformer} Transformer */
/** @typedef {import("./transformer.js").Tap} Tap */
/** @typedef {ReturnType<typeof import("./tokenizer.js").readTokenizers>} Tokenizers */
/** @typedef {{ name: string, trained: boolean, model: Transformer, tokenizers: Tokenizers }} LiveModel */
/** @typedef {import("../method.js").Method} Method */
/** @typedef {{ path?: number[], method?: Partial<Method>, edits?: import("./edits.js").HeadEdit[] }} Request */

export const ALTERNATIVES = 10;
const TEMPERATURES = [0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0];
const BY = /** @type {const} */ ({ greedy: "chosen", sample: "drawn at random", beam: "taken by beam search" });

/**
 * Decode a text after the target ids of `path`, recording every head. A path that ends with <eos> is the whole target.
 * @param {LiveModel} live @param {string} text @param {Request} request
 * @param {Tap} [watch] receives every intermediate, edited as it goes on
 */
export function decode(
  { name, trained, model, tokenizers },
  text,
  { path = [], method = {}, edits = [] } = {},
  watch = undefined,
) {
  const { config } = model;
  const { source, target } = tokenizers;
  const encoded = source.encode(text);
  if (!encoded.ids.length || !text.trim()) throw new Error("Type a sentence.");
  if (encoded.ids.length + 1 > config.max_positions)
    throw new Error(
      `This model reads at most ${config.max_positions - 1} source tokens; this sentence has ${encoded.ids.length}.`,
    );
  const src = [...encoded.ids, EOS];
  const rules = outputRules(config);
  const how = { ...METHOD, ...method };
  const most = Math.min(how.max_length || 2 * src.length + 10, config.max_positions);
  let limit = Math.min(Math.max(most, path.length), config.max_positions);
  let given = path.slice(0, limit);
  /** @type {import("./search.js").Hypothesis[]} */
  let hypotheses = []; // of beam search
  if (how.method === "beam" && given[given.length - 1] !== EOS) {
    const tap = tapOf(edits, model);
    const step = (/** @type {number} */ token, /** @type {any} */ state) => model.step(token, state, tap);
    hypotheses = beamSearch(step, model.start(src, tap), rules, limit, given, how);
    given = hypotheses[0].path;
    limit = Math.max(1, given.length); // a hypothesis that was cut off stays cut off
  }

  const recorder = recording();
  const once = computedOnce(model, watch ? "" : JSON.stringify([src, edits]), recorder.add);
  const edit = tapOf(edits, model);
  const edited = watch
    ? (/** @type {string} */ point, /** @type {any} */ value) => watch(point, edit(point, value))
    : edit;
  const step = (/** @type {number} */ token, /** @type {import("./transformer.js").DecodeState} */ state) =>
    once(`${[...state.tokens, token]}`, edited, (tap) => model.step(token, state, tap));
  const start = once("", edited, (tap) => model.start(src, tap));
  const choose = how.method === "sample" ? sampler(how.seed, how.temperature, how.top_k, how.top_p) : argmax;
  const steps = [...walk(step, start, rules, limit, given, choose)];
  const ids = steps.map(({ token }) => token);
  const read = [SOS, ...ids.slice(0, -1)];
  const tops = steps.map(({ logProbs }) => best(logProbs, Math.min(ALTERNATIVES, logProbs.length)));
  const specials = { tokens: [target.label(EOS)], words: [-1] };
  const sides = {
    source: { tokens: [...encoded.tokens, ...specials.tokens], words: [...encoded.words, -1] },
    target: { tokens: read.map(target.label), words: [-1, ...target.wordsOf(ids).slice(0, -1)] },
  };
  const predicted = ids.map(target.label);
  const maps = /** @type {Record<Kind, AttentionMap>} */ (
    Object.fromEntries(KINDS.map((kind) => [kind, recorder.map(kind, sides, src.length, ids.length)]))
  );
  const subwords = Object.values(sides).some(({ words }) => spansOf(words).length < words.length);
  const chosen = tops.flatMap((top, row) => (top[0] === ids[row] ? [] : [row]));
  const probability = (/** @type {number} */ logProb) => Math.fround(Math.exp(logProb));
  return {
    path: ids,
    hypotheses,
    text: target.decode(ids),
    maps,
    forms: Object.fromEntries(KINDS.map((kind) => [kind, formsOf(maps[kind], sides, predicted, subwords)])),
    header: {
      model: name,
      trained,
      edits: edits.map(described),
      source: { ...sides.source, unknown: encoded.ids.flatMap((id, i) => (id === UNK ? [i] : [])) },
      target: {
        ...sides.target,
        predicted,
        predicted_ids: ids,
        probabilities: steps.map(({ logProbs, token }) => probability(logProbs[token])),
        chosen,
        by: path.length ? "chosen" : BY[how.method],
        given: 0,
      },
      alternatives: {
        tokens: tops.map((top) => top.map(target.label)),
        ids: tops,
        probabilities: tops.map((top, row) => top.map((id) => probability(steps[row].logProbs[id]))),
      },
      heat: { temperatures: TEMPERATURES, log_sums: steps.map(({ logProbs }) => logSums(logProbs)) },
      diagram: diagramOf(config),
      checks: checksOf(Object.values(maps)),
      shapes: Object.fromEntries(
        KINDS.map((kind) => {
          const { layers, heads, queries, keys } = maps[kind];
          return [kind, { layers, heads, queries, keys }];
        }),
      ),
      subwords,
    },
  };
}

/** The tap of some edits. @param {import("./edits.js").HeadEdit[]} edits @param {Transformer} model @returns {Tap} */
export const tapOf = (edits, model) =>
  editTap(
    edits,
    (kind) => (kind === "encoder" ? model.config.n_encoder_heads : model.config.n_decoder_heads),
    (side, at) => model.position(side, at),
  );

/** An edit as on screen, counted from 1. @param {import("./edits.js").HeadEdit} edit */
const described = ({ kind, layer, head, op, row, to }) =>
  to !== undefined
    ? `${kind === "encoder" ? "source" : "target"} token ${(row ?? 0) + 1} at position ${to + 1}`
    : `${kind} layer ${layer + 1} head ${head + 1}: ${op}${row === undefined ? "" : ` row ${row + 1}`}`;

/** ln Σ p^(1/T) at each of `TEMPERATURES`, 0 at temperature 1. @param {Float32Array} logProbs */
function logSums(logProbs) {
  const largest = logProbs.reduce((most, value) => Math.max(most, value), -Infinity);
  const sums = TEMPERATURES.map(() => 0);
  for (const value of logProbs) {
    // Powers of p^(1/3) cost a fraction of an exponential each.
    const third = Math.exp((value - largest) / 3);
    const square = third * third;
    const cube = square * third; // p
    const tenth = (square * square) ** 2 * square; // p^(10/3)
    sums[0] += tenth * tenth * tenth;
    sums[1] += tenth;
    sums[2] += cube * cube;
    sums[3] += Math.exp((value - largest) / 0.7);
    sums[5] += square;
    sums[6] += Math.sqrt(cube);
    sums[7] += third;
  }
  return sums.map((sum, i) => (TEMPERATURES[i] === 1 ? 0 : Math.fround(Math.log(sum) + largest / TEMPERATURES[i])));
}

/** What a model computed last for a source and edits: each step by its tokens, with the weights recorded in it. @type {WeakMap<Transformer, { of: string, steps: Map<string, { value: any, weights: [string, any][] }> }>} */
const last = new WeakMap();

/**
 * What the last decoding of the same source computed is taken from it: a fork computes only what follows.
 * @param {Transformer} model @param {string} of the source and its edits, or "" to compute everything
 * @param {(point: string, value: any) => void} record receives all weights, taken over or not
 */
function computedOnce(model, of, record) {
  const before = last.get(model);
  const known = of && before?.of === of ? before.steps : new Map();
  const steps = new Map();
  if (of) last.set(model, { of, steps });
  /** @template T @param {string} name @param {Tap} tap @param {(tap: Tap) => T} compute @returns {T} */
  return (name, tap, compute) => {
    let one = known.get(name);
    if (!one) {
      /** @type {[string, any][]} */
      const weights = [];
      const value = compute((point, given) => {
        const found = tap(point, given);
        if (point.endsWith(".weights")) weights.push([point, found]);
        return found;
      });
      one = { value, weights };
    }
    steps.set(name, one);
    for (const [point, found] of one.weights) record(point, found);
    return one.value;
  };
}

/** Keeps the weights of every step, and puts them together. */
function recording() {
  /** @type {Map<string, Float32Array[][][]>} of each block, the weights [head][query][key] of each call */
  const calls = new Map();
  return {
    add(/** @type {string} */ point, /** @type {any} */ value) {
      calls.set(point, [...(calls.get(point) ?? []), value]);
    },
    /** @param {Kind} kind @param {Record<"source" | "target", { tokens: string[] }>} sides @param {number} nSource @param {number} nTarget @returns {AttentionMap} */
    map(kind, sides, nSource, nTarget) {
      const ends = {
        encoder: "encoder.N.self_attn.weights",
        decoder: "decoder.N.self_attn.weights",
        cross: "decoder.N.cross_attn.weights",
      }[kind];
      const blocks = Array.from({ length: calls.size }, (_, n) => calls.get(ends.replace("N", `${n}`))).filter(
        (one) => one !== undefined,
      );
      const queries = kind === "encoder" ? nSource : nTarget;
      const keys = kind === "decoder" ? nTarget : nSource;
      const area = queries * keys;
      const heads = blocks[0]?.[0].length ?? 0;
      const weights = new Float32Array(blocks.length * heads * area);
      blocks.forEach((block, layer) =>
        block.forEach((call, t) =>
          call.forEach((rows, head) => {
            // The encoder's only call has all rows. A decoder that is not causal computes its rows again; the newest counts.
            const fresh = kind === "encoder" ? rows : rows.slice(-1);
            fresh.forEach((row, q) =>
              weights.set(row, (layer * heads + head) * area + (kind === "encoder" ? q : t) * keys),
            );
          }),
        ),
      );
      const mask = Uint8Array.from({ length: area }, (_, i) =>
        Number(kind === "decoder" && i % keys > Math.floor(i / keys)),
      );
      const [rows, columns] = SIDES[kind].map((side) => sides[side].tokens);
      return {
        kind,
        layers: blocks.length,
        heads,
        queries,
        keys,
        area,
        weights,
        mask,
        means: new Map(),
        rows,
        columns,
      };
    },
  };
}

/** @param {AttentionMap} map @param {Record<"source" | "target", { tokens: string[], words: number[] }>} sides @param {string[]} predicted @param {boolean} subwords */
function formsOf(map, sides, predicted, subwords) {
  const [queries, keys] = SIDES[map.kind];
  const single = (/** @type {string[]} */ tokens) => spansOf(tokens.map(() => -1));
  const tokens = { rows: map.rows, columns: map.columns, predicted: map.kind === "encoder" ? [] : predicted };
  const alone = single(map.rows);
  const forms = { tokens: formOf(map, { ...tokens, words: alone }, alone, single(map.columns)) };
  if (!subwords) return forms;
  const columns = spansOf(sides[keys].words);
  const { words } = sides[queries];
  const labels = { ...tokens, words: spansOf(words) };
  return {
    ...forms,
    words: formOf(map, labels, labels.words, columns),
    ...(map.kind !== "encoder" && { "words-next": formOf(map, labels, spansOf([...words.slice(1), -1]), columns) }),
  };
}

/** @param {import("./live.d.ts").ModelConfig} config */
const diagramOf = (config) => ({
  encoder: Array.from({ length: config.n_encoder_layers }, () => ["encoder", "feed_forward"]),
  decoder: Array.from({ length: config.n_decoder_layers }, () => ["decoder", "cross", "feed_forward"]),
  heads: { encoder: config.n_encoder_heads, decoder: config.n_decoder_heads, cross: config.n_decoder_heads },
  norm: config.norm_first ? "pre" : "post",
  positions: config.positions,
});

/** Rows that see a key sum to 1 (largest error), masked cells are 0 (number that are not). @param {AttentionMap[]} maps */
function checksOf(maps) {
  let [error, leaks, heads] = [0, 0, 0];
  for (const { layers, heads: each, area, keys, mask, weights: given } of maps) {
    const weights = /** @type {Float32Array} */ (given);
    heads += layers * each;
    for (let at = 0; at < weights.length; at += keys) {
      const codes = mask.subarray(at % area, (at % area) + keys);
      const row = weights.subarray(at, at + keys);
      if (codes.includes(0)) error = Math.max(error, Math.abs(row.reduce((sum, weight) => sum + weight, 0) - 1));
      codes.forEach((code, i) => (leaks += Number(code !== 0 && row[i] !== 0)));
    }
  }
  return { error: Number(error.toExponential(1)), leaks, heads };
}
