// What is different: the head in view beside another step, another sentence or another model. Its choices stand in the
// address as those of the app's panel.

import { compareDecodings, compareRows } from "./comparison.js";
import { templateOf } from "./desk_views.js";
import { children, finder, make, say } from "./dom.js";
import { showMap } from "./labelled_map.js";
import { shortKind } from "./names.js";
import { decodingOf } from "./store.js";
import { t } from "./words.js";

/** @import { SiteModel } from "./structs" */
/** @import { Decoding } from "./types" */
/** @typedef {import("./desk.js").DeskState} DeskState */
/** @typedef {import("./desk.js").Kept} Kept */
/** @typedef {import("./comparison.js").Figure} Figure */
/** @typedef {{ row: number, way: string, other: number }} Choice row and the other one are from 1 */

const WAYS = ["step", "text", "model"];

/**
 * Draws the panel.
 * @param {DeskState} D @param {HTMLElement} box
 * @param {{ answer: (text: string, card: SiteModel) => Promise<Kept>, changed: () => void }} desk `answer` computes what the unchanged model says
 */
export async function drawComparison(D, box, { answer, changed }) {
  const { kind, layer, head, step, cell = "" } = D.place;
  const opened = /** @type {Kept} */ (D.opened);
  const decoding = /** @type {Decoding} */ (decodingOf(opened.seq));
  const row = kind === "encoder" ? Number(cell.split("-")[0]) || 1 : Number(step);
  const at = { kind: /** @type {import("./types").Kind} */ (kind), layer: Number(layer), head: Number(head), row };
  const choice = choiceOf(D, row, decoding.maps[at.kind].rows.length);
  drawChoices(D, box, choice, decoding.maps[at.kind].rows, changed);
  const [text, figures] = [finder(box)(".said"), finder(box)(".figures")];
  figures.classList.toggle("stacked", choice.way === "step");
  const call = ++D.comparisons;
  try {
    const found = await compared(D, choice, at, decoding, answer);
    if (call !== D.comparisons) return;
    say(text, found.said);
    text.hidden = !found.said;
    drawFigures(figures, found.figures);
  } catch (error) {
    if (call !== D.comparisons) return;
    say(text, error instanceof Error ? error.message : `${error}`);
    drawFigures(figures, []);
  }
}

/** The choices in the address, as far as they can be had. @param {DeskState} D @param {number} row @param {number} rows @returns {Choice} */
function choiceOf({ panel, models }, row, rows) {
  const asked = (/** @type {string} */ option) => panel.match(new RegExp(`\\.${option}-([^.]*)`))?.[1] ?? "";
  const [way, other] = [asked("way"), Number(asked("row"))];
  const known = WAYS.includes(way) && !(way === "model" && models.length < 2) ? way : "step";
  const isThere = Number.isInteger(other) && other >= 1 && other <= rows && other !== row;
  return { row, way: known, other: isThere ? other : row < rows ? row + 1 : rows - 1 };
}

/** @param {DeskState} D @param {Choice} choice @param {Parameters<typeof compareRows>[1]} at @param {Decoding} decoding @param {(text: string, card: SiteModel) => Promise<Kept>} answer @returns {Promise<{ said: string, figures: Figure[] }>} */
async function compared(D, { way, other }, at, decoding, answer) {
  if (way === "step")
    return other
      ? { said: "", figures: compareRows(decoding, at, other) }
      : { said: t("There is only one row here."), figures: [] };
  const name = way === "text" ? D.other : otherModel(D).name;
  if (way === "text" && (!name || name === D.text))
    return {
      said: t("Change one word of the sentence, or type another one. With as many tokens, the maps can be subtracted."),
      figures: [],
    };
  const [text, card] = way === "text" ? [name, D.card] : [D.text, otherModel(D)];
  const found = await answer(text, card);
  const b = /** @type {Decoding} */ (decodingOf(found.seq));
  if (!b.order.includes(at.kind))
    return { said: t("{model} has no {kind} attention.", { model: card.name, kind: shortKind(at.kind) }), figures: [] };
  const titles = [t("A: what is on screen"), t("B: {name}", { name })];
  return compareDecodings(decoding, b, at, titles, [[D.text, D.opened?.text ?? ""], [text, found.text]]); // prettier-ignore
}

/** The model that the address names, else the first other one. @param {DeskState} D */
function otherModel({ models, other, card }) {
  const others = models.filter((each) => each !== card);
  return others.find(({ name }) => name === other) ?? others[0];
}

/** @param {DeskState} D @param {HTMLElement} box @param {Choice} choice @param {string[]} rows @param {() => void} changed */
function drawChoices(D, box, { row, way, other }, rows, changed) {
  const find = finder(box);
  const [ways, others, models] = /** @type {HTMLSelectElement[]} */ (
    ["way", "row", "model"].map((name) => find(`[name=${name}]`))
  );
  const field = /** @type {HTMLInputElement} */ (find("[name=other]"));
  const choose = (/** @type {string[]} */ options, /** @type {string} */ text) => {
    Object.assign(D, { panel: ["compare", ...options].join("."), other: text });
    changed();
  };
  /** @type {HTMLOptionElement} */ (find("[value=model]")).hidden = D.models.length < 2;
  ways.value = way;
  ways.onchange = () => choose(ways.value === "step" ? [] : [`way-${ways.value}`], "");
  others.replaceChildren(
    ...rows.map((token, i) => new Option(`${i + 1} ${token}`, `${i + 1}`)).filter((_, i) => i + 1 !== row),
  );
  others.value = `${other}`;
  others.onchange = () => choose([`row-${others.value}`], "");
  if (field !== document.activeElement) field.value = D.other || D.text;
  field.onchange = () => choose(["way-text"], field.value === D.text ? "" : field.value);
  models.replaceChildren(
    ...D.models.filter((each) => each !== D.card).map(({ title, name }) => new Option(title, name)),
  );
  models.value = way === "model" ? otherModel(D).name : "";
  models.onchange = () => choose(["way-model"], models.value);
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll("[data-for]")))
    part.hidden = part.dataset.for !== way;
}

/** @param {HTMLElement} box @param {Figure[]} figures */
function drawFigures(box, figures) {
  const create = () => {
    const host = make("div", "");
    host.attachShadow({ mode: "open" }).append(templateOf("labelled_map"));
    return make("figure", "", make("h4", ""), host, make("figcaption", ""));
  };
  children(box, figures.length, create).forEach((figure, i) => {
    const [title, host, caption] = figure.children;
    say(title, figures[i].title);
    showMap(host.shadowRoot, figures[i]);
    say(caption, figures[i].header.caption);
  });
}
