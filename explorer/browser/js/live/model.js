// A model from the files of its folder.

import { createProducts, plainly } from "./products.js";
import { readTensors } from "./safetensors.js";
import { Transformer } from "./transformer.js";
import { t } from "../words.js";

/** @typedef {import("../structs").ModelConfig} ModelConfig */

/** Settings that older folders do not have. */
const EARLIER = {
  separator: true,
  attention_gate: false,
  embedding_factor: 0,
  banned_tokens: [],
  first_token: 0,
  norm_embeddings: false,
};

/**
 * Build the model of a folder. @param {Partial<ModelConfig>} settings config.json's section "model"
 * @param {ArrayBuffer} weights the bytes of model.safetensors @returns {Transformer}
 */
export function readModel(settings, weights) {
  const config = /** @type {ModelConfig} */ ({ ...EARLIER, ...settings });
  if (config.architecture === "lstm")
    throw new Error(t("This model is an LSTM, which is not computed in the browser."));
  let linear = plainly;
  const tensors = readTensors(weights, (count) => {
    const products = createProducts(count);
    linear = products.linear;
    return products.weights;
  });
  const model = new Transformer(config, tensors, linear);
  const { d_model: width, src_vocab_size: source, tgt_vocab_size: target } = config;
  for (const [name, size] of [
    ...(model.hasEncoder ? [["src_embedding.weight", source * width]] : []),
    ["tgt_embedding.weight", target * width],
    ["output.weight", target * width],
  ])
    if (tensors[name]?.length !== size)
      throw new Error(t("The weights do not fit the configuration: {name}. Reload the page.", { name }));
  return model;
}
