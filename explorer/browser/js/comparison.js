// Two maps beside each other, and what is different: tokens, weights and words, as explorer/decoding/comparison.py and
// pair_marks.py have it; a test compares both.

import { giveForms } from "./head_forms.js";
import { AXES, SIDES, headTitle } from "./names.js";
import { changeSeen, listed, wholePercent } from "./numbers.js";
import { placesIn } from "./scripts.js";
import { rankedRow, weightsOf } from "./weights.js";
import { inSentence, t } from "./words.js";

/** @import { MapHeader } from "./structs" */
/** @import { Decoding, Kind } from "./types" */
/** @typedef {{ kind: Kind, layer: number, head: number, row: number }} At row is from 1 */
/** @typedef {{ title: string, kind: Kind, values: ArrayLike<number>, mask: Uint8Array, rows: string[], predicted: string[], columns: string[], places: number[], unit: string }} Sheet tokens without positions; of a single row or a difference, rows and what they predict have their positions */
/** @typedef {{ rows: Set<number>, ends: Set<number>, columns: Set<number>, cells: [number, number][] }} Marks */
/** @typedef {{ title: string, header: MapHeader, values: Float32Array, mask: Uint8Array }} Figure */

const DIFFERENT = 0.2; // difference of two weights from which their cells are framed
const MOST_FRAMED = 40; // cells; of more, those with the largest differences
const WORTH_NAMING = 0.05; // weight from which a second or third key of a row is named
const MOST_NAMED = 4; // changed words
const SIGN = "≠"; // before a token that the other map does not have there
const NOISE = 0.05; // difference of two weights below which a cell has neither colour nor number

/**
 * The head in view beside the nearest one of another decoding; their difference is the third figure, if sizes agree.
 * @param {Decoding} a @param {Decoding} b @param {At} at @param {string[]} titles @param {[string, string][]} texts sentence and translation of both
 * @returns {{ figures: Figure[], said: string }}
 */
export function compareDecodings(a, b, at, titles, texts) {
  const [one, other] = [a, b].map((decoding, i) => {
    const { layers, heads } = decoding.shapes[at.kind];
    const [layer, head] = [Math.min(at.layer, layers), Math.min(at.head, heads)];
    const sheet = sheetOf(decoding, { ...at, layer, head });
    return { ...sheet, title: `${titles[i].replace(/\.$/, "")}. ${headTitle(at.kind, layer, head)}` };
  });
  const { marks, said } = marked(one, other);
  const figures = [one, other].map((sheet, i) => figureOf(sheet, 1, { marks: marks[i], top: 1, signed: false }));
  const isSame = one.rows.length === other.rows.length && one.columns.length === other.columns.length;
  const minus = isSame ? [differenceOf(one, other, 1)] : [];
  const most = minus.map(({ header }) => header.caption);
  // The row that differs most, or that in view.
  const strength = minus.flatMap(({ values }) => Array.from(values, Math.abs));
  const where = strength.indexOf(Math.max(...strength));
  const row = strength[where] ? Math.floor(where / one.columns.length) : at.row - 1;
  const all = [...figures, ...minus];
  if (isSame)
    for (const { header } of all) header.grid = all.map(({ header: { rows, ends, columns } }) => [rows, ends, columns]);
  return {
    figures: all,
    said: [...most, pairInWords(one, other, row, texts), said, comparability(one, other)].join(" "),
  };
}

/** The row in view above another row of the same head, and below both their difference. @param {Decoding} decoding @param {At} at @param {number} row @returns {Figure} */
export function compareRows(decoding, at, row) {
  const whole = sheetOf(decoding, at);
  const keys = whole.columns.length;
  const places = [at.row, row].map((each) => each - 1);
  const cut = (/** @type {any} */ cells, /** @type {number} */ each) => cells.slice(each * keys, (each + 1) * keys);
  const labels = places.map((each) => `${each + 1} ${whole.rows[each]}`);
  const ends = whole.predicted.length ? places.map((each) => whole.predicted[each]) : [];
  const rows = places.map((each, i) => {
    const [values, mask] = [Float32Array.from(cut(whole.values, each)), cut(whole.mask, each)];
    return { ...whole, values, mask, rows: [labels[i]], predicted: ends.slice(i, i + 1) };
  });
  const two = {
    ...whole,
    title: headTitle(at.kind, at.layer, at.head),
    values: [...rows[0].values, ...rows[1].values],
    mask: Uint8Array.from([...rows[0].mask, ...rows[1].mask]),
    rows: labels.map((label, i) => `${"AB"[i]}: ${label}`),
    predicted: ends,
  };
  const [a, b] = rows;
  const [figure, minus] = [figureOf(two, 0, { marks: null, top: 1, signed: false }), differenceOf(a, b, 0)];
  const { top, caption } = minus.header;
  return {
    title: figure.title,
    header: { ...figure.header, rows: [...figure.header.rows, "B − A"], minus: top, caption },
    values: Float32Array.of(...figure.values, ...minus.values),
    mask: Uint8Array.of(...figure.mask, ...minus.mask),
  };
}

/** @type {Record<string, { unit: () => string, title: (fields: { layer: number }) => string, meaning: () => string }>} */
const AGGREGATES = {
  "mean-heads": {
    unit: () => t("mean weight"),
    title: (f) => t("Layer {layer}: mean over heads", f),
    meaning: () => t("Rows sum to 1. Heads that differ blur into each other."),
  },
  "max-heads": {
    unit: () => t("maximum weight"),
    title: (f) => t("Layer {layer}: maximum over heads", f),
    meaning: () => t("Whether any head looks there. Rows do not sum to 1."),
  },
  "mean-all": {
    unit: () => t("mean weight"),
    title: () => t("All layers: mean over heads and layers"),
    meaning: () => t("Rows sum to 1."),
  },
  "max-all": {
    unit: () => t("maximum weight"),
    title: () => t("All layers: maximum over heads and layers"),
    meaning: () => t("Rows do not sum to 1."),
  },
};

/** The head in view beside all heads of its layer, or of all layers, as explorer/decoding/aggregates.py. @param {Decoding} decoding @param {At} at @param {string} name @returns {{ figures: Figure[], said: string }} */
export function compareHeads(decoding, at, name) {
  const { layers, heads, area, weights } = decoding.maps[at.kind];
  const known = Object.hasOwn(AGGREGATES, name) && AGGREGATES[name];
  if (!known || !weights)
    return {
      figures: [],
      said: t("This page does not compute that aggregate. Choose another one, or open Headlight."),
    };
  const [first, n] = name.endsWith("all") ? [0, layers * heads] : [(at.layer - 1) * heads, heads];
  const values = new Float64Array(area);
  for (let head = first; head < first + n; head++)
    for (let i = 0; i < area; i++) {
      const weight = weights[head * area + i];
      values[i] = name.startsWith("max") ? Math.max(values[i], weight) : values[i] + weight / n;
    }
  const own = sheetOf(decoding, at);
  const sheets = [
    { ...own, title: headTitle(at.kind, at.layer, at.head) },
    { ...own, values, title: known.title(at), unit: known.unit() },
  ];
  return {
    figures: sheets.map((sheet) => figureOf(sheet, 1, { marks: null, top: 1, signed: false })),
    said: known.meaning(),
  };
}

/** @param {Decoding} decoding @param {At} at @returns {Sheet} */
function sheetOf(decoding, { kind, layer, head }) {
  const map = decoding.maps[kind];
  const tokens = /** @type {import("./structs").FormOfMap} */ (giveForms(decoding)[kind]?.tokens);
  const { rows, predicted, columns } = tokens;
  const places = placesIn({ data: decoding }, SIDES[kind][1], columns);
  return {
    title: "",
    kind,
    values: weightsOf(map, layer, head),
    mask: map.mask,
    rows,
    predicted,
    columns,
    places,
    unit: t("weight"),
  };
}

/** Cell by cell, B minus A. @param {Sheet} a @param {Sheet} b @param {0 | 1} numbered whether rows get a position @returns {Figure} */
function differenceOf(a, b, numbered) {
  const mask = a.mask.map((code, i) => Math.max(code, b.mask[i]));
  const values = Float32Array.from(a.values, (weight, i) =>
    mask[i] ? 0 : Math.fround(b.values[i]) - Math.fround(weight),
  );
  const rows = both(a.rows, b.rows);
  const [predicted, columns] = [both(a.predicted, b.predicted), both(a.columns, b.columns)];
  const sheet = { ...a, title: t("B minus A"), values, mask, rows, predicted, columns };
  const compared = numbered ? null : [a, b];
  const marks = compared
    ? null
    : {
        rows: unlike(a.rows, b.rows),
        ends: unlike(a.predicted, b.predicted),
        columns: unlike(a.columns, b.columns),
        cells: [],
      };
  return figureOf(sheet, numbered, { marks, top: 1, signed: true, compared }); // as the weights: what is small looks small
}

/** The places where two lists differ. @param {string[]} names @param {string[]} others */
const unlike = (names, others) => new Set(names.flatMap((name, i) => (name === others[i] ? [] : i)));

/** Each name, and the one in its place in the other list if that differs. @param {string[]} names @param {string[]} others */
const both = (names, others) => names.map((name, i) => (name === others[i] ? name : `${name} / ${others[i]}`));

/** @param {Sheet} sheet @param {0 | 1} numbered @param {{ marks: Marks | null, top: number, signed: boolean, compared?: Sheet[] | null }} scale @returns {Figure} */
function figureOf(
  { title, kind, values, mask, rows, predicted, columns, places, unit },
  numbered,
  { marks, top, signed, compared },
) {
  const sign = (/** @type {Set<number> | undefined} */ only, /** @type {string[]} */ labels) =>
    labels.map((label, i) => (only?.has(i) ? `${SIGN} ${label}` : label));
  const names = numbered ? positioned(rows) : rows;
  const [row_title, column_title] = AXES[kind];
  const shown = Float32Array.from(values, (value, i) => (mask[i] ? 0 : value));
  const header = {
    rows: sign(marks?.rows, names),
    ends: sign(marks?.ends, predicted).map((token) => (token ? `→ ${token}` : "")),
    columns: sign(marks?.columns, positioned(columns)),
    grid: [],
    row_title,
    column_title,
    unit: signed ? t("difference of {unit}", { unit }) : unit,
    top,
    signed,
    least: signed ? NOISE : 0,
    minus: 0,
    numbers: true,
    zero: "",
    frames: marks?.cells ?? [],
    caption: captionOf(shown, mask, [names, positioned(columns)], { signed, unit, compared }),
    places,
  };
  return { title, header, values: shown, mask };
}

/** @param {string[]} tokens */
const positioned = (tokens) => tokens.map((token, i) => `${i + 1} ${token}`);
/** @param {string} text */
const quoted = (text) => t("“{token}”", { token: text });

/** The largest number of a map, and where it is. @param {Float32Array} values @param {Uint8Array} mask @param {string[][]} labels @param {{ signed: boolean, unit: string, compared?: Sheet[] | null }} about */
function captionOf(values, mask, [rows, columns], { signed, unit, compared }) {
  if (mask.every(Boolean)) return t("Every cell of this map is masked.");
  const open = rows.map((_, row) =>
    mask.subarray(row * columns.length, (row + 1) * columns.length).filter((code) => !code),
  );
  const choice = !signed && open.some(({ length }) => length > 1); // a row with one open cell has none
  const counted = values.map((value, i) =>
    choice && open[Math.floor(i / columns.length)].length < 2 ? 0 : Math.abs(value),
  );
  const most = counted.reduce((best, value, i) => (value > counted[best] ? i : best), 0);
  if (signed && !values[most]) return t("Both maps are equal in every cell.");
  const [query, key] = [rows[Math.floor(most / columns.length)], columns[most % columns.length]].map(quoted);
  const value = inSentence(Math.abs(values[most]).toFixed(signed ? 2 : 3));
  if (!signed && choice && open.some(({ length }) => length < 2))
    return t("Where a row sees several keys, the largest {unit} is {value}: {query} looks at {key}.", {
      unit,
      value,
      query,
      key,
    });
  if (!signed) return t("The largest {unit} is {value}, where {query} looks at {key}.", { unit, value, query, key });
  if (compared) return gainAndLoss(mask, columns, compared);
  const less = values[most] < 0;
  const fields = { query, key, value };
  return less
    ? t("Most different: {query} gives {key} {value} less weight in B than in A.", fields)
    : t("Most different: {query} gives {key} {value} more weight in B than in A.", fields);
}

/** The keys to which row B gives most less and most more weight than row A, as the cells say it. @param {Uint8Array} mask @param {string[]} columns @param {Sheet[]} rows */
function gainAndLoss(mask, columns, [one, other]) {
  const values = Array.from(mask, (code, i) => (code ? 0 : changeSeen(one.values[i], other.values[i])));
  const [a, b] = [one.rows[0], other.rows[0]];
  const ends = [Math.min(...values), Math.max(...values)].map((value) => values.indexOf(value));
  return [...new Set(ends)]
    .filter((at) => values[at])
    .sort((one, other) => Math.abs(values[other]) - Math.abs(values[one]) || one - other)
    .map((at) => {
      const value = inSentence(Math.abs(values[at]).toFixed(2));
      const fields = { a: quoted(a), b: quoted(b), key: quoted(columns[at]), value };
      return values[at] < 0
        ? t("Row {b} gives {key} {value} less weight than row {a} does.", fields)
        : t("Row {b} gives {key} {value} more weight than row {a} does.", fields);
    })
    .join(" ");
}

/** What may be compared between two maps. @param {Sheet} a @param {Sheet} b */
function comparability(a, b) {
  const [first, second] = [a, b].map(({ rows, columns }) => `${rows.length} × ${columns.length}`);
  if (first !== second)
    return t("The maps differ in size ({first} and {second}), so there is no difference to draw.", { first, second });
  const isSame = a.rows.join("\n") === b.rows.join("\n") && a.columns.join("\n") === b.columns.join("\n");
  return isSame ? t("Both maps have the same tokens.") : t("Cells are compared by position.");
}

/** Marks what only one of two maps has, and the counterparts whose weights differ. @param {Sheet} a @param {Sheet} b @returns {{ marks: Marks[], said: string }} */
function marked(a, b) {
  const [read, written] = [matched(a.rows, b.rows), matched(a.predicted, b.predicted)];
  const rows = a.predicted.length && b.predicted.length ? written : read;
  const columns = matched(a.columns, b.columns);
  /** @type {{ by: number, cells: [number, number][] }[]} */
  const pairs = [];
  for (const [i, j] of rows.pairs)
    for (const [k, m] of columns.pairs) {
      const [at, there] = [i * a.columns.length + k, j * b.columns.length + m];
      if (a.mask[at] || b.mask[there]) continue;
      const by = Math.abs(Math.fround(b.values[there]) - Math.fround(a.values[at]));
      pairs.push({ by, cells: [[i, k], [j, m]] }); // prettier-ignore
    }
  const differing = pairs.filter(({ by }) => by >= DIFFERENT).sort((one, other) => other.by - one.by);
  const framed = differing.slice(0, MOST_FRAMED);
  const marks = [0, 1].map((side) => ({
    rows: read.only[side],
    ends: written.only[side],
    columns: columns.only[side],
    cells: framed.map(({ cells }) => cells[side]),
  }));
  const isMarked = marks.some((each) => each.rows.size || each.ends.size || each.columns.size);
  const sentences = [
    isMarked ? t("{sign} marks words that differ.", { sign: SIGN }) : "",
    framesInWords(framed.length, differing.length, pairs.length),
  ];
  return { marks, said: sentences.filter(Boolean).join(" ") };
}

/** @param {number} framed @param {number} differing @param {number} compared */
function framesInWords(framed, differing, compared) {
  const least = inSentence(`${DIFFERENT}`);
  if (!differing)
    return t(
      "Of {n} weight that both maps have, none differs by {least:g} or more.",
      "Of {n:,} weights that both maps have, none differs by {least:g} or more.",
      { n: compared, least },
    );
  if (framed < differing)
    return t("Frames mark the {n} largest of {all} that differ by {least:g} or more.", {
      n: framed,
      all: t("{n} weight", "{n:,} weights", { n: differing }),
      least,
    });
  return t(
    "Frames mark {n} weight that differ by {least:g} or more.",
    "Frames mark {n:,} weights that differ by {least:g} or more.",
    { n: differing, least },
  );
}

/** Pairs of counterparts, and what only one side has there. @param {string[]} a @param {string[]} b */
function matched(a, b) {
  /** @type {[number, number][]} */
  const pairs = [];
  const only = [new Set(), new Set()];
  for (const { from, to, changed } of runsOf(a, b)) {
    const [size, others] = [to[0] - from[0], to[1] - from[1]];
    if (size === others) for (let i = 0; i < size; i++) pairs.push([from[0] + i, from[1] + i]);
    for (const side of changed ? [0, 1] : []) for (let i = from[side]; i < to[side]; i++) only[side].add(i);
  }
  return { pairs, only };
}

/** @typedef {{ from: [number, number], to: [number, number], changed: boolean }} Run of items of both lists */

/** Two lists as runs that are equal or changed, in turns (Ratcliff and Obershelp 1988). @param {string[]} a @param {string[]} b @returns {Run[]} */
function runsOf(a, b) {
  /** @type {Run[]} */
  const runs = [];
  let [i, j] = [0, 0];
  for (const [k, m, size] of [...blocksOf(a, b, 0, a.length, 0, b.length), [a.length, b.length, 0]]) {
    if (i < k || j < m) runs.push({ from: [i, j], to: [k, m], changed: true });
    if (size) runs.push({ from: [k, m], to: [k + size, m + size], changed: false });
    [i, j] = [k + size, m + size];
  }
  return runs;
}

/** The longest common run of two stretches, then those on either side of it. @param {string[]} a @param {string[]} b @param {number} a0 @param {number} a1 @param {number} b0 @param {number} b1 @returns {number[][]} */
function blocksOf(a, b, a0, a1, b0, b1) {
  let [i, j, size] = [a0, b0, 0];
  let lengths = new Uint32Array(b1 - b0 + 1); // of the common run that ends at each item of b
  for (let k = a0; k < a1; k++) {
    const next = new Uint32Array(lengths.length);
    for (let m = b0; m < b1; m++) {
      if (a[k] !== b[m]) continue;
      const length = (next[m - b0 + 1] = lengths[m - b0] + 1);
      if (length > size) [i, j, size] = [k - length + 1, m - length + 1, length];
    }
    lengths = next;
  }
  if (!size) return [];
  return [...blocksOf(a, b, a0, i, b0, j), [i, j, size], ...blocksOf(a, b, i + size, a1, j + size, b1)];
}

const WORDS = /(?:[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+)\s*/gu;

/** All changes between two sentences in words. @param {string} before @param {string} after */
function changesInWords(before, after) {
  const [old, young] = [before, after].map((text) => (text.match(WORDS) ?? []).map((word) => word.trim()));
  const [written, rewritten] = [before, after].map((text) => text.match(WORDS) ?? []);
  const changed = runsOf(old, young).filter((run) => run.changed);
  if (!changed.length) return t("No word changes.");
  const parts = changed.slice(0, MOST_NAMED).map(({ from, to }) => {
    const [gone, come] = [written.slice(from[0], to[0]), rewritten.slice(from[1], to[1])].map((each) =>
      quoted(each.join("").trim()),
    );
    if (from[1] === to[1]) return t("{word} is missing", { word: gone });
    return from[0] < to[0] ? t("{old} became {new}", { old: gone, new: come }) : t("{word} is new", { word: come });
  });
  const n = changed.length - MOST_NAMED;
  if (n > 0) parts.push(t("there are {n} more change", "there are {n:,} more changes", { n }));
  return `${listed(parts)}.`;
}

/** Which words of two sentences and of their translations differ, and what a row of both maps looks at. @param {Sheet} a @param {Sheet} b @param {number} row @param {[string, string][]} texts */
function pairInWords(a, b, row, [[source, target], [otherSource, otherTarget]]) {
  const words = t("Sentence: {source} Translation: {target}", {
    source: changesInWords(source, otherSource),
    target: changesInWords(target, otherTarget),
  });
  if (row >= Math.min(a.rows.length, b.rows.length)) return words;
  return t("{words} In A, {a} In B, {b}", { words, a: rowInWords(a, row), b: rowInWords(b, row) });
}

/** The keys at which a row looks most. @param {Sheet} sheet @param {number} row */
function rowInWords({ values, mask, rows, columns }, row) {
  const query = quoted(`${row + 1} ${rows[row]}`);
  const best = rankedRow(values, mask, row, columns.length)
    .seen.slice(0, 3)
    .filter(({ weight }) => weight > 0);
  if (!best.length) return t("{query} can see nothing.", { query });
  const keys = best
    .filter(({ weight }, i) => !i || weight >= WORTH_NAMING)
    .map(({ key, weight }) => `${quoted(`${key + 1} ${columns[key]}`)} (${wholePercent(weight)})`);
  return t("{query} looks at {keys}.", { query, keys: keys.join(", ") });
}
