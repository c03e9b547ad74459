// The machine: the whole model as one live diagram, from the tokens to the next word, stepped and opened in the
// browser.

import { readTheme } from "./colours.js";
import { finder, make } from "./dom.js";
import { drawChanged } from "./machine_change.js";
import { drawMachine } from "./machine_diagram.js";
import { drawList, drawPanel, listenToDepths } from "./machine_panel.js";
import { drawTrail, followedText, followText, listenToTrail, prepare, showOrigin } from "./machine_follow.js";
import { keepNumbers, requestNumbers } from "./machine_numbers.js";
import { ask, hasDetails, open, outwards, reportOf } from "./machine_state.js";
import { clamp, wholePercent } from "./numbers.js";
import { serverSource } from "./source_server.js";
import { decodingOf, listen, partOf } from "./store.js";
import { end, listenToSteps, listenToViewKeys, listenToWidth, opensAnew, redraw } from "./view.js";
import { pieces, t } from "./words.js";
import { readsOn } from "./wording.js";

/** @import { MachineData, MachineState } from "./types" */

const TEMPO = 900; // ms per step
const COMMANDS = { t: "follow" };
/** @returns {[string, string][]} */
const help = () => [
  ["Tab", t("to the diagram; then ← → ↑ ↓ from block to block")],
  ["Enter", t("open the block")],
  ["T", t("follow a token: the arrow keys lead from stage to stage")],
];

/**
 * Streamlit calls this again when the data or the theme change; it calls the returned function once, at unmount. `data`
 * names the decoding, whose machine the store has or will have, and says where to start.
 * @param {import("./types").ViewOf<import("./types").MachineMount, "__machine", MachineState>} view
 */
export function mountMachine({ data, parentElement: root, source }) {
  const S = (root.__machine ??= create(root));
  Object.assign(S, { mount: data, source, theme: readTheme(S.box) });
  take(S);
  return () => {
    end(S);
    S.trail.player.stop();
    delete root.__machine;
  };
}

/** The component, for Streamlit. @param {import("./types").Mount<[import("./types").MachineMount], "__machine", MachineState>} mount */
export default function (mount) {
  return mountMachine({ ...mount, data: mount.data[0], source: serverSource(mount) });
}

/** @param {ParentNode} root */
function create(root) {
  const find = finder(root);
  const S = /** @type {MachineState} */ (
    /** @type {unknown} */ ({
      find,
      box: find(".machine"),
      details: null,
      opened: { block: "", head: 0, part: "" },
      depth: "words",
      numbers: new Map(),
      missing: new Map(),
      asked: "",
      point: "",
      first: 0,
      spot: null,
      lit: null,
      unfolded: {},
      fit: 1,
      speed: 1,
      row: 0,
      chosen: false,
      step: 0,
      last: 0,
      frame: 0,
      built: "",
      kept: new Map(),
      pictures: [],
      texts: [],
      width: 0,
      seq: "",
      draw: () => draw(S),
      reportOf: () => reportOf(S, followedText(S)),
    })
  );
  const followed = listenToTrail(S);
  const slider = /** @type {HTMLInputElement} */ (S.find(".steps"));
  const toStage = slider.oninput;
  const run = listenToSteps(S, TEMPO, followed);
  const toStep = slider.oninput;
  slider.oninput = (event) => (S.trail.data ? toStage : toStep)?.call(slider, event);
  listenToDepths(S);
  find("details").ontoggle = () => redraw(S);
  const escape = () => S.data && S.opened.block && open(S, outwards(S.opened));
  S.find(".out").onclick = escape;
  listenToViewKeys(S, { commands: COMMANDS, help, run, escape });
  listenToWidth(S, () => redraw(S));
  S.box.ontransitionrun = ({ propertyName }) => propertyName === "--machine-near" && redraw(S);
  S.unsubscribe = listen(() => take(S));
  return S;
}

/** Loads what the store has: the decoding, its machine, and the details of the open block. @param {MachineState} S */
function take(S) {
  const { seq } = S.mount;
  const decoding = decodingOf(seq);
  const machine = partOf(seq, "machine");
  const details = partOf(seq, "details");
  const numbers = partOf(seq, "numbers");
  if (!decoding || !machine) return;
  const got = [decoding, machine, details, numbers, S.mount.turn, S.theme];
  if (got.every((each, i) => each === S.got?.[i])) return;
  const same = got.map((each, i) => each === S.got?.[i]);
  const grown = same[0] && same[1] && S.mount.turn === S.turn && same[5];
  const ahead = S.ahead && same.every((each, i) => each || i === 3); // numbers that only the next stops show
  S.got = got;
  if (!grown) {
    const body = /** @type {Float32Array} */ (machine.arrays.numbers.values);
    load(S, /** @type {MachineData} */ ({ ...decoding, ...machine.header }), body);
    Object.assign(S, { built: "", kept: new Map() });
  }
  if (details) Object.assign(S, { details: details.header, arrays: details.arrays });
  if (numbers) keepNumbers(S, numbers);
  if (!grown && S.trail.data && !hasDetails(S)) ask(S); // a followed token opens a head that the link does not name
  if (!ahead) return S.draw();
  S.missing = new Map();
  prepare(S);
  requestNumbers(S);
}

/** @param {MachineState} S @param {MachineData} data @param {Float32Array} body */
function load(S, data, body) {
  const { step, follow = "", ...opened } = S.mount.start;
  // After a change in the same sentence, the same number stays chosen.
  const same = S.data?.source.tokens.join(" ") === data.source.tokens.join(" ");
  Object.assign(S, { data, body, last: data.target.tokens.length - 1, width: S.box.clientWidth });
  if (!data.edits.length) S.trained = { source: data.source.tokens.join(" "), target: data.target };
  if (S.data.seq !== S.seq) Object.assign(S, { numbers: new Map(), asked: "" });
  if (opensAnew(S, S.mount)) {
    const { row, point, first, spot } = S;
    Object.assign(S, { opened, ...(same ? { row, point, first, spot } : { row: 0, point: "", first: 0, spot: null }) });
    S.step = clamp(step - 1, 0, S.last);
    followText(S, follow);
    if (same) S.spot = spot;
    const block = data.blocks.find(({ name }) => name === opened.block);
    S.unfolded = block?.layer ? { [block.stack]: [block.layer] } : {};
  }
  S.step = clamp(S.step, 0, S.last);
  S.row = clamp(S.row, 0, data.source.tokens.length - 1);
}

/** @param {MachineState} S */
function draw(S) {
  S.frame = 0;
  if (!S.data) return;
  // Measured before anything changes, while the layout is known.
  const near = getComputedStyle(S.box).getPropertyValue("--machine-near").trim(); // the block that a lesson asks to open
  Object.assign(S, {
    missing: new Map(),
    lit: null,
    ahead: false,
    paints: [],
    room: S.find(".sheet").clientWidth,
    near,
  });
  const { target } = S.data;
  S.find(".untrained").hidden = S.data.trained;
  drawChanged(S);
  const says = S.find(".says");
  const at = S.trail.data ? S.step + 1 : 0; // the stages leave little room
  const words = [
    target.tokens[S.step],
    target.predicted[S.step],
    `${target.probabilities[S.step]}`,
    `${at}`,
    target.by,
  ];
  if (says.dataset.words !== words.join(" ")) {
    const [read, word] = words.map((text) => make("bdi", "token target", text));
    const share = make("span", "named", wholePercent(target.probabilities[S.step]));
    const parts = at
      ? pieces("step {step}: {read} → {word}", { step: at, read, word })
      : [...readsOn(target, read, word, target.chosen.includes(S.step) ? "chosen" : "predicted"), " ", share];
    says.replaceChildren(...parts);
    says.dataset.words = words.join(" ");
  }
  drawTrail(S);
  drawPanel(S); // says which number is lit in the pictures
  drawMachine(S);
  for (const paint of S.paints) paint(); // once the diagram is measured: the browser lays out the page once
  showOrigin(S);
  if (/** @type {HTMLDetailsElement} */ (S.find("details")).open) drawList(S);
  requestNumbers(S);
  if (S.data.stepwise && S.opened.block && !hasDetails(S) && S.details?.step !== S.step + 1) {
    clearTimeout(S.reporting);
    S.reporting = setTimeout(() => ask(S), 120);
  }
}
