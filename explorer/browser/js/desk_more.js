// What the desk adds to its program when it is first opened: the machine, where one weight comes from, and comparisons.

import { showCell } from "./cell.js";
import { named } from "./cell_text.js";
import { drawComparison } from "./desk_compare.js";
import { bring, cardNow, templateOf } from "./desk_views.js";
import { mountMachine } from "./machine.js";
import { destinationOf, placeOf, textOf, wantedAt } from "./machine_link.js";
import { liveSource } from "./source_live.js";
import { decodingOf } from "./store.js";

/** @import { Decoding, Message } from "./types" */
/** @typedef {import("./desk.js").DeskState} DeskState */
/** @typedef {import("./desk.js").Kept} Kept */
/** @typedef {import("./desk_views.js").Desk} Desk */

const LINKS = ["attention", "cell", "translate"]; // of the machine; other pages need the app

/** Computes what the machine shows first. @param {DeskState} D @param {Kept} opened */
export async function prepareMachine(D, opened) {
  D.machine = await D.engine.describe(cardNow(D));
  await bring(D, opened, "machine", "");
  const wanted = wantedAt(placeInside(D, opened), isStepwise(D));
  if (wanted) await bring(D, opened, "details", JSON.stringify(wanted), wanted.step, wanted.opened);
}

/** Mounts the machine. @param {DeskState} D @param {Kept} opened @param {Desk} desk @param {any} parentElement @returns {() => void} */
export function mountInside(D, opened, desk, parentElement) {
  const data = { seq: opened.seq, turn: D.turn, start: placeInside(D, opened) };
  return mountMachine({ data, parentElement, source: machineSource(D, opened, desk) });
}

/** Draws where one weight comes from. @param {HTMLElement} host @param {Message} answer @param {Decoding} decoding @param {(report: import("./structs").CellReport) => void} moved */
export function drawOneCell(host, answer, decoding, moved) {
  if (!host.shadowRoot) host.attachShadow({ mode: "open" }).append(templateOf("cell"));
  showCell(/** @type {any} */ (host.shadowRoot), named(answer, decoding), moved);
}

export const drawCompared = drawComparison;

/** Whether the decoder computes all rows anew at every step. @param {DeskState} D */
const isStepwise = ({ machine }) => /** @type {any} */ (machine).stepwise;

/** The open block and the step, as the query says. @param {DeskState} D @param {Kept} opened */
function placeInside({ place, machine }, { seq }) {
  const { tokens, given } = /** @type {Decoding} */ (decodingOf(seq)).target;
  const known = /** @type {import("./machine_link.js").Machine} */ (machine);
  return placeOf(place.block ?? "", Number(place.step) || given + 1, tokens.length, known, place.follow);
}

/** @param {DeskState} D @param {Kept} opened @param {Desk} desk @returns {import("./types").Source} */
function machineSource(D, opened, desk) {
  const { turn } = D;
  return {
    ...liveSource({
      moved: (report) => {
        if (report.seq !== opened.seq || report.turn !== turn) return;
        const [block, { step, follow }] = [textOf(report.place), report.place];
        desk.opened({ step: `${step}`, ...(block && { block }), ...(follow && { follow }) });
        const wanted = wantedAt(report.place, isStepwise(D));
        if (!wanted) return;
        bring(D, opened, "details", JSON.stringify(wanted), wanted.step, wanted.opened).catch(desk.failed);
      },
      ask: (what, departure) => {
        if (what === "edit") return desk.edit(departure);
        const known = /** @type {import("./machine_link.js").Machine} */ (D.machine);
        const { page, query } = destinationOf(departure, known, desk.query());
        if (what === "go") desk.go(query, page);
      },
    }),
    want: ({ step, slices }) => {
      bring(D, opened, "numbers", JSON.stringify(slices), step, slices).catch(desk.failed);
    },
    leadsTo: (place) => LINKS.includes(place),
  };
}
