// The forward pass of a Transformer (Vaswani et al. 2017) or of its decoder alone, in plain lines, one sentence at a time.
// A sequence is a list of vectors, one a position. The reference is model/transformer.py: same names, same points.

import { ACTIVATIONS, sigmoid } from "../activations.js";
import { alibiSlope, rotated, sinusoidal } from "./positions.js";
import { activated, add, layerNorm, softmax, vectorOf } from "./vectors.js";

/** @typedef {import("./vectors.js").Vector} Vector */
/** @typedef {import("./vectors.js").Affine} Affine */
/** @typedef {import("../structs").ModelConfig} ModelConfig */
/** @typedef {{ keys: Vector[], values: Vector[] }} KeysValues a vector a position, all heads side by side */
/** @typedef {{ past: KeysValues[], cross: KeysValues[], tokens: number[] }} DecodeState never changed: a step makes a new one */
/** @typedef {(point: string, value: any) => any} Tap receives an intermediate; returns what to go on with */

/** @type {Tap} */
const untouched = (_, value) => value;

export class Transformer {
  /** @param {ModelConfig} config @param {Record<string, Float32Array>} weights by their names in the file @param {import("./products.js").Linear} linear */
  constructor(config, weights, linear) {
    this.linear = linear;
    this.config = config;
    this.hasEncoder = config.architecture !== "decoder";
    this.weights = weights;
    this.encodings = /** @type {Vector[]} */ ([]);
    this.affines = /** @type {Record<string, Affine>} */ ({});
    const tied = { none: [], target: ["output"], all: ["output", "src_embedding"] }[config.share_embeddings];
    for (const name of tied) weights[`${name}.weight`] = weights["tgt_embedding.weight"];
    this.factor = config.embedding_factor || (config.scale_embeddings ? Math.sqrt(config.d_model) : 1);
  }

  /** @param {string} name @returns {Affine} */
  affine(name) {
    const { affines, weights } = this;
    return (affines[name] ??= { weight: weights[`${name}.weight`], bias: weights[`${name}.bias`] ?? null });
  }

  /**
   * Look up the tokens from `offset` on, scale them and add their positions (§3.4, 3.5).
   * @param {number[]} tokens @param {"src" | "tgt"} side @param {Tap} tap @returns {Vector[]}
   */
  embed(tokens, side, tap, offset = 0) {
    const { d_model: width, norm_embeddings } = this.config;
    const table = this.weights[`${side}_embedding.weight`];
    const ids = tap(`${side}.tokens`, tokens);
    let x = ids.slice(offset).map((/** @type {number} */ id) => table.slice(id * width, (id + 1) * width));
    x = tap(`${side}.embedding`, x);
    const scaled = (/** @type {Vector} */ row) => row.map((value) => value * this.factor);
    x = tap(`${side}.scaled`, x.map(scaled));
    x = x.map((/** @type {Vector} */ row, /** @type {number} */ i) => {
      const position = this.position(side, offset + i);
      return position ? add(row, position) : row;
    });
    x = tap(`${side}.positions`, x);
    return norm_embeddings ? this.normed(`norm_${side}`, x, tap, `${side}.norm`) : x;
  }

  /** The vector that is added at a position (§3.5), if any is. @param {"src" | "tgt"} side @param {number} i */
  position(side, i) {
    const { d_model: width, positions } = this.config;
    if (positions === "sinusoidal") return (this.encodings[i] ??= sinusoidal(i, width));
    if (positions !== "learned") return null;
    return this.weights[`positions_${side}.embedding.weight`].subarray(i * width, (i + 1) * width);
  }

  /** @param {string} name @param {Vector[]} x @param {Tap} tap @returns {Vector[]} */
  normed(name, x, tap, point = pointOf(name)) {
    const norm = this.affine(name);
    const rows = x.map((row) => layerNorm(norm, row));
    return tap(point, rows);
  }

  /** @param {string} name @param {Vector[]} x @param {Tap} tap @returns {Vector[]} */
  projected(name, x, tap) {
    return tap(pointOf(name), this.linear(this.affine(name), x));
  }

  /**
   * Project a sequence to keys and values, after those of `past`.
   * @param {string} name @param {Vector[]} memory @param {Tap} tap @param {KeysValues} [past] @returns {KeysValues}
   */
  keysValues(name, memory, tap, past = { keys: [], values: [] }) {
    let keys = this.projected(`${name}.k_proj`, memory, tap);
    const values = this.projected(`${name}.v_proj`, memory, tap);
    if (this.rotates(name))
      keys = keys.map((key, i) => rotated(key, past.keys.length + i, this.dHead(name), this.config));
    return { keys: [...past.keys, ...keys], values: [...past.values, ...values] };
  }

  /** @param {string} name */
  heads = (name) => (name.startsWith("encoder") ? this.config.n_encoder_heads : this.config.n_decoder_heads);
  /** @param {string} name */
  dHead = (name) => this.config.d_model / this.heads(name);
  /** @param {string} name */
  rotates = (name) => this.config.positions === "rope" && name.endsWith("self_attn");

  /**
   * Multi-head attention (§3.2): each head attends on its own d_head numbers of the vectors.
   * @param {string} name @param {Vector[]} queries @param {KeysValues} memory @param {Tap} tap @returns {Vector[]}
   */
  attend(name, queries, memory, tap) {
    const heads = this.heads(name);
    const dHead = this.dHead(name);
    const point = pointOf(name);
    const first = memory.keys.length - queries.length; // the position of the first query in self-attention
    let query = this.projected(`${name}.q_proj`, queries, tap);
    if (this.rotates(name)) query = query.map((row, i) => rotated(row, first + i, dHead, this.config));
    query = tap(`${point}.query`, query);
    const key = tap(`${point}.key`, memory.keys);
    const value = tap(`${point}.value`, memory.values);

    const scale = this.config.scale_scores ? 1 / Math.sqrt(dHead) : 1;
    const biased = this.config.positions === "alibi" && name.endsWith("self_attn");
    /** @type {Vector[][]} [head][query][key] */
    let weights = Array.from({ length: heads }, (_, head) =>
      query.map((row, i) => {
        const slope = biased ? alibiSlope(head, heads) : 0;
        const found = vectorOf(key.length);
        for (let j = 0; j < found.length; j++) {
          let sum = 0;
          for (let d = head * dHead; d < (head + 1) * dHead; d++) sum += row[d] * key[j][d];
          found[j] = sum * scale - slope * Math.abs(first + i - j);
        }
        return found;
      }),
    );
    weights = tap(`${point}.scores`, weights);
    // Of a whole target, each row sees its own position and those before it: the mask cuts off later keys.
    if (this.config.causal && point.startsWith("decoder") && point.endsWith("self_attn"))
      weights = weights.map((rows) => rows.map((row, i) => row.subarray(0, first + i + 1)));
    weights = tap(`${point}.masked`, weights);
    weights = weights.map((rows) => rows.map(softmax));
    weights = tap(`${point}.weights`, weights);

    /** @type {Vector[]} [query][head · d_head] */
    let output = queries.map((_, i) => {
      const joined = vectorOf(heads * dHead);
      for (let head = 0; head < heads; head++) {
        const row = weights[head][i];
        for (let d = head * dHead; d < (head + 1) * dHead; d++) {
          let sum = 0;
          for (let j = 0; j < row.length; j++) sum += row[j] * value[j][d];
          joined[d] = sum;
        }
      }
      return joined;
    });
    output = tap(`${point}.output`, output);
    output = tap(`${point}.joined`, output);
    if (this.config.attention_gate) {
      const open = this.projected(`${name}.gate_proj`, queries, untouched).map((row) => row.map(sigmoid));
      const gate = tap(`${point}.gate`, open);
      output = output.map((row, i) => row.map((number, d) => number * gate[i][d]));
      output = tap(`${point}.gated`, output);
    }
    return this.projected(`${name}.out_proj`, output, tap);
  }

  /** @param {string} name @param {Vector[]} x @param {Tap} tap @returns {Vector[]} */
  feedForward(name, x, tap) {
    const activation = ACTIVATIONS[this.config.activation];
    const hidden = this.projected(`${name}.linear1`, x, tap).map((row) => activated(row, activation));
    return this.projected(`${name}.linear2`, tap(`${pointOf(name)}.activation`, hidden), tap);
  }

  /**
   * One sublayer with its residual connection and its norm, before it or after it (§3.1; Xiong et al. 2020).
   * @param {string} layer @param {number} n counted from 1 @param {Vector[]} x @param {Tap} tap
   * @param {(x: Vector[]) => Vector[]} sublayer @returns {Vector[]}
   */
  sublayer(layer, n, x, tap, sublayer) {
    const norm = `${layer}.norm${n}`;
    const { norm_first, residual } = this.config;
    const out = sublayer(norm_first ? this.normed(norm, x, tap) : x);
    const sum = residual ? x.map((row, i) => add(row, out[i])) : out;
    const passed = residual ? tap(`${pointOf(layer)}.residual${n}`, sum) : sum;
    return norm_first ? passed : this.normed(norm, passed, tap);
  }

  /** Read the source, <eos> included. @param {number[]} tokens @returns {Vector[]} memory */
  encode(tokens, tap = untouched) {
    let x = this.embed(tokens, "src", tap);
    for (let i = 0; i < this.config.n_encoder_layers; i++) {
      const layer = `encoder.layers.${i}`;
      const attention = `${layer}.self_attn`;
      x = this.sublayer(layer, 1, x, tap, (h) => this.attend(attention, h, this.keysValues(attention, h, tap), tap));
      x = this.sublayer(layer, 2, x, tap, (h) => this.feedForward(`${layer}.feed_forward`, h, tap));
    }
    return this.config.norm_first ? this.normed("encoder.norm", x, tap) : x;
  }

  /** Return the state before the first token that the decoder reads. @param {number[]} source with <eos> @returns {DecodeState} */
  start(source, tap = untouched) {
    if (!this.hasEncoder) return { past: [], cross: [], tokens: [] };
    const memory = this.encode(source, tap);
    const layers = Array.from({ length: this.config.n_decoder_layers }, (_, i) => `decoder.layers.${i}.cross_attn`);
    return { past: [], cross: layers.map((name) => this.keysValues(name, memory, tap)), tokens: [] };
  }

  /**
   * Read one more target token; the given state stays as it was.
   * @param {number} token @param {DecodeState} state @returns {{ logits: Vector, state: DecodeState }}
   */
  step(token, state, tap = untouched) {
    const tokens = [...state.tokens, token];
    // Without a causal mask, each token changes what all earlier positions compute: all are read again.
    const known = this.config.causal ? state : { ...state, past: [], tokens: [] };
    const { x, past } = this.decode(tokens, known, tap);
    const [logits] = this.linear(this.affine("output"), x.slice(-1));
    return { logits: tap("logits", logits), state: { past, cross: state.cross, tokens } };
  }

  /** Read a whole target at once: the logits after each token. @param {number[]} tokens @param {DecodeState} start @returns {Vector[]} */
  read(tokens, start, tap = untouched) {
    return tap("logits", this.linear(this.affine("output"), this.decode(tokens, start, tap).x));
  }

  /** Run the decoder on the tokens after those of a state. @param {number[]} tokens @param {DecodeState} state @param {Tap} tap */
  decode(tokens, state, tap) {
    let x = this.embed(tokens, "tgt", tap, state.tokens.length);
    /** @type {KeysValues[]} */
    const past = [];
    for (let i = 0; i < this.config.n_decoder_layers; i++) {
      const layer = `decoder.layers.${i}`;
      x = this.sublayer(layer, 1, x, tap, (h) => {
        past[i] = this.keysValues(`${layer}.self_attn`, h, tap, state.past[i]);
        return this.attend(`${layer}.self_attn`, h, past[i], tap);
      });
      const cross = state.cross[i];
      if (cross) x = this.sublayer(layer, 2, x, tap, (h) => this.attend(`${layer}.cross_attn`, h, cross, tap));
      x = this.sublayer(layer, cross ? 3 : 2, x, tap, (h) => this.feedForward(`${layer}.feed_forward`, h, tap));
    }
    if (this.config.norm_first) x = this.normed("decoder.norm", x, tap);
    return { x, past };
  }
}

/** A point's name: the path without the "layers" between a stack and a number. @param {string} name @returns {string} */
const pointOf = (name) => name.replace(".layers.", ".");
