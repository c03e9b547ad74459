// Queries on the left, keys on the right, weights as lines between them. A query's lines go to its heaviest keys, up to
// the chosen share of its weight. Each column scrolls by itself: to the row in view, and to what it looks at most.

import { paper } from "./canvas.js";
import { children, make, makeButton, say } from "./dom.js";
import { colourOf, dashesOf } from "./head_strokes.js";
import { nameOfRow, rowTitle } from "./heads_map.js";
import {
  chooseCell, columnInView, linedHeads, mapOf, redraw, rowInView, rowOf, shownRows,
} from "./heads_state.js";
import { SIDES } from "./kinds.js";
import { heaviestKeys } from "./line_choice.js";
import { AXES } from "./names.js";
import { clamp, wholePercent } from "./numbers.js";
import { presenting } from "./present.js";
import { roomBelow } from "./screen_room.js";
import { SPECIALS } from "./token_names.js";
import { weightsOf } from "./weights.js";

/** @typedef {import("./types").HeadsState} HeadsState */
/** @typedef {import("./types").KindMap} KindMap */
/** @typedef {import("./types").Line} Line */
/** @typedef {import("./types").Toward} Toward */

/**
 * The lines of one head, in its colour and dash pattern.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {number} layer
 * @param {number} head
 * @returns {Line[]}
 */
function linesOf(S, m, layer, head) {
  const colour = colourOf(S, head), dashes = dashesOf(head);
  return Array.from({ length: shownRows(S, m) }, (_, query) =>
    heaviestKeys(rowOf(m, layer, head, query).seen, S.mass)
      .map(({ key, weight }) => ({ head, query, key, weight, colour, dashes }))).flat();
}

/**
 * The token that is looked at: the one under the pointer, else the chosen key, else the row in view.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @returns {Toward}
 */
function focusOf(S, m) {
  const column = columnInView(S, m);
  return S.focus ?? (column === null ? { side: "query", at: rowInView(S, m) } : { side: "key", at: column });
}

/** @param {HeadsState} S */
export function drawLines(S) {
  const box = S.find(".lines"), m = mapOf(S, S.kind);
  box.hidden = S.view !== "lines" || !m;
  if (box.hidden || !m) return;
  const { layer } = S.pick[S.kind], [querySide, keySide] = SIDES[S.kind], heads = linedHeads(S).filter((head) => head <= m.heads);
  const [titles, body] = /** @type {Iterable<HTMLElement>} */ (box.children);
  const [left, middle, right] = /** @type {Iterable<HTMLElement>} */ (body.children);
  const most = Math.max(m.queries, m.keys), room = Math.max(220, roomBelow(body, presenting(S.box)));
  const step = Math.round(clamp(room / most, 19, 40)), high = Math.min(most * step, room);
  say(titles.firstElementChild, rowTitle(S, S.kind));
  say(titles.lastElementChild, AXES[S.kind][1]);
  body.style.setProperty("--step", `${step}px`);
  body.style.setProperty("--high", `${high}px`);
  const names = m.rows.map((_, q) => nameOfRow(S, m, q)), shown = shownRows(S, m), focus = focusOf(S, m);
  const marks = marksOf(S, m, layer, heads, focus);
  drawColumn(S, left, names.slice(0, shown), querySide, "query", m, focus, marks);
  drawColumn(S, right, m.columns, keySide, "key", m, focus, marks);
  S.drawn = heads.flatMap((head) => linesOf(S, m, layer, head));
  // Hovering never moves what is hovered over; only a step, a choice or another head does.
  const at = [S.seq, S.kind, m.form, layer, heads, rowInView(S, m), columnInView(S, m), high].join();
  if (body.dataset.at !== at) {
    body.dataset.at = at;
    const mine = S.drawn.filter((line) => line[focus.side] === focus.at), best = mine.reduce((a, b) => (b.weight > a.weight ? b : a), mine[0]);
    bring(left, best?.query ?? focus.at, step);
    bring(right, best?.key ?? focus.at, step);
  }
  const canvas = /** @type {HTMLCanvasElement} */ (middle);
  const wide = Math.max(80, body.clientWidth - left.offsetWidth - right.offsetWidth), ctx = paper(canvas, wide, high);
  const inFocus = (/** @type {Line} */ line) => line[focus.side] === focus.at;
  for (const pass of [false, true]) {
    for (const line of S.drawn) {
      const mine = inFocus(line);
      // Hovering over a token shows only its lines; otherwise the lines of the current token are drawn last, in front.
      if (mine !== pass || (!mine && S.focus)) continue;
      ctx.strokeStyle = line.colour;
      ctx.setLineDash(line.dashes);
      ctx.globalAlpha = (mine ? 1 : 0.4) * clamp(0.16 + 0.84 * line.weight, 0, 1);
      ctx.lineWidth = 1 + (mine ? 5 : 2.5) * line.weight;
      ctx.beginPath();
      const from = (line.query + 0.5) * step - left.scrollTop, to = (line.key + 0.5) * step - right.scrollTop;
      ctx.moveTo(2, from);
      ctx.bezierCurveTo(wide * 0.4, from, wide * 0.6, to, wide - 2, to);
      ctx.stroke();
    }
  }
  canvas.dataset.lines = `${S.focus ? S.drawn.filter(inFocus).length : S.drawn.length}`;
  left.onscroll = right.onscroll = () => redraw(S);
}

/** Scrolls a column so that a token is in its middle, if the column is longer than its room. @param {HTMLElement} column @param {number} at @param {number} step */
function bring(column, at, step) {
  column.scrollTop = (at + 0.5) * step - column.clientHeight / 2;
}

/**
 * The weight between the token in focus and each token on the other side, by head; null where masked or not shown.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {number} layer
 * @param {number[]} heads
 * @param {Toward} focus
 */
export function marksOf(S, m, layer, heads, { side, at }) {
  const read = heads.map((head) => weightsOf(m, layer, head));
  const cells = side === "query"
    ? m.columns.map((_, key) => at * m.keys + key)
    : Array.from({ length: shownRows(S, m) }, (_, query) => query * m.keys + at);
  return cells.map((i) => (m.mask[i] ? null : read.map((values) => values[i])));
}

/**
 * @param {HeadsState} S
 * @param {HTMLElement} box
 * @param {string[]} tokens
 * @param {string} side
 * @param {"query" | "key"} role
 * @param {KindMap} m
 * @param {Toward} focus
 * @param {ReturnType<typeof marksOf>} cells
 */
function drawColumn(S, box, tokens, side, role, m, focus, cells) {
  const column = columnInView(S, m), current = role === "query" ? rowInView(S, m) : column, heads = linedHeads(S);
  children(box, tokens.length, () => makeButton("end", make("span", "place"), make("bdi"), make("small"))).forEach((b, at) => {
    const [place, token, number] = b.children, weights = focus.side === role ? null : cells[at];
    say(place, `${at + 1}`);
    say(token, tokens[at]);
    token.className = `token ${side}` + (SPECIALS.includes(tokens[at]) ? " special" : "");
    b.setAttribute("aria-pressed", `${at === current}`);
    b.classList.toggle("looking", focus.side === role && focus.at === at);
    // One stripe per head, in the order of the heads; a single head says its number instead of leaving it to the colour.
    b.style.background = weights ? stripes(S, heads, weights, role === "query") : "";
    say(number, weights?.length === 1 && weights[0] >= 0.005 ? wholePercent(weights[0]) : "");
    const point = (/** @type {HeadsState["focus"]} */ toward) => () => {
      S.focus = toward;
      redraw(S);
    };
    b.onpointerenter = b.onfocus = point({ side: role, at });
    b.onpointerleave = b.onblur = point(null);
    b.onclick = () => (role === "query" ? chooseCell(S, m, at, null) : chooseCell(S, m, rowInView(S, m), at === column ? null : at));
  });
}

/**
 * @param {HeadsState} S
 * @param {number[]} heads
 * @param {number[]} weights
 * @param {boolean} mirrored whether the first head is at the right, beside the lines
 */
function stripes(S, heads, weights, mirrored) {
  const part = 100 / heads.length;
  const stops = weights.map((weight, i) => {
    const colour = `color-mix(in srgb, ${colourOf(S, heads[i])} ${Math.round(60 * weight)}%, transparent)`;
    return `${colour} ${i * part}% ${(i + 1) * part}%`;
  });
  return `linear-gradient(${mirrored ? "to left" : "to right"}, ${stops.join()})`;
}
