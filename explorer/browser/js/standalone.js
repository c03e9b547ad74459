// A page that stands alone, without a server: recorded decodings in the views of the Translate and Attention pages. What
// a server does there (delivering a decoding, a kind of attention or a fork) is done here, from what was recorded.

import { make, makeButton, say } from "./dom.js";
import { listenToTerms } from "./glossary.js";
import { mountHeads } from "./heads.js";
import { hub } from "./hub.js";
import { clamp } from "./numbers.js";
import { kindBlock, stepperBlock, unpack } from "./standalone_data.js";
import { mountStepper } from "./stepper.js";
import { readView } from "./view_text.js";
import { readBlock } from "./weight_blocks.js";

/** @typedef {import("./types").Kind} Kind */
/** @typedef {import("./types").StandalonePlace} StandalonePlace */
/** @typedef {import("./types").StandaloneState} StandaloneState */

const NAME = "standalone";
const VIEWS = { steps: "Step by step", heads: "Heads" };

/** Draws the page whose parts standalone.html has. */
export default function start() {
  const pack = /** @type {{ __headlightPack: Uint8Array }} */ (/** @type {unknown} */ (globalThis)).__headlightPack;
  const data = unpack(readBlock(pack)), dark = matchMedia("(prefers-color-scheme: dark)");
  /** @type {StandaloneState} */
  const P = { data, at: data.at, view: data.view, place: data.place, turn: 0, mounted: null, unmount: () => undefined, dark: dark.matches };
  const tabs = byId("views"), forced = document.documentElement.dataset.theme;
  if (forced) P.dark = forced === "dark";
  // The theme is that of the browser until somebody chooses one.
  else dark.onchange = () => setTheme(P, dark.matches);
  for (const view of data.views) {
    const tab = Object.assign(makeButton("", VIEWS[view]), { value: view });
    tab.onclick = () => turnTo(P, view);
    tabs.append(tab);
  }
  tabs.hidden = data.views.length < 2;
  byId("theme").onclick = () => {
    dark.onchange = null;
    setTheme(P, !P.dark);
  };
  listenToTerms(byId("tip"), data.terms);
  drawPaths(P);
  setTheme(P, P.dark);
  byId("theme").hidden = false;
}

/** An element of standalone.html. @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** The recording on screen. @param {StandaloneState} P */
const shown = (P) => P.data.recordings[P.at];

/** @param {StandaloneState} P @param {boolean} dark */
function setTheme(P, dark) {
  P.dark = dark;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  const button = byId("theme"), other = dark ? "Light" : "Dark";
  say(button, other);
  button.title = `${other} colours`;
  remember(P);
  mount(P);
}

/** The other view, at the same place. @param {StandaloneState} P @param {"steps" | "heads"} view */
function turnTo(P, view) {
  remember(P);
  P.view = view;
  mount(P);
}

/** Keeps where the view on screen is. @param {StandaloneState} P */
function remember(P) {
  const S = P.mounted?.__stepper ?? P.mounted?.__heads;
  if (!S?.data) return;
  P.place = { ...P.place, kind: S.kind, ...S.pick[S.kind], step: S.step + 1 };
}

/** Draws the chosen view anew: in a tree of its own, so that its styles meet nothing else. @param {StandaloneState} P */
function mount(P) {
  P.unmount();
  const host = make("div", "host"), box = byId("view"), steps = P.view === "steps";
  box.replaceChildren(host);
  const root = host.attachShadow({ mode: "open" });
  root.append(/** @type {HTMLTemplateElement} */ (byId(steps ? "stepper" : "heads")).content.cloneNode(true));
  P.mounted = /** @type {StandaloneState["mounted"]} */ (/** @type {unknown} */ (root));
  const here = /** @type {any} */ ({
    parentElement: root, setStateValue: (/** @type {string} */ _, /** @type {any} */ at) => heard(P, at),
    setTriggerValue: (/** @type {string} */ name, /** @type {any} */ value) => name === "fork" && fork(P, value.step, value.token_id),
  });
  hub().blocks.clear();
  deliver(P);
  P.unmount = steps ? mountStepper({ ...here, data: { name: NAME } }) : mountHeads({ ...here, data: { name: NAME } });
  for (const tab of /** @type {Iterable<HTMLButtonElement>} */ (/** @type {unknown} */ (byId("views").children))) {
    tab.setAttribute("aria-pressed", `${tab.value === P.view}`);
  }
}

/** Leaves the recording on screen where the view picks it up. @param {StandaloneState} P */
function deliver(P) {
  const { blocks } = hub(), recording = shown(P), { kind, layer, head, step } = P.place;
  if (P.view === "steps") {
    const at = recording.maps[kind].layers ? { kind, layer, head } : {};
    const recorded = recording.forks.map((row) => Object.keys(row).map(Number));
    blocks.set(NAME, stepperBlock(recording, { name: NAME, step, ...at, recorded }));
  } else {
    const { order, start } = recording.heads, begun = order.includes(kind) ? { kind, layer, head } : {};
    const last = Math.max(recording.heads.target.tokens.length - 1, 0);
    P.turn += 1;
    const header = {
      ...recording.heads, turn: P.turn, name: NAME,
      start: { ...start, ...begun, step: clamp(step - 1, 0, last), source: start.source, view: P.place.view || start.view },
    };
    blocks.set(NAME, { header, body: null });
    bring(P, header.start.view, header.order);
  }
  hub().dispatchEvent(new Event("block"));
}

/**
 * Delivers kinds of attention in the form that the options ask for.
 * @param {StandaloneState} P
 * @param {string} view
 * @param {Kind[]} kinds
 */
function bring(P, view, kinds) {
  const { blocks } = hub(), { words, next } = readView(view), recording = shown(P);
  for (const kind of kinds) {
    const form = !words ? "tokens" : next && kind !== "encoder" ? "words-next" : "words", name = `${NAME}/${kind}/${form}`;
    if (!blocks.has(name) && recording.forms[kind]?.[form]) blocks.set(name, kindBlock(recording, kind, form));
  }
}

/** A view reports where it is. @param {StandaloneState} P @param {any} at */
function heard(P, at) {
  if (P.view !== "heads" || at.seq !== shown(P).seq) return;
  P.place = { ...P.place, view: at.view };
  bring(P, at.view, at.wanted);
  hub().dispatchEvent(new Event("block"));
}

/** Goes on from another token, whose continuation was recorded. @param {StandaloneState} P @param {number} step @param {number} token */
function fork(P, step, token) {
  const to = shown(P).forks[step - 1]?.[token];
  if (to !== undefined) open(P, to, step);
}

/** Shows another recording. @param {StandaloneState} P @param {number} at @param {number} step */
function open(P, at, step) {
  remember(P);
  P.at = at;
  P.place = { ...P.place, step: clamp(step, 1, Math.max(1, shown(P).heads.target.tokens.length)) };
  drawPaths(P);
  if (P.view === "steps") deliver(P);
  else mount(P);
}

/** The recorded decodings of the sentence, to choose from. @param {StandaloneState} P */
function drawPaths(P) {
  const { recordings } = P.data, box = byId("paths");
  say(byId("text"), shown(P).text);
  box.hidden = recordings.length < 2;
  if (box.hidden) return;
  if (!box.children.length) {
    box.append(...recordings.map(({ text, detail, step }, at) => {
      const button = makeButton("", make("b", "", text), ` ${detail}`);
      button.onclick = () => open(P, at, step);
      return make("li", "", button);
    }));
  }
  [...box.children].forEach((item, at) => item.firstElementChild?.setAttribute("aria-pressed", `${at === P.at}`));
}
