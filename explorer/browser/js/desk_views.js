// The views of the desk: each in a shadow tree of its own, with a source that answers by computing.

import { say } from "./dom.js";
import { editsOf } from "./head_changes.js";
import { clamp } from "./numbers.js";
import { liveSource } from "./source_live.js";
import { mountStepper } from "./stepper.js";
import { decodingOf, put } from "./store.js";
import { parseView } from "./view_options.js";
import { weightsOf } from "./weights.js";
import { localised } from "./markup.js";
import { inSentence, t } from "./words.js";

/** @import { Position, SiteModel } from "./structs" */
/** @import { Decoding, Kind } from "./types" */
/** @typedef {import("./desk.js").DeskState} DeskState */
/** @typedef {import("./desk.js").Kept} Kept */
/** @typedef {import("./desk.js").Query} Query */
/** @typedef {typeof import("./desk_attention.js").attention} Attention */
/**
 * What the views ask of the desk.
 * @typedef {{ moved: (at: Position) => void, opened: (place: Query) => void, fork: (step: number, token: number) => void, explain: () => void, edit: (row: import("./structs").RowWeights) => void, go: (query: Query, page: string) => void, query: () => Query, failed: (error: Error) => void }} Desk
 */

/** The template of each page. @type {Record<string, string>} */
export const VIEWS = { translate: "stepper", attention: "heads", inside: "machine" };

/** What a page is called; a decoder alone continues a text. @param {string} page @param {SiteModel} [card] */
export const titleOf = (page, card) =>
  page === "translate" && card && !card.shapes.encoder.layers
    ? t("Continue")
    : ({
        translate: t("Translate"),
        attention: t("Attention"),
        inside: t("Inside"),
        lessons: t("Lessons"),
        class: t("Class"),
      }[page] ?? page);

/** The content of a template of the page. @param {string} id */
export const templateOf = (id) =>
  localised(document.importNode(/** @type {HTMLTemplateElement} */ (document.getElementById(id)).content, true));

/** The model that is asked: as it is, or in the machine with the weights of an earlier step of training. @param {DeskState} D @returns {import("./structs").SiteModel} */
export const cardNow = ({ card, page, earlier }) =>
  page === "inside" && earlier
    ? { ...card, name: `${card.name}@${earlier}`, files: { ...card.files, weights: card.earlier[earlier] } }
    : card;

/** Loads the program of the page's view. @param {DeskState} D */
export async function loadView(D) {
  if (D.page === "attention") D.heads = (await D.attention()).attention;
  if (D.page === "inside") D.inside = await D.more();
}

/** Computes what the page's view needs beside the decoding. @param {DeskState} D @param {Kept} opened */
export async function prepareView(D, opened) {
  if (D.page === "inside") await D.inside?.prepareMachine(D, opened);
}

/** Computes a part of a decoding and puts it into the store. @param {DeskState} D @param {Kept} opened @param {string} part @param {string} mark tells it from others @param {any[]} args */
export async function bring(D, { seq, path }, part, mark, ...args) {
  const request = { path, edits: editsOf(D.changes) };
  const message = await D.engine.part(part, cardNow(D).name, D.text, request, ...args);
  message.header.seq = seq;
  put(message, `${seq} ${part} ${mark}`);
}

/** Mounts the page's view, or moves the mounted one. @param {DeskState} D @param {Kept} opened @param {Desk} desk @returns {Position | null} where it starts */
export function mountView(D, opened, desk) {
  const name = VIEWS[D.page];
  const box = D.find(".view");
  if (D.mounted !== name) {
    D.unmount();
    box.replaceChildren(document.createElement("div"));
    const host = /** @type {HTMLElement} */ (box.firstChild);
    host.attachShadow({ mode: "open" }).append(templateOf(name));
    D.mounted = name;
  }
  const parentElement = /** @type {any} */ (/** @type {HTMLElement} */ (box.firstChild).shadowRoot);
  if (name === "machine") {
    D.unmount = /** @type {typeof import("./desk_more.js")} */ (D.inside).mountInside(D, opened, desk, parentElement);
    return null;
  }
  const start = positionOf(D, /** @type {Decoding} */ (decodingOf(opened.seq)));
  const source = liveSource({
    moved: (report) => report.seq === opened.seq && desk.moved(report.place),
    ask: (what, value) => {
      if (what === "fork") desk.fork(value.place.step, value.token_id);
      else if (value === "cell") desk.explain();
    },
  });
  const data = { seq: opened.seq, turn: D.turn, start, explains: true, compact: D.compact };
  const mount = name === "stepper" ? mountStepper : /** @type {Attention} */ (D.heads).mountHeads;
  D.unmount = mount({ data, parentElement, source });
  return start;
}

/**
 * What the panels ask of the desk: `moved` is told which cell of the row the reader moved to, `answer` computes what a model says
 * with these changes and along this path, `changed` is called when the reader chose something else to compare with.
 * @typedef {(text: string, card: SiteModel, changes?: import("./head_changes.js").HeadChange[], path?: number[]) => Promise<Kept>} Answer
 * @typedef {{ moved: (at: { head: number, query: number, key: number }) => void, answer: Answer, changed: () => void }} OfPanels
 */

/** Draws the panel below the views of heads that the query asks for. @param {DeskState} D @param {OfPanels} desk */
export async function drawPanel(D, desk) {
  const [name] = D.panel.split(".");
  const isOpen = D.page === "attention" && !!D.opened && !parseView(D.view).guess; // panels tell the words
  const [cell, compared] = [D.find(".cell-panel"), D.find(".compare-panel")];
  cell.hidden = !isOpen || name !== "cell";
  compared.hidden = !isOpen || name !== "compare";
  if (!cell.hidden) await drawCell(D, cell, desk.moved);
  if (!compared.hidden) await (await D.more()).drawCompared(D, compared, desk);
}

/** Shows where one weight comes from. @param {DeskState} D @param {HTMLElement} box @param {OfPanels["moved"]} moved */
async function drawCell(D, box, moved) {
  const { place, opened, card, text, changes } = D;
  if (!opened) return;
  const { kind, layer, head, step, cell = "" } = place;
  const [row, key] = cell.split("-").map(Number);
  const at = {
    kind: /** @type {Kind} */ (kind),
    layer: Number(layer),
    head: Number(head),
    query: kind === "encoder" ? row || 1 : Number(step),
    key,
  };
  const asked = JSON.stringify([opened.seq, at]);
  if (asked === D.cell) return;
  D.cell = asked;
  const decoding = /** @type {Decoding} */ (decodingOf(opened.seq));
  const said = completeCell(decoding, at);
  try {
    const { drawOneCell } = await D.more();
    const answer = await D.engine.part("cell", card.name, text, { path: opened.path, edits: editsOf(changes) }, at);
    if (asked !== D.cell) return;
    Object.assign(answer.header, { part: "cell", seq: opened.seq, in_view: Number(head), said });
    sayOrHide(box, "");
    const host = /** @type {HTMLElement} */ (box.lastElementChild);
    drawOneCell(host, answer, decoding, ({ head, column }) => moved({ ...at, head, key: column }));
  } catch (error) {
    if (asked === D.cell) sayOrHide(box, error instanceof Error ? error.message : `${error}`);
  }
}

/** Completes a place without a key or without a single head, as `strongest_cell`, and says so. @param {Decoding} decoding @param {{ kind: Kind, layer: number, head: number, query: number, key: number }} at */
function completeCell({ maps }, at) {
  if (at.head && at.key) return "";
  const { heads, keys, rows, columns } = maps[at.kind];
  const weight = (/** @type {number} */ head, /** @type {number} */ key) =>
    weightsOf(maps[at.kind], at.layer, head)[(at.query - 1) * keys + key - 1];
  /** The number from 1 with the most weight. @param {number} n @param {(i: number) => number} weightAt */
  const heaviest = (n, weightAt) => {
    const all = Array.from({ length: n }, (_, i) => weightAt(i + 1));
    return all.indexOf(Math.max(...all)) + 1;
  };
  const [unasked, ofHead] = [!at.key, !!at.head];
  at.key ||= heaviest(keys, (key) => weight(at.head, key));
  at.head ||= heaviest(heads, (head) => weight(head, at.key));
  const name = (/** @type {string[]} */ tokens, /** @type {number} */ n) =>
    t("“{token}”", { token: `${n} ${tokens[n - 1]}` });
  const fields = { query: name(rows, at.query), key: name(columns, at.key), head: at.head };
  if (ofHead || (heads === 1 && unasked))
    return t(
      "No cell is chosen, so this is the largest weight of head {head} in this row: {query} looks at {key}.",
      fields,
    );
  if (!unasked) return "";
  return t(
    "No cell is chosen, so this is the largest in this row: {query} gives {key} {mean}, the mean of {n} heads.",
    { ...fields, n: heads, mean: inSentence(weight(0, at.key).toFixed(3)) },
  );
}

/** Says why there is no cell, or shows it. @param {HTMLElement} box @param {string} reason */
function sayOrHide(box, reason) {
  const [, text, host] = /** @type {HTMLElement[]} */ ([...box.children]);
  say(text, reason);
  text.hidden = !reason;
  host.hidden = !!reason;
}

/** The position that the place of a query means in a decoding, as `place_in` of explorer/decoding/decoding.py. @param {DeskState} D @param {Decoding} decoding @returns {Position} */
function positionOf({ place, view, card, text }, { order, shapes, target, alternatives }) {
  const kind = order.find((each) => each === (place.kind ?? "cross")) ?? order[order.length - 1];
  const { layers, heads, queries, keys } = shapes[kind];
  const number = (/** @type {string | undefined} */ written) => Number(/^\d{1,6}$/.test(written ?? "") ? written : 0);
  const [row, column] = (/^\d{1,6}-\d{1,6}$/.test(place.cell ?? "") ? place.cell : "0-0").split("-").map(Number);
  const steps = target.tokens.length;
  const word = card.examples.find(({ source }) => source === text)?.word ?? "";
  let step = clamp(number(place.step) || openingStep(target, alternatives.probabilities, word), 1, steps);
  if (row && kind !== "encoder") step = Math.min(row, queries);
  return {
    kind,
    layer: clamp(number(place.layer) || layers, 1, layers),
    head: clamp(number(place.head), 0, heads),
    step,
    row: kind === "encoder" ? clamp(row, 1, queries) : step,
    column: column ? Math.min(column, keys) : null,
    options: parseView(view),
  };
}

/** The step that predicts the word, else the closest race between two tokens; as `step_worth_seeing`. @param {Decoding["target"]} target @param {number[][]} probabilities @param {string} word */
function openingStep({ predicted, given }, probabilities, word) {
  const first = Math.min(given, predicted.length - 1);
  const found = word ? predicted.indexOf(word, first) : -1;
  if (found >= 0) return found + 1;
  const leads = probabilities.slice(first).map((row) => {
    const [most, second = -1] = [...row].sort((a, b) => b - a);
    return most - second;
  });
  const counted = leads.slice(0, Math.max(1, leads.length - 1));
  return first + counted.indexOf(Math.min(...counted)) + 1;
}
