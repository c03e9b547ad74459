// What is different: the head in view beside another step, another sentence or another model. Its choices stand in the
// address as those of the app's panel.

import { compareDecodings, compareHeads, compareRows } from "./comparison.js";
import { saveFigures } from "./desk_files.js";
import { templateOf } from "./desk_views.js";
import { children, finder, make, say } from "./dom.js";
import { added, changeName } from "./head_changes.js";
import { showMap } from "./labelled_map.js";
import { TITLES, shortKind } from "./names.js";
import { decodingOf } from "./store.js";
import { t } from "./words.js";

/** @import { Decoding } from "./types" */
/** @typedef {import("./desk.js").DeskState} DeskState */
/** @typedef {import("./desk.js").Kept} Kept */
/** @typedef {import("./comparison.js").Figure} Figure */
/** @typedef {Parameters<typeof compareRows>[1]} At */
/** @typedef {import("./desk_views.js").Answer} Answer */
/** @typedef {{ row: number, way: string, other: number, which: string, edit: import("./head_changes.js").HeadChange, along: boolean }} Choice rows are from 1 */

const WAYS = ["step", "heads", "text", "model", "edit"];

/**
 * Draws the panel.
 * @param {DeskState} D @param {HTMLElement} box
 * @param {{ answer: Answer, changed: () => void }} desk
 */
export async function drawComparison(D, box, { answer, changed }) {
  const { kind, layer, head, step, cell = "" } = D.place;
  const opened = /** @type {Kept} */ (D.opened);
  const decoding = /** @type {Decoding} */ (decodingOf(opened.seq));
  const row = kind === "encoder" ? Number(cell.split("-")[0]) || 1 : Number(step);
  const at = { kind: /** @type {import("./types").Kind} */ (kind), layer: Number(layer), head: Number(head), row };
  const choice = choiceOf(D, row, decoding, at.kind);
  drawChoices(D, box, choice, decoding, at.kind, changed);
  const [text, figures, legend, about] = [".said", ".figures", ".legend", ".about"].map(finder(box));
  const call = ++D.comparisons;
  try {
    const found = await compared(D, choice, at, decoding, answer);
    if (call !== D.comparisons) return;
    say(text, found.said);
    text.hidden = !found.said;
    for (const [i, line] of box.querySelectorAll(".pair").entries()) line.replaceChildren(...(found.pair?.[i] ?? []));
    drawFigures(figures, found.figures);
    say(legend, found.legend ?? "");
    say(about, found.about ?? "");
    const save = finder(box)(".save");
    save.hidden = ["step", "heads"].includes(choice.way) || !found.figures.length;
    save.onclick = () => {
      const facts = t("Model {model}. A: {text} B: {other}", {
        model: D.card.name,
        text: D.text,
        other: choice.way === "text" ? otherText(D) : D.text,
      });
      saveFigures(
        [...figures.children].slice(0, 2),
        [found.said, found.legend, found.about, facts].join(" "),
        `${D.card.name}-compared.png`,
      );
    };
  } catch (error) {
    if (call !== D.comparisons) return;
    for (const line of box.querySelectorAll(".pair, .legend, .about")) say(/** @type {HTMLElement} */ (line), "");
    say(text, error instanceof Error ? error.message : `${error}`);
    drawFigures(figures, []);
  }
}

/** The choices in the address, as far as they can be had. @param {DeskState} D @param {number} row @param {Decoding} decoding @param {At["kind"]} kind @returns {Choice} */
function choiceOf({ panel, models }, row, { maps, order, shapes }, kind) {
  const asked = (/** @type {string} */ option) => panel.match(new RegExp(`\\.${option}-([^.]*)`))?.[1] ?? "";
  const rows = maps[kind].rows.length;
  const [way, other] = [asked("way"), Number(asked("row"))];
  const known = WAYS.includes(way) && !(way === "model" && models.length < 2) ? way : "step";
  const isThere = Number.isInteger(other) && other >= 1 && other <= rows && other !== row;
  const changed = order.find((each) => each === asked("kind")) ?? kind;
  const [layer, head] = /** @type {const} */ (["layer", "head"]).map((name) => {
    const number = Number(asked(name));
    return Number.isInteger(number) && number >= 1 && number <= shapes[changed][`${name}s`] ? number : 1;
  });
  const op = asked("is") === "uniform" ? "uniform" : "zero";
  return {
    row,
    way: known,
    other: isThere ? other : row < rows ? row + 1 : rows - 1,
    which: asked("which") || "mean-heads",
    edit: { kind: changed, layer, head, op, row: 0, weights: [] },
    along: asked("along") !== "no",
  };
}

/** @param {DeskState} D @param {Choice} choice @param {At} at @param {Decoding} decoding @param {Answer} answer @returns {Promise<{ said: string, figures: Figure[], legend?: string, about?: string, pair?: import("./types").Content[][] }>} */
async function compared(D, choice, at, decoding, answer) {
  const { way } = choice;
  if (way === "heads") return compareHeads(decoding, at, choice.which);
  if (way === "step")
    return choice.other
      ? { said: "", figures: [compareRows(decoding, at, choice.other)] }
      : { said: t("There is only one row here."), figures: [] };
  const other = otherText(D);
  if (way === "text" && other === D.text)
    return {
      said: t("Change one word of the sentence, or type another one. With as many tokens, the maps can be subtracted."),
      figures: [],
    };
  const name = way === "edit" ? t("edited") : way === "text" ? t("the other sentence") : otherModel(D).name;
  const [text, card] = [way === "text" ? other : D.text, way === "model" ? otherModel(D) : D.card];
  const changes = way === "edit" ? added(D.changes, choice.edit) : [];
  const free = await answer(text, card, changes);
  const path = /** @type {Kept} */ (D.opened).path;
  const found = way === "edit" && choice.along ? await answer(text, card, changes, path) : free;
  const b = /** @type {Decoding} */ (decodingOf(found.seq));
  if (!b.order.includes(at.kind))
    return { said: t("{model} has no {kind} attention.", { model: card.name, kind: shortKind(at.kind) }), figures: [] };
  const titles = [t("A: what is on screen"), t("B: {name}", { name })];
  const pair = compareDecodings(decoding, b, at, titles, [[D.text, D.opened?.text ?? ""], [text, found.text]]); // prettier-ignore
  if (way !== "edit") return pair;
  const edits = changes.map(changeName).join("; ");
  const own =
    free.path.join() === path.join()
      ? t("Edited: {edits}. On its own, the edited model says the same.", { edits })
      : t("Edited: {edits}. On its own, the edited model says {text}.", {
          edits,
          text: t("“{token}”", { token: free.text }),
        });
  return { ...pair, said: `${own} ${pair.said}` };
}

/** The sentence that the address names, else another example. @param {DeskState} D */
const otherText = ({ other, text, card }) =>
  other || (card.examples.find(({ source }) => source !== text)?.source ?? text);

/** The model that the address names, else the first other one. @param {DeskState} D */
function otherModel({ models, other, card }) {
  const others = models.filter((each) => each !== card);
  return others.find(({ name }) => name === other) ?? others[0];
}

/** @param {DeskState} D @param {HTMLElement} box @param {Choice} choice @param {Decoding} decoding @param {At["kind"]} inView @param {() => void} changed */
function drawChoices(D, box, { row, way, other, which, edit, along }, { maps, order, shapes }, inView, changed) {
  const find = finder(box);
  const field = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (find(`[name=${name}]`));
  const offer = (/** @type {string} */ name, /** @type {[string, string | number][]} */ options) =>
    field(name).replaceChildren(...options.map(([text, value]) => new Option(text, `${value}`)));
  const { kind, layer, head, op } = edit;
  const count = (/** @type {number} */ n) =>
    Array.from({ length: n }, (_, i) => /** @type {[string, number]} */ ([`${i + 1}`, i + 1]));
  offer(
    "row",
    maps[inView].rows
      .map((token, i) => /** @type {[string, number]} */ ([`${i + 1} ${token}`, i + 1]))
      .filter(([, n]) => n !== row),
  );
  offer(
    "model",
    D.models.filter((each) => each !== D.card).map(({ title, name }) => [title, name]),
  );
  offer(
    "kind",
    order.map((each) => [TITLES[each], each]),
  );
  offer("layer", count(shapes[kind].layers));
  offer("head", count(shapes[kind].heads));
  /** What stands in the fields of each way, and what does without being in the address. @type {[string, string, string | number, string | number][]} */
  const values = [
    ["step", "row", other, ""],
    ["heads", "which", which, "mean-heads"],
    ["model", "model", way === "model" ? otherModel(D).name : "", ""],
    ["edit", "kind", kind, inView],
    ["edit", "layer", layer, 1],
    ["edit", "head", head, 1],
    ["edit", "is", op, "zero"],
  ];
  field("along").checked = along;
  for (const [, name, value] of values) field(name).value = `${value}`;
  if (field("other") !== document.activeElement) field("other").value = otherText(D);
  const ways = field("way");
  /** @type {HTMLOptionElement} */ (find("[value=model]")).hidden = D.models.length < 2;
  ways.value = way;
  const take = () => {
    const text = { text: field("other").value, model: field("model").value }[ways.value] ?? "";
    const options = values
      .filter(
        ([of, name, , none]) => of === way && of === ways.value && name !== "model" && field(name).value !== `${none}`,
      )
      .map(([, name]) => `${name}-${field(name).value}`);
    const words = [
      ways.value !== "step" && `way-${ways.value}`,
      ...options,
      way === "edit" && ways.value === way && !field("along").checked && "along-no",
    ];
    Object.assign(D, { panel: ["compare", ...words.filter(Boolean)].join("."), other: text === D.text ? "" : text });
    changed();
  };
  for (const each of box.querySelectorAll("[name]")) /** @type {HTMLElement} */ (each).onchange = take;
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
    say(caption, figures[i].header.grid.length ? "" : figures[i].header.caption); // else it stands above the maps
  });
}
