// A single map with its labels: hovering, a click or the arrow keys say the number of a cell.

import { cellUnder, columnBeside, contextOf } from "./canvas.js";
import { pixelOf, readTheme, setScale } from "./colours.js";
import { finder, say } from "./dom.js";
import { PADDING, isPadding } from "./hatch.js";
import { fitCells } from "./heads_layout.js";
import { diverging } from "./machine_pictures.js";
import { READABLE, aboutNumbers, bringIntoSight, cellSize, listenToZoom, sightOf } from "./map_zoom.js";
import { AXIS, CORNER, NOWHERE, STEEP, labelsOf, paintMap, plotOf, sheetOf } from "./maps.js";
import { cellNumber, changeSeen, clamp, decimals as inThree, fourDecimals } from "./numbers.js";
import { arrowOf } from "./scripts.js";
import { readMessage } from "./wire.js";
import { maskName, whyMasked } from "./wording.js";
import { inSentence, t } from "./words.js";

/** @import { MapHeader } from "./structs" */
/** @import { Find, Plot, Theme } from "./types" */
/** @typedef {{ find: Find, box: HTMLElement, theme: Theme, header: MapHeader, values: Float32Array, mask: Uint8Array, closing?: Uint8Array, chosen?: (at: MapState["at"]) => void, plot: Plot, right: number, at: { row: number, column: number } | null, twins: { row: number, column: number }[], wish: { zoom: number }, isNew: boolean, observer: ResizeObserver, width: number }} MapState `isNew`: its framed cell is yet to be brought into sight; `twins`: cells that are marked since one was chosen here or in a map beside it */

/** All maps on the page. @type {Set<MapState>} */
const shown = new Set();

const BEFORE = 4; // Node.DOCUMENT_POSITION_FOLLOWING, of what another follows
const WIDEST = 54; // size of a cell, in pixels
// The length of labels, in pixels: at least, of two tokens at least, and at most.
const [SHORT, DOUBLE, LONG] = [82, 144, 180];
const NUMBER = 10; // size of type of the numbers in cells, at least, in pixels
const LARGEST = 14; // at most: a map of weights and one of signed scores beside it are written alike
const TIGHT = "-0.5px"; // space between the letters of numbers that have a sign and little room
const ROOMY = 20; // size of a cell with room for two decimals, in pixels
const WIDE = 36; // size of a cell with room for a sign, a digit and two decimals, in pixels
const NARROW = 640; // width of a window up to which Streamlit's columns stand below each other, in pixels
const OBLONG = 0.05; // the least number that is written into a cell of such a form
const LINE = 20; // height of a line of text, in pixels
// What stands below maps alike on the first screen, in pixels: their caption or, of more rows than a few, its first line.
const [FEW, CAPTION, FIRST_LINE] = [13, 87, 42];
const TITLED = 54; // room beside the rows for their title above them, in pixels
const [WIDER, THIRD] = [1.15, 3]; // width of the cells of a difference beside A and B, by that of theirs; its place there
const GAP = 8; // between the maps of a row, in pixels
// The height of a map that does not scroll: a share of the window's, and at least so many pixels.
const [HIGH, LEAST_HIGH] = [0.6, 460];
// What stands above a row of maps on the first screen, and the height that is left for them at least, in pixels.
const [ABOVE, LEAST_LEFT] = [370, 300];

// The minus and the plus of a difference, and of a score.
const [CHANGE, SCORED] = [
  ["−", "+"],
  ["−", ""],
];
const MUTED = 1.65; // colours of signed numbers in the dark theme end so early that white is readable on all

/** The parts of a header that a map of weights alone leaves empty. @type {Pick<MapHeader, "signed" | "least" | "minus" | "numbers" | "zeros" | "frames" | "group" | "name" | "twin_rows" | "twin_columns" | "padding">} */
export const PLAIN = {
  ...{ signed: false, least: 0, minus: 0, numbers: true, zeros: false, frames: [] },
  ...{ group: "", name: "", twin_rows: [], twin_columns: [], padding: 0 },
};

/** Streamlit calls this again when the data or the theme change. @param {{ data: Uint8Array, parentElement: any }} mount */
export default function ({ data, parentElement }) {
  const { header, arrays } = readMessage(data);
  const values = Float32Array.from(arrays.values.values);
  const [mask, closing] = ["mask", "closing"].map((name) => /** @type {Uint8Array} */ (arrays[name]?.values));
  return showMap(parentElement, { header, values, mask, closing });
}

/**
 * Shows a map, in place of the one before; the result ends the view.
 * @param {any} root with the markup of the component
 * @param {{ header: MapHeader, values: Float32Array, mask: Uint8Array, closing?: Uint8Array }} map
 * @param {{ at: MapState["at"], chosen: (at: MapState["at"]) => void }} [choice] the chosen cell, and what a choice tells
 */
export function showMap(root, { header, values, mask, closing }, choice) {
  const S = /** @type {MapState} */ (root.__map ??= create(root));
  const isSame = `${S.header?.rows}, ${S.header?.columns}` === `${header.rows}, ${header.columns}`;
  const at = choice ? choice.at : isSame ? S.at : null;
  Object.assign(S, { header, values, mask, closing, at, chosen: choice?.chosen });
  Object.assign(S, { theme: themeOf(S.box, header), twins: isSame ? S.twins : [], isNew: !isSame });
  shown.add(S);
  draw(S);
  // The numbers of the others have changed, or their place.
  for (const each of groupOf(S)) if (each !== S && (each.at || isOneOfAlike(header))) draw(each);
  return () => {
    S.observer.disconnect();
    shown.delete(S);
    delete root.__map;
  };
}

/** @param {ParentNode} root */
function create(root) {
  const find = finder(root);
  const S = /** @type {MapState} */ (
    /** @type {unknown} */ ({
      find,
      box: find(".labelled"),
      plot: NOWHERE,
      at: null,
      twins: [],
      wish: { zoom: 1 },
      width: 0,
    })
  );
  const canvas = /** @type {HTMLCanvasElement} */ (find("canvas"));
  const over = (/** @type {MouseEvent} */ event) => {
    const { query, key } = cellUnder(canvas, event, S.plot);
    const inside = query >= 0 && key >= 0 && query < S.header.rows.length && key < S.header.columns.length;
    return inside ? { row: query, column: key } : null;
  };
  canvas.onpointermove = (event) => event.pointerType !== "touch" && readOut(S, over(event) ?? S.at);
  canvas.onpointerleave = () => readOut(S, S.at);
  const tell = (/** @type {MapState["at"]} */ at) => {
    choose(S, at);
    const output = S.find("output"); // on a phone it may be below the screen
    if (at && output.getBoundingClientRect().top > window.innerHeight - LINE)
      output.scrollIntoView({ block: "nearest" });
    S.chosen?.(at);
  };
  canvas.onclick = (event) => tell(over(event));
  canvas.onkeydown = (event) => {
    const direction = arrowOf(event.key);
    if (!direction || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const { rows, columns } = S.header;
    if (!S.at) return tell({ row: 0, column: 0 });
    tell({
      row: clamp(S.at.row + direction[0], 0, rows.length - 1),
      column: columnBeside(S.plot.places, S.at.column, direction[1], columns.length),
    });
  };
  listenToZoom(S.box, S.wish, () => draw(S));
  S.observer = new ResizeObserver(() => S.header && S.width !== S.box.clientWidth && draw(S));
  S.observer.observe(S.box);
  return S;
}

/**
 * The theme, with colours for numbers below and above zero if the map has both. If its last row alone has both, the
 * lower half of the scale is for weights and the upper half for that row.
 * @param {HTMLElement} box @param {MapHeader} header @returns {Theme}
 */
function themeOf(box, { signed, minus }) {
  const theme = readTheme(box);
  if (!signed && !minus) return theme;
  const dark = box.dataset.theme === "dark";
  const colour = diverging(theme, dark, dark ? MUTED : 1);
  const pixels = Array.from({ length: 256 }, (_, i) => colour(Math.abs(i - 127.5) < 1 ? 0 : i / 127.5 - 1)); // 0 is white
  const scale = pixels.map((pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255]);
  const half = (/** @type {number[][]} */ colours) => colours.filter((_, i) => i % 2);
  const all = minus ? [...half(theme.own), ...half(scale)] : scale;
  setScale(theme, minus ? /** @type {HTMLElement} */ (box.querySelector(".minus")) : box, scale);
  return { ...theme, scale: all, inks: Uint32Array.from(all, pixelOf) };
}

/** @param {MapState} S */
function draw(S) {
  const { header, theme, mask, closing, at } = S;
  const { signed, least, top, minus, rows, ends, columns, grid, places, padding } = header;
  const canvas = /** @type {HTMLCanvasElement} */ (S.find("canvas"));
  const frame = /** @type {HTMLElement} */ (S.find(".box"));
  S.width = S.box.clientWidth;
  if (!S.width) return;
  const cells = { keys: columns.length, queries: rows.length, mask, closing, padding };
  // Maps beside each other that have no grid are alike, and each has its caption below.
  const isAlike = isOneOfAlike(header) && window.innerWidth > NARROW;
  const room = clamp((S.width - columns.length * WIDE) / 3, signed || isAlike ? DOUBLE : SHORT, LONG);
  // On a phone, the maps of a row stand below each other.
  const isInRow = window.innerWidth > NARROW && grid.length > 0;
  const inTwo = grid.length ? rows.map((name) => name.replace(" / ", " /\n")) : rows;
  const all = isInRow ? grid : [/** @type {const} */ ([inTwo, grid.length ? [] : ends, columns, 1])];
  const isTrio = isInRow && header.group !== "" && grid.length > THIRD;
  const isMinus = (/** @type {number} */ i) => isTrio && (i ? i === THIRD : signed);
  const measured = all.map(([rows, ends, columns]) =>
    labelsOf(
      canvas,
      theme.font,
      { rows, ends, columns, places },
      isInRow ? DOUBLE : room,
      false,
      !isInRow ? 12 : all.length > 3 ? 10 : 11,
    ),
  );
  const [labels] = measured;
  if (isAlike && labels.left >= CORNER) labels.above -= AXIS; // the title of the keys stands beside their labels
  const isTitled = (/** @type {number} */ i) =>
    all[i][0].some((row) => row.includes(" ")) || (all[i][1].length > 0 && all[i][1].every(Boolean));
  // The title of the rows lies above them.
  if (isInRow) measured.forEach((each, i) => (each.left = Math.max(each.left - AXIS - 5, isTitled(i) ? TITLED : 0)));
  for (const name of /** @type {const} */ (["above", "wideKeys"]))
    labels[name] = Math.max(...measured.map((each) => each[name]));
  const { width: wide } = S.box.getBoundingClientRect(); // with its fraction: the maps compute it from each other's
  const gap = isInRow ? GAP * (1 - 1 / (grid.length - 1)) : 0; // Streamlit takes it from each column alike
  const left = Math.max(LEAST_LEFT, window.innerHeight - ABOVE);
  const under = rows.length > FEW ? FIRST_LINE : CAPTION;
  const alike = Math.max(LEAST_LEFT, window.innerHeight - beginOf(S) - under);
  const high = isAlike ? alike : isInRow ? left : Math.max(LEAST_HIGH, HIGH * window.innerHeight);
  const fit = (/** @type {boolean} */ tilted) =>
    Math.min(
      ...measured.map(({ left, right, over }, i) => {
        const [{ length: queries }, , { length: keys }, share] = all[i];
        const beside = left + Math.max(right, tilted ? over : 0) + 2;
        return fitCells(
          [{ keys: keys * (isMinus(i) ? WIDER : 1), queries, beside, above: labels.above }],
          ((wide + gap) * share) / all[0][3] - gap,
          high,
        );
      }),
    );
  if (isInRow && fit(false) < READABLE) for (const each of measured) Object.assign(each, { right: 0, others: [] });
  const steep = fit(false); // in narrow cells, labels of the keys stand upright
  const fitting = steep < STEEP ? steep : Math.max(fit(true), STEEP - 1);
  const cell = cellSize(fitting, S.wish, cells, rows.length > 1 ? WIDEST : WIDE);
  const most = Math.max(...all.map(([{ length }]) => length)); // rows of a map in the row
  const isOblong = grid.length > 0 && cell < STEEP && most * STEEP <= high;
  const widened = Math.max(cell, Math.min(cell < STEEP ? STEEP - 1 : WIDE, Math.round(cell * WIDER)));
  const wider = isTrio && widened <= labels.wideKeys + 5 ? widened : cell; // else its labels would lie
  const across = isMinus(0) ? wider : cell;
  const isSmall = grid.length > 0 && (isOblong || across < (signed ? WIDE : ROOMY));
  S.plot = plotOf(labels, cells, across, isOblong ? STEEP : cell, isAlike);
  S.plot.upright &&= !isInRow;
  S.right = labels.right;
  Object.assign(canvas.style, { width: `${S.plot.width}px`, height: `${S.plot.height}px` });
  const [framed] = header.frames;
  const isBelow = isInRow && framed && S.plot.top + (framed[0] + 1) * S.plot.tall > left;
  const { top: above, tall } = S.plot;
  frame.style.maxHeight = isBelow ? `${above + Math.floor((left - above - 4) / tall) * tall + 4}px` : ""; // whole rows
  frame.style.minHeight = isInRow && !isBelow ? `${above + most * tall + 4}px` : "";
  S.box.classList.toggle("in-row", isInRow);
  if (S.isNew && framed) {
    bringIntoSight(frame, S.plot, labels.right, framed[0], [framed[1]]);
    frame.scrollTop = Math.round(frame.scrollTop / tall) * tall;
  }
  S.isNew = false;
  for (const each of isInRow ? groupOf(S) : [])
    if (each.header.rows.length === rows.length) each.find(".box").scrollTop = frame.scrollTop; // the rows stay in line
  // Colours of signed numbers begin at -top, those of a last row that is a difference in the middle of the scale.
  const last = minus ? columns.length * (rows.length - 1) : Infinity;
  const levels = S.values.map((value, i) => {
    if (i >= last) return 0.5 + clamp(value / minus + 1, 0.01, 2) / 4;
    if (minus) return Math.min(value / top, 0.99) / 2;
    return signed ? value + top : value;
  });
  const scale = { top: minus ? 1 : signed ? 2 * top : top };
  const decimals = top <= 1 ? 2 : top < 9.995 ? (S.plot.cell < WIDE ? 1 : 2) : top < 99.95 ? 1 : 0;
  const ctx = contextOf(canvas);
  ctx.font = `${NUMBER}px ${theme.font}`;
  const longest = signedNumber(least ? 0.11 : -top, decimals, CHANGE);
  const isRoomy = !signed || ctx.measureText(longest).width <= S.plot.cell - 2;
  const signs = header.zeros ? SCORED : CHANGE;
  // A number with a sign has room at this size; A and B are written hardly larger.
  const edges = wider < WIDE ? 3 : clamp(Math.floor(wider / 8), 2, 6);
  const common = Math.floor((NUMBER * (wider - edges)) / ctx.measureText("−.88").width);
  const written = isOblong ? OBLONG : least; // the least number in a cell
  const numberOf = (/** @type {number} */ _, /** @type {number} */ i) => {
    if (Math.abs(S.values[i]) < written) return "";
    if (i < last) return signed ? signedNumber(S.values[i], decimals, signs, header.zeros) : cellNumber(S.values[i]);
    const change = changeSeen(S.values[i - last], S.values[i - last + columns.length]);
    return change ? signedNumber(change, 2, CHANGE) : "";
  };
  let isTight = false;
  const chosen = at ?? S.twins[0];
  const unwritten = paintMap(canvas, theme, S.plot, {
    cells,
    rows: rows.length,
    sheet: sheetOf(theme, cells, [levels], scale),
    at: 0,
    values: levels,
    sizes: S.values,
    scale,
    numberOf: header.numbers ? numberOf : () => "",
    largest: isTrio ? clamp(common + Number(!signed), NUMBER, LARGEST) : LARGEST,
    isSmall,
    leaveOut: () => (isTight = true),
    letterSpacing: isRoomy ? "0px" : TIGHT,
    labels,
    titles: [rowsAbove(frame, S.plot) || (isInRow && !isTitled(0) ? "" : header.row_title), header.column_title],
    row: chosen?.row ?? null,
    column: chosen?.column ?? null,
    ruled: true,
    sight: sightOf(frame),
    marks: [
      ...header.frames.map(([row, column]) => ({ row, column, colour: theme.frame })),
      ...[...(at ? [at] : []), ...S.twins].map((each) => ({ ...each, colour: theme.ink })),
    ],
  });
  canvas.setAttribute("aria-label", `${header.caption} ${t("Arrow keys move between cells.")}`);
  canvas.dataset.plot = [S.plot.left, S.plot.top, S.plot.cell, rows.length, columns.length].join();
  canvas.dataset.tall = `${S.plot.tall}`;
  const ramps = /** @type {[string, number, boolean, string][]} */ ([
    [".ramp", top, signed, signed && grid.length ? "B − A" : header.unit],
    [".minus", minus, true, "B − A"],
  ]);
  for (const [ramp, end, both, name] of ramps) {
    const [first, , most] = /** @type {HTMLElement[]} */ ([...S.find(ramp).children]);
    say(first, both ? `−${short(end)}` : "0");
    say(most, `${short(end)} ${name}`);
  }
  S.find(".minus").hidden = !minus;
  const marks = [1, 2].filter((code) => mask.includes(code));
  const notes = marks.map((code) => `${"╱╳"[code - 1]} ${maskName(code)}`);
  const below = { least: inSentence(`${Number((written || 0.5 * 0.1 ** decimals).toFixed(decimals + 1))}`) };
  const pale = [...S.values].filter((_, i) => !mask[i] && isPadding({ ...cells, rows: rows.length }, i));
  const furthest = pale.reduce((one, other) => (Math.abs(other) > Math.abs(one) ? other : one), 0);
  if (Math.abs(furthest) > top && unwritten !== null)
    notes.push(t("beyond the scale: padding, to {most}", { most: inSentence(furthest.toFixed(2)).replace("-", "−") }));
  if (unwritten === null)
    notes.push(aboutNumbers(null)); // also of a chosen cell, so that nothing moves
  else if (isTight) notes.push(t("no number: closer to 0 than {least}, or no room", below));
  else if (unwritten && !minus)
    notes.push(signed ? t("no number: less than {least} from 0", below) : t("no number: below {least}", below));
  const unseen = rows.length - Math.round((frame.scrollTop + frame.clientHeight - S.plot.top) / S.plot.tall);
  if (unseen > 0) notes.unshift(t("↓ {n} row below", "↓ {n} rows below", { n: unseen }));
  say(S.find(".marks"), notes.join(" · "));
  if (isOneOfAlike(header)) {
    // Nothing moves when a number takes the place of the caption.
    const output = S.find("output");
    say(output, header.caption);
    Object.assign(output.style, { flexBasis: "100%", minHeight: "" });
    output.style.minHeight = `${output.getBoundingClientRect().height}px`;
  }
  readOut(S, at);
}

/** How many rows are out of sight above, in place of the title of the rows. @param {HTMLElement} box @param {Plot} plot */
function rowsAbove({ scrollTop }, { tall }) {
  const n = Math.round(scrollTop / tall);
  return n > 0 ? t("↑ {n} row above", "↑ {n} rows above", { n }) : "";
}

/** The end of a scale, as short as it can be read. @param {number} top */
const short = (top) => inSentence(`${Number(top.toPrecision(3))}`);

/** A signed number for a cell; what rounds to 0 is ".0" with `zeros`, else "". @param {number} value @param {number} decimals @param {readonly string[]} signs minus and plus @param {boolean} [zeros] @param {string} [whole] how 0 is written before the mark */
function signedNumber(value, decimals, [minus, plus], zeros = false, whole = "") {
  const size = Math.abs(value);
  const text = size.toFixed(decimals).replace(/^0(?=\.)/, whole);
  if (!Number(text)) return size < 1e-6 ? "0" : zeros ? inSentence(text) : "";
  return inSentence((value < 0 ? minus : plus) + text);
}

/** Chooses a cell. @param {MapState} S @param {MapState["at"]} at */
function choose(S, at) {
  S.at = at;
  for (const each of groupOf(S)) {
    each.twins = at ? twinsOf(S, at, each) : [];
    if (each !== S) each.at = null;
    draw(each);
    const [first] = at && each === S ? [at] : each.twins;
    if (first)
      bringIntoSight(/** @type {HTMLElement} */ (each.find(".box")), each.plot, each.right, first.row, [first.column]);
  }
}

/** The maps in which a cell is chosen together, in their order on the page. @param {MapState} S */
const groupOf = (S) =>
  S.header.group
    ? [...shown]
        .filter(({ header, box }) => header.group === S.header.group && box.isConnected)
        .sort((one, other) => (hostOf(one).compareDocumentPosition(hostOf(other)) & BEFORE ? -1 : 1))
    : [S];

/** What holds a map in the document. @param {MapState} S */
const hostOf = ({ box }) => /** @type {ShadowRoot} */ (box.getRootNode()).host;

/** Where a map begins on the page, however far this is scrolled. @param {MapState} S */
function beginOf(S) {
  let top = S.box.getBoundingClientRect().top;
  for (let each = /** @type {Element | null} */ (hostOf(S)); each; each = each.parentElement) top += each.scrollTop;
  return top;
}

/** The cells of another map that are counterparts of a cell of this one. @param {MapState} S @param {NonNullable<MapState["at"]>} at @param {MapState} other */
function twinsOf(S, at, other) {
  const [own, its] = [S.header, other.header].map(({ rows, columns, twin_rows, twin_columns }) => [
    rows.map((_, i) => twin_rows[i] ?? i),
    columns.map((_, i) => twin_columns[i] ?? i),
  ]);
  const [row, column] = [at.row, at.column].map((place, axis) =>
    [...its[axis].keys()].filter((i) => its[axis][i] === own[axis][place] && its[axis][i] >= 0),
  );
  return row.flatMap((i) => column.map((j) => ({ row: i, column: j })));
}

/** The score of a cell, and what closes it, or a weight and the largest one of its row. @param {MapState} S @param {number} row @param {number} i */
function alikeAt({ header: { columns, name, zeros }, values, mask, closing }, row, i) {
  const number = zeros ? signedNumber(values[i], 3, SCORED, true, "0") : values[i] ? inThree(values[i]) : "0";
  if (closing?.[i] === PADDING) return t("score {score}, closed by the padding mask", { score: number });
  if (closing?.[i]) return t("score {score}, closed by the causal mask", { score: number });
  if (zeros) return `${name} ${number}`;
  const weights = values.subarray(row * columns.length, (row + 1) * columns.length);
  const largest = weights.indexOf(Math.max(...weights));
  if (!weights[largest]) return whyMasked(mask[i]);
  const fields = { weight: number, most: inThree(weights[largest]), key: columns[largest] };
  return values[i] === weights[largest]
    ? t("weight {weight}, the largest in its row", fields)
    : t("weight {weight}; largest in its row: {most} (“{key}”)", fields);
}

/** Whether a map is one of several alike, such as scores and weights, which say the same of a cell. @param {MapHeader} header */
const isOneOfAlike = ({ group, grid }) => group !== "" && !grid.length;

/** Says the number of a cell, and those of its counterparts. @param {MapState} S @param {MapState["at"]} pointed */
function readOut(S, pointed) {
  const { find, header, values, mask } = S;
  const { rows, ends, columns, unit, signed, minus } = header;
  const isAlike = isOneOfAlike(header);
  const at = pointed ?? (isAlike ? (S.twins[0] ?? null) : null);
  if (!at) return say(find("output"), isAlike ? header.caption : "");
  const i = at.row * columns.length + at.column;
  const row = [rows[at.row], ends[at.row]].filter(Boolean).join(" ");
  const isMinus = minus && at.row === rows.length - 1;
  const number = signed || isMinus ? inSentence(values[i].toFixed(4)).replace("-", "−") : fourDecimals(values[i]);
  const name = isMinus ? t("difference of {unit}", { unit }) : unit;
  const alone = mask[i] ? whyMasked(mask[i]) : `${name} ${number}`;
  const said = isAlike ? alikeAt(S, at.row, i) : header.group ? together(S, at) : alone;
  const names = { row: row.replaceAll("≠ ", ""), column: columns[at.column].replace("≠ ", "") };
  say(find("output"), t("“{row}”, “{column}”: {said}", { ...names, said }));
}

/** The numbers of a chosen cell in all maps of its group: "A 0.201, B 0.299". @param {MapState} S @param {NonNullable<MapState["at"]>} at */
function together(S, at) {
  /** @type {number[]} */
  const seen = [];
  const found = groupOf(S).flatMap((each) => {
    const { columns, name, signed } = each.header;
    const twins = twinsOf(S, at, each);
    const cells = (each === S && !twins.length ? [at] : twins).map(({ row, column }) => row * columns.length + column);
    const open = cells.filter((i) => !each.mask[i]);
    if (!cells.length) return [];
    const sum = open.reduce((all, i) => all + each.values[i], 0);
    seen.push(Number(sum.toFixed(3)));
    const change = seen[1] - seen[0]; // of two numbers as they are written
    const number = signed ? signedNumber(change, 3, CHANGE, true, "0") : inThree(sum);
    const code = open.length ? 0 : each.mask[cells[0]];
    return { name, number: cells.length > 1 ? t("{number} together", { number }) : number, code };
  });
  const closed = found.find(({ code }) => code);
  return closed ? whyMasked(closed.code) : found.map(({ name, number }) => `${name} ${number}`).join(", ");
}
