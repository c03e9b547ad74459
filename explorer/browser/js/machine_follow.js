// Follow one token through the machine: the stages that it passes, played or stepped; each opens its box, and the panel
// shows the token's numbers there and where one of them is from.

import { make, say } from "./dom.js";
import { AFTER } from "./machine_link.js";
import { cardOf, rowOfToken, spotIn, tableOf } from "./machine_matrix.js";
import { countOf, isHeaded, slice } from "./machine_numbers.js";
import { originOf } from "./machine_origin.js";
import { ask, blockOf } from "./machine_state.js";
import { SIDES, stopsOf } from "./machine_stops.js";
import { drawSteps } from "./player.js";
import { goTo, listenToSteps, redraw } from "./view.js";

/** @import { MachineState, MachineTrail, TrailStop, ViewState } from "./types" */
/** @import { Block, MachineStage } from "./structs" */

const TEMPO = 1600; // ms per stage
const SPEEDS = [1, 2, 0.5];

/** Gives the view its second row of controls. @param {MachineState} S @returns {(command: string) => boolean} carries out a command of the keys, while a token is followed */
export function listenToTrail(S) {
  const box = S.find(".following");
  const F = /** @type {MachineTrail} */ (
    /** @type {unknown} */ ({
      find: (/** @type {string} */ selector) => box.querySelector(selector),
      step: 0,
      last: 0,
      speed: 1,
      stops: [],
      side: "target",
      head: 1,
      data: null,
      followed: true,
      pause: () => 30,
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
  const select = /** @type {HTMLSelectElement} */ (F.find("select"));
  select.onchange = () => follow(S, select.value);
  S.find(".follow").onclick = () => (F.data ? leave(S) : follow(S, ""));
  F.find(".stop").onclick = () => leave(S);
  return (name) => {
    if (name === "follow") S.find(".follow").click();
    else if (F.data && ["start", "back", "play", "forward", "end"].includes(name)) run(name);
    else return false;
    return true;
  };
}

/** Starts to follow a token. @param {MachineState} S @param {string} token such as "source 2", or "" for the current one */
export function follow(S, token) {
  const F = S.trail;
  const open = blockOf(S, S.opened.block);
  const usual = open && SIDES.source.includes(open.stack) ? `source ${S.row}` : `target ${S.step}`;
  const [side, at] = (token || usual).split(" ");
  const before = F.data ? F.stops[F.step] : null;
  S.player.stop();
  F.player.stop();
  if (side === "source") S.row = Number(at);
  else goTo(S, Number(at));
  const stops = stopsOf(S.data.stages, S.data.blocks, /** @type {"source" | "target"} */ (side));
  const wanted = before ?? S.opened;
  const here = stops.findIndex((stop) => stop.block === wanted.block && (!wanted.part || stop.part === wanted.part));
  Object.assign(F, { data: S.data, side, stops, last: stops.length - 1, step: Math.max(0, here) });
  S.depth = "words";
  arrive(S);
  ask(S);
  redraw(S);
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
  S.find(".following").hidden = !F.data;
  S.find(".follow").setAttribute("aria-pressed", `${!!F.data}`);
  if (!F.data) return;
  drawTokens(S);
  const stop = F.stops[F.step];
  const where = titleOf(S, stop);
  drawSteps(/** @type {ViewState} */ (F), `${F.step + 1}: ${where}`, `stage ${F.step + 1} of ${F.last + 1}`);
  say(F.find(".where"), where);
  const name = { 1: "normal", 2: "fast", 0.5: "slow" }[F.speed];
  say(F.find(".speed span"), F.speed === 0.5 ? "½×" : `${F.speed}×`);
  F.find(".speed").setAttribute("aria-label", `Speed: ${name}`);
}

/** Where a stop is: layer, kind of attention, head and title. @param {MachineState} S @param {TrailStop} stop */
function titleOf(S, { block, part, stage }) {
  const { layer, stack, attention } = /** @type {Block} */ (blockOf(S, block));
  const title = attention ? (S.data.parts[attention][part]?.title ?? "") : (stage?.title ?? S.data.facts[block].title);
  return [
    ...(layer ? [`${stack === "encoder" ? "Encoder" : "Decoder"} layer ${layer}`] : []),
    ...(attention ? [attention === "cross" ? "cross-attention" : "self-attention"] : []),
    ...(attention && !AFTER.includes(part) ? [`head ${S.opened.head || S.trail.head}`] : []),
    title,
  ].join(" › ");
}

/** The tokens that can be followed. @param {MachineState} S */
function drawTokens(S) {
  const F = S.trail;
  const select = /** @type {HTMLSelectElement} */ (F.find("select"));
  const { source, target } = S.data;
  const named = JSON.stringify([source.tokens, target.tokens]);
  if (select.dataset.tokens !== named) {
    const group = (/** @type {string} */ side, /** @type {string[]} */ tokens) => {
      const box = Object.assign(make("optgroup"), { label: side });
      box.append(...tokens.map((token, i) => new Option(`${i + 1} ${token}`, `${side} ${i}`)));
      return box;
    };
    select.replaceChildren(group("source", source.tokens), group("target", target.tokens));
    select.dataset.tokens = named;
  }
  select.value = `${F.side} ${F.side === "source" ? S.row : S.step}`;
}

/** The token's numbers at a stop, and where one of them is from. @param {MachineState} S @param {TrailStop} stop @returns {HTMLElement[]} */
export function trailNumbers(S, stop) {
  const { stage } = stop;
  if (!stage) return [];
  const { matrix, spot } = shownAt(S, stage);
  const box = make("div", "stop-numbers");
  const row = matrix.rows.length === 1 ? matrix.rows[0].replace(/^\d+ /, "") : "";
  const what =
    stage.columns > matrix.columns.length ? `, numbers 1 to ${matrix.columns.length} of ${stage.columns}` : "";
  box.append(make("p", "hint", `${stage.title}${row ? ` of “${row}”` : ""}${what}:`));
  if (matrix.numbers) box.append(tableOf(S, stage, matrix, spot));
  if (spot) box.append(cardOf(S, stage, spot));
  S.lit = spot;
  prepare(S);
  return [box];
}

/** @param {MachineState} S @param {MachineStage} stage */
function shownAt(S, stage) {
  const head = isHeaded(S, stage) ? S.opened.head || S.trail.head : 0;
  const matrix = rowOfToken(S, stage, head, S.trail.side);
  return { matrix, spot: spotIn(S, stage, matrix, head) };
}

/** Requests what the next stop shows, so that it is there at once. @param {MachineState} S */
function prepare(S) {
  const next = S.trail.stops[S.trail.step + 1]?.stage;
  if (!next || S.missing.size) return;
  const { spot, point } = S;
  Object.assign(S, { spot: null, point: next.point });
  const { spot: chosen } = shownAt(S, next);
  const sizes = { source: countOf(S, "source"), target: countOf(S, "target") };
  if (chosen) originOf(S.data, chosen, sizes, (part) => slice(S, part));
  Object.assign(S, { spot, point });
}
