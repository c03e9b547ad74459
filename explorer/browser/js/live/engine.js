// The models of a page, and what can be asked of them. The worker runs it (worker.js), and so do tests.

import { cellOf } from "./cell.js";
import { decode } from "./decode.js";
import { withValues } from "./edit_values.js";
import { detailsOf, machineOf, numbersOf } from "./machine.js";
import { readModel } from "./model.js";
import { readTensors } from "./safetensors.js";
import { sha256 } from "./sha256.js";
import { readTokenizers } from "./tokenizer.js";
import { t } from "../words.js";

/** @import { Message } from "../types" */
/** @typedef {import("./decode.js").LiveModel} LiveModel */
/** @typedef {import("./decode.js").Request} Request */
/** @typedef {{ bytes: Uint8Array<ArrayBuffer>, sha256: string }} ModelFile the bytes in a buffer of their own */
/** @typedef {{ name: string, trained: boolean, files: Record<"config" | "tokenizer" | "weights", ModelFile> & { means?: ModelFile }, rules: Record<string, ModelFile> }} ModelFiles */

/** Returns an engine without models. */
export function createEngine() {
  /** @type {Map<string, LiveModel>} */
  const models = new Map();
  /** @type {Map<string, any>} what Python says of a model's machine */
  const words = new Map();
  const find = (/** @type {string} */ name) => /** @type {LiveModel} */ (models.get(name));
  /** What a request is about: the model, the text, and the request with the values of its edits. @param {string} name @param {string} text @param {Request} request @returns {[LiveModel, string, Request]} */
  const about = (name, text, request) => [find(name), text, withValues(find(name), text, request)];
  return {
    /** Reads the files of a model. @param {ModelFiles} given */
    async open({ name, trained, files, rules }) {
      const means = files.means ? readTensors((await checked(files.means)).buffer) : {};
      const texts = [files.config, files.tokenizer, ...Object.values(rules)].map(parsed);
      const [weights, config, tokenizer, ...read] = await Promise.all([checked(files.weights), ...texts]);
      const model = readModel(config.model, weights.buffer);
      const byLanguage = Object.fromEntries(Object.keys(rules).map((lang, i) => [lang, read[i]]));
      const tokenizers = readTokenizers(tokenizer, byLanguage);
      models.set(name, { name, trained, model, tokenizers, means });
    },

    /** Takes what Python says of a model's machine; returns its blocks. @param {string} name @param {ModelFile} file */
    async describe(name, file) {
      words.set(name, await parsed(file));
      return words.get(name).machine;
    },

    /** The machine of a decoding, whose whole path is given. @param {string} name @param {string} text @param {Request} request @returns {Message} */
    machine: (name, text, request) => machineOf(...about(name, text, request), words.get(name)),

    /** The numbers of an opened block. @param {string} name @param {string} text @param {Request} request @param {number} step @param {import("../structs").Opened} opened @returns {Message} */
    details: (name, text, request, step, opened) =>
      detailsOf(...about(name, text, request), words.get(name), step, opened),

    /** Numbers by place. @param {string} name @param {string} text @param {Request} request @param {number} step @param {import("../structs").TensorSlice[]} slices @returns {Message} */
    numbers: (name, text, request, step, slices) =>
      numbersOf(...about(name, text, request), words.get(name), step, slices),

    /** The numbers from which one weight follows. @param {string} name @param {string} text @param {Request} request @param {Parameters<typeof cellOf>[3]} at @returns {Message} */
    cell: (name, text, request, at) => cellOf(...about(name, text, request), at),

    /** Decodes a text. @param {string} name @param {string} text @param {Request} request */
    decode: (name, text, request) => decode(...about(name, text, request)),
  };
}

/** The content of a file of JSON. @param {ModelFile} file */
const parsed = async (file) => JSON.parse(new TextDecoder().decode(await checked(file)));

/** The bytes of a file, if they are those that the page was made with. @param {ModelFile} file */
async function checked({ bytes, sha256: hash }) {
  if ((await digest(bytes)) !== hash)
    throw new Error(
      t("A file of this model was cut short, or is not the one that this page was made with. Reload the page."),
    );
  return bytes;
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function digest(bytes) {
  if (!globalThis.crypto?.subtle) return sha256(bytes);
  const found = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(found), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
