// The machine in the query of a page without a server: what is open, the message that it needs, and where its links
// lead. As explorer/screens/inside/machine.py does it in the app.

/** @import { Departure, MachineMessage, MachinePlace, Opened } from "./structs" */

/** @typedef {Record<string, string>} Query */
/** The blocks of a model. @typedef {Pick<MachineMessage, "blocks" | "facts" | "parts">} Machine */

/** The parts of a block of attention that follow its heads. */
export const AFTER = ["joined", "gated", "out_proj"];
/** The last part of a point's name. @param {string} point */
export const shortOf = (point) => point.slice(point.lastIndexOf(".") + 1);
const NAMED = /^([a-z_]+(?:\.\d{1,4})?(?:\.[a-z_]+\d?)?)(?:\.h(\d{1,4}))?(?:\.([a-z_]+))?$/;
const FOLLOWED = /^(target|source-[1-9]\d{0,3})(\.[a-z_]{1,20}\d?)?$/;

/** What is open, as the parameter `block`: "decoder.0.cross_attn.h2.scores". @param {Opened} opened */
export const textOf = ({ block, head, part }) => `${block}${head ? `.h${head}` : ""}${part ? `.${part}` : ""}`;

/**
 * The place that a query requests, as far as it exists: `text` is its parameter `block`, `step` counts from 1.
 * @param {string} text @param {number} step @param {number} steps @param {Machine} machine @param {string} [followed] its parameter `follow`
 * @returns {MachinePlace}
 */
export function placeOf(text, step, steps, { blocks, facts, parts }, followed = "") {
  const follow = FOLLOWED.test(followed) ? followed : "";
  const at = { block: "", head: 0, part: "", step: Math.max(1, Math.min(steps, step)), follow };
  const find = (/** @type {string} */ name) => blocks.find((block) => block.name === name);
  if (find(text)) return { ...at, block: text };
  const [, name, number, part = ""] = NAMED.exec(text) ?? [];
  const block = find(name);
  if (!block || (!part && number === undefined)) return at;
  const head = block.attention && Number(number) <= facts[name].shape[0] ? Number(number) : 0; // NaN <= … is false
  const isPart = block.attention && part in parts[block.attention] && (head > 0 || AFTER.includes(part));
  return { ...at, block: name, head, part: isPart && part !== "head" ? part : "" };
}

/**
 * The details that the view needs at a place, if any: one message has all parts of a head, and all steps unless each has
 * rows of its own (`stepwise`).
 * @param {MachinePlace} place @param {boolean} stepwise @returns {{ opened: Opened, step: number } | null}
 */
export const wantedAt = ({ block, head, step }, stepwise) =>
  block ? { opened: { block, head, part: "" }, step: stepwise ? step : 0 } : null;

/**
 * The page that a clicked link leads to, and its query, made from the one on screen.
 * @param {Departure} departure @param {Machine} machine @param {Query} query @returns {{ page: string, query: Query }}
 */
export function destinationOf({ place, block: name, head, step, row, column }, { blocks }, query) {
  const block = blocks.find((each) => each.name === name);
  /** @type {Query} */
  const to = { ...query, step: `${step}` };
  for (const left of ["block", "follow", "view", "panel", "cell", "other"]) delete to[left];
  if (block?.attention) {
    const chosen = head || (place === "cell" ? 1 : 0);
    Object.assign(to, { kind: block.attention, layer: `${Math.max(1, block.layer)}`, head: `${chosen}`, view: "head" });
  }
  if (place === "cell") Object.assign(to, { panel: "cell", cell: `${row}-${column}` });
  return { page: place === "cell" ? "attention" : place, query: to };
}
