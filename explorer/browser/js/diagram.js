// The small diagram of a model: which place of attention is on screen; a click or an arrow key goes to another one.

import { planOf } from "./diagram_plan.js";
import { make, makeButton } from "./dom.js";
import { KINDS } from "./kinds.js";
import { TITLES, layerName } from "./names.js";

/** @typedef {import("./types").Diagram} Diagram */
/** @typedef {import("./types").DiagramPlan} DiagramPlan */
/** @typedef {import("./types").Kind} Kind */

const SVG = "http://www.w3.org/2000/svg";
/** What each box shows, so that it is built anew only for another model or width. @type {WeakMap<Element, string>} */
const built = new WeakMap();

/**
 * Draws a model into a box with the role of a radio group.
 * @param {HTMLElement} box
 * @param {Diagram} diagram
 * @param {{ kind: Kind, layer: number }} at the place on screen
 * @param {(kind: Kind, layer: number) => void} choose
 */
export function drawDiagram(box, diagram, at, choose) {
  const width = box.clientWidth || 244, roomy = matchMedia("(pointer: coarse)").matches, low = box.classList.contains("low");
  const name = JSON.stringify([diagram, width, roomy]);
  if (built.get(box) !== name) build(box, planOf(diagram, width, roomy, low));
  built.set(box, name);
  const places = placesOf(box);
  for (const place of places) {
    const [kind, layer] = place.value.split(" "), current = kind === at.kind && Number(layer) === at.layer;
    place.setAttribute("aria-checked", `${current}`);
    place.tabIndex = current ? 0 : -1; // Tab reaches one place; the arrow keys lead to the others
    place.onclick = () => choose(/** @type {Kind} */ (kind), Number(layer));
  }
  box.onkeydown = (event) => {
    const next = placeAfter(places, at, event.key);
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    next.click();
    next.focus();
  };
}

/** @param {Element} box */
const placesOf = (box) => /** @type {HTMLButtonElement[]} */ ([...box.querySelectorAll("button")]);

/**
 * The place that an arrow key leads to: the next layer, or the next kind above or below, at most at the same depth.
 * @param {HTMLButtonElement[]} places
 * @param {{ kind: Kind, layer: number }} at
 * @param {string} key
 */
function placeAfter(places, at, key) {
  const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[key] ?? [0, 0];
  if (!down && !right) return undefined;
  const rows = /** @type {Kind[]} */ (["encoder", "cross", "decoder"]).filter((kind) => places.some(({ value }) => value.startsWith(`${kind} `)));
  const kind = rows[rows.indexOf(at.kind) + down], row = places.filter(({ value }) => value.startsWith(`${kind} `));
  return down ? row[Math.min(at.layer, row.length) - 1] : row[at.layer - 1 + right];
}

/** @param {HTMLElement} box @param {DiagramPlan} plan */
function build(box, { width, height, cell, blocks, wires, frames, labels }) {
  const svg = drawWires(wires, width, height, frames);
  const named = labels.map(({ text, y, side }) => {
    const label = make("span", `row ${side}`, text);
    label.style.top = `${y}px`;
    return label;
  });
  const drawn = blocks.map(({ kind, layer, x, y }) => {
    const known = KINDS.find((each) => each === kind), what = `${known ? TITLES[known] : "LSTM without attention"}, ${layerName(layer)}`;
    const block = known ? Object.assign(makeButton(`place ${kind}`, `${layer}`), { value: `${kind} ${layer}` }) : make("span", "place", `${layer}`);
    if (known) {
      block.setAttribute("role", "radio");
      block.setAttribute("aria-label", what);
    }
    block.title = what;
    Object.assign(block.style, { left: `${x}px`, top: `${y}px`, width: `${cell.width}px`, height: `${cell.height}px` });
    return block;
  });
  box.replaceChildren(svg, ...named, ...drawn);
  box.style.height = `${height}px`;
}

/**
 * The lines of a diagram, each with an arrow at its end, and frames under them.
 * @param {import("./types").Wiring[]} wires
 * @param {number} width
 * @param {number} height
 * @param {DiagramPlan["frames"]} frames
 */
export function drawWires(wires, width, height, frames = []) {
  const svg = document.createElementNS(SVG, "svg");
  const add = (/** @type {string} */ tag, /** @type {Record<string, string | number>} */ attributes) => {
    const element = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, `${value}`);
    svg.append(element);
  };
  for (const [key, value] of Object.entries({ width, height, "aria-hidden": "true" })) svg.setAttribute(key, `${value}`);
  for (const frame of frames) add("rect", { ...frame, rx: 5, class: "layer" });
  for (const { points, flow } of wires) {
    const [[x0, y0], [x1, y1]] = points.slice(-2), across = Math.sign(x1 - x0), down = Math.sign(y1 - y0);
    add("polyline", { points: points.join(" "), class: flow });
    const tip = [[x1, y1], [x1 - 4 * across - 3 * down, y1 - 4 * down - 3 * across], [x1 - 4 * across + 3 * down, y1 - 4 * down + 3 * across]];
    add("polygon", { points: tip.join(" "), class: flow });
  }
  return svg;
}
