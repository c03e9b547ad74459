// Draws the diagram of the machine: blocks as buttons with pictures, frames around layers, and lines between blocks.
// The layout comes from machine_plan.js. An open attention block shows its heads, and an open head shows its parts.

import { isolated } from "./canvas.js";
import { drawWires } from "./diagram.js";
import { make, makeButton, say } from "./dom.js";
import { buttonTowards } from "./grids.js";
import { foldedName } from "./machine_band.js";
import { measure, paintRows, rowOf, rowsAt, scaleOf } from "./machine_pictures.js";
import { planMachine } from "./machine_plan.js";
import {
  PARTS,
  arrayOf,
  blockOf,
  lineOf,
  markedRow,
  open,
  rowFor,
  shapeText,
  sidesOf,
  tokensOf,
  weightsRow,
} from "./machine_state.js";
import { wholePercent } from "./numbers.js";
import { goTo, redraw } from "./view.js";

/** @import { Kind, MachineBlock, MachineBox, MachineOpened, MachineState } from "./types" */

const LINES = 7; // tokens in a box of tokens
const OPTIONS = 5; // words in the box of the next word
/** The sign before a part of a head that is not computed from the part before it. @type {Record<string, string>} */
const SIGNS = { query: "", key: "·", value: "×" };
/** The parts of a head that are maps of scores or weights. */
const MAPS = ["scores", "masked", "weights"];

/** Draws the diagram; it is built anew only when something is opened, closed or folded. @param {MachineState} S */
export function drawMachine(S) {
  const name = JSON.stringify([S.data.seq, S.width, S.opened.block, S.opened.head, S.unfolded, S.box.dataset.theme]);
  const anew = name !== S.built;
  const stage = S.find(".diagram");
  const arrive = anew ? build(S) : null;
  S.built = name;
  for (const text of S.texts) text();
  // All texts are in place and nothing is painted yet, so the browser lays out the page once for all measurements.
  if (anew) measure(stage.querySelectorAll("canvas"));
  arrive?.();
  for (const picture of S.pictures) picture();
  const value = openValue(S.opened);
  for (const button of stage.querySelectorAll("button")) {
    const pressed = `${button.value === value}`;
    if (button.ariaPressed !== pressed) button.ariaPressed = pressed;
  }
}

/** @param {MachineOpened} opened */
const openValue = ({ block, head, part }) => [block, ...(head ? [head] : []), ...(part ? [part] : [])].join(" ");

/** The parts of a head of a block, in order. @param {MachineState} S @param {MachineBlock} block */
export const partsOf = (S, block) =>
  PARTS.filter((part) => part in (S.data.parts[/** @type {Kind} */ (block.attention)] ?? {}));

/** Builds all blocks; returns a function that scrolls to the open one and restores the focus. @param {MachineState} S */
function build(S) {
  const { blocks, diagram } = S.data;
  const { opened } = S;
  const block = blockOf(S, opened.block);
  const stage = S.find(".diagram");
  const plan = (S.plan = planMachine(blocks, Math.max(S.find(".sheet").clientWidth, 300), {
    open: opened.block,
    heads: block?.attention ? (diagram.heads[block.attention] ?? 1) : 0,
    parts: block && opened.head ? partsOf(S, block).length : 0,
    pre: diagram.norm === "pre",
    unfolded: S.unfolded,
  }));
  const root = /** @type {ShadowRoot} */ (stage.getRootNode());
  const focus = root.activeElement;
  const focused = focus && stage.contains(focus) ? /** @type {HTMLButtonElement} */ (focus).value : null;
  Object.assign(S, { pictures: [], texts: [] });
  const frames = plan.frames.map((frame) => frameOf(frame));
  const boxes = plan.boxes.flatMap((box) => boxOf(S, box));
  const labels = plan.labels.map((label) => labelOf(label));
  stage.replaceChildren(drawWires(plan.wires, plan.width, plan.height), ...frames, ...labels, ...boxes);
  Object.assign(stage.style, { width: `${plan.width}px`, height: `${plan.height}px` });
  return () => {
    listenToArrows(S, stage, focused);
    reveal(
      S,
      plan.boxes.find(({ name: each }) => each === opened.block),
    );
  };
}

/** Scrolls the diagram sideways to bring a block into view. @param {MachineState} S @param {MachineBox | undefined} box */
function reveal(S, box) {
  const sheet = S.find(".sheet");
  if (!box || sheet.scrollWidth <= sheet.clientWidth) return;
  const [left, right] = [box.x * S.zoom - 12, (box.x + box.width) * S.zoom + 12];
  if (left < sheet.scrollLeft || right > sheet.scrollLeft + sheet.clientWidth)
    sheet.scrollLeft = Math.min(left, Math.max(right - sheet.clientWidth, 0));
}

/** The frame of a layer, with its title. @param {import("./types").MachinePlan["frames"][0]} frame */
function frameOf({ stack, layer, x, y, width, height }) {
  const box = make("div", `layer ${stack}`);
  place(box, { x, y, width, height });
  const name = `${stack === "encoder" ? "Encoder" : "Decoder"} layer ${layer}`;
  const missing = stack.endsWith("missing");
  box.append(make("span", "name", missing ? "no encoder" : width < 120 ? `Layer ${layer}` : name));
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
  const side = box.stack === "source" || box.stack === "encoder" ? "source" : "target";
  if (box.kind === "folded") return [foldedOf(S, box, side)];
  const block = /** @type {MachineBlock} */ (blockOf(S, box.name));
  const facts = S.data.facts[box.name];
  const tight = S.plan?.tight[side === "source" ? "encoder" : "decoder"] ? " tight" : "";
  const holder = make("div", `block ${box.kind} ${side} ${block.attention}${tight}`);
  place(holder, box);
  const isOpen = S.opened.block === block.name;
  holder.classList.toggle("open", isOpen);
  const small = box.kind === "add" || box.kind === "norm";
  const main = makeButton("main", small ? (box.kind === "add" ? "+" : "norm") : make("b", "", facts.title));
  Object.assign(main, { value: block.name, title: nameOf(S, block) });
  main.setAttribute("aria-label", nameOf(S, block));
  main.onclick = () =>
    open(S, isOpen && !S.opened.head ? { block: "", head: 0, part: "" } : { block: block.name, head: 0, part: "" });
  holder.append(main);
  if (box.kind === "tokens") holder.append(tokenList(S, block));
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
  const sum = make("span", `sum ${side}`, "+");
  place(sum, { x: box.sum[0] - 9, y: box.sum[1] - 9, width: 18, height: 18 });
  return [holder, sum];
}

/** A block's name with its layer. @param {MachineState} S @param {MachineBlock} block */
export function nameOf(S, { name, layer, stack, kind, attention }) {
  const { title } = S.data.facts[name];
  const where = layer ? `${stack} layer ${layer}` : stack === "source" ? "source" : stack === "target" ? "target" : "";
  const whole =
    attention === "encoder"
      ? "Encoder self-attention"
      : attention === "decoder"
        ? title.replace("self", "decoder self")
        : title;
  const what = kind === "add" ? "Add (residual connection)" : whole;
  return where && !what.toLowerCase().includes(where) ? `${what}, ${where}` : what;
}

/** @param {MachineState} S @param {MachineBox} box @param {string} side */
function foldedOf(S, box, side) {
  const { stack, layer } = box;
  const end = box.last ?? layer;
  const last = /** @type {MachineBlock} */ (blockOf(S, box.names[box.names.length - 1]));
  const layers = end > layer ? `layers ${layer}–${end}` : `layer ${layer}`;
  const several = end > layer;
  const button = makeButton(
    `block folded ${side}`,
    make("b", "", layers[0].toUpperCase() + layers.slice(1)),
    pictureOf(S, last),
    make("small", "", "unfold"),
  );
  const name = `${stack === "encoder" ? "Encoder" : "Decoder"} ${layers}, folded: ${several ? "their" : "its"} result. Click to unfold${several ? " the first" : ""}.`;
  Object.assign(button, { value: foldedName(stack, layer), title: name });
  button.setAttribute("aria-label", name);
  place(button, box);
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
      const wanted = `${rowsAt(picture, S.step)} ${markedRow(S, block)} ${stepwise || picture.side === "step" ? S.step : ""}`;
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
  const maskedAt = kind === "map" ? maskOf(S, block) : undefined;
  paintRows(canvas, S.theme, S.box.dataset.theme === "dark", { rows, scale, marked: markedRow(S, block), maskedAt });
}

/** Whether the mask closes a cell: later tokens, for a causal decoder. @param {MachineState} S @param {MachineBlock} block @returns {(row: number, key: number) => boolean} */
export const maskOf = (S, block) =>
  block.attention === "decoder" && !S.data.stepwise ? (row, key) => key > row : () => false;

/** The tokens of a side, around the current one; each can be chosen. @param {MachineState} S @param {MachineBlock} block */
function tokenList(S, block) {
  const list = make("div", "tokens");
  const ofSource = block.stack === "source";
  const before = make("small", "more");
  const after = make("small", "more");
  const lines = Array.from({ length: LINES }, () => makeButton("token", make("small", "place"), make("bdi")));
  list.append(before, ...lines, after);
  S.texts.push(() => {
    const tokens = tokensOf(S, ofSource ? "source" : "target");
    const at = ofSource ? S.row : S.step;
    const first = Math.max(0, Math.min(at - LINES + 2, tokens.length - LINES));
    say(before, first ? `${first} more` : "");
    say(after, tokens.length - first > LINES ? `${tokens.length - first - LINES} more` : "");
    lines.forEach((line, i) => {
      const token = tokens[first + i];
      const [number, word] = line.children;
      line.hidden = token === undefined;
      if (token === undefined) return;
      line.value = `token ${block.stack} ${i}`;
      say(number, `${first + i + 1}`);
      say(word, token);
      line.title = ofSource ? "Follow this token through the encoder" : "Go to the step that reads this token";
      line.classList.toggle("current", first + i === at);
      line.onclick = () => {
        if (ofSource) S.row = first + i;
        else goTo(S, first + i);
        redraw(S);
      };
    });
  });
  return list;
}

/** The likeliest next words; the chosen one is marked. @param {MachineState} S */
function wordList(S) {
  const list = make("span", "words");
  const chosen = make("span", "chosen", make("bdi"), make("small"));
  const lines = Array.from({ length: OPTIONS }, () => make("span", "option", make("bdi"), make("i"), make("small")));
  list.append(chosen, ...lines);
  S.texts.push(() => {
    const { target, alternatives } = S.data;
    say(chosen.children[0], target.predicted[S.step]);
    say(chosen.children[1], wholePercent(target.probabilities[S.step]));
    lines.forEach((line, i) => {
      const token = alternatives.tokens[S.step][i];
      const share = alternatives.probabilities[S.step][i];
      const [word, bar, number] = line.children;
      line.hidden = token === undefined;
      if (token === undefined) return;
      say(word, token);
      say(number, wholePercent(share));
      /** @type {HTMLElement} */ (bar).style.width = `${Math.round(34 * share)}px`;
    });
  });
  return list;
}

/** @param {MachineState} S */
function bars(S) {
  const box = make("span", "bars");
  const lines = Array.from({ length: OPTIONS }, () => make("i"));
  box.append(...lines);
  S.texts.push(() =>
    lines.forEach((line, i) => {
      line.style.width = `${Math.round(100 * (S.data.alternatives.probabilities[S.step][i] ?? 0))}%`;
    }),
  );
  return box;
}

/** The content of an open attention block: its heads, or the parts of one head. @param {MachineState} S @param {MachineBlock} block */
function insideOf(S, block) {
  const { head } = S.opened;
  const count = S.data.diagram.heads[/** @type {Kind} */ (block.attention)] ?? 1;
  const heads = make("div", "heads", ...Array.from({ length: count }, (_, h) => headOf(S, block, h + 1, head > 0)));
  const inside = make("div", head ? "inside parts" : "inside", heads);
  const parts = partsOf(S, block);
  const rows = S.plan?.rows ?? 1;
  if (head)
    inside.append(
      make(
        "div",
        "flow",
        ...parts.map((part) => make("div", "stage", make("span", "then", SIGNS[part] ?? "→"), partOf(S, block, part))),
      ),
    );
  inside.style.setProperty("--columns", `${Math.ceil((head ? parts.length : count) / rows)}`);
  return inside;
}

/** @param {MachineState} S @param {MachineBlock} block @param {number} head @param {boolean} narrow */
function headOf(S, block, head, narrow) {
  const button = makeButton("head", make("b", "", narrow ? `H${head}` : `Head ${head}`));
  button.value = openValue({ block: block.name, head, part: "" });
  button.setAttribute("aria-label", `Head ${head} of ${nameOf(S, block)}`);
  button.onclick = () =>
    open(S, { block: block.name, head: S.opened.head === head && !S.opened.part ? 0 : head, part: "" });
  if (narrow) return button;
  const canvas = make("canvas", "picture");
  const top = make("small", "shape");
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
    paintRows(canvas, S.theme, false, { rows, scale: S.details?.full ?? 1, marked, maskedAt: maskOf(S, block) });
    const line = rows[marked];
    const best = line.indexOf(Math.max(...line));
    say(top, `${isolated(tokensOf(S, keys)[best])} ${wholePercent(line[best])}`);
  });
  return button;
}

/** @param {MachineState} S @param {MachineBlock} block @param {string} part */
function partOf(S, block, part) {
  const { title } = /** @type {Record<string, { title: string }>} */ (
    S.data.parts[/** @type {Kind} */ (block.attention)]
  )[part];
  const canvas = make("canvas", "picture");
  const shape = make("small", "shape");
  const button = makeButton(`part ${part}`, make("b", "", title), canvas, shape);
  const { head } = S.opened;
  canvas.setAttribute("aria-hidden", "true");
  button.value = openValue({ block: block.name, head, part });
  button.setAttribute("aria-label", `${title} of head ${head}`);
  button.onclick = () => open(S, { block: block.name, head, part: S.opened.part === part ? "" : part });
  S.pictures.push(() => {
    const array = arrayOf(S, part);
    canvas.style.visibility = array ? "" : "hidden";
    if (array) say(shape, paintPart(S, block, part, canvas));
  });
  return button;
}

/**
 * Paints a part of the open head as it is at this step; returns its shape as text.
 * @param {MachineState} S
 * @param {MachineBlock} block
 * @param {string} part
 * @param {HTMLCanvasElement} canvas
 */
export function paintPart(S, block, part, canvas) {
  const array = /** @type {import("./types").Numbers} */ (arrayOf(S, part));
  const [queries, keys] = sidesOf(block.attention);
  const ofKeys = part === "key" || part === "value";
  const side = ofKeys ? keys : queries;
  const dark = S.box.dataset.theme === "dark";
  const count = tokensOf(S, side).length;
  const wide = MAPS.includes(part) ? tokensOf(S, keys).length : array.shape[1];
  const rows = Array.from({ length: count }, (_, r) => lineOf(array, r).slice(0, wide));
  const marked = ofKeys ? -1 : rowFor(S, queries);
  const weights = part === "weights";
  const scale = weights ? (S.details?.full ?? 1) : scaleOf(array.values);
  paintRows(canvas, S.theme, dark, { rows, scale, marked, maskedAt: weights ? maskOf(S, block) : undefined });
  return `${count} × ${wide}`;
}

/** Lets arrow keys move between blocks; Tab reaches one of them. @param {MachineState} S @param {HTMLElement} stage @param {string | null} focused the button that had the focus */
function listenToArrows(S, stage, focused) {
  const buttons = [...stage.querySelectorAll("button")];
  const regained =
    buttons.find(({ value }) => value === focused) ??
    (focused === null ? undefined : (buttons.find(({ value }) => value === openValue(S.opened)) ?? buttons[0]));
  const reached = regained ?? buttons.find(({ value }) => value === openValue(S.opened)) ?? buttons[0];
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

/** The keys that the current row of an attention block looks at most. @param {MachineState} S @param {MachineBlock} block @param {number} most */
export function looksAt(S, block, most) {
  const weights = weightsRow(S, block);
  const tokens = tokensOf(S, sidesOf(block.attention)[1]);
  return weights
    .map((weight, i) => ({ weight, token: tokens[i], i }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, most)
    .filter(({ weight }) => weight >= 0.005);
}
