// Runs the model of a folder as the browser does; tests/explorer/browser/test_live.py compares what it writes with PyTorch.
// Standard input: { folder, rules, words, means, jobs, plain }, plain without WebAssembly; standard output: one line of JSON a job.

import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { cellOf } from "../../explorer/browser/js/live/cell.js";
import { decode } from "../../explorer/browser/js/live/decode.js";
import { withValues } from "../../explorer/browser/js/live/edit_values.js";
import { editTap } from "../../explorer/browser/js/live/edits.js";
import { named } from "../../explorer/browser/js/cell_text.js";
import { formIn } from "../../explorer/browser/js/head_forms.js";
import { detailsOf, machineOf, numbersOf } from "../../explorer/browser/js/live/machine.js";
import { METHOD } from "../../explorer/browser/js/method.js";
import { readModel } from "../../explorer/browser/js/live/model.js";
import { argmax, best, EOS, openingOf, walk } from "../../explorer/browser/js/live/search.js";
import { readTokenizers } from "../../explorer/browser/js/live/tokenizer.js";
import { originOf } from "../../explorer/browser/js/machine_origin.js";
import { stopsOf } from "../../explorer/browser/js/machine_stops.js";
import { placeOf, textOf } from "../../explorer/browser/js/machine_link.js";
import { decodingOf, put } from "../../explorer/browser/js/store.js";

const { folder, rules, words, means, jobs, plain: isPlain } = JSON.parse(readFileSync(0, "utf8"));
if (isPlain) Reflect.deleteProperty(globalThis, "WebAssembly");
const read = (/** @type {string} */ name) => readFileSync(join(folder, name));
const { buffer, byteOffset, byteLength } = read("model.safetensors");
const weights = buffer.slice(byteOffset, byteOffset + byteLength);
const model = readModel(JSON.parse(read("config.json").toString()).model, weights);

/** @type {ReturnType<typeof readTokenizers>} Made once: of the rules for words, that takes longer than all else. */
let madeTokenizers;
const tokenizers = () => (madeTokenizers ??= readTokenizers(JSON.parse(read("tokenizer.json").toString()), rules));
const isVector = (/** @type {any} */ value) => ArrayBuffer.isView(value);
const plain = (/** @type {any} */ value) =>
  isVector(value) ? [...value] : Array.isArray(value) ? value.map(plain) : value;

const live = () => ({ name: basename(folder), trained: true, model, tokenizers: tokenizers(), means });
let machine = /** @type {ReturnType<typeof live> | null} */ (null);
/** A message with its arrays as text, so that each number is the very one. */
const packed = (/** @type {{ header: object, arrays: Record<string, any> }} */ { header, arrays }) => ({
  header,
  arrays: Object.entries(arrays).map(([name, { values, shape }]) => {
    return [name, shape, Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString("base64")];
  }),
});

/** What the model writes after a source and a path, greedily. @param {number[]} source @param {number} limit @param {number[]} path */
function written(source, limit, path, tap = (/** @type {string} */ _, /** @type {any} */ value) => value) {
  const step = (/** @type {number} */ token, /** @type {any} */ state) => model.step(token, state, tap);
  const opening = openingOf(model.config, source);
  const most = limit + opening.length - 1;
  return [...walk(step, model.start([...source, EOS], tap), model.config, most, path, argmax, opening)].slice(
    opening.length - 1,
  );
}

/** Vectors in single precision, one after the other; or ids of tokens. @param {any} value */
const inBase64 = (value) => {
  const bytes = (/** @type {any} */ one) =>
    isVector(one) ? Buffer.from(Float32Array.from(one).buffer) : Buffer.concat(one.map(bytes));
  return bytes(typeof value[0] === "number" ? Float32Array.from(value) : value).toString("base64");
};

/** The decoding of an answer, as the page's store has it. @param {ReturnType<typeof decode>} answer */
function stored({ message }) {
  message.header.seq = `${(count += 1)}`;
  put(message, "");
  return /** @type {import("../../explorer/browser/js/types").Decoding} */ (decodingOf(message.header.seq));
}
let count = 0;

/** @param {ReturnType<typeof formIn>} form */
const labelsOf = ({ rows, predicted, columns, row_spans, column_spans, effective, shares, roles }) => ({
  ...{ rows, predicted, columns, row_spans, column_spans },
  ...{ effective, shares, roles },
});

/** @param {ReturnType<typeof decode>} answer */
function withForms({ message, ...answer }) {
  const header = message.header.decoding;
  const decoding = stored({ message, ...answer });
  const forms = decoding.order.map((kind) => {
    const words = /** @type {const} */ (kind === "encoder" ? ["words"] : ["words", "words-next"]);
    const available = /** @type {const} */ (["tokens", ...(header.subwords ? words : [])]);
    return [kind, Object.fromEntries(available.map((form) => [form, labelsOf(formIn(decoding, kind, form))]))];
  });
  return { ...answer, header, maps: decoding.maps, forms: Object.fromEntries(forms) };
}

/** @type {Record<string, (job: any) => any>} */
const JOBS = {
  // Every point as it was computed last while the ids were read greedily.
  points({ source, limit }) {
    /** @type {Record<string, any>} */
    const points = {};
    const tap = (/** @type {string} */ point, /** @type {any} */ value) => (points[point] = value);
    const steps = written(source, limit, [], tap);
    return { path: steps.map(({ token }) => token), points };
  },
  // The same as the bytes of single precision, and what the model writes after another first token and with changed heads.
  answers({ source, limit, most, edits }) {
    /** @type {Record<string, string>} */
    const points = {};
    const tap = (/** @type {string} */ point, /** @type {any} */ value) => ((points[point] = value), value);
    const own = written(source, limit, [], tap);
    for (const [name, value] of Object.entries(points)) points[name] = inBase64(value);
    const { target } = (machine ??= live()).tokenizers;
    const edited = editTap(edits, model);
    const other = best(own[0].logProbs, 2)[1];
    const others = [written(source, most, [other]), written(source, most, [], edited)];
    const [path, ...paths] = [own, ...others].map((steps) => steps.map(({ token }) => token));
    return { path, points, other, paths, texts: [path, ...paths].map((ids) => target.decode(ids)) };
  },
  decode: ({ text, request }) => withForms(decode(live(), text, request)),
  edited: ({ text, request }) => withForms(decode((machine ??= live()), text, withValues(machine, text, request))),
  machine: ({ text, request }) => packed(machineOf((machine ??= live()), text, request, words)),
  details: ({ text, request, step, opened }) =>
    packed(detailsOf((machine ??= live()), text, request, words, step, opened)),
  numbers: ({ text, request, step, slices }) =>
    packed(numbersOf((machine ??= live()), text, request, words, step, slices)),
  // Where numbers are from, each by its place.
  origins({ text, request, step, spots, sizes }) {
    const own = (machine ??= live());
    const read = (/** @type {any} */ part) => numbersOf(own, text, request, words, step, [part]).arrays[0];
    return spots.map((/** @type {any} */ spot) => originOf(words.machine, spot, sizes, read));
  },
  stops: ({ side }) => stopsOf(words.machine.stages, words.machine.blocks, side),
  place({ text, step, steps }) {
    const place = placeOf(text, step, steps, words.machine);
    return { place, text: textOf(place) };
  },
  cell({ text, request, at }) {
    const answer = decode((machine ??= live()), text, request);
    return named(cellOf(machine, text, { ...request, path: answer.path }, at), stored(answer));
  },
  // The sentence with which a job is refused.
  refusal({ of, ...job }) {
    try {
      return JOBS[of](job);
    } catch (error) {
      return /** @type {Error} */ (error).message;
    }
  },
  method: () => METHOD,
  encode: ({ text }) => tokenizers().source.encode(text),
  spell({ ids }) {
    const { target } = tokenizers();
    return { text: target.decode(ids), words: target.wordsOf(ids), labels: ids.map(target.label) };
  },
};

for (const job of jobs) {
  const found = JOBS[job.do](job);
  process.stdout.write(`${JSON.stringify(found, (_, value) => (isVector(value) ? plain(value) : value))}\n`);
}
