// Queries on the left, keys on the right, weights as lines between them. A query's lines go to its heaviest keys, up to
// the chosen share of its weight.

import { paper } from "./canvas.js";
import { children, make, makeButton, say } from "./dom.js";
import { nameOfRow, rowTitle } from "./heads_map.js";
import {
  chooseCell, columnInView, linedHeads, mapOf, presenting, redraw, rowInView, rowOf, shownRows, update,
} from "./heads_state.js";
import { SIDES } from "./kinds.js";
import { heaviestKeys } from "./line_choice.js";
import { AXES, layerName, nameInLayer, shortHead } from "./names.js";
import { clamp } from "./numbers.js";
import { SPECIALS } from "./token_names.js";

/** @typedef {import("./types").HeadsState} HeadsState */
/** @typedef {import("./types").KindMap} KindMap */
/** @typedef {import("./types").Line} Line */

const DASHES = [[], [7, 3], [2, 3], [10, 3, 2, 3], [14, 4], [4, 4], [1, 4], [9, 2, 2, 2, 2, 2]];

/** The colour of a head's lines; the mean has the first head's colour. @param {HeadsState} S @param {number} head */
const colourOf = (S, head) => S.colours[Math.max(0, head - 1) % S.colours.length];

/**
 * The lines of one head, in its colour and dash pattern.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {number} layer
 * @param {number} head
 * @returns {Line[]}
 */
function linesOf(S, m, layer, head) {
  const colour = colourOf(S, head), dashes = DASHES[Math.max(0, head - 1) % DASHES.length];
  return Array.from({ length: shownRows(S, m) }, (_, query) =>
    heaviestKeys(rowOf(S, m, layer, head, query).seen, S.mass)
      .map(({ key, weight }) => ({ head, query, key, weight, colour, dashes }))).flat();
}

/** @param {HeadsState} S */
export function drawLines(S) {
  const box = S.find(".lines"), m = mapOf(S, S.kind);
  box.hidden = S.view !== "lines" || !m;
  if (box.hidden || !m) return;
  const { layer } = S.pick[S.kind], [querySide, keySide] = SIDES[S.kind];
  const most = Math.max(m.queries, m.keys), [outside, largest] = presenting(S) ? [290, 40] : [452, 26];
  const step = Math.round(clamp((innerHeight - outside) / most, 14, largest));
  const [heads, titles, body] = /** @type {Iterable<HTMLElement>} */ (box.children);
  const [left, middle, right] = /** @type {Iterable<HTMLElement>} */ (body.children);
  const canvas = /** @type {HTMLCanvasElement} */ (middle);
  drawHeadButtons(S, m, layer, heads);
  say(titles.firstElementChild, rowTitle(S, S.kind));
  say(titles.lastElementChild, AXES[S.kind][1]);
  body.style.setProperty("--step", `${step}px`);
  const names = m.rows.map((_, q) => nameOfRow(S, m, q)), shown = shownRows(S, m);
  drawColumn(S, left, names.slice(0, shown), querySide, "query", m);
  drawColumn(S, right, m.columns, keySide, "key", m);
  const wide = Math.max(80, body.clientWidth - left.offsetWidth - right.offsetWidth);
  const ctx = paper(canvas, wide, most * step), column = columnInView(S, m);
  const focus = S.focus ?? (column === null ? { side: "query", at: rowInView(S, m) } : { side: "key", at: column });
  const inFocus = (/** @type {Line} */ line) => (focus.side === "query" ? line.query : line.key) === focus.at;
  S.drawn = linedHeads(S).filter((head) => head <= m.heads).flatMap((head) => linesOf(S, m, layer, head));
  for (const pass of [false, true]) {
    for (const line of S.drawn) {
      const mine = inFocus(line);
      // Hovering over a token shows only its lines; otherwise the lines of the current token are drawn last, in front.
      if (mine !== pass || (!mine && S.focus)) continue;
      ctx.strokeStyle = line.colour;
      ctx.setLineDash(line.dashes);
      ctx.globalAlpha = (mine ? 1 : 0.55) * clamp(0.12 + 0.88 * line.weight, 0, 1);
      ctx.lineWidth = 0.8 + (mine ? 3 : 2) * line.weight;
      ctx.beginPath();
      const [from, to] = [(line.query + 0.5) * step, (line.key + 0.5) * step];
      ctx.moveTo(2, from);
      ctx.bezierCurveTo(wide * 0.4, from, wide * 0.6, to, wide - 2, to);
      ctx.stroke();
    }
  }
  canvas.dataset.lines = `${S.focus ? S.drawn.filter(inFocus).length : S.drawn.length}`;
}

/** @param {HeadsState} S @param {KindMap} m @param {number} layer @param {HTMLElement} box */
function drawHeadButtons(S, m, layer, box) {
  children(box, m.heads + 1, () => makeButton("headpick")).forEach((b, i) => {
    const head = (i + 1) % (m.heads + 1);
    say(b, shortHead(head));
    b.setAttribute("aria-pressed", `${S.on.has(head)}`);
    b.setAttribute("aria-label", `Lines of ${layerName(layer)}, ${nameInLayer(head)}`);
    b.style.borderBottomColor = S.on.has(head) ? colourOf(S, head) : "";
    b.onclick = () => {
      if (!S.on.delete(head) || !S.on.size) S.on.add(head);
      const pick = S.pick[S.kind];
      if (!S.on.has(pick.head)) [pick.head] = linedHeads(S);
      update(S);
    };
  });
}

/**
 * @param {HeadsState} S
 * @param {HTMLElement} box
 * @param {string[]} tokens
 * @param {string} side
 * @param {"query" | "key"} role
 * @param {KindMap} m
 */
function drawColumn(S, box, tokens, side, role, m) {
  const column = columnInView(S, m), current = role === "query" ? rowInView(S, m) : column;
  children(box, tokens.length, () => makeButton("end", make("span", "place"), make("bdi"))).forEach((b, at) => {
    const [place, token] = b.children;
    say(place, `${at + 1}`);
    say(token, tokens[at]);
    token.className = `token ${side}` + (SPECIALS.includes(tokens[at]) ? " special" : "");
    b.setAttribute("aria-pressed", `${at === current}`);
    const point = (/** @type {HeadsState["focus"]} */ focus) => () => {
      S.focus = focus;
      redraw(S);
    };
    b.onpointerenter = b.onfocus = point({ side: role, at });
    b.onpointerleave = b.onblur = point(null);
    b.onclick = () => (role === "query" ? chooseCell(S, m, at, null) : chooseCell(S, m, rowInView(S, m), at === column ? null : at));
  });
}
