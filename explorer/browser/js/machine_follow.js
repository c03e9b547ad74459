// Follow one token through the machine: the stages that it passes, played or stepped; each opens its box, and the panel
// shows the token's numbers there and where one of them is from.

import { make, say } from "./dom.js";
import { STEPPING } from "./keys.js";
import { nameOf } from "./machine_captions.js";
import { AFTER, shortOf } from "./machine_link.js";
import { ask, blockOf, hasDetails } from "./machine_state.js";
import { SIDES, shortWay, stopsOf } from "./machine_stops.js";
import { drawStage, numbersAt, stageTitle } from "./machine_strips.js";
import { clamp } from "./numbers.js";
import { createPlayer, drawSteps, stepName } from "./player.js";
import { withTerms } from "./terms.js";
import { goTo, listenToSteps, PAUSE, redraw } from "./view.js";
import { t } from "./words.js";
import { nameInLayer } from "./names.js";

/** @import { MachineState, MachineTrail, TrailStop, ViewState } from "./types" */

const TEMPO = 3000; // ms per stage
const SPEEDS = [1, 2, 0.5];
const EVIDENT = ["embedding", "positions", "norm", "add"]; // kinds of blocks whose operation the sum explains
const AHEAD = 4; // stops whose numbers are requested together

/** Gives the view its second track: the stages, which its buttons and its slider lead through while a token is followed. @param {MachineState} S @returns {(command: string) => boolean} carries out a command then */
export function listenToTrail(S) {
  const F = /** @type {MachineTrail} */ (
    /** @type {unknown} */ ({
      find: S.find,
      step: 0,
      last: 0,
      speed: 1,
      stops: [],
      whole: false,
      chosen: {},
      side: "target",
      head: 1,
      data: null,
      /** While it plays, the page only follows where it has something to send. */
      get followed() {
        return !hasDetails(S);
      },
      pause: () => (hasDetails(S) ? PAUSE : 30), // with its numbers here, only the address waits for the report
      source: { report: () => ask(S) },
      reportOf: () => null,
      stepped: () => arrive(S),
      draw: () => {
        F.frame = 0;
        redraw(S);
      },
    })
  );
  S.trail = F;
  const run = listenToSteps(/** @type {ViewState} */ (F), TEMPO, (name) => {
    if (name === "speed") F.speed = SPEEDS[(SPEEDS.indexOf(F.speed) + 1) % SPEEDS.length];
    redraw(S);
    return name === "speed";
  });
  const go = (/** @type {number} */ step) => goTo(/** @type {ViewState} */ (F), step);
  F.player = createPlayer(() => TEMPO / F.speed, { at: () => F.step, last: () => F.last, go });
  const select = /** @type {HTMLSelectElement} */ (S.find(".follow select"));
  select.onchange = () => {
    choose(S, select.value);
    S.find("button.play").focus({ preventScroll: true }); // the arrow keys step, and no longer choose
  };
  const stage = /** @type {HTMLSelectElement} */ (S.find(".stages"));
  stage.onchange = () => {
    F.player.stop();
    goTo(/** @type {ViewState} */ (F), Number(stage.value));
    S.find("button.play").focus({ preventScroll: true });
  };
  S.find(".way").onclick = () => {
    F.player.stop();
    F.whole = !F.whole;
    setWay(S, F.stops[F.step]);
  };
  return (name) => {
    if (name === "follow") choose(S, F.data ? "" : usual(S));
    else if (F.data && [...Object.values(STEPPING), "speed"].includes(name)) run(name);
    else return false;
    return true;
  };
}

/** The token that is followed unless another is chosen: the current one of the open block. @param {MachineState} S */
function usual(S) {
  const block = blockOf(S, S.opened.block);
  return block && SIDES.source.includes(block.stack) ? `source ${S.row}` : `target ${S.step}`;
}

/** Follows the token of a line of the list, or none. @param {MachineState} S @param {string} token such as "source 2" */
function choose(S, token) {
  if (token) follow(S, token);
  else leave(S);
  ask(S);
}

/** Starts to follow a token, at what is open if the token passes there. @param {MachineState} S @param {string} token such as "source 2" @param {string} [point] the last part of the name of the stage's point */
function follow(S, token, point = "") {
  const F = S.trail;
  const [side, at] = token.split(" ");
  const before = F.data ? F.stops[F.step] : null;
  S.player.stop();
  F.player.stop();
  if (side === "source") S.row = Number(at);
  else goTo(S, Number(at));
  const wanted = before ?? { block: S.opened.block, part: point || S.opened.part, stage: undefined };
  Object.assign(F, { data: S.data, side, told: -1, chosen: {}, head: S.opened.head || F.head });
  S.depth = "words";
  setWay(S, wanted, !!point);
}

/** All stops of the followed token; a token of a prompt predicts nothing. @param {MachineState} S */
function allStops({ data: { alternatives, blocks, stages }, step, trail: { side } }) {
  const stops = stopsOf(stages, blocks, side);
  if (side === "source" || alternatives.ids[step].length) return stops;
  const ends = blocks.filter(({ stack }) => stack === "output").map(({ name }) => name);
  return stops.filter(({ block }) => !ends.includes(block));
}

/** Takes the short way or that with all stages, and goes to its stop that is nearest to one. @param {MachineState} S @param {TrailStop} wanted @param {boolean} [exactly] whether the way must have that stop */
function setWay(S, wanted, exactly = false) {
  const F = S.trail;
  const { blocks, diagram } = S.data;
  const all = allStops(S);
  const short = shortWay(all, blocks, wanted.block, diagram.norm === "pre");
  const isAt = (/** @type {TrailStop} */ { block, part, stage }) =>
    block === wanted.block && (!wanted.part || wanted.part === (part || (stage && shortOf(stage.point))));
  F.whole ||= exactly && !short.some(isAt);
  F.stops = F.whole ? all : short;
  F.last = F.stops.length - 1;
  const exact = F.stops.findIndex((stop) => (wanted.stage ? isSame(stop, wanted) : isAt(stop)));
  const near = F.stops.findIndex(({ block }) => block === wanted.block);
  F.step = Math.max(0, exact < 0 ? near : exact);
  arrive(S);
  redraw(S);
}

/** Whether two stops are one: the memory has the stage of another block. @param {TrailStop} one @param {TrailStop} other */
const isSame = (one, other) => one.stage === other.stage && one.block === other.block;

/** The followed token and its stage, for a link: "target.weights", "source-2.added"; "" if none is followed. @param {MachineState} S */
export function followedText({ trail: { data, side, stops, step }, row }) {
  if (!data) return "";
  const { stage } = stops[step];
  return `${side}${side === "source" ? `-${row + 1}` : ""}${stage ? `.${shortOf(stage.point)}` : ""}`;
}

/** Follows what a link names, from what is open. @param {MachineState} S @param {string} text */
export function followText(S, text) {
  const [token, point] = text.split(".");
  const [side, row] = token.split("-");
  S.trail.data = null;
  if (!side) return S.trail.player.stop();
  follow(
    S,
    `${side} ${side === "source" ? clamp(Number(row) - 1, 0, S.data.source.tokens.length - 1) : S.step}`,
    point,
  );
}

/** @param {MachineState} S */
function leave(S) {
  S.trail.player.stop();
  S.trail.data = null;
  redraw(S);
}

/** Opens the box of the current stop. @param {MachineState} S */
function arrive(S) {
  const F = S.trail;
  const { block, part, stage } = F.stops[F.step];
  const head = part ? Math.min(F.head, S.data.facts[block].shape[0]) : 0;
  Object.assign(S, { opened: { block, head, part }, point: stage?.point ?? "", first: 0, spot: null, allTerms: false });
}

const SETTLED = 300; // ms

/** Once a stage, scrolls the page to the controls if what tells where the number is from would be below the window. @param {MachineState} S */
export function showOrigin(S) {
  const F = S.trail;
  const originOn = () => (stopShown(S) ? S.find(".panel").querySelector(".origin") : null);
  if (!originOn() || F.told === F.step) return;
  F.told = F.step;
  const look = () => {
    const [controls, origin] = [S.find(".controls"), originOn()];
    if (!origin || origin.getBoundingClientRect().bottom <= innerHeight) return;
    if (getComputedStyle(controls).position === "sticky") return; // on a phone, the panel is in view by itself
    if (controls.getBoundingClientRect().top > 16) controls.scrollIntoView({ block: "start" });
    origin.querySelector(".equation")?.scrollIntoView({ block: "nearest" });
  };
  requestAnimationFrame(look);
  setTimeout(look, SETTLED); // the panel may have been written again, and the page have lost its place
}

/** The stop that is on screen, if a token is followed and nothing else was opened. @param {MachineState} S @returns {TrailStop | null} */
export function stopShown(S) {
  const { data, stops, step } = S.trail;
  const stop = data && stops[step];
  return stop && stop.block === S.opened.block && stop.part === S.opened.part ? stop : null;
}

/** Draws the controls; a block that was opened by hand becomes the stop, if it is on the way. @param {MachineState} S */
export function drawTrail(S) {
  const F = S.trail;
  if (F.data && F.data !== S.data) Object.assign(F, { data: S.data });
  F.head = S.opened.head || F.head;
  const { block, part } = S.opened;
  if (F.data && !stopShown(S)) {
    const at = F.stops.findIndex((stop) => stop.block === block && (!part || stop.part === part));
    if (at >= 0) F.step = at;
  }
  S.find(".controls").classList.toggle("following", !!F.data);
  S.find(".speed").hidden = !F.data;
  drawTokens(S);
  drawStages(S);
  nameButtons(S, F.data ? "stage" : "step");
  if (!F.data) return drawSteps(S, stepName(S.data, S.step));
  const where = `${F.step + 1}: ${titleOf(S)}`;
  drawSteps(/** @type {ViewState} */ (F), where, t("stage {stage} of {last}", { stage: F.step + 1, last: F.last + 1 }));
  const name = { 1: t("normal"), 2: t("fast"), 0.5: t("slow") }[F.speed] ?? "";
  say(S.find(".speed span"), F.speed === 0.5 ? "½×" : `${F.speed}×`);
  S.find(".speed").setAttribute("aria-label", t("Speed: {name}", { name }));
}

/** Names what the buttons lead through. @param {MachineState} S @param {"step" | "stage"} track */
function nameButtons(S, track) {
  const slider = S.find(".steps");
  const named = track === "step" ? t("Step") : t("Stage");
  if (slider.ariaLabel === named) return;
  slider.ariaLabel = named;
  const names = {
    start: track === "step" ? t("To the first step") : t("To the first stage"),
    back: track === "step" ? t("One step back") : t("One stage back"),
    forward: track === "step" ? t("One step forward") : t("One stage forward"),
    end: track === "step" ? t("To the last step") : t("To the last stage"),
  };
  for (const [value, name] of Object.entries(names)) {
    const button = S.find(`.buttons [value=${value}]`);
    button.ariaLabel = name;
    button.title = `${name} (${{ start: "Home", back: "←", forward: "→", end: "End" }[value]})`;
  }
}

/** What is open: the block with its layer, the head, the part, and the stage of the followed token. @param {MachineState} S */
export function titleOf(S) {
  const { head, part } = S.opened;
  const block = blockOf(S, S.opened.block);
  if (!block) return t("The whole machine");
  const { title } = (block.attention &&
    S.data.parts[/** @type {import("./types").Kind} */ (block.attention)]?.[part]) || { title: "" };
  const stop = part ? null : stopShown(S);
  const stage = (stop && stop.block === stop.stage?.block && stop.stage.title) || "";
  const inner = [
    head && !AFTER.includes(part) && nameInLayer(head),
    title,
    stage !== S.data.facts[block.name].title && stage,
  ];
  return [nameOf(S, block), ...inner.filter(Boolean)].join(" › ");
}

/** The tokens that can be followed. @param {MachineState} S */
function drawTokens(S) {
  const F = S.trail;
  const select = /** @type {HTMLSelectElement} */ (S.find(".follow select"));
  const { source, target } = S.data;
  const named = JSON.stringify([source.tokens, target.tokens, target.predicted]);
  if (select.dataset.tokens !== named) {
    const group = (/** @type {string} */ side, /** @type {string[]} */ tokens) => {
      const box = Object.assign(make("optgroup"), { label: side === "source" ? t("source") : t("target") });
      box.append(...tokens.map((token, i) => new Option(`${i + 1} ${token}`, `${side} ${i}`)));
      return box;
    };
    const read = target.tokens.map((token, i) => `${token} → ${target.predicted[i]}`);
    select.replaceChildren(new Option("", ""), group("source", source.tokens), group("target", read));
    select.dataset.tokens = named;
  }
  select.options[0].text = F.data ? t("no token") : t("a token …");
  select.value = F.data ? `${F.side} ${F.side === "source" ? S.row : S.step}` : "";
}

/** The stages of the way, below the names of their blocks, and what changes the way. @param {MachineState} S */
function drawStages(S) {
  const { data, last, side, step, stops, whole } = S.trail;
  const select = /** @type {HTMLSelectElement} */ (S.find(".stages"));
  const way = S.find(".way");
  select.hidden = way.hidden = !data;
  if (!data) return;
  say(way, whole ? t("Short way") : t("All {count}", { count: allStops(S).length }));
  const named = `${side} ${last} ${stops.map(({ block }) => block)}`;
  if (select.dataset.named !== named) {
    const groups = stops.flatMap((stop, at) => {
      if (at && stops[at - 1].block === stop.block) return [];
      const group = Object.assign(make("optgroup"), { label: groupName(S, stop.block) });
      for (let i = at; stops[i]?.block === stop.block; i++)
        group.append(new Option(`${i + 1} ${passedName(stops[i].layers) || stageName(S, stops[i])}`, `${i}`));
      return [group];
    });
    select.replaceChildren(...groups);
    select.dataset.named = named;
  }
  select.selectedIndex = step;
}

/** @param {MachineState} S @param {TrailStop} stop */
const stageName = (S, { block, stage }) =>
  stage && block === stage.block ? stageTitle(S, stage) : S.data.facts[block].title;

/** A block with its layer. @param {MachineState} S @param {string} name */
function groupName(S, name) {
  const { layer, stack } = /** @type {import("./types").MachineBlock} */ (blockOf(S, name));
  const { title } = S.data.facts[name];
  const inLayer = stack === "encoder" ? t("Encoder layer {layer}", { layer }) : t("Decoder layer {layer}", { layer });
  return layer ? t("{layer} · {block}", { layer: inLayer, block: title }) : title;
}

/** The layers that a stop of the short way passes, in the list. @param {[number, number]} [layers] */
const passedName = ([layer, end] = [0, 0]) =>
  end > layer ? t("Layers {layer}–{end}", { layer, end }) : end ? t("Layer {layer}", { layer }) : "";

/** What a stop of the short way says of the layers that it passes. @param {[number, number]} layers */
const passedText = ([first, last]) =>
  first === last
    ? t("Layer {last} takes the same steps with weights of its own. This is its result.", { last })
    : t(
        "Layers {first} to {last} take the same steps, each with weights of its own. This is the result of layer {last}.",
        { first, last },
      );

/** Draws a stage of the followed token: what it is, its numbers, and where one of them is from. @param {MachineState} S @param {HTMLElement} content @param {TrailStop} stop @param {string} said what the block or part does */
export function drawStop(S, content, stop, said) {
  const { block, layers, stage } = stop;
  if (!stage) return;
  const text = layers ? passedText(layers) : EVIDENT.includes(blockOf(S, block)?.kind ?? "") ? "" : said;
  const isEnd = S.trail.side === "source" && S.trail.step === S.trail.last;
  const end = isEnd
    ? t("The way of a source token ends here: each layer of the decoder reads it as key and value, and nothing else.")
    : "";
  const title = stageName(S, stop);
  const numbers = numbersAt(S, block === stage.block ? stage : { ...stage, title }, title); // the memory has its own name
  S.spot = S.lit = numbers?.spot ?? null;
  const texts = [text, end].filter(Boolean).join(" ");
  drawStage(S, content, texts ? [make("p", "", ...withTerms(texts, S.data.terms))] : [], numbers);
  prepare(S);
}

/** Requests what the next stops show, so that it is there at once. @param {MachineState} S */
export function prepare(S) {
  if (S.missing.size) return;
  S.ahead = true;
  const { stops, step } = S.trail;
  for (const { stage } of stops.slice(step + 1, step + 1 + AHEAD)) {
    if (stage) numbersAt(S, stage);
    if (S.missing.size) break; // the next one is there
  }
}
