// The panels around the heatmaps: the choice of layer and head, captions, the readout, the table.

import { paper } from "./canvas.js";
import { buttonsOf, children, make, makeButton, say, sayAll } from "./dom.js";
import { SIDES } from "./kinds.js";
import { TITLES, capitalised, layerName, nameInLayer } from "./names.js";
import { decimals, plural } from "./numbers.js";
import { MASKED, WHY_MASKED, drawBadges, line, looksAt } from "./readout.js";
import { NUMBERED, bitmapOf } from "./stepper_maps.js";
import { currentRow, lastRead, pick, rowOf, shownRows } from "./stepper_state.js";
import { drawTable } from "./table.js";
import { sayKind } from "./terms.js";
import { numbered, tokenName } from "./token_names.js";

/** @typedef {import("./types").Kind} Kind */
/** @typedef {import("./types").StepperState} StepperState */

/** Draws the choice of kind, layer and head. @param {StepperState} S */
export function drawPick(S) {
  const m = S.maps[S.kind], { layer, head } = S.pick[S.kind];
  for (const tab of buttonsOf(S.find, ".kinds")) tab.setAttribute("aria-pressed", `${tab.value === S.kind}`);
  children(S.find(".layers"), m.layers, makeButton).forEach((b, i) => {
    say(b, `${i + 1}`);
    b.setAttribute("aria-label", `${capitalised(layerName(i + 1))} of ${m.layers}`);
    b.setAttribute("aria-pressed", `${i + 1 === layer}`);
    b.onclick = () => pick(S, S.kind, { layer: i + 1 });
  });
  const shown = shownRows(S, S.kind), side = m.heads > 7 ? 26 : 42, scale = side / Math.max(m.keys, m.queries);
  children(S.find(".heads"), m.heads + 1, () => makeButton("", make("canvas"), make("span"))).forEach((b, h) => {
    const ctx = paper(/** @type {HTMLCanvasElement} */ (b.firstChild), m.keys * scale, m.queries * scale, S.zoom);
    ctx.drawImage(bitmapOf(S, S.kind, layer, h), 0, 0, m.keys, shown, 0, 0, m.keys * scale, shown * scale);
    say(b.lastChild, h ? `${h}` : "mean");
    b.setAttribute("aria-label", capitalised(nameInLayer(h)) + (h ? ` of ${m.heads}` : ""));
    b.setAttribute("aria-pressed", `${h === head}`);
    b.onclick = () => pick(S, S.kind, { head: h });
  });
}

/** "*Hund* looks at *dog* 62 %, *a* 21 %", from the numbers of the row. @param {StepperState} S @param {Kind} kind */
export function drawCaption(S, kind) {
  const f = S.figures[kind], m = S.maps[kind], { layer, head } = S.pick[kind], encoder = kind === "encoder";
  const which = head ? `${nameInLayer(head)} (of ${m.heads})` : `mean of ${plural(m.heads, "head")}`;
  sayKind(f.title, kind, TITLES[kind]);
  say(f.about, `${layerName(layer)} · ${which} · ${S.data.model}` + (encoder ? "" : ` · step ${S.step + 1}`)
    + (f.plot.cell > NUMBERED ? " · no number: below 0.005" : ""));
  // Written here, after all maps are drawn: drawing text on a canvas makes the browser compute what has changed so far.
  f.canvas.dataset.plot = [f.plot.left, f.plot.top, f.plot.cell, shownRows(S, kind), m.keys].join();
  f.canvas.setAttribute("aria-label", `${TITLES[kind]}, ${f.about.textContent}. Arrow keys move between cells.`);
  const query = currentRow(S, kind), [side, keySide] = SIDES[kind];
  const how = encoder && !(S.cell?.locked && S.cell.kind === kind) ? [" (most attended now)"] : [];
  // At most two lines, so that nothing below moves.
  const keys = looksAt(rowOf(S, kind, query), m.columns, keySide, encoder ? 2 : 3);
  const last = encoder ? 0 : lastRead(S, query), { predicted, chosen } = S.data.target;
  const writes = encoder ? [] : [chosen.includes(last) ? " → chosen " : " → ", tokenName(predicted[last], "target")];
  sayAll(f.caption, numbered(m.rows, query, side), ...writes, ...how, ...keys);
}

/** Describes the chosen cell. @param {StepperState} S */
export function drawReadout(S) {
  for (const kind of S.kinds) {
    const f = S.figures[kind], c = S.cell;
    f.readout.replaceChildren();
    if (c?.kind !== kind) continue;
    const m = S.maps[kind], { cells, seen } = rowOf(S, kind, c.query), { weight, mask, rank } = cells[c.key];
    const [side, keySide] = SIDES[kind], { predicted } = S.data.target;
    const predicts = kind === "encoder" ? [] : [" → ", tokenName(predicted[lastRead(S, c.query)], "target")];
    f.readout.replaceChildren(
      line("query", numbered(m.rows, c.query, side), ...predicts),
      line("key", numbered(m.columns, c.key, keySide)),
      mask ? make("div", "", WHY_MASKED[mask])
        : line("weight", make("b", "", decimals(weight)), ` · rank ${rank} of ${seen.length}`),
      make("div", "hint", c.locked ? "locked · Esc to unlock" : "click or Enter to lock"),
    );
    const { left, top, cell } = f.plot, scrolled = /** @type {Element} */ (f.canvas.parentNode).scrollLeft;
    // Below the cell's row, so that it never hides the row that it describes.
    const x = Math.min(left + c.key * cell - scrolled, f.box.clientWidth - f.readout.offsetWidth);
    f.readout.style.transform = `translate(${Math.max(0, x)}px,${f.canvas.offsetTop + top + (c.query + 1) * cell + 6}px)`;
  }
}

const COLUMNS = [
  { name: "query", first: 1 }, { name: "key", first: 1 }, { name: "weight", first: -1 }, { name: "rank", first: 1 },
];

/** Draws the table of the current row's keys. @param {StepperState} S */
export function drawKeys(S) {
  const m = S.maps[S.kind], query = currentRow(S, S.kind), [side, keySide] = SIDES[S.kind];
  sayAll(S.find("summary"), `Table: ${TITLES[S.kind]}, row `, numbered(m.rows, query, side));
  if (!S.details.open) return;
  const rows = rowOf(S, S.kind, query).cells.map(({ key, weight, mask, rank }) => ({
    at: mask ? [null, key, null, null] : [0, key, weight, rank],
    cells: [
      numbered(m.rows, query, side), numbered(m.columns, key, keySide),
      ...(mask ? [MASKED[mask], "–"] : [decimals(weight), `${rank}`]),
    ],
  }));
  drawTable(S.find, COLUMNS, rows, S.sort, 1, (sort) => {
    S.sort = sort;
    drawKeys(S);
  });
}

/** Draws the checks over all heads of all layers, and the badges. @param {StepperState} S */
export function drawChecks(S) {
  const { error, leaks, heads } = S.data.checks, good = error < 1e-4 && !leaks;
  const sums = error < 1e-4 ? "rows sum to 1" : `rows do not sum to 1 (off by ${error})`;
  const zeros = leaks ? `${plural(leaks, "masked cell")} not 0` : "masked cells exactly 0";
  say(S.find(".checks"), `${good ? "✓" : "✗"} ${sums} · ${zeros} · ${plural(heads, "head")} checked`);
  S.find(".checks").classList.toggle("bad", !good);
  drawBadges(S.find, S.data);
}
