// Follow one token through the machine: the stages that it passes, played or stepped; each opens its box, and the panel
// shows the token's numbers there and where one of them is from.

import { make, say } from "./dom.js";
import { STEPPING } from "./keys.js";
import { nameOf } from "./machine_captions.js";
import { AFTER, shortOf } from "./machine_link.js";
import { cardOf, rowOfToken, spotIn, tableOf } from "./machine_matrix.js";
import { countOf, isHeaded, slice } from "./machine_numbers.js";
import { originOf } from "./machine_origin.js";
import { ask, blockOf, hasDetails, lineOf } from "./machine_state.js";
import { SIDES, chaptersOf, stopsOf } from "./machine_stops.js";
import { clamp } from "./numbers.js";
import { createPlayer, drawSteps, stepName, speedName } from "./player.js";
import { goTo, listenToSteps, PAUSE, redraw } from "./view.js";
import { t } from "./words.js";
import { nameInLayer } from "./names.js";

/** @import { MachineMatrix, MachineSpot, MachineState, MachineTrail, TrailStop, ViewState } from "./types" */
/** @import { MachineStage } from "./structs" */

const TEMPO = 1600; // ms per stage
const SPEEDS = [1, 2, 0.5];
/** The commands that lead to another block while a token is followed. @type {Record<string, number>} */
const TURNS = { start: -1, end: 1 };
const NARROW = 600; // pixels: on a phone, fewer numbers stand in a row
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
      chapters: [],
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
  const go = (/** @type {number} */ step) => goTo(/** @type {ViewState} */ (F), step && chapterBeside(F, 1));
  F.player = createPlayer(() => TEMPO / F.speed, { at: () => F.step, last: () => F.last, go }); // the short way
  const select = /** @type {HTMLSelectElement} */ (S.find(".follow select"));
  select.onchange = () => {
    choose(S, select.value);
    S.find("button.play").focus({ preventScroll: true }); // the arrow keys step, and no longer choose
  };
  const chapter = /** @type {HTMLSelectElement} */ (S.find(".chapter"));
  chapter.onchange = () => {
    F.player.stop();
    goTo(/** @type {ViewState} */ (F), Number(chapter.value));
    S.find("button.play").focus({ preventScroll: true });
  };
  return (name) => {
    if (name === "follow") choose(S, F.data ? "" : usual(S));
    else if (F.data && name in TURNS) goTo(/** @type {ViewState} */ (F), chapterBeside(F, TURNS[name]));
    else if (F.data && [...Object.values(STEPPING), "speed"].includes(name)) run(name);
    else return false;
    return true;
  };
}

/** Where the chapter before or after the current one begins; the first or last stop if there is none. @param {MachineTrail} F @param {number} by 1 or −1 */
function chapterBeside({ chapters, step, last }, by) {
  const here = chapters.findLastIndex(({ at }) => at <= step);
  return chapters[here + by]?.at ?? (by < 0 ? 0 : last);
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
  const stops = stopsOf(S.data.stages, S.data.blocks, /** @type {"source" | "target"} */ (side));
  const wanted = before ?? S.opened;
  const isHere = (/** @type {TrailStop} */ stop) =>
    stop.block === wanted.block && (!wanted.part || stop.part === wanted.part);
  const exact = stops.findIndex((stop) => isHere(stop) && point && stop.stage && shortOf(stop.stage.point) === point);
  const here = exact < 0 ? stops.findIndex(isHere) : exact;
  F.head = S.opened.head || F.head;
  F.chapters = chaptersOf(stops, S.data.blocks);
  Object.assign(F, { data: S.data, side, stops, last: stops.length - 1, step: Math.max(0, here), told: -1 });
  S.depth = "words";
  arrive(S);
  redraw(S);
}

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
  drawChapters(S);
  nameButtons(S, F.data ? "stage" : "step");
  if (!F.data) return drawSteps(S, stepName(S.data, S.step));
  const where = `${F.step + 1}: ${titleOf(S)}`;
  drawSteps(/** @type {ViewState} */ (F), where, t("stage {stage} of {last}", { stage: F.step + 1, last: F.last + 1 }));
  const name = speedName(F.speed);
  say(S.find(".speed span"), F.speed === 0.5 ? "½×" : `${F.speed}×`);
  S.find(".speed").setAttribute("aria-label", t("Speed: {name}", { name }));
}

/** Names what the buttons lead through. @param {MachineState} S @param {"step" | "stage"} track */
function nameButtons(S, track) {
  const slider = S.find(".steps");
  const named = track === "step" ? t("Step") : t("Stage");
  if (slider.ariaLabel === named) return;
  slider.ariaLabel = named;
  S.find("button.play").title =
    track === "step" ? t("Play or pause (Space)") : t("Play from block to block, or pause (Space)");
  const names = {
    start: track === "step" ? t("To the first step") : t("To the previous block"),
    back: track === "step" ? t("One step back") : t("One stage back"),
    forward: track === "step" ? t("One step forward") : t("One stage forward"),
    end: track === "step" ? t("To the last step") : t("To the next block"),
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
  const stage = (!part && stopShown(S)?.stage?.title) || "";
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
  const named = JSON.stringify([source.tokens, target.tokens]);
  if (select.dataset.tokens !== named) {
    const group = (/** @type {string} */ side, /** @type {string[]} */ tokens) => {
      const box = Object.assign(make("optgroup"), { label: side === "source" ? t("source") : t("target") });
      box.append(...tokens.map((token, i) => new Option(`${i + 1} ${token}`, `${side} ${i}`)));
      return box;
    };
    select.replaceChildren(new Option("", ""), group("source", source.tokens), group("target", target.tokens));
    select.dataset.tokens = named;
  }
  select.options[0].text = F.data ? t("no token") : t("a token …");
  select.value = F.data ? `${F.side} ${F.side === "source" ? S.row : S.step}` : "";
}

/** The chapters of the way, with the current one. @param {MachineState} S */
function drawChapters(S) {
  const { chapters, data, step, stops } = S.trail;
  const select = /** @type {HTMLSelectElement} */ (S.find(".chapter"));
  select.hidden = !data;
  if (!data) return;
  const named = JSON.stringify(chapters);
  if (select.dataset.named !== named) {
    const optionOf = (/** @type {{ at: number, block: string }} */ { at, block }) => {
      const { kind, layer, stack } = blockOf(S, block) ?? { kind: "", layer: 0, stack: "" };
      const title = (kind === "norm" && stops[at].stage?.title) || S.data.facts[block].title;
      const inLayer =
        stack === "encoder" ? t("Encoder layer {layer}", { layer }) : t("Decoder layer {layer}", { layer });
      return new Option(layer ? t("{layer} · {block}", { layer: inLayer, block: title }) : title, `${at}`);
    };
    select.replaceChildren(...chapters.map(optionOf));
    select.dataset.named = named;
  }
  select.selectedIndex = chapters.findLastIndex(({ at }) => at <= step);
}

/** The token's numbers at a stop, and where one of them is from. @param {MachineState} S @param {TrailStop} stop @returns {HTMLElement[]} */
export function trailNumbers(S, stop) {
  const { stage } = stop;
  if (!stage) return [];
  const { matrix: whole, spot } = shownAt(S, stage);
  const matrix = spot && stage.columns ? aroundSpot(whole, spot, S.room < NARROW ? 4 : 8) : whole;
  const box = make("div", "stop-numbers");
  const row = matrix.rows.length === 1 ? matrix.rows[0].replace(/^\d+ /, "") : "";
  const fields = {
    stage: stage.title,
    token: row,
    first: matrix.first + 1,
    last: matrix.first + matrix.columns.length,
    count: stage.columns,
  };
  const cut = stage.columns > matrix.columns.length;
  const ofToken = () =>
    cut ? t("{stage} of “{token}”, numbers {first} to {last} of {count}:", fields) : t("{stage} of “{token}”:", fields);
  const ofAll = () => (cut ? t("{stage}, numbers {first} to {last} of {count}:", fields) : t("{stage}:", fields));
  box.append(make("p", "hint", row ? ofToken() : ofAll()));
  if (matrix.numbers) box.append(tableOf(S, stage, matrix, spot));
  if (spot) box.append(cardOf(S, stage, spot));
  S.lit = spot;
  prepare(S);
  return [box];
}

/** The columns of a vector around a number, as many as are seen whole. @param {MachineMatrix} matrix @param {MachineSpot} spot @param {number} most @returns {MachineMatrix} */
function aroundSpot(matrix, spot, most) {
  const { rows, columns, first, numbers } = matrix;
  if (!numbers || matrix.ids || columns.length <= most) return matrix;
  const start = clamp(spot.column - first - most / 2, 0, columns.length - most);
  const values = rows.flatMap((_, r) => [...lineOf(numbers, r).subarray(start, start + most)]);
  const part = { values: new Float32Array(values), shape: [rows.length, most] };
  return { ...matrix, first: first + start, columns: columns.slice(start, start + most), numbers: part };
}

/** @param {MachineState} S @param {MachineStage} stage */
function shownAt(S, stage) {
  const head = isHeaded(S, stage) ? S.opened.head || S.trail.head : 0;
  const matrix = rowOfToken(S, stage, head, S.trail.side);
  return { matrix, spot: spotIn(S, stage, matrix, head) };
}

/** Requests what the next stop shows, so that it is there at once; and with it, what the stops after it show. @param {MachineState} S */
function prepare(S) {
  if (S.missing.size) return;
  S.ahead = true;
  const { spot, point } = S;
  const { player, stops, step } = S.trail;
  const next = player.playing() ? chapterBeside(S.trail, 1) : step + 1;
  const sizes = { source: countOf(S, "source"), target: countOf(S, "target") };
  for (const { stage } of stops.slice(next, next + AHEAD)) {
    if (!stage) continue;
    Object.assign(S, { spot: null, point: stage.point });
    const { spot: chosen } = shownAt(S, stage);
    if (chosen) originOf(S.data, chosen, sizes, (part) => slice(S, part));
    if (!S.missing.size) break; // the next one is there
  }
  Object.assign(S, { spot, point });
}
