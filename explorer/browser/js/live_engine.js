// The page's side of the worker that computes models (live/worker.js): it loads their files and asks.

import { isEnglish, t, wordsSet } from "./words.js";

/** @import { SiteModel } from "./structs" */
/** @typedef {import("./live/decode.js").Answer} Answer */
/** @typedef {import("./live/decode.js").Request} Request */
/** @typedef {(loaded: number, total: number) => void} Progress bytes so far, and in all */
/** @typedef {ReturnType<typeof createLiveEngine>} LiveEngine */

const noWorker = () =>
  t("This browser does not let the page start a worker, which computes the model. Recorded examples still work.");

/**
 * Starts the worker. @param {string} script its text @param {(address: string, progress: (bytes: number) => void) => Promise<Uint8Array>} read reads a file of a model into memory of its own
 */
export function createLiveEngine(script, read) {
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  /** What has been loaded, or is. @type {Map<string, Promise<any>>} */
  const opened = new Map();
  /** @type {Worker | null} */
  let worker = null;
  let count = 0;

  /** @param {Error} error */
  function fail(error) {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    opened.clear();
    worker?.terminate();
    worker = null;
  }

  function begin() {
    try {
      const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
      worker = new Worker(address);
    } catch {
      throw new Error(noWorker());
    }
    worker.onmessage = ({ data: { id, answer, problem } }) => {
      const call = waiting.get(id);
      waiting.delete(id);
      if (problem === undefined) call?.resolve(answer);
      else call?.reject(new Error(problem));
    };
    worker.onerror = ({ message }) =>
      fail(new Error(message ? t("The computation ended: {reason}", { reason: message }) : noWorker()));
    if (!isEnglish()) worker.postMessage({ id: 0, what: "setWords", args: [wordsSet()] });
    return worker;
  }

  /** @param {string} what @param {any[]} args @param {Transferable[]} transfer what is handed over, not copied @returns {Promise<any>} */
  function send(what, args, transfer) {
    return new Promise((resolve, reject) => {
      const to = worker ?? begin();
      waiting.set(++count, { resolve, reject });
      to.postMessage({ id: count, what, args }, transfer);
    });
  }

  /** @param {string} what @param {any[]} args @returns {Promise<any>} */
  const ask = (what, ...args) => send(what, args, []);

  /** Loads a model's files and opens it. @param {SiteModel} card @param {Progress} progress */
  async function load({ name, trained, files, rules }, progress) {
    if (!worker) begin(); // it starts while the files come
    const all = [...Object.values(files), ...Object.values(rules)];
    const total = all.reduce((sum, { bytes }) => sum + bytes, 0);
    let loaded = 0;
    const get = async (/** @type {typeof all[number]} */ { address, sha256 }) => {
      const bytes = await read(address, (more) => progress((loaded += more), total));
      return { bytes, sha256 };
    };
    const got = async (/** @type {Record<string, typeof all[number]>} */ group) =>
      Object.fromEntries(await Promise.all(Object.entries(group).map(async ([key, file]) => [key, await get(file)])));
    const [ours, theirs] = await Promise.all([got(files), got(rules)]);
    const buffers = [...Object.values(ours), ...Object.values(theirs)].map(({ bytes }) => bytes.buffer);
    await send("open", [{ name, trained, files: ours, rules: theirs }], buffers);
  }

  /** Does something once; after a failure, the next call tries again. @template T @param {string} name @param {() => Promise<T>} work @returns {Promise<T>} */
  function once(name, work) {
    let promise = opened.get(name);
    if (!promise) {
      promise = work();
      opened.set(name, promise);
      promise.catch(() => opened.delete(name));
    }
    return promise;
  }

  return {
    /** Opens a model. @param {SiteModel} card @param {Progress} [progress] */
    open: (card, progress = () => {}) => once(card.name, () => load(card, progress)),
    /** Loads what Python says of a model's machine, for its parts "machine" and "details". @param {SiteModel} card @returns {Promise<import("./machine_link.js").Machine>} */
    describe: ({ name, machine: { address, sha256 } }) =>
      once(`${name} machine`, async () => ask("describe", name, { bytes: await read(address, () => {}), sha256 })),
    /** @param {string} name @param {string} text @param {Request} request @returns {Promise<Answer>} */
    decode: (name, text, request) => ask("decode", name, text, request),
    /** Computes another part of a decoding. @param {string} what @param {any[]} args @returns {Promise<import("./types").Message>} */
    part: (what, ...args) => ask(what, ...args),
    /** Ends the worker. */
    end: () => worker?.terminate(),
  };
}
