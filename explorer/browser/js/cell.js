// One cell, from q·k to the head's output: a row for each key, with its products by dimension as colours.

import { paper } from "./canvas.js";
import { explainWinner, fixed, namedDimensions, numbersOf, ticksFor, weightText } from "./cell_numbers.js";
import { chainOf, csvOf, keyCells, keyColumns } from "./cell_text.js";
import { copyText } from "./clipboard.js";
import { fullColour, readTheme } from "./colours.js";
import { children, finder, make, makeButton, say, sayAll } from "./dom.js";
import { PLAIN, showMap } from "./labelled_map.js";
import { diverging } from "./machine_pictures.js";
import { AXES, SIDES, headTitle, shortHead } from "./names.js";
import { clamp, decimals } from "./numbers.js";
import { placesIn } from "./scripts.js";
import { decodingOf, listen } from "./store.js";
import { PAUSE } from "./view.js";
import { weightsOf } from "./weights.js";
import { readMessage } from "./wire.js";
import { numbered, tokenName, whyMasked } from "./wording.js";
import { pieces, t } from "./words.js";

/** @import { CellState, Content, Message } from "./types" */

const HIGH = 22; // height of a strip, in pixels
const DROP = 6; // how far numbers below zero are lowered, so that the sign needs no colour
const FAINT = 0.01; // weight below which a key's weighted value is not drawn unless the key is chosen
const [WIDE, BESIDE] = [36, 240]; // width of a cell of the row above, and of its labels, in pixels
const GAPPED = 5; // width of a dimension above which there are gaps, in pixels

/**
 * Streamlit calls this again whenever the data or the theme changes; it calls the returned function once, at unmount.
 * @param {import("./types").Mount<Uint8Array, "__cell", CellState>} mount
 */
export default function ({ data, parentElement: root, setTriggerValue }) {
  return showCell(root, readMessage(data), (report) => setTriggerValue("at", report));
}

/**
 * Shows a row of a head, opened at one key. `moved` is told which key the reader moved to, after a pause, or which head;
 * the page answers by showing the row opened at that key.
 * @param {ParentNode & { __cell?: CellState }} root with the markup of the component
 * @param {Message} message as written by explorer/browser/cell.py or computed by live/cell.js
 * @param {(report: import("./structs").CellReport) => void} [moved]
 * @returns {() => void} ends the view
 */
export function showCell(root, message, moved) {
  const S = (root.__cell ??= create(root));
  Object.assign(S, { moved, theme: readTheme(S.box) });
  const before = S.key;
  load(S, message);
  draw(S);
  if (S.key !== before) reveal(S);
  return () => {
    S.observer.disconnect();
    S.unsubscribe();
    S.endStrip?.();
    clearTimeout(S.reporting);
    cancelAnimationFrame(S.frame);
    delete root.__cell;
  };
}

/** The state before the first message arrives; `load` adds the rest. @param {ParentNode} root */
function create(root) {
  const find = finder(root);
  const S = /** @type {CellState} */ (
    /** @type {unknown} */ ({ find, box: find(".onecell"), pending: [], dimension: null, frame: 0, width: 0 })
  );
  const rows = find(".rows");
  rows.onkeydown = (event) => onKey(S, event);
  rows.onclick = (event) => onClick(S, event);
  /** @type {HTMLDetailsElement} */ (find("details")).ontoggle = () => drawTable(S);
  find(".copy").onclick = async () => {
    const copied = await copyText(csvOf(S.header, S.numbers, S.mask));
    say(
      find("details output"),
      copied ? t("Copied.") : t("This browser does not let the page copy; select the table instead."),
    );
  };
  S.observer = new ResizeObserver(() => {
    if (S.width !== S.box.clientWidth) redraw(S);
  });
  S.observer.observe(S.box);
  S.unsubscribe = listen(() => S.numbers && find(".where").hidden && redraw(S));
  return S;
}

/** What a row is, apart from the chosen key. @param {CellState["header"] | undefined} header */
const rowOf = (header) => header && [header.seq, header.kind, header.layer, header.head, header.row].join(" ");

/**
 * Loads a row. The chosen key stays if the page only answers a report of this view.
 * @param {CellState} S
 * @param {Message} message
 */
function load(S, message) {
  const { header, arrays } = message;
  const answered = S.pending.indexOf(header.column);
  const same = rowOf(S.header) === rowOf(header);
  if (!same || (S.header.column !== header.column && answered < 0)) {
    clearTimeout(S.reporting);
    S.key = header.column - 1;
    if (!same) S.dimension = null;
  }
  S.pending = same ? S.pending.slice(answered + 1) : [];
  S.header = header;
  S.mask = /** @type {Uint8Array} */ (arrays.mask.values);
  S.numbers = numbersOf(message);
  build(S);
}

/** Writes everything that does not depend on the chosen key and dimension. @param {CellState} S */
function build(S) {
  const { find, header, numbers, mask } = S;
  const { kind, layer, head, row, query, predicted, tokens, scaled } = header;
  const [asking, asked] = SIDES[kind];
  const title = { head: headTitle(kind, layer, head), token: tokenAt(query, row - 1, asking) };
  sayAll(
    find(".title"),
    ...(predicted
      ? pieces("{head}: reads {token} → predicts {word}", { ...title, word: tokenName(predicted, "target") })
      : pieces("{head}: query {token}", title)),
  );
  const key = (/** @type {number} */ at) => numbered(tokens, at, asked);
  const root = `÷ √${numbers.size}`;
  const plain = numbers.bias ? t("÷ 1 (not scaled) + distance") : t("÷ 1 (not scaled)");
  const scale = !scaled ? plain : numbers.bias ? t("{root} + distance", { root }) : root;
  const named = namedDimensions(numbers);
  const wins = explainWinner(numbers).map((piece) => (typeof piece === "string" ? piece : key(piece.key)));
  const joined = t("These are products of the first key minus those of the second, {root}.", { root });
  sayAll(find(".wins"), ...wins, named.length && scaled ? ` ${joined}` : "");
  /** @param {string} title @param {number[]} bold */
  const byDimension = (title, bold) => make("span", "", title, ticksOf(numbers.size, bold));
  // The strips have the same colours for ranges of their own, which stand beside them.
  const range = (/** @type {number[][]} */ rows) => `±${fixed(largest(rows), 2)}`;
  const products = t("query × key, by dimension, {range}", { range: range(productsOf(numbers)) });
  const values = t("weight × value, {range}", { range: range(numbers.weighted) });
  const titles = [byDimension(products, named), t("sum"), scale, t("softmax → weight")];
  fill(find(".heads"), [t("key"), ...titles, byDimension(values, [])]);
  const asks = make("span", "", ...pieces("query {token}", { token: tokenAt(query, row - 1, asking) }));
  fill(find(".asks"), [asks, make("canvas"), range([numbers.query]), "", "", ""]);
  const end = { range: range([numbers.output]) };
  const output = numbers.replaced
    ? t("output of the head, replaced by an edit, {range}", end)
    : t("Σ weight × value = output of the head, {range}", end);
  fill(find(".sums"), [output, make("canvas")]);
  S.lines = children(find(".body"), numbers.keys.length, makeLine).map((box, at) => {
    const [name, products, sum, score, weight, weighted] = /** @type {HTMLElement[]} */ ([...box.children]);
    box.classList.toggle("masked", !numbers.open[at]);
    sayAll(name, key(at));
    weighted.dataset.title = values; // on a phone, where it has no column of its own
    say(sum, fixed(numbers.sums[at], numbers.digits.score));
    say(score, fixed(numbers.scores[at], numbers.digits.score));
    // A softmax gives no key exactly 0; only an edit does.
    const share = numbers.weights[at] || (numbers.edited ? 0 : Number.EPSILON);
    weight.style.setProperty("--share", `${100 * share}%`);
    weight.title = whyMasked(mask[at]);
    say(weight, numbers.open[at] ? weightText(share, numbers.digits.weight) : t("masked"));
    const [left, right] = [products.firstChild, weighted.firstChild];
    return {
      box,
      products: /** @type {HTMLCanvasElement} */ (left),
      weighted: /** @type {HTMLCanvasElement} */ (right),
    };
  });
  writeFuture(find(".future"), numbers.keys.length, tokens.length);
  find(".swatch").hidden = numbers.open.every(Boolean) && numbers.keys.length === tokens.length;
  const n = numbers.keys.length;
  say(
    find("summary"),
    t("Table: {n} key with product, score and weight", "Table: {n} keys with product, score and weight", { n }),
  );
  say(find("details output"), "");
  drawTable(S);
}

/** The numbers of some dimensions above their places. @param {number} size @param {number[]} named */
function ticksOf(size, named) {
  const marks = ticksFor(size, named).map((all) => {
    const mark = make(named.includes(all[0]) ? "b" : "span", "", all.map((i) => i + 1).join("\u2009"));
    mark.style.left = `${(100 * (all[0] + all[all.length - 1] + 1)) / 2 / size}%`;
    return mark;
  });
  return make("span", "ticks", ...marks);
}

/** @param {string} token @param {number} at @param {string} side */
const tokenAt = (token, at, side) =>
  make("span", "named", make("span", "place", `${at + 1}`), "\u2009", tokenName(token, side));

/** @param {Element} line @param {Content[]} cells */
const fill = (line, cells) => line.replaceChildren(...cells.map((cell) => make("span", "", cell)));

function makeLine() {
  const [products, weighted] = [make("canvas"), make("canvas")];
  const cells = [make("span"), make("span", "", products), make("span"), make("span")];
  return make("div", "line key", ...cells, make("span", "share"), make("span", "", weighted));
}

/** The keys that did not exist yet, in one hatched line. @param {HTMLElement} line @param {number} first @param {number} count */
function writeFuture(line, first, count) {
  line.hidden = first === count;
  const which = count - first > 1 ? `${first + 1}–${count}` : `${count}`;
  const later = t(
    "masked (future): {n} later position not read yet",
    "masked (future): {n} later positions not read yet",
    { n: count - first },
  );
  fill(line, [which, make("em", "", later)]);
}

/** Draws at the next frame. @param {CellState} S */
const redraw = (S) => (S.frame ||= requestAnimationFrame(() => draw(S)));

/** Draws the strips, marks the chosen key and dimension, and writes their numbers. @param {CellState} S */
function draw(S) {
  S.frame = 0;
  const { numbers, lines, find, header, theme, key, dimension } = S;
  S.width = S.box.clientWidth;
  const dark = S.box.dataset.theme === "dark";
  const scale = largest(productsOf(numbers));
  const painter = (/** @type {number} */ most) => {
    const colour = diverging(theme, dark, most);
    return (
      /** @type {HTMLCanvasElement} */ canvas,
      /** @type {number} */ wide,
      /** @type {number[]} */ values,
      /** @type {boolean} */ own,
    ) => paintStrip(canvas, wide, values, { colour, ink: theme.ink, mark: dimension, own });
  };
  // Measured before anything is painted: a measurement between two paintings would lay out the page again.
  const [wide, narrow] = [find(".asks canvas"), find(".sums canvas")].map(
    (canvas) => /** @type {HTMLElement} */ (canvas.parentElement).clientWidth,
  );
  const products = painter(scale);
  const weighted = painter(largest(numbers.weighted));
  lines.forEach((line, at) => {
    const chosen = at === key;
    line.box.classList.toggle("chosen", chosen);
    line.weighted.hidden = numbers.weights[at] < FAINT && !chosen;
    products(line.products, wide, numbers.products[at], chosen);
    weighted(line.weighted, narrow, numbers.weighted[at], chosen);
  });
  painter(largest([numbers.query]))(
    /** @type {HTMLCanvasElement} */ (find(".asks canvas")),
    wide,
    numbers.query,
    false,
  );
  painter(largest([numbers.output]))(
    /** @type {HTMLCanvasElement} */ (find(".sums canvas")),
    narrow,
    numbers.output,
    false,
  );
  const bar = find(".legend .ramp i");
  const colour = diverging(theme, dark, 1);
  bar.style.background = `linear-gradient(90deg, ${[-1, -0.5, 0, 0.5, 1].map((value) => css(colour(value))).join()})`;
  const chain = chainOf(header, numbers, S.mask, key, dimension);
  find(".chain").replaceChildren(
    ...chain.map(([name, ...content]) => make("li", "", make("b", "", name), " ", ...content)),
  );
  const count = numbers.keys.length;
  const place = { key: key + 1, count, token: header.tokens[key] };
  const about =
    dimension === null
      ? t("Key {key} of {count}, {token}. Arrow up and down: key; left and right: dimension.", place)
      : t(
          "Key {key} of {count}, {token}, dimension {dimension} of {size}. Arrow up and down: key; left and right: dimension.",
          { ...place, dimension: dimension + 1, size: numbers.size },
        );
  find(".rows").setAttribute("aria-label", about);
  drawWhere(S);
}

/** Draws the row of the map above, and the chosen key's weight in each head, which leads there. @param {CellState} S */
function drawWhere(S) {
  const { find, header, key } = S;
  const { seq, kind, layer, head, in_view, row, query, predicted, tokens, said } = header;
  const decoding = decodingOf(seq);
  const m = decoding?.maps[kind];
  find(".where").hidden = !m?.weights;
  find(".not-mean").hidden = !m?.weights || m.heads < 2 || in_view > 0;
  if (!decoding || !m?.weights) return;
  const [start, end] = [(row - 1) * m.keys, row * m.keys];
  const [row_title, column_title] = AXES[kind];
  const map = {
    header: {
      rows: [`${row} ${query}`],
      ends: [predicted && `→ ${predicted}`],
      columns: tokens.map((token, i) => `${i + 1} ${token}`),
      grid: [],
      row_title,
      column_title,
      unit: t("weight"),
      top: fullColour(m),
      ...PLAIN,
      caption: headTitle(kind, layer, in_view),
      places: placesIn({ data: decoding }, SIDES[kind][1], tokens),
    },
    values: Float32Array.from(weightsOf(m, layer, in_view)).subarray(start, end),
    mask: m.mask.subarray(start, end),
  };
  const isKnown = (/** @type {number} */ column) => column < S.numbers.keys.length;
  find(".strip").style.maxWidth = `${BESIDE + WIDE * tokens.length}px`; // the text stands beside it
  S.endStrip = showMap(find(".strip"), map, {
    at: { row: 0, column: key },
    chosen: (at) => (at && isKnown(at.column) ? goTo(S, at.column, S.dimension) : redraw(S)),
  });
  const weights = Array.from({ length: m.heads + 1 }, (_, h) => decimals(weightsOf(m, layer, h)[start + key]));
  say(find(".said"), said);
  const fields = { n: m.heads, head, key: numbered(tokens, header.column - 1, SIDES[kind][1]) };
  sayAll(
    find(".not-mean"),
    ...pieces(
      "The map above is the mean of {n} heads. A mean has no queries and keys: all numbers below are of head {head}, which gives {key} most.",
      fields,
    ),
  );
  find(".each").hidden = m.heads < 2;
  say(find(".mean"), t("In each head (mean {mean}):", { mean: weights[0] }));
  children(find(".segments"), m.heads, makeButton).forEach((button, i) => {
    say(button, `${shortHead(i + 1)} ${weights[i + 1]}`);
    button.title = t("Show head {head} and mark the cell", { head: i + 1 });
    button.setAttribute("aria-pressed", `${i + 1 === head}`);
    button.onclick = () => S.moved?.({ seq, kind, layer, head: i + 1, row, column: key + 1 });
  });
}

/** The products of the keys that are visible. @param {CellState["numbers"]} numbers */
const productsOf = ({ products, open }) => products.filter((_, k) => open[k]);

/** @param {number[][]} rows */
const largest = (rows) => Math.max(...rows.flat().map(Math.abs), 0) || 1;

/** A pixel as a CSS colour. @param {number} pixel */
const css = (pixel) => `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`;

/**
 * Paints numbers side by side: raised above zero, lowered below, the stronger the larger.
 * @param {HTMLCanvasElement} canvas
 * @param {number} wide
 * @param {number[]} values
 * @param {{ colour: (value: number) => number, ink: string, mark: number | null, own: boolean }} look `mark` is a dimension with a frame; a strong one in its `own` row
 */
function paintStrip(canvas, wide, values, { colour, ink, mark, own }) {
  const ctx = paper(canvas, wide, HIGH);
  const step = wide / values.length;
  const gap = step > GAPPED ? 1 : 0;
  values.forEach((value, i) => {
    ctx.fillStyle = css(colour(value));
    ctx.fillRect(i * step, value < 0 ? DROP : 0, step - gap, HIGH - DROP);
  });
  if (mark === null) return;
  Object.assign(ctx, { strokeStyle: ink, lineWidth: own && gap ? 2 : 1, globalAlpha: own ? 1 : 0.55 });
  const inset = ctx.lineWidth / 2;
  const out = gap ? 0 : 1; // around narrow dimensions, so that their colour stays
  ctx.strokeRect(mark * step + inset - out, inset, step - gap - 2 * inset + 2 * out, HIGH - 2 * inset);
  ctx.globalAlpha = 1;
}

/** Scrolls the list, and not the page, to the chosen key. @param {CellState} S */
function reveal({ find, lines, key }) {
  const [rows, heads, sums] = [find(".rows"), find(".heads"), find(".sums")];
  const { offsetTop: top, offsetHeight: high } = lines[key].box;
  const above = top - heads.offsetHeight;
  const below = top + high + sums.offsetHeight - rows.clientHeight;
  if (rows.scrollTop > above) rows.scrollTop = above;
  else if (rows.scrollTop < below) rows.scrollTop = below;
}

/** Goes to a key and a dimension, and reports the key after a pause. @param {CellState} S @param {number} key @param {number | null} dimension */
function goTo(S, key, dimension) {
  const moves = key !== S.key;
  Object.assign(S, { key, dimension });
  redraw(S);
  if (!moves) return;
  requestAnimationFrame(() => reveal(S)); // once it is drawn: on a phone, the chosen row is higher
  clearTimeout(S.reporting);
  const { moved } = S;
  if (!moved) return;
  S.reporting = setTimeout(() => {
    const { seq, kind, layer, head, row } = S.header;
    S.pending.push(S.key + 1);
    moved({ seq, kind, layer, head, row, column: S.key + 1 });
  }, PAUSE);
}

/** @param {CellState} S @param {KeyboardEvent} event */
function onKey(S, event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const { key, dimension, numbers } = S;
  const [last, end] = [numbers.keys.length - 1, numbers.size - 1];
  const best = () => {
    const sizes = numbers.products[key].map(Math.abs);
    return sizes.indexOf(Math.max(...sizes));
  };
  /** @type {Record<string, () => [number, number | null]>} */
  const moves = {
    ArrowUp: () => [Math.max(0, key - 1), dimension],
    ArrowDown: () => [Math.min(last, key + 1), dimension],
    ArrowLeft: () => [key, clamp((dimension ?? numbers.size) - 1, 0, end)],
    ArrowRight: () => [key, clamp((dimension ?? -1) + 1, 0, end)],
    Home: () => [0, dimension],
    End: () => [last, dimension],
    Enter: () => [key, dimension === null ? best() : null],
  };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  goTo(S, ...move());
}

/** @param {CellState} S @param {MouseEvent} event */
function onClick(S, event) {
  const target = /** @type {HTMLElement} */ (event.target);
  const at = S.lines.findIndex(({ box }) => box.contains(target));
  const key = at < 0 ? S.key : at;
  if (target.tagName !== "CANVAS") {
    if (at >= 0) goTo(S, key, S.dimension);
    return;
  }
  const { left, width } = target.getBoundingClientRect();
  const dimension = clamp(Math.floor(((event.clientX - left) / width) * S.numbers.size), 0, S.numbers.size - 1);
  goTo(S, key, key === S.key && dimension === S.dimension ? null : dimension);
}

/** Writes the table, if it is open. @param {CellState} S */
function drawTable(S) {
  const { find, header, numbers, mask } = S;
  if (!(/** @type {HTMLDetailsElement} */ (find("details")).open)) return;
  const side = SIDES[header.kind][1];
  const head = (/** @type {string} */ name) => Object.assign(make("th", "", name), { scope: "col" });
  find("thead tr").replaceChildren(...[t("key"), ...keyColumns(header, numbers)].map(head));
  find("tbody").replaceChildren(
    ...numbers.keys.map((_, at) =>
      make(
        "tr",
        "",
        make("td", "", numbered(header.tokens, at, side)),
        ...keyCells(numbers, mask, at).map((cell) => make("td", "", cell)),
      ),
    ),
  );
}
