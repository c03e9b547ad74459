// The small diagram of a model, which marks the attention on screen; a click or an arrow key goes to another place. The
// encoder is above, the decoder below, and between them the flow from one to the other; layers go from left to right.

import { make, makeButton, makeShape } from "./dom.js";
import { buttonTowards } from "./grids.js";
import { KINDS, TITLES } from "./names.js";
import { clamp } from "./numbers.js";
import { t } from "./words.js";

/** @import { Diagram, HeadsState, Kind, StepperState, Wiring } from "./types" */

/**
 * Draws the place of the current map in the model, in a box with the role of a radio group.
 * @param {StepperState | HeadsState} S
 * @param {Diagram | null} diagram
 * @param {number} width of the view
 * @param {(kind: Kind, layer: number) => void} choose
 */
export function drawPlace(S, diagram, width, choose) {
  const box = S.find(".model");
  const at = { kind: S.kind, ...S.pick[S.kind] };
  const placed = [S.seq, at.kind, at.layer, width, !diagram].join();
  // A step changes nothing here, and reading the size of the box would make the browser compute it again.
  if (S.placed === placed) return;
  S.placed = placed;
  box.hidden = !diagram;
  if (!diagram) return;
  const room = box.clientWidth || 244;
  const roomy = matchMedia("(pointer: coarse)").matches;
  const low = box.classList.contains("low");
  // Rebuilt only for another model or width, so that the keyboard focus stays.
  const built = JSON.stringify([diagram, room, roomy]);
  if (S.built !== built) build(box, planOf(diagram, room, roomy, low));
  S.built = built;
  const places = [...box.querySelectorAll("button")];
  for (const place of places) {
    const [kind, layer] = place.value.split(" ");
    const current = kind === at.kind && Number(layer) === at.layer;
    place.setAttribute("aria-checked", `${current}`);
    place.tabIndex = current ? 0 : -1; // Tab reaches one place; the arrow keys lead to the others
    place.onclick = () => choose(/** @type {Kind} */ (kind), Number(layer));
  }
  box.onkeydown = (event) => {
    // The place that has the focus: a second key may come before the first one's change is drawn.
    const here = places.find((place) => place === event.target) ?? places.find((place) => place.tabIndex === 0);
    const next = here && buttonTowards(places, here, event.key);
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    next.click();
    next.focus();
  };
}

/** @param {HTMLElement} box @param {ReturnType<typeof planOf>} plan */
function build(box, { width, height, cell, blocks, wires, frames, labels }) {
  const svg = drawWires(wires, width, height, frames);
  const rowNames = labels.map(({ text, y, side }) => {
    const label = make("span", `row ${side}`, text);
    label.style.top = `${y}px`;
    return label;
  });
  const boxes = blocks.map(({ kind, layer, x, y }) => {
    const attention = KINDS.find((each) => each === kind);
    const part = attention ? TITLES[attention] : t("LSTM without attention");
    const what = t("{part}, layer {layer}", { part, layer });
    const block = attention
      ? Object.assign(makeButton(`place ${kind}`, `${layer}`), { value: `${kind} ${layer}` })
      : make("span", "place", `${layer}`);
    if (attention) {
      block.setAttribute("role", "radio");
      block.setAttribute("aria-label", what);
    }
    block.title = what;
    Object.assign(block.style, { left: `${x}px`, top: `${y}px`, width: `${cell.width}px`, height: `${cell.height}px` });
    return block;
  });
  box.replaceChildren(svg, ...rowNames, ...boxes);
  box.style.height = `${height}px`;
}

/**
 * Draws the lines of a diagram, each with an arrow at its end, and frames below them.
 * @param {Wiring[]} wires
 * @param {number} width
 * @param {number} height
 * @param {{ x: number, y: number, width: number, height: number }[]} frames
 */
export function drawWires(wires, width, height, frames = []) {
  const layers = frames.map((frame) => makeShape("rect", { ...frame, rx: 5, class: "layer" }));
  const lines = wires.flatMap(({ points, flow }) => {
    const [[x0, y0], [x1, y1]] = points.slice(-2);
    const across = Math.sign(x1 - x0);
    const down = Math.sign(y1 - y0);
    const tip = [
      [x1, y1],
      [x1 - 4 * across - 3 * down, y1 - 4 * down - 3 * across],
      [x1 - 4 * across + 3 * down, y1 - 4 * down + 3 * across],
    ];
    return [
      makeShape("polyline", { points: points.join(" "), class: flow }),
      makeShape("polygon", { points: tip.join(" "), class: flow }),
    ];
  });
  return makeShape("svg", { width, height, "aria-hidden": "true" }, ...layers, ...lines);
}

const NAMES = 92; // width of the names of the rows
const OUT = 20; // room for the arrow to the next word
const TOP = 2;
const INSET = 3;
const BEND = 9;

/**
 * Plans a diagram for this width; `roomy` makes blocks that a finger can hit, `low` saves height.
 * @param {Diagram} diagram
 * @param {number} width
 * @param {boolean} roomy
 * @param {boolean} low
 */
export function planOf({ encoder, decoder }, width, roomy, low = false) {
  const n = Math.max(encoder.length, decoder.length);
  const gap = n > 8 ? 6 : 10;
  const cell = {
    width: clamp(Math.floor((width - NAMES - OUT) / n - gap), 12, 46),
    height: roomy ? 34 : low ? 16 : 21,
  };
  const [between, within] = low ? [12, 9] : [25, 14];
  // A decoder alone has one row.
  const tops = encoder.length
    ? [TOP, TOP + cell.height + between, TOP + 2 * cell.height + between + within]
    : [TOP, TOP, TOP];
  const left = (/** @type {number} */ i) => NAMES + i * (cell.width + gap);
  const middle = (/** @type {number} */ i) => left(i) + cell.width / 2;
  const level = (/** @type {number} */ row) => tops[row] + cell.height / 2;
  /** Blocks of attention can be chosen. @type {{ kind: string, layer: number, x: number, y: number }[]} */
  const blocks = [];
  /** @type {Wiring[]} */
  const wires = [
    {
      points: [
        [NAMES - 12, level(0)],
        [NAMES - 1, level(0)],
      ],
      flow: encoder.length ? "source" : "target",
    },
  ];
  const frames = decoder.map((parts, i) => {
    const top = tops[parts.includes("cross") ? 1 : 2] - INSET;
    return { x: left(i) - INSET, y: top, width: cell.width + 2 * INSET, height: tops[2] + cell.height + INSET - top };
  });
  encoder.forEach((parts, i) => {
    const kind = parts.find((part) => part !== "feed_forward") ?? "";
    blocks.push({ kind, layer: i + 1, x: left(i), y: tops[0] });
    if (i)
      wires.push({
        points: [
          [left(i - 1) + cell.width, level(0)],
          [left(i) - 1, level(0)],
        ],
        flow: "source",
      });
  });
  let places = 0;
  decoder.forEach((parts, i) => {
    for (const kind of parts) {
      if (kind === "feed_forward") continue;
      // An LSTM has one layer of attention, in any layer.
      if (kind === "cross") places += 1;
      blocks.push({ kind, layer: kind === "cross" ? places : i + 1, x: left(i), y: tops[kind === "cross" ? 1 : 2] });
    }
    const before = i ? frames[i - 1].x + frames[i - 1].width : NAMES - 12;
    wires.push({
      points: [
        [before, level(2)],
        [frames[i].x - 1, level(2)],
      ],
      flow: "target",
    });
    if (parts.includes("cross"))
      wires.push({
        points: [
          [middle(i), tops[2]],
          [middle(i), tops[1] + cell.height + 1],
        ],
        flow: "target",
      });
  });
  const end = left(encoder.length - 1) + cell.width;
  const last = frames[frames.length - 1];
  const out = last.x + last.width;
  const crossed = decoder.flatMap((parts, i) => (parts.includes("cross") ? [i] : []));
  const shelf = tops[0] + cell.height + (low ? 6 : 12);
  crossed.forEach((i, n) => {
    /** @type {[number, number][]} */
    const out = [
      [end, level(0)],
      [end + BEND, level(0)],
      [end + BEND, shelf],
    ];
    const down = /** @type {[number, number][]} */ ([
      [middle(i), shelf],
      [middle(i), tops[1] - 1],
    ]);
    wires.push({ points: n ? down : [...out, ...down], flow: "memory" });
  });
  wires.push({
    points: [
      [out, level(1)],
      [out + OUT - INSET - 4, level(1)],
    ],
    flow: "target",
  });
  const lstm = [...encoder, ...decoder].some((parts) => parts.includes("lstm"));
  const names = lstm
    ? [t("Encoder LSTM"), t("Cross"), t("Decoder LSTM")]
    : [t("Encoder self"), t("Cross"), t("Decoder self")];
  return {
    width: Math.max(encoder.length ? end + BEND + 2 : 0, out + OUT),
    height: tops[2] + cell.height + INSET + 1,
    cell,
    blocks,
    wires,
    frames,
    labels: names.flatMap((text, row) =>
      row === 2 || encoder.length ? [{ text, y: level(row), side: row ? "target" : "source" }] : [],
    ),
  };
}
