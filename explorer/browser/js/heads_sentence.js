// The two sentences as text: the tokens that look, and the tokens that are looked at, shaded by the attention of the
// token in view or under the pointer. Pointing at a key shades the tokens that look at it.

import { inkOn } from "./colours.js";
import { children, make, makeButton, say } from "./dom.js";
import { colourOf } from "./head_strokes.js";
import { fitType } from "./heads_layout.js";
import { marksOf } from "./heads_lines.js";
import { nameOfRow, rowTitle } from "./heads_map.js";
import { level, topOf } from "./heads_pictures.js";
import { chooseCell, columnInView, linedHeads, mapOf, redraw, rowInView, shownRows } from "./heads_state.js";
import { SIDES } from "./kinds.js";
import { AXES } from "./names.js";
import { wholePercent } from "./numbers.js";
import { presenting } from "./present.js";
import { roomBelow } from "./screen_room.js";
import { SPECIALS } from "./token_names.js";
import { joins } from "./words.js";

/** @typedef {import("./types").HeadsState} HeadsState */
/** @typedef {import("./types").KindMap} KindMap */
/** @typedef {import("./types").Shading} Shading */
/** @typedef {import("./types").Toward} Toward */

/** @param {HeadsState} S */
export function drawSentence(S) {
  const box = S.find(".strip"), m = mapOf(S, S.kind);
  box.hidden = S.view !== "text" || !m;
  if (box.hidden || !m) return;
  const { layer } = S.pick[S.kind], heads = linedHeads(S).filter((head) => head <= m.heads);
  const names = m.rows.map((_, q) => nameOfRow(S, m, q)).slice(0, shownRows(S, m));
  /** @type {Toward} */
  const focus = S.focus ?? { side: "query", at: rowInView(S, m) };
  const shading = { cells: marksOf(S, m, layer, heads, focus), heads, top: topOf(S, true) };
  const [asking, looking] = [...box.children].map((part) => /** @type {HTMLElement} */ (part.lastElementChild));
  const letters = (/** @type {string[]} */ tokens) => tokens.map((token) => [...token].length);
  const room = roomBelow(box, presenting(S.box)) - 96;
  box.style.setProperty("--type", `${fitType([...letters(names), ...letters(m.columns)], box.clientWidth, room, heads.length > 1 ? 50 : 30)}px`);
  say(box.firstElementChild?.firstElementChild ?? null, `${rowTitle(S, S.kind)}: point at a token to see what it looks at`);
  say(box.lastElementChild?.firstElementChild ?? null, `${AXES[S.kind][1]}: point at a token to see what looks at it`);
  drawTokens(S, m, asking, names, "query", focus, shading);
  drawTokens(S, m, looking, m.columns, "key", focus, shading);
}

/**
 * Draws one sentence: with shading, or with the token in focus marked.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {HTMLElement} box
 * @param {string[]} tokens
 * @param {"query" | "key"} role
 * @param {Toward} focus
 * @param {Shading} shading
 */
function drawTokens(S, m, box, tokens, role, focus, shading) {
  const side = SIDES[S.kind][role === "query" ? 0 : 1], { words } = S.data[side], spans = role === "query" ? m.row_spans : m.column_spans;
  const shaded = focus.side !== role, current = role === "query" ? rowInView(S, m) : columnInView(S, m);
  // Both sentences keep room for bars, so that nothing moves under the pointer.
  const several = shading.heads.length > 1;
  box.className = `text ${side}${several ? " several" : ""}`;
  children(box, tokens.length, () => makeButton("word", make("bdi", "token"), make("small"), make("span", "shares"))).forEach((b, at) => {
    const [token, number, shares] = b.children, weights = shading.cells[at], masked = shaded && !weights;
    const mean = weights ? weights.reduce((sum, weight) => sum + weight, 0) / weights.length : 0;
    say(token, tokens[at]);
    token.classList.toggle("special", SPECIALS.includes(tokens[at]));
    b.classList.toggle("joined", m.form === "tokens" && joins(words, spans[at][0]));
    b.classList.toggle("masked", masked);
    b.setAttribute("aria-pressed", `${at === (shaded ? current : focus.at)}`);
    const colour = shaded && weights ? S.theme.scale[level(S, mean, shading.top)] : null;
    b.style.background = colour ? `rgb(${colour})` : "";
    b.style.color = colour ? inkOn(colour) : "";
    const share = !shaded || !weights ? "" : wholePercent(mean);
    say(number, masked ? "masked" : mean < 0.005 ? "" : share);
    b.setAttribute("aria-label", `${at + 1} ${tokens[at]}` + (!shaded ? "" : masked ? ": masked" : `: ${share}`));
    // How much each head gives, as a bar in its colour, in the order of the heads.
    children(shares, several && shaded && weights ? weights.length : 0, () => make("i")).forEach((bar, i) => {
      bar.style.background = colourOf(S, shading.heads[i]);
      bar.style.height = `${Math.round(20 * Number(weights?.[i]))}px`;
    });
    const point = (/** @type {HeadsState["focus"]} */ toward) => () => {
      S.focus = toward;
      redraw(S);
    };
    b.onpointerenter = b.onfocus = point({ side: role, at });
    b.onpointerleave = b.onblur = point(null);
    b.onclick = () => (role === "query" ? chooseCell(S, m, at, null) : chooseCell(S, m, rowInView(S, m), at));
  });
}
