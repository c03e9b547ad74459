// The heads of a layer together, as lines between two columns of tokens or as shading of the two sentences. Lines lead
// from queries on the left to keys on the right: to a query's heaviest keys, up to the chosen share of its weight. Each
// column scrolls by itself, to the row in view or to the key that it looks at most.

import { contextOf, paper } from "./canvas.js";
import { inkOn } from "./ink.js";
import { children, make, makeButton, say } from "./dom.js";
import { fitType } from "./heads_layout.js";
import { nameOfRow, rowTitle } from "./heads_map.js";
import { colourOf, dashesOf, scaleOf } from "./heads_colours.js";
import {
  chooseCell,
  columnInView,
  linedHeads,
  mapOf,
  rowInView,
  rowOf,
  shownRows,
  showsSeveral,
} from "./heads_state.js";
import { levelOf } from "./maps.js";
import { AXES, SIDES, SPECIALS, shortHead, nameInKind } from "./names.js";
import { clamp, wholePercent } from "./numbers.js";
import { presenting, roomBelow } from "./present.js";
import { layWords } from "./scripts.js";
import { redraw, update } from "./view.js";
import { heaviestKeys, joins, weightsOf } from "./weights.js";
import { t } from "./words.js";

/** @import { HeadsState, KindMap, Line, Focus } from "./types" */

/**
 * The lines of one head, in its colour and dash pattern.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {number} layer
 * @param {number} head
 * @returns {Line[]}
 */
function linesOf(S, m, layer, head) {
  const colour = colourOf(S, head);
  const dashes = dashesOf(head);
  return Array.from({ length: shownRows(S, m) }, (_, query) =>
    heaviestKeys(rowOf(m, layer, head, query).seen, S.mass).map(({ key, weight }) => ({
      head,
      query,
      key,
      weight,
      colour,
      dashes,
    })),
  ).flat();
}

/**
 * The data of the lines and the sentence: the selected heads, the tokens, the token in focus, and for each token on the
 * other side its weights by head, null if masked.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {Focus} focus
 */
export function lookOf(S, m, focus) {
  const heads = linedHeads(S).filter((head) => head <= m.heads);
  const rows = shownRows(S, m);
  const values = heads.map((head) => weightsOf(m, S.pick[m.kind].layer, head));
  const tokens = { query: m.rows.slice(0, rows).map((_, q) => nameOfRow(S, m, q)), key: m.columns };
  const cells =
    focus.side === "query"
      ? m.columns.map((_, key) => focus.at * m.keys + key)
      : Array.from({ length: rows }, (_, query) => query * m.keys + focus.at);
  return { m, heads, tokens, focus, weights: cells.map((i) => (m.mask[i] ? null : values.map((each) => each[i]))) };
}

/**
 * Pointing at a token puts it in focus; a click chooses its row, or its column until the next click.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {HTMLButtonElement} button
 * @param {"query" | "key"} side
 * @param {number} at
 */
export function listenToToken(S, m, button, side, at) {
  const point = (/** @type {Focus | null} */ focus) => () => {
    S.focus = focus;
    redraw(S);
  };
  button.onpointerenter = button.onfocus = point({ side, at });
  button.onpointerleave = button.onblur = point(null);
  button.onclick = () =>
    side === "query"
      ? chooseCell(S, m, at, null)
      : chooseCell(S, m, rowInView(S, m), at === columnInView(S, m) ? null : at);
}

/** @param {HeadsState} S */
export function drawLines(S) {
  const box = S.find(".lines");
  const m = mapOf(S, S.kind);
  box.hidden = S.view !== "lines" || !m;
  if (box.hidden || !m) return;
  // The token under the pointer, else the chosen key, else the row in view.
  const column = columnInView(S, m);
  const focus = S.focus ?? (column === null ? { side: "query", at: rowInView(S, m) } : { side: "key", at: column });
  const { layer } = S.pick[S.kind];
  const look = lookOf(S, m, focus);
  const { heads } = look;
  const [titles, body] = /** @type {Iterable<HTMLElement>} */ (box.children);
  const [left, middle, right] = /** @type {Iterable<HTMLElement>} */ (body.children);
  const most = Math.max(m.queries, m.keys);
  const room = Math.max(220, roomBelow(body, presenting(S.box)));
  const step = Math.round(clamp(room / most, 19, 40));
  const high = Math.min(most * step, room);
  say(titles.firstElementChild, rowTitle(S, S.kind));
  say(titles.lastElementChild, AXES[S.kind][1]);
  body.style.setProperty("--step", `${step}px`);
  body.style.setProperty("--high", `${high}px`);
  drawColumn(S, look, left, "query");
  drawColumn(S, look, right, "key");
  S.drawn = heads.flatMap((head) => linesOf(S, m, layer, head));
  // Hovering never scrolls the tokens under the pointer; only a step, a choice or another head does.
  const at = [S.seq, S.kind, m.form, layer, heads, rowInView(S, m), columnInView(S, m), high].join();
  if (body.dataset.at !== at) {
    body.dataset.at = at;
    const mine = S.drawn.filter((line) => line[focus.side] === focus.at);
    const best = mine.reduce((a, b) => (b.weight > a.weight ? b : a), mine[0]);
    bring(left, best?.query ?? focus.at, step);
    bring(right, best?.key ?? focus.at, step);
  }
  const canvas = /** @type {HTMLCanvasElement} */ (middle);
  const wide = Math.max(80, body.clientWidth - left.offsetWidth - right.offsetWidth);
  const ctx = paper(canvas, wide, high);
  const inFocus = (/** @type {Line} */ line) => line[focus.side] === focus.at;
  for (const pass of [false, true]) {
    for (const line of S.drawn) {
      const mine = inFocus(line);
      // Hovering over a token shows only its lines; otherwise, lines of the current token are drawn last, in front.
      if (mine !== pass || (!mine && S.focus)) continue;
      ctx.strokeStyle = line.colour;
      ctx.setLineDash(line.dashes);
      ctx.globalAlpha = (mine ? 1 : 0.4) * clamp(0.16 + 0.84 * line.weight, 0, 1);
      ctx.lineWidth = 1 + (mine ? 5 : 2.5) * line.weight;
      ctx.beginPath();
      const from = (line.query + 0.5) * step - left.scrollTop;
      const to = (line.key + 0.5) * step - right.scrollTop;
      ctx.moveTo(2, from);
      ctx.bezierCurveTo(wide * 0.4, from, wide * 0.6, to, wide - 2, to);
      ctx.stroke();
    }
  }
  canvas.dataset.lines = `${S.focus ? S.drawn.filter(inFocus).length : S.drawn.length}`;
  left.onscroll = right.onscroll = () => redraw(S);
}

/** Scrolls a column so that a token is in its middle, if the column overflows. @param {HTMLElement} column @param {number} at @param {number} step */
function bring(column, at, step) {
  column.scrollTop = (at + 0.5) * step - column.clientHeight / 2;
}

/** @param {HeadsState} S @param {ReturnType<typeof lookOf>} look @param {HTMLElement} box @param {"query" | "key"} role */
function drawColumn(S, { m, heads, tokens, focus, weights }, box, role) {
  const current = role === "query" ? rowInView(S, m) : columnInView(S, m);
  const side = SIDES[m.kind][role === "query" ? 0 : 1];
  const names = tokens[role];
  children(box, names.length, () => makeButton("end", make("span", "place"), make("bdi"), make("small"))).forEach(
    (b, at) => {
      const [place, token, number] = b.children;
      const shares = focus.side === role ? null : weights[at];
      say(place, `${at + 1}`);
      say(token, names[at]);
      token.className = `token ${side}` + (SPECIALS.includes(names[at]) ? " special" : "");
      b.setAttribute("aria-pressed", `${at === current}`);
      b.classList.toggle("looking", focus.side === role && focus.at === at);
      // One stripe per head, in the order of the heads; for a single head, the weight is also written as a number.
      b.style.background = shares ? stripes(S, heads, shares, role === "query") : "";
      say(number, shares?.length === 1 && shares[0] >= 0.005 ? wholePercent(shares[0]) : "");
      listenToToken(S, m, b, role, at);
    },
  );
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

/** @param {HeadsState} S */
export function drawHeadChoice(S) {
  const box = S.find(".choice");
  const m = mapOf(S, S.kind);
  box.hidden = !showsSeveral(S) || !m;
  if (box.hidden || !m) return;
  const { layer } = S.pick[S.kind];
  const every = Array.from({ length: m.heads }, (_, i) => i + 1);
  const all = every.every((head) => S.on.has(head));
  const buttons = children(S.find(".pickers"), m.heads + 2, () => makeButton("headpick"));
  buttons.forEach((b, i) => {
    const head = (i + 1) % (m.heads + 1);
    const last = i > m.heads;
    b.hidden = last && m.heads < 2;
    say(b, last ? (all ? t("only one") : t("all")) : shortHead(head));
    b.setAttribute("aria-pressed", `${!last && S.on.has(head)}`);
    const name = nameInKind(layer, head);
    const own = S.view === "lines" ? t("Lines of {head}", { head: name }) : t("Weights of {head}", { head: name });
    b.setAttribute("aria-label", !last ? own : all ? t("Only one head") : t("All heads of the layer"));
    b.style.borderBottomColor = !last && S.on.has(head) ? colourOf(S, head) : "";
    b.onclick = () => {
      if (last) S.on = new Set(all ? [S.pick[S.kind].head || 1] : every);
      else if (!S.on.delete(head) || !S.on.size) S.on.add(head);
      const pick = S.pick[S.kind];
      if (!S.on.has(pick.head)) [pick.head] = linedHeads(S);
      update(S);
    };
  });
}

/** @param {HeadsState} S */
export function drawSentence(S) {
  const box = S.find(".strip");
  const m = mapOf(S, S.kind);
  box.hidden = S.view !== "text" || !m;
  if (box.hidden || !m) return;
  const look = lookOf(S, m, S.focus ?? { side: "query", at: rowInView(S, m) });
  const { heads, tokens } = look;
  const [queryBox, keyBox] = [...box.children].map((part) => /** @type {HTMLElement} */ (part.lastElementChild));
  const ctx = contextOf(/** @type {HTMLCanvasElement} */ (S.find(".lines canvas")));
  ctx.font = `10px ${S.theme.font}`;
  const wide = [...tokens.query, ...tokens.key].map((token) => ctx.measureText(token).width / 10);
  const room = roomBelow(box, presenting(S.box)) - 96;
  box.style.setProperty("--type", `${fitType(wide, box.clientWidth, room, heads.length > 1 ? 50 : 30)}px`);
  const first = t("{side}: choose a token to see what it looks at", { side: rowTitle(S, S.kind) });
  const last = t("{side}: choose a token to see what looks at it", { side: AXES[S.kind][1] });
  say(box.firstElementChild?.firstElementChild ?? null, first);
  say(box.lastElementChild?.firstElementChild ?? null, last);
  drawTokens(S, look, queryBox, "query");
  drawTokens(S, look, keyBox, "key");
}

/** Draws one sentence: with shading, or with the token in focus marked. @param {HeadsState} S @param {ReturnType<typeof lookOf>} look @param {HTMLElement} box @param {"query" | "key"} role */
function drawTokens(S, { m, heads, tokens, focus, weights }, box, role) {
  const side = SIDES[S.kind][role === "query" ? 0 : 1];
  const { words } = S.data[side];
  const spans = role === "query" ? m.row_spans : m.column_spans;
  const shaded = focus.side !== role;
  const current = role === "query" ? rowInView(S, m) : columnInView(S, m);
  const names = tokens[role];
  const scale = scaleOf(S);
  // Both sentences keep room for bars, so that nothing moves under the pointer.
  const several = heads.length > 1;
  box.className = `text ${side}${several ? " several" : ""}`;
  const buttons = children(box, names.length, () =>
    makeButton("word", make("bdi", "token"), make("small"), make("span", "shares")),
  );
  buttons.forEach((b, at) => {
    const [token, number, shares] = b.children;
    const byHead = weights[at];
    const masked = shaded && !byHead;
    const mean = byHead ? byHead.reduce((sum, weight) => sum + weight, 0) / byHead.length : 0;
    say(token, names[at]);
    token.classList.toggle("special", SPECIALS.includes(names[at]));
    b.classList.toggle("joined", m.form.startsWith("tokens") && joins(words, spans[at][0]));
    b.classList.toggle("masked", masked);
    b.setAttribute("aria-pressed", `${at === (shaded ? current : focus.at)}`);
    const colour = shaded && byHead ? S.theme.scale[levelOf(mean, scale)] : null;
    b.style.background = colour ? `rgb(${colour})` : "";
    b.style.color = colour ? inkOn(colour) : "";
    const share = !shaded || !byHead ? "" : wholePercent(mean);
    say(number, masked ? t("masked") : mean < 0.005 ? "" : share);
    const name = `${at + 1} ${names[at]}`;
    b.setAttribute("aria-label", shaded ? `${name}: ${masked ? t("masked") : share}` : name);
    // The weight in each head, as a bar in its colour, in the order of the heads.
    children(shares, several && shaded && byHead ? byHead.length : 0, () => make("i")).forEach((bar, i) => {
      bar.style.background = colourOf(S, heads[i]);
      bar.style.height = `${Math.round(20 * Number(byHead?.[i]))}px`;
    });
    listenToToken(S, m, b, role, at);
  });
  layWords(S, box, side, buttons, names);
}
