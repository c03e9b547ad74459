// The views of the Attention page: their controls, their shared state, and the messages to and from the server.

import { readTheme } from "./colours.js";
import { buttonsOf, finder, make, say, sayAll } from "./dom.js";
import { moveInGrid } from "./tiles.js";
import { chooseTile, drawGrids, peekAtTile, placeLarge } from "./heads_grid.js";
import { drawHeadChoice, drawLines, drawSentence } from "./heads_lines.js";
import { drawMaps, listenToHead, shareWidth } from "./heads_map.js";
import { drawLegend } from "./heads_colours.js";
import {
  change,
  kindsShown,
  mapOf,
  mapsShown,
  openHead,
  pauseOf,
  reportOf,
  rowInView,
  showsLarge,
} from "./heads_state.js";
import { drawCaption, drawLead, drawNumbers, drawReadout } from "./heads_readout.js";
import { figureOf } from "./maps.js";
import { KINDS } from "./names.js";
import { clamp } from "./numbers.js";
import { counterOf, drawSteps, stepName } from "./player.js";
import { listenToPresent, topOf } from "./present.js";
import { offerDirection } from "./scripts.js";
import { drawBadges, numbered, tokenName, readsOn } from "./wording.js";
import { serverSource } from "./source_server.js";
import { decodingOf, listen } from "./store.js";
import {
  end,
  keepWithin,
  listenToSteps,
  listenToOptions,
  listenToViewKeys,
  listenToWidth,
  opensAnew,
  redraw,
  openOptions,
  reportNow,
  update,
} from "./view.js";
import { pieces, t } from "./words.js";

/** @import { ViewOptions } from "./structs" */
/** @import { Decoding, HeadsState, Kind } from "./types" */

/** @typedef {ViewOptions["view"]} View */

const TEMPO = 700; // ms per step
const COMMANDS = {
  1: "view heads",
  2: "view head",
  3: "view lines",
  4: "view text",
  h: "head next",
  H: "head before",
  l: "layer next",
  L: "layer before",
  f: "present",
  "+": "zoom 1",
  "-": "zoom -1",
  0: "zoom 0",
};
/** @returns {[string, string][]} */
const help = () => [
  ["1 2 3 4", t("all heads, one head, lines, sentence")],
  ["H", t("next head; with Shift, the previous one")],
  ["L", t("next layer; with Shift, the previous one")],
  ["F", t("present: fill the screen")],
  ["+ − 0", t("larger or smaller cells, or as large as fit")],
  ["↑ ↓", t("in a map or among thumbnails: move; with Shift, mark cells")],
];
const PATIENCE = 150; // ms for which the previous drawing stays while new weights are loading

/**
 * Streamlit calls this again when the data or the theme change; it calls the returned function once, at unmount. `data`
 * names the decoding, which the store has or will have, and the place to start at.
 * @param {import("./types").ViewOf<import("./structs").ViewMount, "__heads", HeadsState>} view
 */
export function mountHeads({ data, parentElement: root, source }) {
  const S = (root.__heads ??= create(root));
  Object.assign(S, { mount: data, source, theme: readTheme(S.box) });
  S.colours = getComputedStyle(S.box).getPropertyValue("--st-chart-categorical-colors").split(",").filter(Boolean);
  if (!S.colours.length) S.colours = [S.theme.ink];
  const decoding = decodingOf(data.seq);
  if (decoding) load(S, decoding);
  return () => {
    end(S);
    clearTimeout(S.waiting);
    delete root.__heads;
  };
}

/** The component, for Streamlit. @param {import("./types").Mount<[import("./structs").ViewMount], "__heads", HeadsState>} mount */
export default function (mount) {
  return mountHeads({ ...mount, data: mount.data[0], source: serverSource(mount) });
}

/** The state before the first decoding arrives; `load` adds the rest. @param {ParentNode} root */
function create(root) {
  const find = finder(root);
  const details = /** @type {HTMLDetailsElement} */ (find("details"));
  const S = /** @type {HeadsState} */ (
    /** @type {unknown} */ ({
      find,
      details,
      box: find(".explorer"),
      pick: {},
      on: new Set(),
      step: 0,
      encoderRow: 0,
      col: null,
      peek: null,
      figures: {},
      drawn: [],
      maps: new Map(),
      pictures: new Map(),
      sort: { by: 0, sign: 1 },
      draw: () => draw(S),
      reportOf: () => reportOf(S),
      pause: () => pauseOf(S),
    })
  );
  for (const kind of KINDS) {
    S.figures[kind] = figureOf(find, kind);
    listenToHead(S, kind);
  }
  S.stepped = () => {
    S.hover = null;
  };
  const run = listenToSteps(S, TEMPO, (name) => carryOut(S, name));
  for (const button of buttonsOf(find, ".kinds")) {
    const { value } = button;
    button.onclick = () =>
      change(S, value === "beside" ? { beside: !S.beside } : { kind: /** @type {Kind} */ (value), beside: false });
  }
  for (const button of buttonsOf(find, ".views"))
    button.onclick = () => change(S, { view: /** @type {View} */ (button.value) });
  for (const select of root.querySelectorAll("select")) {
    const convert = { next: Boolean }[select.name] ?? String;
    select.onchange = () => change(S, { [select.name]: convert(select.value) });
  }
  for (const box of /** @type {NodeListOf<HTMLInputElement>} */ (root.querySelectorAll("input[type=checkbox]"))) {
    box.onchange = () => change(S, { [box.name]: box.checked });
  }
  find(".sealed span").replaceChildren(
    ...pieces("{mode} is on: these views would tell the next words before anybody has guessed them on Translate.", {
      mode: make("b", "", t("Predict first")),
    }),
  );
  const [mass, share] = /** @type {[HTMLInputElement, HTMLElement]} */ ([...find(".mass").children]);
  find(".mass").replaceChildren(...pieces("Lines that hold {slider} of each row", { slider: [mass, share] }));
  mass.oninput = () => change(S, { mass: Number(mass.value) });
  find(".grids").onkeydown = moveInGrid;
  const grids = find(".grids");
  grids.onclick = (event) => chooseTile(S, event);
  // A pointer that rests chooses nothing when tiles are scrolled below it.
  grids.onpointermove = (event) => event.pointerType !== "touch" && peekAtTile(S, event);
  for (const away of ["pointerleave", "focusout"]) {
    grids.addEventListener(away, () => {
      if (S.peek) redraw(S);
      S.peek = null;
    });
  }
  grids.addEventListener("focusin", (event) => {
    if (/** @type {Element} */ (event.target).matches(":focus-visible")) peekAtTile(S, event);
  });
  find(".sealed button").onclick = () => change(S, { guess: false });
  find(".why").onclick = () => {
    reportNow(S);
    S.source.ask("open", "cell");
  };
  S.present = listenToPresent(S.box, find(".present"), () => S.frame || redraw(S));
  listenToOptions(S);
  details.ontoggle = () => drawNumbers(S);
  const escape = () => {
    if (openOptions(S, false)) return;
    if (S.col === null && !S.brush) return;
    Object.assign(S, { col: null, brush: null, hover: null });
    update(S);
  };
  listenToViewKeys(S, { commands: COMMANDS, help, run, escape });
  S.unsubscribe = listen(() => {
    const decoding = decodingOf(S.mount.seq);
    if (decoding && decoding !== S.data) load(S, decoding);
    else if (decoding) redraw(S);
  });
  listenToWidth(
    S,
    () => S.box.hidden || redraw(S),
    () => Math.abs(S.top - topOf(S.box)) > 1,
  );
  // What stands above may settle after the first drawing, and the pictures fill the height below it.
  const page = document.querySelector("main")?.firstElementChild;
  if (page) S.observer.observe(page);
  return S;
}

/**
 * Loads a decoding. The place stays unless the server starts another turn.
 * @param {HeadsState} S
 * @param {Decoding} data
 */
function load(S, data) {
  const { start } = S.mount;
  if (data !== S.data) for (const cache of [S.maps, S.pictures]) cache.clear();
  Object.assign(S, { data, last: data.target.tokens.length - 1 });
  if (data.seq !== S.seq) Object.assign(S, { hover: null, brush: null, focus: null });
  if (opensAnew(S, S.mount)) {
    const { kind, layer, head, step, row, column } = start;
    const { heads, ...options } = /** @type {ViewOptions} */ (start.options);
    const encoderRow = kind === "encoder" ? row - 1 : 0;
    const col = column === null ? null : column - 1;
    Object.assign(S, { kind, step: step - 1, encoderRow, col, ...options });
    S.pick[kind] = { layer, head };
    S.on = new Set(heads.length ? heads : [head]);
  }
  S.encoderRow = clamp(S.encoderRow, 0, Math.max(0, data.source.tokens.length - 1));
  keepWithin(S);
  // The weights arrive right after the header; until then, the previous drawing stays for a moment.
  clearTimeout(S.waiting);
  if (mapsShown(S).length === kindsShown(S).length) redraw(S);
  else S.waiting = setTimeout(() => redraw(S), PATIENCE);
}

/** @param {HeadsState} S */
function draw(S) {
  S.frame = 0;
  clearTimeout(S.waiting);
  S.box.hidden = false;
  S.box.classList.toggle("unseen", S.guess);
  S.find(".sealed").hidden = !S.guess;
  if (S.guess) return;
  drawControls(S);
  drawHeadChoice(S);
  // Parts that are not shown are hidden before anything is measured.
  for (const [part, view] of [
    [".figures", "head"],
    [".lines", "lines"],
    [".strip", "text"],
  ])
    S.find(part).hidden = S.view !== view && !(view === "head" && showsLarge(S));
  drawLegend(S); // it stands beside the lead, as the badges do
  drawBadges(S.find, S.data);
  drawLead(S); // its height decides how much room the pictures have
  placeLarge(S);
  shareWidth(S);
  drawGrids(S);
  drawMaps(S);
  drawLines(S);
  drawSentence(S);
  drawReadout(S);
  drawCaption(S);
  drawNumbers(S);
  S.width = S.box.clientWidth;
  S.top = topOf(S.box);
  S.box.dataset.drawn = `${S.seq} ${S.view} ${mapsShown(S)
    .map((m) => m.kind)
    .join("+")}`;
}

/** @param {HeadsState} S */
function drawControls(S) {
  const { find, data } = S;
  const beside = kindsShown(S).length > 1;
  Object.assign(S.box.dataset, { view: S.view, layout: beside ? "beside" : "" });
  for (const tab of buttonsOf(find, ".kinds")) {
    const both = tab.value === "beside";
    tab.hidden = both
      ? data.order.length < 2 || !["heads", "head"].includes(S.view)
      : !data.order.some((kind) => kind === tab.value);
    tab.setAttribute("aria-pressed", `${both ? beside : tab.value === S.kind}`);
  }
  for (const tab of buttonsOf(find, ".views")) tab.setAttribute("aria-pressed", `${tab.value === S.view}`);
  const selects = { scale: S.scale, next: S.next ? "next" : "" };
  const m = mapOf(S, S.kind);
  for (const [name, value] of Object.entries(selects)) {
    /** @type {HTMLSelectElement} */
    const select = find(`select[name=${name}]`);
    select.value = value;
  }
  /** @type {HTMLInputElement} */
  const words = find("input[name=words]");
  /** @type {HTMLInputElement} */ const steps = find("input[name=steps]");
  offerDirection(S);
  words.checked = S.words;
  words.disabled = !data.subwords;
  const others = [S.words, S.content && !!data.maps.cross, S.steps, S.next, S.scale !== "unit", S.direction];
  const changed = others.filter(Boolean).length;
  say(find(".options"), changed ? `${t("Options")} · ${changed}` : t("Options"));
  steps.checked = S.steps;
  /** @type {HTMLInputElement} */ const content = find("input[name=content]");
  content.checked = S.content;
  /** @type {HTMLInputElement} */
  const mass = find(".mass input");
  mass.value = `${S.mass}`;
  say(find(".mass output"), `${S.mass}\u202f%`);
  for (const box of /** @type {NodeListOf<HTMLElement>} */ (S.box.querySelectorAll("[data-for]"))) {
    box.hidden = !box.dataset.for?.split(" ").includes(S.view);
  }
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (S.box.querySelectorAll(".walk,.walking"))) {
    part.hidden = (part.hidden && "for" in part.dataset) || !data.order.some((kind) => kind !== "encoder");
  }
  const { hover } = S;
  const pointedAt = (/** @type {number} */ step, /** @type {number} */ row) =>
    t("step {step}, row {row}", { step, row });
  const isPointed = hover && hover.kind !== "encoder" && hover.query !== (m ? rowInView(S, m) : S.step);
  drawSteps(S, stepName(data, S.step), isPointed ? pointedAt(S.step + 1, hover.query + 1) : undefined);
  const last = S.last + 1;
  find(".walk output").dataset.longest = `${counterOf(S.last, S.last)}\n${pointedAt(last, last)}`;
  // The line names what the rows of the map name: tokens, or whole words.
  const decoder = S.words && m?.predicted.length ? m : null;
  const at = decoder ? rowInView(S, decoder) : S.step;
  const { tokens: rows, predicted } = decoder ? { ...decoder, tokens: decoder.rows } : data.target;
  const how = at < data.target.given ? "given" : "predicted";
  const word = tokenName(predicted[at], "target");
  sayAll(find(".reads"), ...readsOn(data.target, numbered(rows, at, "target"), word, how));
}

/** Carries out a command that only these views have; returns whether it was one. @param {HeadsState} S @param {string} name */
function carryOut(S, name) {
  const [what, value] = name.split(" ");
  if (name === "present") S.present();
  else if (what === "zoom") S.figures[S.kind].zoom(Number(value));
  else if (what === "view") change(S, { view: /** @type {View} */ (value) });
  else if (value) turnTo(S, what, value === "next" ? 1 : -1);
  else {
    // Playing shows the decoding as it happened: later rows are absent.
    if (name === "play" && !S.player.playing()) S.steps = true;
    return false;
  }
  return true;
}

/** Goes to the next head or layer; the mean comes after the last head, and the first after that. @param {HeadsState} S @param {string} what @param {number} by */
function turnTo(S, what, by) {
  const { layers, heads } = S.data.shapes[S.kind];
  const { layer, head } = S.pick[S.kind];
  const turned = (/** @type {number} */ at, /** @type {number} */ count) => (at + by + count) % count;
  const to =
    what === "head" ? { layer, head: turned(head, heads + 1) } : { layer: turned(layer - 1, layers) + 1, head };
  S.pick[S.kind] = to;
  if (S.view === "heads") update(S);
  else openHead(S, S.kind, to.layer, to.head);
}
