// Draws the diagram of the machine: blocks as buttons with pictures, frames around layers, and lines between blocks.
// The layout comes from machine_plan.js. An open attention block shows its heads, and an open head shows its parts.

import { fill, make, makeButton, makeShape, say } from "./dom.js";
import { buttonTowards } from "./grids.js";
import { foldedName, sideOf } from "./machine_band.js";
import { nameOf } from "./machine_captions.js";
import { bars, tokenList, wordList } from "./machine_ends.js";
import { stopShown } from "./machine_follow.js";
import { NARROW } from "./machine_lines.js";
import { SIGNS, mapOf, partOf } from "./machine_parts.js";
import { measure, paintRows, sizeOf, rowOf, rowsAt } from "./machine_pictures.js";
import { planMachine } from "./machine_plan.js";
import {
  arrayOf,
  blockOf,
  markedRow,
  open,
  openValue,
  partsOf,
  rowFor,
  shapeText,
  sidesOf,
  tokensOf,
} from "./machine_state.js";
import { clamp, wholePercent } from "./numbers.js";
import { redraw } from "./view.js";
import { t } from "./words.js";
import { shortHead } from "./names.js";

/** @import { Kind, MachineBlock, MachineBox, MachineState, Wiring } from "./types" */

const LARGEST = 1.6; // magnification of the diagram on a wide screen
const BELOW = 400; // pixels of the window's height that it then leaves to the rest of the page
const LAPTOP = 986; // the width that it is laid out for on a wide screen, and then enlarged
const SMALLEST = 0.92; // the magnification for which nothing of that layout is folded

/** Draws the diagram; it is built anew only when its layout changes: when attention opens or closes, or a layer unfolds. @param {MachineState} S */
export function drawMachine(S) {
  const block = blockOf(S, S.opened.block);
  const layout = block?.attention ? [block.name, S.opened.head] : block?.layer ? [block.stack, block.layer] : [];
  const name = JSON.stringify([S.data.seq, S.width, layout, S.unfolded, S.box.dataset.theme]);
  const anew = name !== S.built;
  const stage = S.find(".diagram");
  const arrive = anew ? build(S) : null;
  S.built = name;
  stage.style.zoom = `${S.fit}`;
  for (const text of S.texts) text();
  // All texts are in place and nothing is painted yet, so the browser lays out the page once for all measurements.
  if (anew) measure(stage.querySelectorAll("canvas"));
  arrive?.();
  const shownFirst = S.opened.block || S.near;
  const moved = stage.dataset.open !== shownFirst;
  if (!anew && moved) reveal(S, S.boxes.get(shownFirst));
  if (anew || moved) stage.dataset.open = shownFirst;
  for (const picture of S.pictures) picture();
  const [from, to] = stopShown(S)?.layers ?? [1, 0]; // those that a stop of a followed token passes
  const stack = blockOf(S, S.opened.block)?.stack;
  for (const { classList, dataset } of /** @type {NodeListOf<HTMLElement>} */ (stage.querySelectorAll("[data-first]")))
    classList.toggle("passed", dataset.stack === stack && Number(dataset.first) >= from && Number(dataset.last) <= to);
  const value = openValue(S.opened);
  const buttons = [...stage.querySelectorAll("button")];
  for (const button of buttons) {
    const pressed = `${button.value === value}`;
    if (button.ariaPressed !== pressed) button.ariaPressed = pressed;
  }
  // A line of tokens that a step back hides leaves its place in the order of Tab to another button.
  const reached = buttons.find(({ tabIndex }) => tabIndex === 0);
  const shown = reached?.hidden && buttons.find(({ hidden }) => !hidden);
  if (shown) [reached.tabIndex, shown.tabIndex] = [-1, 0];
}

/** Builds all blocks; returns a function that scrolls to the open one and restores the focus. @param {MachineState} S */
function build(S) {
  const { blocks, diagram } = S.data;
  const { opened } = S;
  const block = blockOf(S, opened.block);
  const stage = S.find(".diagram");
  const usual = S.room < SMALLEST * LAPTOP ? S.room : LAPTOP;
  const plan = (S.plan = planMachine(blocks, Math.max(S.room / LARGEST, usual, 300), {
    open: opened.block,
    heads: block?.attention ? (diagram.heads[block.attention] ?? 1) : 0,
    inside: block?.attention && opened.head ? partsOf(S, block).length : 0,
    after: block?.attention && !opened.head ? partsOf(S, block).length : 0,
    pre: diagram.norm === "pre",
    unfolded: S.unfolded,
  }));
  const root = /** @type {ShadowRoot} */ (stage.getRootNode());
  const focus = root.activeElement;
  const focused = focus && stage.contains(focus) ? /** @type {HTMLButtonElement} */ (focus).value : null;
  const built = plan.boxes.map((box) => keptBox(S, box));
  const held = built.map(({ elements: [holder] }) => holder);
  const boxes = built.flatMap(({ elements }) => elements);
  Object.assign(S, { pictures: built.flatMap(({ pictures }) => pictures), texts: built.flatMap(({ texts }) => texts) });
  const parts = [...plan.frames.map((frame) => frameOf(frame)), ...plan.labels.map((label) => labelOf(label))];
  fill(stage, [drawWires(plan.wires, plan.width, plan.height), ...parts, ...boxes]);
  Object.assign(stage.style, { width: `${plan.width}px`, height: `${plan.height}px` });
  const highest = S.width < NARROW ? Infinity : (innerHeight - BELOW) / plan.height;
  const lowest = usual === LAPTOP ? Math.min(1, S.room / plan.width) : 1;
  S.fit = clamp(Math.min(S.room / plan.width, highest), lowest, LARGEST);
  stage.style.setProperty("--fit", `${S.fit}`);
  const before = S.boxes;
  S.boxes = new Map(
    plan.boxes.map((box, i) => [box.name, { ...box, offset: (S.width / S.fit - plan.width) / 2, holder: held[i] }]),
  );
  return () => {
    listenToArrows(S, stage, focused);
    reveal(S, S.boxes.get(opened.block || S.near)); // before boxes glide: while they do, they are elsewhere
    if (before) glide(before, S.boxes);
  };
}

/** The elements of a box and what draws them, which stay from layout to layout: only open attention is made anew. @param {MachineState} S @param {MachineBox} box */
function keptBox(S, box) {
  const { sum, kind, stack } = box;
  const tight = !!S.plan?.tight[stack === "source" || stack === "encoder" ? "encoder" : "decoder"];
  const name = JSON.stringify([box.name, kind, box.names, tight, !!sum, kind === "tokens" && box.height]);
  const isOpen = S.opened.block === box.name && !!blockOf(S, box.name)?.attention;
  let made = isOpen ? undefined : S.kept.get(name);
  if (!made) {
    Object.assign(S, { pictures: [], texts: [] });
    made = { elements: boxOf(S, box), pictures: S.pictures, texts: S.texts };
    if (!isOpen) S.kept.set(name, made);
  }
  place(made.elements[0], box);
  if (sum) place(made.elements[1], { x: sum[0] - 9, y: sum[1] - 9, width: 18, height: 18 });
  return made;
}

/** Moves each box from where it was to where it is, so that what opens is seen to open. @param {MachineState["boxes"]} before @param {MachineState["boxes"]} now */
function glide(before, now) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const [name, box] of now) {
    const from = before.get(name);
    if (!from) continue;
    const [dx, dy] = [from.x + from.offset - box.x - box.offset, from.y - box.y];
    const [wide, high] = [from.width / box.width, from.height / box.height];
    if (!dx && !dy && wide === 1 && high === 1) continue;
    const start = { transformOrigin: "0 0", transform: `translate(${dx}px, ${dy}px) scale(${wide}, ${high})` };
    box.holder.animate([start, { transformOrigin: "0 0", transform: "none" }], { duration: 200, easing: "ease-out" });
  }
}

/** Scrolls the diagram sideways to bring a block into view. @param {MachineState} S @param {MachineBox | undefined} box */
function reveal(S, box) {
  const sheet = S.find(".sheet");
  // On a phone, the panel or a lesson lies over the lower part of the picture.
  const holder = S.width <= NARROW && box ? S.boxes.get(box.name)?.holder : null;
  const part = S.opened.part && holder?.querySelector(`[value="${openValue(S.opened)}"]`);
  (part || holder)?.scrollIntoView({ block: "nearest" });
  if (!box || sheet.scrollWidth <= sheet.clientWidth) return;
  const [left, right] = [box.x * S.fit - 12, (box.x + box.width) * S.fit + 12];
  if (left < sheet.scrollLeft || right > sheet.scrollLeft + sheet.clientWidth)
    sheet.scrollLeft = Math.min(left, Math.max(right - sheet.clientWidth, 0));
}

/** The frame of a layer, with its title. @param {import("./types").MachinePlan["frames"][0]} frame */
function frameOf({ stack, layer, x, y, width, height }) {
  const box = make("div", `layer ${stack}`);
  Object.assign(box.dataset, { stack, first: layer, last: layer });
  place(box, { x, y, width, height });
  const name = stack === "encoder" ? t("Encoder layer {layer}", { layer }) : t("Decoder layer {layer}", { layer });
  const missing = stack.endsWith("missing");
  const short = () => t("Layer {layer}", { layer });
  box.append(make("span", "name", missing ? t("no encoder") : width < 120 ? short() : name));
  return box;
}

/** The text above a line that says what flows there. @param {import("./types").MachinePlan["labels"][0]} label */
function labelOf({ text, flow, x, y }) {
  const label = make("span", `label ${flow}`, text);
  Object.assign(label.style, { left: `${x}px`, top: `${y - 13}px` });
  return label;
}

/** @param {HTMLElement} element @param {{ x: number, y: number, width: number, height: number }} box */
const place = (element, { x, y, width, height }) =>
  Object.assign(element.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });

/** The elements of one block. @param {MachineState} S @param {MachineBox} box @returns {HTMLElement[]} */
function boxOf(S, box) {
  const side = sideOf(box);
  if (box.kind === "folded") return [foldedOf(S, box, side)];
  const block = /** @type {MachineBlock} */ (blockOf(S, box.name));
  const facts = S.data.facts[box.name];
  const tight = S.plan?.tight[side === "source" ? "encoder" : "decoder"] ? " tight" : "";
  const holder = make("div", `block ${box.kind} ${side} ${block.attention}${tight}`);
  const isOpen = S.opened.block === block.name;
  S.texts.push(() => {
    holder.classList.toggle("open", S.opened.block === block.name);
    holder.classList.toggle("near", S.near === block.name && S.opened.block !== block.name);
  });
  const small = box.kind === "add" || box.kind === "norm";
  const main = makeButton(
    "main",
    small ? (box.kind === "add" ? "+" : t("norm")) : make("b", "", breakable(facts.title)),
  );
  Object.assign(main, { value: block.name, title: nameOf(S, block) });
  main.setAttribute("aria-label", nameOf(S, block));
  main.onclick = () =>
    open(S, { block: S.opened.block === block.name && !S.opened.head ? "" : block.name, head: 0, part: "" });
  holder.append(main);
  if (box.kind === "tokens") holder.append(tokenList(S, block, box.height));
  else if (box.kind === "word") main.append(wordList(S));
  else if (box.kind === "softmax") main.append(bars(S));
  else if (!small) {
    if (block.attention && isOpen) holder.append(insideOf(S, block));
    else main.append(pictureOf(S, block));
    const shape = make("small", "shape");
    S.texts.push(() => say(shape, shapeText(facts.shape, S.step)));
    main.append(shape);
  }
  if (!box.sum) return [holder];
  return [holder, make("span", `sum ${side}`, "+")];
}

/** A title that can be broken where the block is narrow. @param {string} title */
const breakable = (title) => title.replace(/(?<=bed|bet|oft)(?=ding|tung|max)/g, "\u00ad");

/** @param {MachineState} S @param {MachineBox} box @param {string} side */
function foldedOf(S, box, side) {
  const { stack, layer } = box;
  const end = box.last ?? layer;
  const last = /** @type {MachineBlock} */ (blockOf(S, box.names[box.names.length - 1]));
  const several = end > layer;
  const fields = { layer, end };
  const layers = several ? t("Layers {layer}–{end}", fields) : t("Layer {layer}", { layer });
  const button = makeButton(
    `block folded ${side}`,
    make("b", "", layers),
    pictureOf(S, last),
    make("small", "", t("unfold")),
  );
  const ofEncoder = () =>
    several
      ? t("Encoder layers {layer}–{end}, folded: their result. Click to unfold the first.", fields)
      : t("Encoder layer {layer}, folded: its result. Click to unfold.", { layer });
  const ofDecoder = () =>
    several
      ? t("Decoder layers {layer}–{end}, folded: their result. Click to unfold the first.", fields)
      : t("Decoder layer {layer}, folded: its result. Click to unfold.", { layer });
  const name = stack === "encoder" ? ofEncoder() : ofDecoder();
  Object.assign(button, { value: foldedName(stack, layer), title: name });
  Object.assign(button.dataset, { stack, first: layer, last: end });
  button.setAttribute("aria-label", name);
  button.onclick = () => {
    S.unfolded = { ...S.unfolded, [stack]: [layer, ...(S.unfolded[stack] ?? []).filter((other) => other !== layer)] };
    const at = blockOf(S, S.opened.block);
    if (at && at.layer && at.stack === stack && at.layer !== layer) open(S, { block: "", head: 0, part: "" });
    redraw(S);
  };
  return button;
}

/** @param {MachineState} S @param {MachineBlock} block */
function pictureOf(S, block) {
  const canvas = make("canvas", "picture");
  const { picture } = S.data.facts[block.name];
  const { stepwise } = S.data;
  canvas.setAttribute("aria-hidden", "true");
  if (!picture) canvas.hidden = true;
  else {
    let painted = "";
    S.pictures.push(() => {
      // A result that is the same at all steps is painted again only if it grows or its frame moves.
      const now = stepwise || picture.side === "step" ? S.step : "";
      const wanted = [rowsAt(picture, S.step), markedRow(S, block), now, sizeOf(canvas)].join();
      if (wanted !== painted) paintPicture(S, block, canvas, picture, stepwise);
      painted = wanted;
    });
  }
  return canvas;
}

/** @param {MachineState} S @param {MachineBlock} block @param {HTMLCanvasElement} canvas @param {import("./types").MachinePicture} picture @param {boolean} stepwise */
export function paintPicture(S, block, canvas, picture, stepwise) {
  const { kind, scale } = picture;
  const wide = kind === "map" ? tokensOf(S, sidesOf(block.attention)[1]).length : picture.width;
  const rows = Array.from({ length: rowsAt(picture, S.step) }, (_, r) =>
    rowOf(S.body, picture, stepwise, S.step, r).subarray(0, wide),
  );
  const map = kind === "map" ? mapOf(S, block) : {};
  paintRows(canvas, S.theme, S.box.dataset.theme === "dark", { rows, scale, marked: markedRow(S, block), ...map });
}
/** The content of an open attention block: its heads, or the parts of one head. @param {MachineState} S @param {MachineBlock} block */
function insideOf(S, block) {
  const { head } = S.opened;
  const count = S.data.diagram.heads[/** @type {Kind} */ (block.attention)] ?? 1;
  const heads = make("div", "heads", ...Array.from({ length: count }, (_, h) => headOf(S, block, h + 1, head > 0)));
  const inside = make("div", head ? "inside parts" : "inside", heads);
  const parts = partsOf(S, block);
  const rows = S.plan?.rows ?? 1;
  const isBelow = (/** @type {number} */ i) => !head && rows > 1 && i > 0; // what follows the heads, in a column
  const flow = parts.map((part, i) =>
    make(
      "div",
      "stage",
      make("span", isBelow(i) ? "then down" : "then", isBelow(i) ? "↓" : (SIGNS[part] ?? "→")),
      partOf(S, block, part),
    ),
  );
  inside.append(make("div", "flow", ...flow));
  inside.style.setProperty("--columns", `${Math.ceil(count / rows)}`);
  inside.style.setProperty("--parts", `${Math.ceil(parts.length / rows)}`);
  return inside;
}

/** @param {MachineState} S @param {MachineBlock} block @param {number} head @param {boolean} narrow */
function headOf(S, block, head, narrow) {
  const button = makeButton("head", make("b", "", narrow ? shortHead(head) : t("Head {head}", { head })));
  button.value = openValue({ block: block.name, head, part: "" });
  button.setAttribute("aria-label", t("Head {head} of {block}", { head, block: nameOf(S, block) }));
  const closes = S.opened.head === head && !S.opened.part;
  // From head to head, the open part stays.
  button.onclick = () => open(S, { block: block.name, head: closes ? 0 : head, part: closes ? "" : S.opened.part });
  if (narrow) {
    button.classList.toggle("mine", S.opened.head === head);
    return button;
  }
  const canvas = make("canvas", "picture");
  const top = make("small", "shape", make("bdi"), make("span"));
  canvas.setAttribute("aria-hidden", "true");
  button.append(canvas, top);
  const [queries, keys] = sidesOf(block.attention);
  S.pictures.push(() => {
    const all = arrayOf(S, "heads");
    canvas.style.visibility = all ? "" : "hidden";
    if (!all) return;
    const [, high, columns] = all.shape;
    const values = all.values.subarray((head - 1) * high * columns, head * high * columns);
    const wide = tokensOf(S, keys).length;
    const marked = rowFor(S, queries);
    const rows = tokensOf(S, queries).map((_, r) => values.subarray(r * columns, r * columns + wide));
    paintRows(canvas, S.theme, false, { rows, scale: S.details?.full ?? 1, marked, ...mapOf(S, block) });
    const line = rows[marked];
    const best = line.indexOf(Math.max(...line));
    say(top.firstChild, `${best + 1} ${tokensOf(S, keys)[best]}`);
    say(top.lastChild, wholePercent(line[best]));
  });
  return button;
}

/** Lets arrow keys move between blocks; Tab reaches one of them. @param {MachineState} S @param {HTMLElement} stage @param {string | null} focused the button that had the focus */
function listenToArrows(S, stage, focused) {
  const buttons = [...stage.querySelectorAll("button")];
  // Tab leads to the open block, else to the first: lines of tokens may be empty and hidden.
  const shown = buttons.filter(({ hidden }) => !hidden);
  const usual = shown.find(({ value }) => value && value === openValue(S.opened)) ?? shown[0];
  const regained = buttons.find(({ value }) => value === focused) ?? (focused === null ? undefined : usual);
  const reached = regained ?? usual;
  for (const button of buttons) button.tabIndex = button === reached ? 0 : -1;
  regained?.focus({ preventScroll: true });
  for (const button of buttons) {
    button.onfocus = () => {
      for (const other of buttons) other.tabIndex = other === button ? 0 : -1;
    };
  }
  stage.onkeydown = (event) => {
    const here = /** @type {HTMLButtonElement} */ (event.target);
    // Clicked blocks leave the arrow keys to the steps.
    if (!buttons.includes(here) || !here.matches(":focus-visible")) return;
    const next = buttonTowards(
      buttons.filter((button) => !button.hidden),
      here,
      event.key,
    );
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    next.focus();
  };
}

/**
 * Draws the lines of a diagram, each with an arrow at its end.
 * @param {Wiring[]} wires
 * @param {number} width
 * @param {number} height
 */
function drawWires(wires, width, height) {
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
  return makeShape("svg", { width, height, "aria-hidden": "true" }, ...lines);
}
