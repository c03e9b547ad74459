// A page that stands alone, without a server: recorded decodings in the views of the Translate and Attention pages. Its
// source (source_recorded.js) answers requests from the recordings.

import { make, makeButton, say } from "./dom.js";
import { listenToTerms } from "./glossary.js";
import { mountHeads } from "./heads.js";
import { clamp } from "./numbers.js";
import { recordedSource } from "./source_recorded.js";
import { mountStepper } from "./stepper.js";
import { decodingOf, take } from "./store.js";
import { readMessage } from "./wire.js";
import { localised } from "./markup.js";
import { setWords, t } from "./words.js";

/** @import { StandaloneHeader } from "./structs" */
/** @import { Decoding, HeadsState, StepperState } from "./types" */

/** The state of the page. @typedef {ReturnType<typeof stateOf>} StandaloneState */

/** @typedef {{ __stepper?: StepperState, __heads?: HeadsState }} Mounted */

/** Draws the page into the elements of standalone.html. */
export function start() {
  const pack = /** @type {{ __headlightPack: Uint8Array }} */ (/** @type {unknown} */ (globalThis)).__headlightPack;
  const { header, arrays } = readMessage(pack);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  /** @type {StandaloneHeader} */
  const data = header;
  setWords(data.words);
  for (const { values } of Object.values(arrays)) take(/** @type {Uint8Array} */ (values), true);
  const P = stateOf(data, dark.matches);
  const tabs = byId("views");
  const forced = document.documentElement.dataset.theme;
  if (forced) P.dark = forced === "dark";
  // The theme is the browser's until the user chooses one.
  else dark.onchange = () => setTheme(P, dark.matches);
  for (const view of data.views) {
    const tab = Object.assign(makeButton("", view === "steps" ? t("Step by step") : t("Heads")), { value: view });
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

/** @param {StandaloneHeader} data @param {boolean} dark */
const stateOf = (data, dark) => ({
  data,
  at: data.at,
  view: data.view,
  place: data.place,
  turn: 0,
  mounted: /** @type {Mounted | null} */ (null),
  unmount: () => {},
  dark,
});

/** An element of standalone.html. @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** The recording on screen. @param {StandaloneState} P */
const recordingOf = (P) => P.data.recordings[P.at];

/** Its decoding. @param {StandaloneState} P */
const decoding = (P) => /** @type {Decoding} */ (decodingOf(recordingOf(P).seq));

/** @param {StandaloneState} P @param {boolean} dark */
function setTheme(P, dark) {
  P.dark = dark;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  const button = byId("theme");
  say(button, dark ? t("Light") : t("Dark"));
  button.title = dark ? t("Light colours") : t("Dark colours");
  remember(P);
  mount(P);
}

/** Switches to the other view, at the same place. @param {StandaloneState} P @param {"steps" | "heads"} view */
function turnTo(P, view) {
  remember(P);
  P.view = view;
  mount(P);
}

/** Stores the place of the view on screen. @param {StandaloneState} P */
function remember(P) {
  const S = P.mounted?.__stepper ?? P.mounted?.__heads;
  if (!S?.data) return;
  P.place = { ...P.place, kind: S.kind, ...S.pick[S.kind], step: S.step + 1, row: S.step + 1, column: null };
}

/** Mounts the chosen view in a shadow tree of its own, so that its styles affect nothing else. @param {StandaloneState} P */
function mount(P) {
  P.unmount();
  const host = make("div", "host");
  const box = byId("view");
  const steps = P.view === "steps";
  box.replaceChildren(host);
  const root = host.attachShadow({ mode: "open" });
  const { content } = /** @type {HTMLTemplateElement} */ (byId(steps ? "stepper" : "heads"));
  root.append(localised(document.importNode(content, true)));
  P.mounted = /** @type {Mounted} */ (/** @type {unknown} */ (root));
  P.turn += 1;
  show(P);
  for (const tab of /** @type {Iterable<HTMLButtonElement>} */ (/** @type {unknown} */ (byId("views").children))) {
    tab.setAttribute("aria-pressed", `${tab.value === P.view}`);
  }
}

/** Draws the recording on screen in the view that is mounted. @param {StandaloneState} P */
function show(P) {
  const recording = recordingOf(P);
  const { order, shapes, target } = decoding(P);
  const { place } = P;
  const kind = order.includes(place.kind) ? place.kind : order[order.length - 1];
  const same = kind === place.kind;
  const last = Math.max(target.tokens.length, 1);
  const step = clamp(place.step, 1, last);
  const start = { ...place, kind, step, layer: same ? place.layer : shapes[kind].layers, head: same ? place.head : 0 };
  const source = recordedSource(
    recording,
    (at) => {
      if (!at.options) return;
      P.place = { ...P.place, options: at.options };
      drawPaths(P);
    },
    (to, at) => open(P, to, at),
  );
  const data = { seq: recording.seq, turn: P.turn, start, explains: false, compact: false };
  P.unmount = (P.view === "steps" ? mountStepper : mountHeads)({
    data,
    parentElement: /** @type {any} */ (P.mounted),
    source,
  });
}

/** Shows another recording. @param {StandaloneState} P @param {number} at @param {number} step */
function open(P, at, step) {
  remember(P);
  P.at = at;
  P.place = { ...P.place, step };
  drawPaths(P);
  P.turn += 1;
  if (P.view === "steps") show(P);
  else mount(P);
}

/** Draws the recorded decodings of the sentence, to choose from. @param {StandaloneState} P */
function drawPaths(P) {
  const { recordings } = P.data;
  const box = byId("paths");
  const hidden = P.place.options?.guess;
  say(byId("text"), hidden ? t("What does the model write? Predict it first.") : recordingOf(P).text);
  box.hidden = recordings.length < 2 || !!hidden;
  if (box.hidden) return;
  if (!box.children.length) {
    box.append(
      ...recordings.map(({ text, detail, step }, at) => {
        const button = makeButton("", make("b", "", text), ` ${detail}`);
        button.onclick = () => open(P, at, step);
        return make("li", "", button);
      }),
    );
  }
  [...box.children].forEach((item, at) => item.firstElementChild?.setAttribute("aria-pressed", `${at === P.at}`));
}
