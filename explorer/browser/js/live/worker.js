// The worker that computes models: it answers { id, what, args } with { id, answer } or { id, problem }.

import { setWords } from "../words.js";
import { createEngine } from "./engine.js";

const engine = /** @type {Record<string, (...args: any[]) => any>} */ (
  /** @type {unknown} */ ({ ...createEngine(), setWords })
);

globalThis.onmessage = async ({ data: { id, what, args } }) => {
  try {
    const answer = await engine[what](...args);
    globalThis.postMessage({ id, answer }, { transfer: buffersOf(answer?.message ?? answer) });
  } catch (error) {
    globalThis.postMessage({ id, problem: error instanceof Error ? error.message : `${error}` });
  }
};

/** The memory of a message's arrays, which is handed over, not copied. @param {any} message @returns {ArrayBuffer[]} */
const buffersOf = (message) => [
  ...new Set(Object.values(message?.arrays ?? {}).map(({ values }) => /** @type {ArrayBuffer} */ (values.buffer))),
];
