// The sentence, shaded by the attention of one of its tokens, or of one token of its translation.

import { inkOn } from "./colours.js";
import { children, make, makeButton, say } from "./dom.js";
import { nameOfRow } from "./heads_map.js";
import { level, topOf } from "./heads_pictures.js";
import { chooseCell, mapOf, redraw, rowInView, rowOf, shownRows } from "./heads_state.js";
import { SIDES } from "./kinds.js";
import { AXES } from "./names.js";
import { wholePercent } from "./numbers.js";
import { SPECIALS } from "./token_names.js";
import { joins } from "./words.js";

/** @typedef {import("./types").Cell} Cell */
/** @typedef {import("./types").HeadsState} HeadsState */
/** @typedef {import("./types").KindMap} KindMap */
/** @typedef {import("./types").Side} Side */

/** @param {HeadsState} S */
export function drawSentence(S) {
  const box = S.find(".strip"), m = mapOf(S, S.kind);
  box.hidden = S.view !== "text" || !m;
  if (box.hidden || !m) return;
  const [above, below] = box.children, [side, keySide] = SIDES[S.kind], { layer, head } = S.pick[S.kind];
  const asking = /** @type {HTMLElement} */ (above.lastElementChild), looking = /** @type {HTMLElement} */ (below.lastElementChild);
  const query = S.focus?.side === "query" ? S.focus.at : rowInView(S, m);
  const oneLine = S.kind !== "cross" && !S.next; // queries and keys have the same labels
  const { cells, exact } = rowOf(S, m, layer, head, query), top = topOf(S, true);
  const names = m.rows.map((_, q) => nameOfRow(S, m, q)).slice(0, shownRows(S, m));
  say(above.firstElementChild, `Choose a token; the ${oneLine ? "shading" : "text below"} shows what it attends to.`);
  asking.hidden = oneLine;
  drawTokens(S, m, asking, oneLine ? [] : names, side, m.rowSpans, query, null);
  say(below.firstElementChild, AXES[S.kind][1]);
  drawTokens(S, m, looking, m.columns, keySide, m.columnSpans, oneLine ? query : -1, { cells, exact, top });
}

/**
 * Draws a line of tokens to choose from, with or without shading.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {HTMLElement} box
 * @param {string[]} tokens
 * @param {Side} side
 * @param {[number, number][]} spans
 * @param {number} chosen
 * @param {{ cells: Cell[], exact: boolean, top: number } | null} shading
 */
function drawTokens(S, m, box, tokens, side, spans, chosen, shading) {
  const { words } = S.data[side];
  box.className = `text ${side}`;
  children(box, tokens.length, () => makeButton("word", make("bdi", "token"), make("small"))).forEach((b, at) => {
    const [token, number] = b.children, cell = shading?.cells[at];
    say(token, tokens[at]);
    token.classList.toggle("special", SPECIALS.includes(tokens[at]));
    b.classList.toggle("joined", m.form === "tokens" && joins(words, spans[at][0]));
    b.classList.toggle("masked", !!cell?.mask);
    b.setAttribute("aria-pressed", `${at === chosen}`);
    const colour = shading && cell && !cell.mask ? S.theme.scale[level(S, cell.weight, shading.top)] : null;
    b.style.background = colour ? `rgb(${colour})` : "";
    b.style.color = colour ? inkOn(colour) : "";
    const share = !cell || cell.mask ? "" : !shading?.exact ? "…" : cell.weight < 0.005 ? "" : wholePercent(cell.weight);
    say(number, cell?.mask ? "masked" : share);
    b.setAttribute("aria-label", `${at + 1} ${tokens[at]}` + (!cell ? "" : cell.mask ? ": masked" : `: ${share || "0 %"}`));
    const point = (/** @type {HeadsState["focus"]} */ focus) => () => {
      S.focus = focus;
      redraw(S);
    };
    b.onpointerenter = b.onfocus = cell ? null : point({ side: "query", at });
    b.onpointerleave = b.onblur = cell ? null : point(null);
    const asks = (!cell || m.kind !== "cross") && at < shownRows(S, m);
    b.onclick = () => (asks ? chooseCell(S, m, at, null) : chooseCell(S, m, rowInView(S, m), at));
  });
}
