// The stepper: a whole decoding to step through, play and explore without requests to the server.

import { magnification } from "./canvas.js";
import { readTheme } from "./colours.js";
import { buttonsOf, finder, say } from "./dom.js";
import { drawGuess, isHidden, keepGuesses, listenToGuess, toggleGuess } from "./guess.js";
import { hub } from "./hub.js";
import { figureOf } from "./maps.js";
import { KINDS } from "./names.js";
import { atOne, drawNext, listenToHeat } from "./next_word.js";
import { clamp } from "./numbers.js";
import { drawSteps, stepName } from "./player.js";
import { listenToPresent, presenting } from "./present.js";
import { offerDirection } from "./scripts.js";
import { serverSource } from "./source_server.js";
import { drawStage, drawWords, fitWords, listenToStage } from "./stage.js";
import { PHONE, layOut } from "./stepper_layout.js";
import {
  drawCaption,
  drawChecks,
  drawKeys,
  drawMap,
  drawPick,
  drawReadout,
  listenToMap,
  openChecks,
} from "./stepper_maps.js";
import { chooseMaps, pick, reportOf } from "./stepper_state.js";
import { decodingOf, isWhole, listen } from "./store.js";
import {
  end,
  goTo,
  keepWithin,
  listenToSteps,
  listenToOptions,
  listenToViewKeys,
  listenToWidth,
  openOptions,
  opensAnew,
  redraw,
  report,
} from "./view.js";
import { sentenceIn } from "./wording.js";
import { t } from "./words.js";

/** @import { Decoding, Kind, StepperState } from "./types" */

const TEMPO = 700; // ms per step
/** @returns {[string, string][]} */
const help = () => [
  ["F", t("present: fill the screen")],
  ["+ − 0", t("larger or smaller cells, or as large as fit")],
  ["G", t("predict first: hide each next word until it has been guessed")],
  ["M", t("to the maps, and back to the sentences")],
];

/**
 * Streamlit calls this again when the data or the theme change; it calls the returned function once, at unmount. `data`
 * names the decoding, which the store has or will have, and the place to start at.
 * @param {import("./types").ViewOf<import("./structs").ViewMount, "__stepper", StepperState>} view
 */
export function mountStepper({ data, parentElement: root, source }) {
  const S = (root.__stepper ??= create(root));
  Object.assign(S, { mount: data, source, theme: readTheme(S.box), mapsFor: null });
  hub.stepper = S;
  take(S);
  return () => {
    end(S);
    if (hub.stepper === S) hub.stepper = null;
    cancelAnimationFrame(S.moving);
    delete root.__stepper;
  };
}

/** The component, for Streamlit. @param {import("./types").Mount<[import("./structs").ViewMount], "__stepper", StepperState>} mount */
export default function (mount) {
  return mountStepper({ ...mount, data: mount.data[0], source: serverSource(mount) });
}

/** Draws the decoding, if it has arrived. @param {StepperState} S */
function take(S) {
  const data = decodingOf(S.mount.seq);
  if (!data || !isWhole(data)) return;
  if (data !== S.data || S.mount.turn !== S.turn) load(S, data);
  fit(S);
}

/** Lays out everything that depends on the width, after a change of the width or of the words. @param {StepperState} S */
function fit(S) {
  S.zoom = magnification(S.box);
  S.box.classList.toggle("mapped", S.mapped && presenting(S.box));
  say(S.find(".to-maps"), S.mapped ? t("Sentences") : t("Maps"));
  fitWords(S); // measures what the words do not change, so before they do
  drawWords(S); // the rest is laid out around them
  drawTexts(S); // before anything is measured, so that the browser lays them out once, with the words
  layOut(S);
  const { still } = S;
  S.still = true; // curves are not animated to a new layout
  draw(S, true);
  S.still = still;
}

/** The state before the first data arrive; `load` adds the rest. @param {ParentNode} root */
function create(root) {
  const find = finder(root);
  const details = /** @type {HTMLDetailsElement} */ (find("details"));
  const S = /** @type {StepperState} */ (
    /** @type {unknown} */ ({
      find,
      details,
      box: find(".stepper"),
      pick: {},
      cell: null,
      frame: 0,
      figures: {},
      sort: { by: 0, sign: 1 },
      words: false,
      mapped: false,
      guess: false,
      direction: "",
      guesses: new Map(),
      draw: () => draw(S),
      reportOf: () => reportOf(S),
      look: null,
      rove: 0,
      boxes: { source: [], target: [] },
      scrolledFor: { source: "", target: "" },
      curves: [],
      moving: 0,
      hurried: false,
      stageSize: { width: 0, height: 0 },
      still: matchMedia("(prefers-reduced-motion: reduce)").matches,
    })
  );
  for (const kind of KINDS) {
    const figure = figureOf(find, kind);
    const within = finder(figure.box);
    S.figures[kind] = { ...figure, caption: within("p"), readout: within(".readout") };
    listenToMap(S, kind);
  }
  listenToStage(S, (step) => {
    S.player.stop();
    goTo(S, step);
  });
  S.stepped = () => {
    if (S.cell?.kind !== "encoder") S.cell = null;
    if (S.look?.side === "target") S.look = null;
  };
  const present = listenToPresent(S.box, find(".present"), () => S.data && fit(S));
  const run = listenToSteps(S, TEMPO, (name) => {
    if (name === "present") present();
    else if (name === "maps") goToMaps(S);
    else if (name === "predict") toggleGuess(S);
    else if (name.startsWith("zoom ")) S.figures[S.kind].zoom(Number(name.slice(5)));
    else return false;
    return true;
  });
  for (const tab of buttonsOf(find, ".kinds")) tab.onclick = () => pick(S, /** @type {Kind} */ (tab.value), {});
  find(".words").onclick = () => {
    Object.assign(S, { words: !S.words, cell: null, look: null });
    chooseMaps(S);
    report(S);
    fit(S); // their numbers, and so their widths, have changed
  };
  find("select[name=direction]").onchange = ({ target }) => {
    S.direction = /** @type {any} */ (target).value;
    offerDirection(S); // other views keep it
    report(S);
    fit(S);
  };
  S.find(".checks").onclick = () => openChecks(S, !!S.find(".checks span").hidden);
  listenToOptions(S);
  S.find(".to-maps").onclick = () => goToMaps(S);
  listenToHeat(S);
  listenToGuess(S);
  details.ontoggle = () => drawKeys(S);
  const escape = () => {
    if (openOptions(S, false)) return;
    if (!S.cell && !S.look) return;
    Object.assign(S, { cell: null, look: null });
    redraw(S);
  };
  listenToViewKeys(S, {
    commands: { f: "present", m: "maps", g: "predict", "+": "zoom 1", "-": "zoom -1", 0: "zoom 0" },
    help,
    run,
    escape,
  });
  // The room for the curves depends on the height of the window.
  const stage = find(".stage");
  listenToWidth(
    S,
    () => fit(S),
    () => stage.clientHeight !== S.stageSize.height,
  );
  S.observer.observe(stage);
  S.unsubscribe = listen(() => decodingOf(S.mount.seq) !== S.data && take(S));
  return S;
}

/**
 * Loads a decoding. The place stays unless the server starts another turn, or the decoding is another one.
 * @param {StepperState} S
 * @param {Decoding} data
 */
function load(S, data) {
  const { order, source, target, alternatives } = data;
  const { step, kind, layer, head, options } = S.mount.start;
  if (data !== S.data) keepGuesses(S, data);
  Object.assign(S, {
    data,
    cell: null,
    look: null,
    single: null,
    width: S.box.clientWidth,
    last: target.tokens.length - 1,
  });
  S.heat ??= atOne(data);
  S.optionRows = Math.max(
    1,
    ...alternatives.ids.map((ids, row) => ids.length + Number(!ids.includes(target.predicted_ids[row]))),
  );
  if (opensAnew(S, S.mount)) {
    Object.assign(S, { step: step - 1, kind });
    S.pick[kind] = { layer, head };
    S.options = options;
    if (options) ({ words: S.words, guess: S.guess, direction: S.direction } = options);
  }
  keepWithin(S);
  // A model without self-attention, such as an LSTM, has no maps of it.
  for (const kind of KINDS) S.figures[kind].box.hidden = !order.includes(kind);
  for (const tab of buttonsOf(S.find, ".kinds")) tab.hidden = !order.includes(/** @type {Kind} */ (tab.value));
  S.rove = clamp(S.rove, 0, source.tokens.length - 1);
  S.find(".chips").scrollTop = 0;
  S.words &&= data.subwords;
  S.find(".words").hidden = !data.subwords;
  offerDirection(S);
  chooseMaps(S);
  drawChecks(S);
  // On a slide; the page has it above the view.
  say(S.find(".whole"), order.includes("cross") ? t("Translation: {text}", { text: sentenceIn(target) }) : "");
}

/**
 * Draws everything, or if words and texts are drawn already, first what is in sight: maps below the screen follow in the
 * frame after it is painted.
 * @param {StepperState} S
 * @param {boolean} [written]
 */
function draw(S, written = false) {
  S.frame = 0;
  chooseMaps(S);
  // On a slide and on a phone, the size of a map depends on how many rows are written.
  const mapped = S.box.classList.contains("mapped");
  if (S.laidOut !== S.kind || mapped || S.box.clientWidth <= PHONE) {
    if (mapped) drawWords(S); // the map stands below their sentence
    layOut(S);
  }
  const { order } = S.data;
  const kinds = written ? order.filter((kind) => S.figures[kind].inSight) : order;
  // Canvases first: drawing text on one forces the browser to compute all styles changed so far.
  for (const kind of kinds) drawMap(S, kind);
  drawPick(S);
  if (!written) drawTexts(S);
  for (const kind of kinds) drawCaption(S, kind);
  drawStage(S, written);
  drawReadout(S);
  // The timer runs once the frame has been painted; a frame requested in its place would hold it up.
  if (kinds.length < order.length)
    S.frame = requestAnimationFrame(() => {
      setTimeout(() => (S.frame = requestAnimationFrame(S.draw)));
    });
}

/** Draws what no layout decides. @param {StepperState} S */
function drawTexts(S) {
  S.find(".words").setAttribute("aria-pressed", `${S.words}`);
  drawSteps(S, isHidden(S) ? t("{step}: to be guessed", { step: S.step + 1 }) : stepName(S.data, S.step));
  drawNext(S);
  drawGuess(S);
  drawKeys(S);
}

/** Goes to the maps, or from there back to the sentences; in a presentation, one takes the place of the other. @param {StepperState} S */
function goToMaps(S) {
  const maps = S.find(".maps");
  if (presenting(S.box)) {
    S.mapped = !S.mapped;
    S.box.scrollTop = 0;
    for (const kind of KINDS) S.figures[kind].followed = ""; // brings the row in view into sight again
    fit(S);
  } else {
    const there = maps.getBoundingClientRect().top < innerHeight / 3;
    (there ? S.box : maps).scrollIntoView({ behavior: S.still ? "instant" : "smooth" });
  }
}
