// Search over a step function: greedy, sampling, beam search, and paths that are given. As model/decoding/search.py.

import { largestOf, logSoftmax } from "./vectors.js";

/** @typedef {import("./vectors.js").Vector} Vector */
/** @typedef {import("./transformer.js").DecodeState} DecodeState */
/** @typedef {(token: number, state: DecodeState) => { logits: Vector, state: DecodeState, logProbs?: Vector, ranked?: { top: number[], sums: number[] } }} Step with what the same step gave before */
/** @typedef {Pick<import("../structs").ModelConfig, "banned_tokens" | "first_token">} Rules ids never predicted beside <pad> and <sos>; the id that must come first, or 0 */
/** @typedef {{ token: number, logProbs: Vector, next: ReturnType<Step> }} PathStep */
/** @typedef {{ path: number[], logProb: number, score: number, finished: boolean }} Hypothesis */

export const [PAD, SOS, EOS, UNK] = [0, 1, 2, 3];

/**
 * What the decoder reads before it predicts a token of its own: <sos>, or the source if there is no encoder.
 * @param {import("../structs").ModelConfig} config @param {number[]} source without <eos> @returns {number[]}
 */
export function openingOf({ architecture, separator }, source) {
  if (architecture !== "decoder" || (!separator && !source.length)) return [SOS];
  return separator ? [...source, EOS, SOS] : source;
}

/** Log-softmax over the tokens that may be predicted; others are -Infinity. @param {Vector} logits @param {Rules} rules @param {boolean} first @returns {Vector} */
export function allowedLogProbs(logits, rules, first) {
  if (first && rules.first_token) return logits.map((_, id) => (id === rules.first_token ? 0 : -Infinity));
  const allowed = logits.slice();
  for (const id of [PAD, SOS, ...rules.banned_tokens]) allowed[id] = -Infinity;
  return logSoftmax(allowed);
}

/** The index of the largest number, the first one of several. @param {Vector} numbers @returns {number} */
export const argmax = (numbers) => numbers.indexOf(largestOf(numbers));

/**
 * Read token by token until <eos> or `limit` tokens: those of `prefix` first, then what `choose` chooses.
 * @param {Step} step @param {DecodeState} state @param {Rules} rules @param {number} limit @param {number[]} prefix
 * @param {(logProbs: Vector) => number} choose @param {number[]} opening what is read before; it counts as steps, too
 * @returns {Generator<PathStep>}
 */
export function* walk(step, state, rules, limit, prefix = [], choose = argmax, opening = [SOS]) {
  const [start, given] = [opening.length - 1, [...opening.slice(1), ...prefix]];
  let token = opening[0];
  for (let index = 0; index < limit && (index <= start || token !== EOS); index++) {
    const next = step(token, state);
    state = next.state;
    const logProbs = (next.logProbs ??= allowedLogProbs(next.logits, rules, index === start));
    token = index < given.length ? given[index] : choose(logProbs);
    yield { token, logProbs, next };
  }
}

/**
 * Draw tokens at a temperature. A seed gives the same tokens in every browser, but not those that PyTorch draws.
 * @param {number} seed @param {number} temperature @param {number} topK 0: all @param {number} topP
 * @returns {(logProbs: Vector) => number}
 */
export function sampler(seed, temperature, topK = 0, topP = 1) {
  const random = generator(seed);
  return (logProbs) => {
    const order = [...logProbs.keys()]
      .filter((id) => logProbs[id] > -Infinity)
      .sort((a, b) => logProbs[b] - logProbs[a]);
    const ids = topK ? order.slice(0, topK) : order;
    const powers = ids.map((id) => Math.exp((logProbs[id] - logProbs[ids[0]]) / temperature));
    const total = powers.reduce((sum, power) => sum + power, 0);
    let kept = 0;
    let mass = 0;
    while (kept < ids.length && (kept === 0 || mass < topP * total)) mass += powers[kept++];
    let left = random() * mass;
    for (let i = 0; i < kept - 1; i++) if ((left -= powers[i]) < 0) return ids[i];
    return ids[kept - 1];
  };
}

/** Numbers from 0 to 1 (splitmix32). @param {number} seed @returns {() => number} */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** The divisor of a summed log-probability. @param {string} name @param {number} alpha @param {number} length with <eos> @returns {number} */
export function lengthPenalty(name, alpha, length) {
  if (name === "none") return 1;
  return (name === "mean" ? length : (5 + length) / 6) ** alpha;
}

/**
 * Beam search (Sutskever et al. 2014, §3.2), as model/decoding/beam.py: hypotheses best first.
 * @param {Step} step @param {DecodeState} start @param {Rules} rules @param {number} limit @param {number[]} prefix
 * @param {{ beam_size: number, length_penalty: string, alpha: number }} settings @param {number} first the token that is read first
 * @returns {Hypothesis[]}
 */
export function beamSearch(step, start, rules, limit, prefix, settings, first = SOS) {
  const { beam_size: width, length_penalty: penalty, alpha } = settings;
  /** @type {{ path: number[], total: number, state: DecodeState }[]} */
  let beam = [{ path: [], total: 0, state: start }];
  /** @type {Hypothesis[]} */
  const ended = [];
  for (let index = 0; index < limit; index++) {
    const grown = beam.flatMap(({ path, total, state }) => {
      const next = step(path.length ? path[path.length - 1] : first, state);
      const logProbs = allowedLogProbs(next.logits, rules, index === 0);
      const ids = index < prefix.length ? [prefix[index]] : best(logProbs, 2 * width);
      return ids.map((id) => ({ path: [...path, id], total: total + logProbs[id], state: next.state }));
    });
    const candidates = grown
      .filter(({ total }) => total > -Infinity)
      .sort((a, b) => b.total - a.total)
      .slice(0, 2 * width);
    const divisor = lengthPenalty(penalty, alpha, index + 1);
    const isEnd = (/** @type {{ path: number[] }} */ { path }) => path[index] === EOS;
    for (const { path, total } of candidates.slice(0, width).filter(isEnd))
      ended.push({ path, logProb: total, score: total / divisor, finished: true });
    beam = candidates.filter((candidate) => !isEnd(candidate)).slice(0, width);
    const scores = ended.map(({ score }) => score).sort((a, b) => b - a);
    const outlook = beam.length ? beam[0].total / divisor : -Infinity;
    if (!beam.length || (scores.length >= width && outlook <= scores[width - 1])) break;
  }
  if (ended.length) return ended.sort((a, b) => b.score - a.score).slice(0, width);
  return beam.map(({ path, total }) => {
    return { path, logProb: total, score: total / lengthPenalty(penalty, alpha, path.length), finished: false };
  });
}

/** The ids of the largest numbers, best first. @param {Vector} numbers @param {number} count @returns {number[]} */
export function best(numbers, count) {
  /** @type {number[]} */
  const ids = [];
  for (let id = 0; id < numbers.length; id++) {
    if (ids.length === count && numbers[id] <= numbers[ids[count - 1]]) continue; // nearly always
    let at = ids.length;
    while (at > 0 && numbers[ids[at - 1]] < numbers[id]) at--;
    ids.splice(at, 0, id);
    ids.length = Math.min(ids.length, count);
  }
  return ids;
}
