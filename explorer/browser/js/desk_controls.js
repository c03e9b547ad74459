// The controls of the desk: model, sentence, examples, method, changed heads, paths, and what can be taken away.

import { copyText } from "./clipboard.js";
import { mapAsTable, saveFile } from "./desk_files.js";
import { cardNow } from "./desk_views.js";
import { children, make, makeButton, say } from "./dom.js";
import { titleOf } from "./desk_views.js";
import { doubtOf } from "./doubt.js";
import { added, changeName } from "./head_changes.js";
import { summary } from "./method.js";
import { headTitle, shortKind } from "./names.js";
import { wholePercent, grouped } from "./numbers.js";
import { decodingOf } from "./store.js";
import { parseView } from "./view_options.js";
import { inSentence, t } from "./words.js";

/** @import { Decoding, Kind } from "./types" */
/** @typedef {import("./desk.js").DeskState} DeskState */
/** @typedef {{ show: () => void, open: (model: string, text: string) => void, openPanel: (panel: string) => void, fork: (step: number, token: number) => void }} Actions */

/** @type {WeakMap<DeskState, Actions>} */
const actions = new WeakMap();
const actionsOf = (/** @type {DeskState} */ D) => /** @type {Actions} */ (actions.get(D));

/** @param {DeskState} D @param {Actions} wanted */
export function listenToControls(D, wanted) {
  actions.set(D, wanted);
  const { find } = D;
  const model = /** @type {HTMLSelectElement} */ (find("[name=model]"));
  const text = /** @type {HTMLInputElement} */ (find("[name=text]"));
  model.append(...D.models.map(({ name, title }) => new Option(title, name)));
  model.onchange = () => wanted.open(model.value, "");
  find(".ask").onsubmit = (event) => {
    event.preventDefault();
    wanted.open(model.value, text.value);
  };
  find(".back").onclick = () => choosePath(D, null);
  for (const field of /** @type {NodeListOf<HTMLInputElement>} */ (D.box.querySelectorAll(".method [name]")))
    field.onchange = () => changeMethod(D, field);
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (D.box.querySelectorAll(".close")))
    button.onclick = () => wanted.openPanel("");
  find(".compare").onclick = () => wanted.openPanel("compare");
  find(".again").onclick = () => {
    D.method.seed += 1;
    choosePath(D, null);
  };
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (D.box.querySelectorAll(".edit button")))
    button.onclick = () => changeHead(D, /** @type {import("./head_changes.js").Op} */ (button.value));
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (D.box.querySelectorAll(".export button")))
    button.onclick = () => takeAway(D, button.value);
}

/** @param {DeskState} D @param {number[] | null} path */
function choosePath(D, path) {
  D.path = path;
  actionsOf(D).show();
}

/** @param {DeskState} D @param {HTMLInputElement} field */
function changeMethod(D, { name, value, type, min, max }) {
  const number = Math.min(Math.max(Number(value), Number(min)), Number(max));
  const isWhole = name !== "temperature" && name !== "top_p";
  if (type === "number" && (value === "" || Number.isNaN(number))) return drawControls(D);
  Object.assign(D.method, { [name]: type === "number" ? (isWhole ? Math.round(number) : number) : value });
  choosePath(D, null);
}

/** Changes the head in view. @param {DeskState} D @param {import("./head_changes.js").Op} op */
function changeHead(D, op) {
  const { kind, layer, head, step, cell = "" } = D.place;
  const [row, key] = cell.split("-").map(Number);
  const decoding = /** @type {Decoding} */ (decodingOf(D.opened?.seq ?? ""));
  const keys = decoding.shapes[/** @type {Kind} */ (kind)].keys;
  D.changes = added(D.changes, {
    kind: /** @type {Kind} */ (kind),
    layer: Number(layer),
    head: Number(head),
    op,
    row: op !== "row" ? 0 : kind === "encoder" ? row || 1 : Number(step),
    weights: op === "row" ? Array.from({ length: keys }, (_, i) => (i === key - 1 ? 1000 : 0)) : [],
    other: "",
  });
  actionsOf(D).show();
}

/** @param {DeskState} D @param {string} what */
async function takeAway(D, what) {
  const output = D.find(".export output");
  const { kind, layer, head } = D.place;
  const name = `${D.card.name}-${kind}-L${layer}-${Number(head) ? `H${head}` : "mean"}`;
  const decoding = /** @type {Decoding} */ (decodingOf(D.opened?.seq ?? ""));
  if (what === "link") say(output, (await copyText(location.href)) ? t("Copied.") : t("Copy it from the address bar."));
  else if (what === "csv") {
    const map = decoding.maps[/** @type {Kind} */ (kind)];
    saveFile(
      new Blob([mapAsTable(map, decoding.target.predicted)], { type: "text/csv" }),
      `${D.card.name}-${kind}.csv`,
    );
    say(
      output,
      t("All heads of {kind} attention: {file}", { kind: shortKind(kind), file: `${D.card.name}-${kind}.csv` }),
    );
  } else {
    const root = /** @type {HTMLElement} */ (D.find(".view").firstChild).shadowRoot;
    const canvas = /** @type {HTMLCanvasElement | undefined} */ (
      [...(root?.querySelectorAll(`figure.${kind} canvas`) ?? [])].find((each) => each.getBoundingClientRect().width)
    );
    if (!canvas) return void say(output, t("Open one head first: its map is the picture."));
    canvas.toBlob((picture) => picture && saveFile(picture, `${name}.png`));
    say(output, `${name}.png`);
  }
  setTimeout(() => say(output, ""), 5000);
}

/** Draws the sentence and the name of the model. @param {DeskState} D */
export function drawAsked(D) {
  // What the user is typing meanwhile stays.
  if (D.written !== D.text) /** @type {HTMLInputElement} */ (D.find("[name=text]")).value = D.written = D.text;
  /** @type {HTMLSelectElement} */ (D.find("[name=model]")).value = D.card.name;
}

/** Draws what depends on the sentence and its answer. @param {DeskState} D */
export function drawControls(D) {
  const { find, card, own, opened } = D;
  drawAsked(D);
  say(find(".ask .primary"), titleOf("translate", card));
  say(find(".about summary"), card.story);
  say(find(".about p"), card.facts.slice(1).join(" "));
  children(find(".examples"), card.examples.length, makeButton).forEach((button, i) => {
    const { source } = card.examples[i];
    say(button, source);
    Object.assign(button, { title: source, dir: "auto", onclick: () => actionsOf(D).open(card.name, source) });
    button.setAttribute("aria-pressed", `${source === D.text}`);
  });
  drawMethod(D);
  if (!own || !opened) return;
  const guessing = isGuessed(D);
  const written = opened.text || t("(nothing: the model ended at once)");
  say(find(".text"), guessing ? t("What does the model write? Predict it first.") : written);
  find(".back").hidden = !D.path;
  const example = guessing || D.path || D.changes.length ? null : card.examples.find(({ source }) => source === D.text);
  const remarks = [D.path && !guessing ? byItself(own.text, opened.text) : "", example?.hint ?? ""];
  say(find(".remarks span"), remarks.filter(Boolean).join(" "));
  const choose = find(".remarks button");
  choose.hidden = !example?.offer || !example.hint;
  say(choose, t("Choose “{word}”", { word: example?.offer ?? "" }));
  choose.onclick = () => example && actionsOf(D).fork(example.step, example.token);
  const decoding = decodingOf(own.seq);
  const doubt = decoding && !D.changes.length ? doubtOf(card, decoding, own.source, D.text) : "";
  say(find(".doubt"), doubt);
  find(".doubt").hidden = !doubt;
  drawChanges(D);
  drawTraining(D);
  drawPaths(D);
  find(".paths").hidden ||= guessing;
}

/** The slider over the steps of training, and what the model gave the token of this step then and now. @param {DeskState} D */
export function drawTraining(D) {
  const { find, card, earlier, opened, trained, place } = D;
  const box = find(".training");
  box.hidden = D.page !== "inside" || !Object.keys(card.earlier).length;
  if (box.hidden || !opened || !trained) return;
  const steps = [...Object.keys(card.earlier), `${card.steps}`];
  const slider = /** @type {HTMLInputElement} */ (box.querySelector("input"));
  Object.assign(slider, { max: `${steps.length - 1}`, value: `${steps.indexOf(earlier || `${card.steps}`)}` });
  const written = grouped(Number(earlier || card.steps));
  slider.setAttribute("aria-valuetext", written);
  say(box.querySelector("output"), written);
  slider.onchange = () => {
    D.earlier = steps.slice(0, -1)[Number(slider.value)] ?? "";
    actionsOf(D).show();
  };
  const [then, now] = [opened, trained].map(({ seq }) => /** @type {Decoding} */ (decodingOf(seq)).target);
  const at = Math.min(Number(place.step) || 1, now.tokens.length) - 1;
  const share = (/** @type {Decoding["target"]} */ target) => wholePercent(target.probabilities?.[at] ?? 0);
  const isHere = opened.name === cardNow(D).name; // else it is still being computed
  const text = earlier
    ? isHere
      ? t(
          "After {steps} steps of training the model gave “{word}” a probability of {then} at step {step}; at the end of training, {now}. All numbers below are those of that time.",
          { steps: written, word: now.predicted[at], then: share(then), step: at + 1, now: share(now) },
        )
      : ""
    : t("The trained model. Move the slider to see the same place earlier in training.");
  say(box.querySelector("span"), text);
}

/** Whether the words are to be guessed, and nothing may tell them. @param {DeskState} D */
const isGuessed = (D) => D.page !== "inside" && parseView(D.view).guess;

/** A sentence on the model's own translation beside a chosen path. @param {string} own @param {string} chosen */
function byItself(own, chosen) {
  if (own === chosen) return t("This is a chosen path; it says what the model says by itself.");
  return /[.!?]$/.test(own)
    ? t("This is a chosen path; by itself, the model says “{text}”", { text: own })
    : t("This is a chosen path; by itself, the model says “{text}”.", { text: own });
}

/** @param {DeskState} D */
function drawMethod(D) {
  const { find, box, method, own, opened } = D;
  say(find(".method summary"), t("Next word: {method}", { method: summary(method) }));
  for (const field of /** @type {NodeListOf<HTMLInputElement>} */ (box.querySelectorAll(".method [name]")))
    if (field !== document.activeElement) field.value = `${method[/** @type {keyof typeof method} */ (field.name)]}`;
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll(".method [data-for]")))
    part.hidden = part.dataset.for !== method.method;
  find(".hypotheses").replaceChildren(
    ...(isGuessed(D) ? [] : (own?.hypotheses ?? [])).map(({ path, text, score, finished }, rank) => {
      const scored = t("score {score}", { score: inSentence(score.toFixed(3)) });
      const line = [`${rank + 1}. ${text}`, scored, ...(finished ? [] : [t("cut off")])].join(" · ");
      const button = makeButton("", line);
      button.setAttribute("aria-pressed", `${path.join() === opened?.path.join()}`);
      button.onclick = () => choosePath(D, rank ? path : null);
      return make("li", "", button);
    }),
  );
}

/** @param {DeskState} D */
function drawChanges(D) {
  const box = D.find(".changes");
  box.hidden = !D.changes.length;
  const undo = (/** @type {typeof D.changes} */ left) => () => {
    D.changes = left;
    actionsOf(D).show();
  };
  const buttons = D.changes.map((change) => {
    const button = makeButton("", `${changeName(change)} ✕`);
    button.title = t("Undo this change");
    button.onclick = undo(D.changes.filter((other) => other !== change));
    return button;
  });
  const all = makeButton("", t("Undo all"));
  all.onclick = undo([]);
  box.replaceChildren(
    make("span", "", t("Everything here is computed with:")),
    ...buttons,
    ...(buttons.length > 1 ? [all] : []),
  );
}

/** @param {DeskState} D */
function drawPaths(D) {
  D.find(".paths").hidden = !D.forks.length;
  const own = { path: null, text: D.own?.text ?? "", detail: t("the model’s own choice"), step: 0 };
  D.find(".paths ol").replaceChildren(
    ...[own, ...D.forks].map(({ path, text, detail }) => {
      const button = makeButton("", make("b", "", text), make("small", "", ` — ${detail}`));
      const here = path ? path.join() === D.opened?.path.join() && !!D.path : !D.path;
      button.setAttribute("aria-pressed", `${here}`);
      button.onclick = () => choosePath(D, path);
      return make("li", "", button);
    }),
  );
}

/** Draws the tools for the head in view. @param {DeskState} D */
export function drawPlaceTools(D) {
  const { kind, layer, head, cell = "" } = D.place;
  const tools = D.find(".edit");
  for (const what of ["csv", "png"]) D.find(`.export [value=${what}]`).hidden = D.page === "inside";
  D.find(".compare").hidden = D.page !== "attention" || D.compact || isGuessed(D);
  tools.hidden = D.page !== "attention" || !Number(head);
  if (tools.hidden) return;
  say(D.find(".which-head"), `${headTitle(/** @type {Kind} */ (kind), Number(layer), Number(head))}:`);
  const mean = /** @type {HTMLButtonElement} */ (tools.querySelector("[value=mean]"));
  mean.hidden = !D.card.files.means;
  const only = /** @type {HTMLButtonElement} */ (tools.querySelector("[value=row]"));
  only.disabled = !Number(cell.split("-")[1]);
  only.title = only.disabled ? t("Choose a cell in the map first") : t("The row looks at this key alone");
}
