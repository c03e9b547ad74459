// The desk of a page that computes the model itself: a sentence, its translation, and the views. What is on screen is
// the app's query, so that a link of the app opens here and the other way round.

import { drawAsked, drawControls, drawPlaceTools, drawTraining, listenToControls } from "./desk_controls.js";
import { cardNow, drawPanel, mountView, loadView, prepareView, templateOf, VIEWS } from "./desk_views.js";
import { finder, say } from "./dom.js";
import { added, editsOf, readChanges, WHOLE, writeChanges } from "./head_changes.js";
import { METHOD } from "./method.js";
import { NEXT_READ } from "./names.js";
import { decodingOf, put } from "./store.js";
import { formatView, parseView } from "./view_options.js";
import { inSentence, t } from "./words.js";

/** @import { Position, SiteModel } from "./structs" */
/** @import { Decoding } from "./types" */
/** @typedef {import("./live_engine.js").LiveEngine} LiveEngine */
/** @typedef {import("./live_engine.js").Answer} Answer */
/** @typedef {import("./head_changes.js").HeadChange} HeadChange */
/** @typedef {import("./method.js").Method} Method */
/** @typedef {Record<string, string>} Query */
/** @typedef {{ path: number[], text: string, detail: string, step: number }} Fork */
/** @typedef {Omit<Answer, "message"> & { seq: string, name: string }} Kept the name is that of the model */
/** @typedef {ReturnType<typeof stateOf>} DeskState */

const MOST_KEPT = 40; // answers
const MOST_TEXT = 4000; // characters of a sentence in a link

/**
 * @param {HTMLElement} root
 * @param {{ engine: LiveEngine, models: SiteModel[], attention: () => Promise<typeof import("./desk_attention.js")>, more: () => Promise<typeof import("./desk_more.js")>, query: Query, page?: string, idle?: boolean, compact?: boolean, moved?: (query: Query, page: string, isNew: boolean) => void }} options
 *   `attention` and `more` load the rest of the program; with `idle`, nothing is opened yet; with `compact`, views have as few controls and numbers as they can;
 *   `moved` is called after every change; `isNew`: of more than the place
 */
export function mountDesk(
  root,
  { engine, models, attention, more, query, page = "translate", idle = false, compact = false, moved = () => {} },
) {
  root.append(templateOf("desk"));
  const D = Object.assign(stateOf(finder(root), engine, models, attention, more, moved), { compact });
  listenToControls(D, {
    show: () => show(D, true),
    open: (model, text) => begin(D, model, text),
    openPanel: (panel) => openPanel(D, panel),
    fork: (step, token) => void fork(D, step, token),
  });
  return {
    /** Opens what a query says. @param {Query} to @param {string} [at] the page @param {boolean} [isNew] for the history */
    open: (to, at, isNew = true) => open(D, to, at ?? D.page, isNew),
    query: () => queryOf(D),
    page: () => D.page,
    /** Draws everything again, for another theme. */
    redraw: () => D.opened && mount(D, D.opened),
    ready: idle ? Promise.resolve() : open(D, query, page, false),
    end: () => D.unmount(),
  };
}

/** @param {import("./types").Find} find @param {LiveEngine} engine @param {SiteModel[]} models @param {() => Promise<typeof import("./desk_attention.js")>} attention @param {() => Promise<typeof import("./desk_more.js")>} more @param {(query: Query, page: string, isNew: boolean) => void} moved */
const stateOf = (find, engine, models, attention, more, moved) => ({
  find,
  box: find(".desk"),
  engine,
  models,
  attention,
  more,
  moved,
  page: "translate",
  compact: false,
  card: models[0],
  text: "",
  written: "", // into the field of the sentence
  path: /** @type {number[] | null} */ (null),
  changes: /** @type {HeadChange[]} */ ([]),
  method: { ...METHOD },
  forks: /** @type {Fork[]} */ ([]),
  place: /** @type {Query} */ ({}),
  view: "",
  panel: "",
  other: "", // what the panel compares with: a sentence, or a model
  comparisons: 0,
  cell: "", // the one that is shown
  problems: /** @type {string[]} */ ([]),
  calls: 0,
  turn: 0,
  kept: /** @type {Map<string, Kept>} */ (new Map()),
  earlier: "", // the step of training whose weights the machine shows; "" for the model as it is
  own: /** @type {Kept | null} */ (null),
  trained: /** @type {Kept | null} */ (null), // what is opened, by the model as it is
  opened: /** @type {Kept | null} */ (null),
  heads: /** @type {typeof import("./desk_attention.js").attention | null} */ (null),
  inside: /** @type {typeof import("./desk_more.js") | null} */ (null),
  machine: /** @type {import("./machine_link.js").Machine | null} */ (null),
  mounted: "",
  unmount: () => {},
});

/** @param {DeskState} D @param {Query} query @param {string} page @param {boolean} isNew */
async function open(D, query, page, isNew) {
  const { model = "", text, path, edit, kind, layer, head, step, cell, view, block, follow, panel, other } = query;
  const card = D.models.find(({ name }) => name === model) ?? D.models[0];
  D.problems = [];
  if (model && card.name !== model)
    D.problems.push(
      t("The model {model} is not on this page; {other} is open instead.", {
        model: model.slice(0, 40),
        other: card.name,
      }),
    );
  const sentence = (text ?? (card === D.card && D.text ? D.text : card.examples[0]?.source) ?? "").slice(0, MOST_TEXT);
  if (card !== D.card || sentence !== D.text) D.forks = [];
  const { changes, problems } = readChanges(edit ?? "", card.shapes);
  D.problems.push(...problems);
  const isPath = /^\d{1,7}(-\d{1,7}){0,1999}$/.test(path ?? "");
  if (path && !isPath)
    D.problems.push(t("The link’s path is not a list of token ids such as 5-9-2; the model’s own choice is shown."));
  const given = { kind, layer, head, step, cell, block, follow };
  const place = Object.fromEntries(Object.entries(given).filter(([, value]) => value));
  Object.assign(D, {
    card,
    text: sentence,
    path: isPath && path ? path.split("-").map(Number) : null,
    changes,
    page: page in VIEWS ? page : "translate",
    place,
    view: view ?? "",
    panel: panel ?? "",
    other: (other ?? "").slice(0, MOST_TEXT),
    earlier: query[`trained_${card.steps}`] in card.earlier ? query[`trained_${card.steps}`] : "",
  });
  await show(D, isNew);
}

/** Opens a sentence of the user, or the first example of another model. @param {DeskState} D @param {string} model @param {string} text */
async function begin(D, model, text) {
  const other = model !== D.card.name;
  const whole = other ? [] : D.changes.filter(({ op }) => WHOLE.includes(op)); // the others belong to one sentence
  D.card = D.models.find(({ name }) => name === model) ?? D.card;
  const sentence = other && !text ? (D.card.examples[0]?.source ?? "") : text;
  Object.assign(D, {
    text: sentence,
    path: null,
    changes: whole,
    forks: [],
    place: other ? {} : placeKept(D),
    earlier: other ? "" : D.earlier,
    problems: [],
  });
  await show(D, true);
}

/** What stays for another sentence: the head. @param {DeskState} D @returns {Query} */
function placeKept({ place: { kind, layer, head } }) {
  return Object.fromEntries(Object.entries({ kind, layer, head }).filter(([, value]) => value));
}

/**
 * Computes and draws what the state says, if nothing newer is asked meanwhile.
 * @param {DeskState} D @param {boolean} isNew @param {(opened: Kept) => void} [computed] is told the answer before it is drawn
 */
async function show(D, isNew, computed) {
  const call = ++D.calls;
  // Between answers of one model, all else is drawn once, with the answer.
  if (!computed) (D.own?.name === D.card.name ? drawAsked : drawControls)(D);
  problem(D, D.problems.join(" "));
  D.box.classList.add("busy");
  const later = setTimeout(() => loading(D, t("Computing …"), null), 400);
  try {
    let heard = false;
    const load = async (/** @type {SiteModel} */ card) => {
      await D.engine.open(card, (loaded, total) => {
        heard = true;
        const size = inSentence((total / 1e6).toFixed(1));
        if (call === D.calls)
          loading(D, t("Loading the model {model} ({size} MB)", { model: card.name, size }), loaded / total);
      });
      if (heard && call === D.calls) loading(D, t("Computing …"), null);
    };
    await Promise.all([load(D.card), loadView(D)]);
    const own = await answerTo(D, null);
    const trained = D.path ? await answerTo(D, D.path).catch((error) => unfit(D, error, own)) : own;
    const then = cardNow(D);
    if (then !== D.card) await load(then);
    const opened = then === D.card ? trained : await answerTo(D, trained.path, then);
    await prepareView(D, opened);
    if (call !== D.calls) return;
    Object.assign(D, { own, trained, opened });
    computed?.(opened);
    D.find(".opened").hidden = false;
    D.turn += 1;
    mount(D, opened); // it measures, so before anything else is written
    drawControls(D);
    D.moved(queryOf(D), D.page, isNew);
  } catch (error) {
    if (call === D.calls) {
      drawControls(D);
      problem(D, [...D.problems, error instanceof Error ? error.message : `${error}`].join(" "));
    }
  } finally {
    clearTimeout(later);
    if (call === D.calls) {
      D.box.classList.remove("busy");
      D.find(".loading").hidden = true;
    }
  }
}

/** A path that does not fit the model is given up. @param {DeskState} D @param {Error} error @param {Kept} own */
function unfit(D, error, own) {
  D.path = null;
  D.problems.push(error.message);
  problem(D, D.problems.join(" "));
  return own;
}

/** The answer to a sentence, along a path or by the model's own choice; it is in the store. @param {DeskState} D @param {number[] | null} path @param {SiteModel} [card] @param {string} [text] @param {HeadChange[]} [changes] @returns {Promise<Kept>} */
async function answerTo(D, path, card = D.card, text = D.text, changes = D.changes) {
  const { method, kept } = D;
  const request = { path: path ?? [], edits: editsOf(changes), method: path ? {} : method };
  const seq = JSON.stringify([card.name, text, request]);
  const before = kept.get(seq);
  if (before && decodingOf(seq)) return before;
  const { message, ...answer } = await D.engine.decode(card.name, text, request);
  message.header.seq = seq;
  message.header.decoding.diagram = card.diagram;
  if (card.name.includes("@")) message.header.decoding.target.by = NEXT_READ; // earlier weights did not write the target
  put(message, seq);
  kept.delete(seq);
  const found = { ...answer, seq, name: card.name };
  kept.set(seq, found);
  if (kept.size > MOST_KEPT) kept.delete(/** @type {string} */ (kept.keys().next().value));
  return found;
}

/** Mounts the page's view. @param {DeskState} D @param {Kept} opened */
function mount(D, opened) {
  const start = mountView(D, opened, {
    moved: (at) => take(D, at),
    opened: (place) => {
      delete D.place.block;
      delete D.place.follow;
      Object.assign(D.place, place);
      drawTraining(D);
      D.moved(queryOf(D), D.page, false);
    },
    fork: (step, token) => void fork(D, step, token),
    explain: () => openPanel(D, "cell"),
    edit: ({ kind, layer, head, row, weights, to }) => {
      const op = to ? "position" : "row";
      D.changes = to || weights.length ? added(D.changes, { kind, layer, head, op, row, weights, to }) : [];
      void show(D, false);
    },
    go: (query, page) => void open(D, query, page, true),
    query: () => queryOf(D),
    failed: (error) => problem(D, error.message),
  });
  if (start) take(D, start, false);
  else drawPlaceTools(D);
  void showPanel(D);
}

/** Opens a panel below the views, or closes the open one. @param {DeskState} D @param {string} panel */
function openPanel(D, panel) {
  D.panel = panel;
  const isThere = (/** @type {HTMLElement} */ box) => panel && box.scrollIntoView({ block: "nearest" });
  void showPanel(D).then(() => isThere(D.find(panel === "cell" ? ".cell-panel" : ".compare-panel")));
  D.moved(queryOf(D), D.page, false);
}

/** @param {DeskState} D */
const showPanel = (D) =>
  drawPanel(D, {
    moved({ head, query, key }) {
      Object.assign(D.place, { head: `${head}`, cell: `${query}-${key}` });
      D.turn += 1;
      if (D.opened) mount(D, D.opened);
      D.moved(queryOf(D), D.page, false);
    },
    async answer(text, card, changes = [], path) {
      await D.engine.open(card);
      return answerTo(D, path ?? null, card, text, changes);
    },
    changed() {
      void showPanel(D);
      D.moved(queryOf(D), D.page, false);
    },
  });

/** Takes over where a view is. @param {DeskState} D @param {Position} at @param {boolean} [tell] */
function take(D, { kind, layer, head, step, row, column, options }, tell = true) {
  const cell = column !== null ? `${row}-${column}` : kind === "encoder" && row > 1 ? `${row}-0` : "";
  const { block, follow } = D.place; // what is open inside stays
  D.place = {
    kind,
    layer: `${layer}`,
    head: `${head}`,
    step: `${step}`,
    ...(cell && { cell }),
    ...(block && { block }),
    ...(follow && { follow }),
  };
  const guessed = parseView(D.view).guess;
  if (options) D.view = formatView(options);
  if (options && options.guess !== guessed) drawControls(D); // the translation appears or disappears
  drawPlaceTools(D);
  void showPanel(D);
  if (tell) D.moved(queryOf(D), D.page, false);
}

/** Continues decoding with another token at a step. @param {DeskState} D @param {number} step @param {number} token */
async function fork(D, step, token) {
  const from = /** @type {Kept} */ (D.opened);
  const { alternatives, target } = /** @type {Decoding} */ (decodingOf(from.seq));
  const rank = alternatives.ids[step - 1].indexOf(token);
  const [chosen, instead] = [alternatives.tokens[step - 1][rank], target.predicted[step - 1]];
  const probability = alternatives.probabilities[step - 1][rank];
  D.path = [...from.path.slice(0, step - 1), token];
  D.place = { ...D.place, step: `${step}` };
  delete D.place.cell;
  const detail = t("step {step}: “{chosen}” ({share}) instead of “{instead}”", {
    step,
    chosen,
    share: inSentence(`${(100 * probability).toFixed(1)}\u202f%`),
    instead,
  });
  await show(D, true, ({ path, text }) => {
    if (!D.forks.some((other) => other.path.join() === path.join())) D.forks.push({ path, text, detail, step });
    D.path = path;
  });
}

/** What is on screen, as the parameters of the app's addresses. @param {DeskState} D @returns {Query} */
function queryOf({ card, text, path, changes, place, view, panel, other, page, earlier }) {
  /** @type {Query} */
  const query = { model: card.name };
  if (text.length <= MOST_TEXT) query.text = text;
  if (path) query.path = path.join("-");
  for (const [name, value] of Object.entries(place)) if (value !== "0" && value !== "cross") query[name] = value;
  if (page !== "inside" && view) query.view = view;
  if (page === "attention" && panel) query.panel = panel;
  if (query.panel && other) query.other = other;
  if (page === "inside" && earlier) query[`trained_${card.steps}`] = earlier;
  if (changes.length) query.edit = writeChanges(changes);
  return query;
}

/** Says what is wrong; "" if nothing is. @param {DeskState} D @param {string} text */
function problem({ find }, text) {
  say(find(".problem"), text);
  find(".problem").hidden = !text;
}

/** Says what takes long. @param {DeskState} D @param {string} text @param {number | null} share */
function loading({ find }, text, share) {
  find(".loading").hidden = false;
  say(find(".loading span"), text);
  const bar = /** @type {HTMLProgressElement} */ (find(".loading progress"));
  bar.hidden = share === null;
  bar.value = share ?? 0;
}
