// Where a number of the machine is from: the operation that made it, with the very numbers that went in.
// And what becomes of a row of weights when one number of it, or of its query, is changed.
// The stages (explorer/browser/machine_stages.py) say what is read; `read` gives the recorded numbers by place.

import { ACTIVATIONS } from "./activations.js";

/** @import { MachineOrigin, MachineSpot, OriginTerm, Numbers } from "./types" */
/** @import { MachineMessage, MachineStage, TensorSlice } from "./structs" */

/**
 * @typedef {(part: TensorSlice) => Numbers | undefined} Read undefined until the numbers have arrived
 * @typedef {{ source: number, target: number }} Sizes rows of the run on each side
 */

/**
 * Explain a number. @param {Pick<MachineMessage, "stages" | "blocks" | "stepwise">} machine
 * @param {MachineSpot} spot rows and columns count from 0, heads from 1
 * @param {Sizes} sizes @param {Read} read
 * @returns {MachineOrigin | undefined} undefined until everything has arrived
 */
export function originOf(machine, spot, sizes, read) {
  const { stages, blocks, stepwise } = machine;
  const { point, head, row, column } = spot;
  const stageOf = (/** @type {string} */ name) => /** @type {MachineStage} */ (stages.find((s) => s.point === name));
  const stage = stageOf(point);
  const { op, reads, weight, width, factor } = stage;
  const attention = blocks.find(({ name }) => name === stage.block)?.attention ?? "";
  const keys = attention === "decoder" ? sizes.target : sizes.source;
  const size = (/** @type {string} */ name) => stageOf(name)?.columns || keys;
  let complete = true;
  const get = (/** @type {string} */ name, /** @type {Partial<TensorSlice>} */ more) => {
    const found = read({ name, head: 0, row, rows: 1, column: 0, columns: 1, ...more });
    complete &&= found !== undefined;
    return found?.values ?? new Float32Array((more.rows ?? 1) * (more.columns ?? 1));
  };
  const parameter = (/** @type {string} */ kind, /** @type {Partial<TensorSlice>} */ more) =>
    get(`${weight}.${kind}`, { row: 0, ...more });
  const at = (/** @type {string} */ name, /** @type {Partial<MachineSpot>} */ more = {}) => ({
    ...spot,
    point: name,
    ...more,
  });
  const number = (/** @type {MachineSpot} */ from) => get(from.point, { ...from, columns: 1 })[0];
  const term = (/** @type {MachineSpot} */ from, b = 1) => ({ a: number(from), b, from });
  const sum = (/** @type {OriginTerm[]} */ terms) => terms.reduce((total, { a, b }) => total + a * b, 0);
  /** @param {OriginTerm[]} terms @param {number} result @param {Partial<MachineOrigin>} more @returns {MachineOrigin} */
  const origin = (terms, result, more = {}) => ({ op, terms, result, recorded: result, ...more });

  /** A column of this head, or of its group, in what is read. @param {number} i */
  const ofHead = (i) => at(reads[0], { head: 0, column: Math.floor((head - 1) / stage.group) * stage.columns + i });

  /** @type {Record<string, () => MachineOrigin>} */
  const ways = {
    ids: () => origin([], number(spot)),
    lookup() {
      const id = number(at(reads[0], { column: 0 }));
      return origin([], complete ? get(`${weight}.weight`, { row: id, column })[0] : 0, { id });
    },
    times() {
      const terms = [term(at(reads[0]), factor)];
      return origin(terms, sum(terms));
    },
    plus() {
      const terms = reads.map((name) => term(at(name)));
      return origin(terms, sum(terms));
    },
    copy: () => ways.plus(),
    linear() {
      const x = get(reads[0], { columns: width });
      const w = parameter("weight", { row: column, columns: width });
      const terms = Array.from(x, (a, i) => ({ a, b: w[i], from: at(reads[0], { head: 0, column: i }) }));
      const bias = stage.bias ? parameter("bias", { column })[0] : 0;
      return origin(terms, sum(terms) + bias, { bias });
    },
    split() {
      const terms = [term(ofHead(column))];
      return origin(terms, sum(terms));
    },
    rotate() {
      // A pair is two columns that are `width` apart.
      const isFirst = Math.floor(column / width) % 2 === 0;
      const pair = width === 1 ? Math.floor(column / 2) : column % width;
      const angle = row * factor ** ((-2 * pair) / stage.columns);
      const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
      const terms = isFirst
        ? [term(ofHead(column), cosine), term(ofHead(column + width), -sine)]
        : [term(ofHead(column - width), sine), term(ofHead(column), cosine)];
      return origin(terms, sum(terms));
    },
    dot() {
      const [query, key] = reads;
      const columns = size(query);
      const [q, k] = [get(query, { head, columns }), get(key, { head, row: column, columns })];
      const terms = Array.from(q, (a, i) => ({
        a,
        b: k[i],
        from: at(query, { column: i }),
        with: at(key, { row: column, column: i }),
      }));
      return origin(terms, sum(terms));
    },
    divide() {
      const products = { ...ways.dot() };
      const quotient = products.result / factor;
      const from = at(point.replace(/scores$/, "product"));
      // What is left is what the position has added (ALiBi, relative positions).
      const recorded = number(spot);
      const rest = recorded - quotient;
      const bias = Math.abs(rest) > 1e-3 * Math.max(1, Math.abs(recorded)) ? rest : 0;
      return origin([{ a: products.result, b: 1 / factor, from }], quotient + bias, { bias });
    },
    mask() {
      const closed = Number.isNaN(number(spot));
      const terms = [term(at(reads[0]))];
      return origin(terms, closed ? NaN : sum(terms));
    },
    softmax() {
      const scores = get(reads[0], { head, columns: keys });
      const open = Array.from(scores, (score, i) => ({ score, i })).filter(({ score }) => !Number.isNaN(score));
      const top = Math.max(...open.map(({ score }) => score));
      const terms = open.map(({ score, i }) => ({
        a: score,
        b: Math.exp(score - top),
        from: at(reads[0], { column: i }),
      }));
      const total = terms.reduce((all, { b }) => all + b, 0);
      const mine = terms.find(({ from }) => from.column === column)?.b ?? 0;
      return origin(terms, mine / total, { total, top, mine });
    },
    mix() {
      const [weights, values] = reads;
      const w = get(weights, { head, columns: keys });
      const v = get(values, { head, row: 0, rows: keys, column });
      const seen = attention === "decoder" && !stepwise ? Math.min(row + 1, keys) : keys; // later ones are masked
      const terms = Array.from(w.slice(0, seen), (a, i) => ({
        a,
        b: v[i],
        from: at(weights, { column: i }),
        with: at(values, { row: i }),
      }));
      return origin(terms, sum(terms));
    },
    join() {
      const one = size(reads[0]);
      const from = at(reads[0], { head: Math.floor(column / one) + 1, column: column % one });
      const terms = [term(from)];
      return origin(terms, sum(terms));
    },
    multiply() {
      const [a, b] = reads.map((name) => number(at(name)));
      return origin([{ a, b, from: at(reads[0]), with: at(reads[1]) }], a * b);
    },
    norm() {
      const x = get(reads[0], { columns: stage.columns });
      const mean = op === "norm" ? x.reduce((all, value) => all + value / x.length, 0) : 0;
      const variance = x.reduce((all, value) => all + (value - mean) ** 2 / x.length, 0);
      const only = width === 1 ? 0 : column; // some have one scale and shift for the whole vector
      const scale = parameter("weight", { column: only })[0];
      const bias = stage.bias ? parameter("bias", { column: only })[0] : 0;
      const root = Math.sqrt(variance + factor);
      const terms = [{ a: x[column], b: scale / root, from: at(reads[0]) }];
      return origin(terms, ((x[column] - mean) / root) * scale + bias, { mean, root, scale, bias });
    },
    rms: () => ways.norm(),
    activation() {
      const terms = [term(at(reads[0]))];
      return origin(terms, ACTIVATIONS[op](terms[0].a));
    },
    other() {
      const terms = [term(spot)];
      return origin([], terms[0].a);
    },
  };
  if (op in ACTIVATIONS) ways[op] = ways.activation;
  const found = ways[op]();
  const recorded = op === "dot" && point.endsWith("product") ? found.result : number(spot);
  return complete ? { ...found, recorded } : undefined;
}

/** A row in which one weight is set; the others keep their proportions. @param {ArrayLike<number>} row @param {number} at @param {number} weight @returns {number[]} */
export function withWeight(row, at, weight) {
  const rest = Array.from(row).reduce((sum, value, i) => (i === at ? sum : sum + value), 0);
  const others = row.length - 1;
  return Array.from(row, (value, i) =>
    i === at ? weight : rest > 1e-6 ? ((1 - weight) * value) / rest : (1 - weight) / others,
  );
}

/** The scores and weights of a row after a change of one number of its query. @param {ArrayLike<number>} scores NaN where closed @param {ArrayLike<number>} keys that number of each key @param {number} by @param {number} divisor @returns {{ scores: number[], weights: number[] }} */
export function withQuery(scores, keys, by, divisor) {
  const changed = Array.from(scores, (score, i) => score + (by * keys[i]) / divisor);
  const top = Math.max(...changed.filter((score) => !Number.isNaN(score)));
  const powers = changed.map((score) => (Number.isNaN(score) ? 0 : Math.exp(score - top)));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return { scores: changed, weights: powers.map((power) => power / total) };
}
