// The stepper's three maps, on a scale from 0 to 1, and the parts around them: choice of layer and head, captions,
// readout, table.

import { cellUnder, columnAt, columnBeside, paper } from "./canvas.js";
import { fullColour, sayScale } from "./colours.js";
import { buttonsOf, children, make, makeButton, say, sayAll } from "./dom.js";
import { drawTable } from "./grids.js";
import { aboutRows, writeRows } from "./map_marks.js";
import { drawCells, levelOf, paintMap, sheetOf } from "./maps.js";
import { AXES, SIDES, TITLES, capitalised, layerName, nameInLayer } from "./names.js";
import { clamp, decimals } from "./numbers.js";
import { aboutEdges, aboutNumbers, beyondEdge, bringIntoSight, listenToZoom, sightOf } from "./map_zoom.js";
import { presenting } from "./present.js";
import { arrowOf, placesIn } from "./scripts.js";
import { PHONE, layOut } from "./stepper_layout.js";
import { drawBadges, keyRows, line, looksAt, numbered, tokenName, whyMasked } from "./wording.js";
import { currentRow, frontier, lastRead, pick, rowOf, shownRows } from "./stepper_state.js";
import { sayKind } from "./terms.js";
import { redraw } from "./view.js";
import { keysToShow, weightsOf } from "./weights.js";
import { pieces, t } from "./words.js";

/** @import { ChosenCell, Kind, StepperState } from "./types" */

const FLAT = [48, 24]; // size of the picture of a head beside many words on a slide, in pixels

/** The colour scale of the kind in focus. @param {StepperState} S */
const scaleOf = (S) => ({ top: fullColour(S.data.maps[S.kind]) });

/** The pictures of a layer's heads, after that of their mean. @param {StepperState} S @param {Kind} kind @param {number} layer */
function sheetFor(S, kind, layer) {
  const scale = scaleOf(S);
  const name = `${kind} ${layer} ${scale.top}`;
  const m = S.maps[kind];
  const sheet =
    S.sheets.get(name) ??
    sheetOf(
      S.theme,
      m,
      Array.from({ length: m.heads + 1 }, (_, head) => weightsOf(m, layer, head)),
      scale,
    );
  S.sheets.set(name, sheet);
  return sheet;
}

/** @param {StepperState} S @param {Kind} kind */
export function drawMap(S, kind) {
  const f = S.figures[kind];
  const m = S.maps[kind];
  const { layer, head } = S.pick[kind];
  const now = frontier(S);
  const rows = shownRows(S, kind);
  const row = currentRow(S, kind);
  const c = S.cell?.kind === kind ? S.cell : null;
  const box = /** @type {HTMLElement} */ (f.canvas.parentNode);
  // In self-attention, the diagonal comes into sight before the heaviest key.
  const at = [...keysToShow(rowOf(S, kind, row), c?.key), ...(kind === "cross" || c ? [] : [row])];
  const followed = [row, at, layer, head, S.words, S.seq, f.plot.cell, f.plot.tall, box.style.maxHeight].join();
  if (f.followed !== followed && !(c && !c.locked)) bringIntoSight(box, f.plot, f.labels?.right ?? 0, row, at);
  f.followed = followed;
  const sight = sightOf(box);
  const scale = scaleOf(S);
  const drawn = [
    ...Object.values(sight ?? {}),
    scale.top,
    S.seq,
    layer,
    head,
    rows,
    row,
    now,
    S.words,
    S.step * Number(S.words || kind === S.kind),
    kind === S.kind,
    ...Object.values(f.plot),
    S.zoom,
    devicePixelRatio,
    S.theme.ground,
    S.theme.font,
    c?.query,
    c?.key,
  ].join();
  if (f.drawn === drawn) return;
  f.drawn = drawn;
  /** @type {import("./map_marks.js").Mark[]} */
  const marks = kind === "encoder" ? [] : [{ row: now, colour: S.theme.target }];
  if (kind === "encoder" || row !== now) marks.push({ row, colour: S.theme[SIDES[kind][0]], dashed: true });
  if (c) marks.push({ row: c.query, column: c.key, colour: S.theme.ink });
  let isInRows = false;
  const values = weightsOf(m, layer, head);
  const unwritten = paintMap(
    f.canvas,
    S.theme,
    f.plot,
    {
      cells: S.box.clientWidth > PHONE ? m : { ...m, queries: rows },
      rows,
      sheet: sheetFor(S, kind, layer),
      at: head,
      values,
      scale,
      labels: /** @type {import("./maps.js").Labels} */ (f.labels), // measured for the layout
      titles: AXES[kind],
      row,
      ruled: true,
      sight,
      marks,
      instead: (pen) => {
        const inks = (/** @type {number} */ weight) => S.theme.scale[levelOf(weight, scale)];
        const isSmall = kind !== S.kind || presenting(S.box); // or a slide's, on which such type is too small
        isInRows = !isSmall && writeRows(pen, [...new Set([row, c?.query ?? row])], values, inks);
      },
    },
    S.zoom,
  );
  f.numbers = isInRows ? aboutRows() : aboutNumbers(unwritten);
}

/**
 * The cell under the pointer; null outside the rows that are drawn.
 * @param {StepperState} S
 * @param {Kind} kind
 * @param {MouseEvent} event
 * @returns {ChosenCell | null}
 */
function cellAt(S, kind, event) {
  const { canvas, plot } = S.figures[kind];
  const { query, key } = cellUnder(canvas, event, plot);
  const inside = query >= 0 && key >= 0 && query < shownRows(S, kind) && key < S.maps[kind].keys;
  return inside ? { kind, query, key, locked: false } : null;
}

/**
 * Hovering over a cell shows it; a click or Enter locks it; arrow keys move it.
 * @param {StepperState} S
 * @param {Kind} kind
 */
export function listenToMap(S, kind) {
  const { canvas, box, wish } = S.figures[kind];
  S.figures[kind].zoom = listenToZoom(box, wish, () => {
    layOut(S);
    redraw(S);
  });
  const choose = (/** @type {ChosenCell | null} */ cell) => {
    S.cell = cell;
    redraw(S);
  };
  canvas.onpointermove = (event) => {
    if (event.pointerType === "touch" || S.cell?.locked) return;
    const cell = cellAt(S, kind, event);
    const old = S.cell;
    if (cell?.key !== old?.key || cell?.query !== old?.query || cell?.kind !== old?.kind) choose(cell);
  };
  canvas.onpointerleave = canvas.onblur = () => {
    if (!S.cell?.locked) choose(null);
  };
  canvas.onclick = (event) => {
    const cell = cellAt(S, kind, event);
    const old = S.cell;
    const again = old?.locked && cell && old.kind === kind && old.query === cell.query && old.key === cell.key;
    choose(cell && { ...cell, locked: !again });
    if (cell && S.kind !== kind) pick(S, kind, {});
  };
  canvas.onkeydown = (event) => {
    const m = S.maps[kind];
    const row = currentRow(S, kind);
    const old = S.cell?.kind === kind ? S.cell : null;
    let { query, key, locked } = old ?? { query: row, key: rowOf(S, kind, row).seen[0]?.key ?? 0, locked: false };
    const direction = arrowOf(event.key);
    if (event.key === "Escape") canvas.blur();
    else if (event.key === "Enter" || event.key === " ") locked = !locked;
    else if (event.key === "Home") key = 0;
    else if (event.key === "End") key = m.keys - 1;
    else if (!direction) return;
    else if (old) {
      // The first arrow key only shows the cursor.
      query = clamp(query + direction[0], 0, shownRows(S, kind) - 1);
      key = columnBeside(S.figures[kind].plot.places, key, direction[1], m.keys);
    }
    choose(event.key === "Escape" ? null : { kind, query, key, locked });
    if (S.kind !== kind) pick(S, kind, {});
    event.preventDefault();
  };
}

/** Draws the choice of kind, layer and head. @param {StepperState} S */
export function drawPick(S) {
  const m = S.maps[S.kind];
  const { layer, head } = S.pick[S.kind];
  for (const tab of buttonsOf(S.find, ".kinds")) tab.setAttribute("aria-pressed", `${tab.value === S.kind}`);
  children(S.find(".layers"), m.layers, makeButton).forEach((b, i) => {
    say(b, `${i + 1}`);
    b.setAttribute("aria-label", t("Layer {layer} of {layers}", { layer: i + 1, layers: m.layers }));
    b.setAttribute("aria-pressed", `${i + 1 === layer}`);
    b.onclick = () => pick(S, S.kind, { layer: i + 1 });
  });
  sayScale(S.find, scaleOf(S).top);
  const rows = shownRows(S, S.kind);
  // On a slide, the rows written so far fill the pictures.
  const slide = presenting(S.box);
  const [side, low] =
    slide && (S.mapped || S.box.classList.contains("broken")) ? FLAT : m.heads > 7 ? [26, 26] : [42, 42];
  const scale = side / Math.max(m.keys, m.queries);
  const [wide, high] = slide ? [side, low] : [m.keys * scale, m.queries * scale];
  const sheet = sheetFor(S, S.kind, layer);
  const places = placesIn(S, SIDES[S.kind][1], m.columns);
  children(S.find(".heads"), m.heads + 1, () => makeButton("", make("canvas"), make("span"))).forEach((b, h) => {
    const ctx = paper(/** @type {HTMLCanvasElement} */ (b.firstChild), wide, high, S.zoom);
    const cell = { wide: wide / m.keys, high: slide ? high / rows : scale };
    drawCells(ctx, sheet, h, m.keys, rows, { left: 0, top: 0, ...cell, places });
    say(b.lastChild, h ? `${h}` : t("mean"));
    const name = h ? t("Head {head} of {heads}", { head: h, heads: m.heads }) : capitalised(nameInLayer(h));
    b.setAttribute("aria-label", name);
    b.setAttribute("aria-pressed", `${h === head}`);
    b.onclick = () => pick(S, S.kind, { head: h });
  });
}

/** "*Hund* looks at *dog* 62 %, *a* 21 %", from the numbers of the row. @param {StepperState} S @param {Kind} kind */
export function drawCaption(S, kind) {
  const f = S.figures[kind];
  const m = S.maps[kind];
  const { layer, head } = S.pick[kind];
  const encoder = kind === "encoder";
  sayKind(f.title, kind, TITLES[kind]);
  const sight = sightOf(/** @type {HTMLElement} */ (f.canvas.parentNode));
  const edges = aboutEdges(beyondEdge(sight, f.plot, f.labels?.right ?? 0, shownRows(S, kind), m.keys));
  const about = edges.length ? edges.join(" · ") : (f.numbers ?? "");
  const named = [layerName(layer), nameInLayer(head), about].filter(Boolean).join(" · ");
  // The sentence and, on a slide, the choice above the map name the head in focus.
  say(f.about, presenting(S.box) || (kind === S.kind && edges.length) ? about : named);
  // Written here, after all maps are drawn, because drawing text on a canvas makes the browser compute pending changes.
  f.canvas.dataset.plot = [f.plot.left, f.plot.top, f.plot.cell, shownRows(S, kind), m.keys].join();
  f.canvas.dataset.tall = `${f.plot.tall}`;
  const label = t("{kind}, {about}. Arrow keys move between cells.", { kind: TITLES[kind], about: named });
  f.canvas.setAttribute("aria-label", label);
  const query = currentRow(S, kind);
  const [side, keySide] = SIDES[kind];

  // The sentence below the words says the same of the row in view; on a phone, it is out of sight.
  const other = S.look ?? (S.cell?.locked && S.cell.kind === kind);
  if (kind === S.kind && !other && S.box.clientWidth > PHONE) return sayAll(f.caption);
  // At most two lines, so that nothing below moves.
  const row = numbered(m.rows, query, side);
  const last = encoder ? 0 : lastRead(S, query);
  const { predicted, chosen, given } = S.data.target;
  const word = tokenName(predicted[last] ?? "", "target");
  const who = encoder
    ? S.cell?.locked && S.cell.kind === kind
      ? [row]
      : pieces("{row} (most attended now)", { row })
    : last < given
      ? pieces("{row} → given {word}", { row, word })
      : chosen.includes(last)
        ? pieces("{row} → chosen {word}", { row, word })
        : pieces("{row} → {word}", { row, word });
  sayAll(f.caption, ...looksAt(rowOf(S, kind, query), m.columns, keySide, encoder ? 2 : 3, "plain", { who }));
}

/** Describes the chosen cell. @param {StepperState} S */
export function drawReadout(S) {
  for (const kind of S.data.order) {
    const f = S.figures[kind];
    const c = S.cell;
    f.readout.replaceChildren();
    if (c?.kind !== kind) continue;
    const m = S.maps[kind];
    const { cells, seen } = rowOf(S, kind, c.query);
    const { weight, mask, rank } = cells[c.key];
    const [side, keySide] = SIDES[kind];
    const { predicted } = S.data.target;
    const predicts = kind === "encoder" ? [] : [" → ", tokenName(predicted[lastRead(S, c.query)], "target")];
    f.readout.replaceChildren(
      line(t("query"), numbered(m.rows, c.query, side), ...predicts),
      line(t("key"), numbered(m.columns, c.key, keySide)),
      mask
        ? make("div", "", whyMasked(mask))
        : line(
            t("weight"),
            make("b", "", decimals(weight)),
            ` · ${t("rank {rank} of {count}", { rank, count: seen.length })}`,
          ),
    );
    const { left, top, cell, tall, places } = f.plot;
    const { scrollLeft: scrolled, scrollTop } = /** @type {Element} */ (f.canvas.parentNode);
    // Below the cell's row, so that it never hides the row that it describes.
    const x = Math.min(left + columnAt(places, c.key) * cell - scrolled, f.box.clientWidth - f.readout.offsetWidth);
    f.readout.style.transform = `translate(${Math.max(0, x)}px,${f.canvas.offsetTop + top + (c.query + 1) * tall - scrollTop + 6}px)`;
  }
}

const columnsOf = () => [
  { name: t("key"), first: 1 },
  { name: t("weight"), first: -1 },
  { name: t("rank"), first: 1 },
];

/** Draws the table of the current row's keys. @param {StepperState} S */
export function drawKeys(S) {
  const m = S.maps[S.kind];
  const query = currentRow(S, S.kind);
  const [side, keySide] = SIDES[S.kind];
  const row = numbered(m.rows, query, side);
  sayAll(S.find("summary"), ...pieces("Table: {kind}, row {row}", { kind: TITLES[S.kind], row }));
  if (!S.details.open) return;
  drawTable(S.find, columnsOf(), keyRows([rowOf(S, S.kind, query)], m.columns, keySide), S.sort, (sort) => {
    S.sort = sort;
    drawKeys(S);
  });
}

/** Draws the checks over all heads of all layers, and the badges. @param {StepperState} S */
export function drawChecks(S) {
  const { error, leaks, heads } = S.data.checks;
  const good = error < 1e-4 && !leaks;
  const sums = error < 1e-4 ? t("rows sum to 1") : t("rows do not sum to 1 (off by {error})", { error });
  const zeros = leaks
    ? t("{n} masked cell not 0", "{n} masked cells not 0", { n: leaks })
    : t("masked cells exactly 0");
  const checked = t("{n} head checked", "{n} heads checked", { n: heads });
  say(S.find(".checks b"), good ? `✓ ${t("Sums checked")}` : "✗");
  say(S.find(".checks span"), `: ${sums} · ${zeros} · ${checked}`);
  S.find(".checks").classList.toggle("bad", !good);
  openChecks(S, !good);
  drawBadges(S.find, S.data);
}

/** Says what was checked, or only that it was. @param {StepperState} S @param {boolean} open */
export function openChecks(S, open) {
  S.find(".checks span").hidden = !open;
  S.find(".checks").setAttribute("aria-expanded", `${open}`);
}
