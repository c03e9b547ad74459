// Two maps beside each other, and what is different: tokens, weights and words, as explorer/decoding/comparison.py and
// pair_marks.py have it; a test compares both.

import { formIn } from "./head_forms.js";
import { PLAIN } from "./labelled_map.js";
import { AXES, SIDES, headTitle } from "./names.js";
import { changeSeen, listed, quoted } from "./numbers.js";
import {
  DIFFERENT,
  MOST_NAMED,
  NAMED,
  SIGN,
  counterparts,
  loneWords,
  marked,
  rowAxis,
  subtracted,
  wordsAlong,
  worthNaming,
} from "./pair_marks.js";
import { placesIn } from "./scripts.js";
import { spansOf, weightsOf } from "./weights.js";
import { pairOf } from "./word_changes.js";
import { inSentence, t } from "./words.js";

/** @import { MapHeader } from "./structs" */
/** @import { Content, Decoding, Kind } from "./types" */
/** @typedef {{ kind: Kind, layer: number, head: number, row: number }} At row is from 1 */
/** @typedef {{ title: string, kind: Kind, values: ArrayLike<number>, mask: Uint8Array, rows: string[], predicted: string[], columns: string[], places: number[], unit: string, continued: Set<number>[], positions?: number[][][] }} Sheet tokens without positions; of a single row or a difference, rows and what they predict have their positions; `continued`: rows, what they predict, and columns that continue the word before; `positions`: of rows and columns (from 0) in A and in B, of a difference */
/** @import { Marks } from "./pair_marks.js" */
/** @typedef {{ title: string, header: MapHeader, values: Float32Array, mask: Uint8Array }} Figure */

const NAMES = ["A", "B", "B − A"];
const FEW = 12; // columns at most whose names may have two lines, if a number stands before
const MANY = 3; // maps in a row, which have no room for all names
const LEAST_TOP = 0.25; // end of the scale of differences: a smaller largest difference stays pale
const EXPLAINS = 0.5; // share of a change from which weights of words without a counterpart are said with it
const NOISE = 0.05; // difference of two weights below which a cell has no number

/**
 * The head in view beside the nearest one of another decoding; their difference is the third figure, if enough rows have counterparts.
 * @param {Decoding} a @param {Decoding} b @param {At} at @param {string[]} titles @param {[string, string][]} texts sentence and translation of both
 * @returns {{ figures: Figure[], said: string, legend: string, about: string, pair: Content[][] }} `said` names what differs most, `legend` the marks, `about` what is compared
 */
export function compareDecodings(a, b, at, titles, texts) {
  const [one, other] = [a, b].map((decoding, i) => {
    const { layers, heads } = decoding.shapes[at.kind];
    const [layer, head] = [Math.min(at.layer, layers), Math.min(at.head, heads)];
    const sheet = sheetOf(decoding, { ...at, layer, head });
    return { ...sheet, title: `${titles[i].replace(/\.$/, "")}. ${headTitle(at.kind, layer, head)}` };
  });
  const { marks, legend, said } = marked(one, other);
  const figures = [one, other].map((sheet, i) => figureOf(sheet, 1, { marks: marks[i], top: 1, signed: false }));
  const common = subtracted(one, other);
  const minus = common ? [differenceOf(common[0], common[1], 1, marksIn(common[0], marks[0]))] : [];
  const all = [...figures, ...minus];
  const grid = inRow(all);
  all.forEach(({ header }, i) => Object.assign(header, { grid: [grid[i], ...grid], group: "compare", name: NAMES[i] }));
  return { figures: all, said: pairInWords(one, other), legend, about: said, pair: pairOf(texts) };
}

/** The marks of A in the map that `subtracted` made of it. @param {Sheet} sheet @param {Marks} marks @returns {Marks} */
function marksIn({ positions = [[], []] }, { rows, ends, columns, cells }) {
  const [inRows, inColumns] = positions.map((each) => each.map(([at]) => at));
  const among = (/** @type {number[]} */ places, /** @type {Set<number>} */ only) =>
    new Set([...places.keys()].filter((i) => only.has(places[i])));
  return {
    rows: among(inRows, rows),
    ends: among(inRows, ends),
    columns: among(inColumns, columns),
    cells: cells
      .filter(([, key]) => inColumns.includes(key))
      .map(([row, key]) => [inRows.indexOf(row), inColumns.indexOf(key)]),
    twins: [inRows, inColumns],
  };
}

/** The labels of the maps in a row, as `in_row` of explorer/browser/labelled_map.py. @param {Figure[]} maps @returns {MapHeader["grid"]} */
const inRow = (maps) =>
  maps.map(({ header: { rows, ends, columns, signed, frames, least }, values }, nth) => {
    const inLine = maps.length === MANY && `${maps[1].header.twin_rows}` === `${[...maps[0].header.rows.keys()]}`;
    const writes = ends.some(Boolean);
    const isDiffering = (/** @type {number} */ i) => columns.length <= FEW && rows[i].startsWith(SIGN);
    if (nth === 1 && inLine) {
      rows = columns.length <= FEW || !writes ? some(rows, (i) => rows[i].startsWith(SIGN)) : positions(rows);
      ends = ends.map((end) => (end.includes(SIGN) ? end : ""));
    }
    if (!signed) return [rows, ends, columns, 1];
    const cells = [...values.keys()].filter((i) => Math.abs(values[i]) >= least);
    const named = [...cells.map((i) => [Math.floor(i / columns.length), i % columns.length]), ...frames];
    if (inLine) rows = some(rows, (i) => isDiffering(i) || named.some(([row]) => row === i));
    else if (writes) rows = positions(rows);
    const keys = some(columns, (i) => named.some(([, column]) => column === i));
    const isFree = (/** @type {number} */ i) => keys.length <= FEW && /\d$/.test(keys[i - 1] ?? "0");
    return [rows.map(inTwo), inLine ? [] : ends.map(inTwo), keys.map((key, i) => (isFree(i) ? inTwo(key) : key)), 1];
  });

/** @param {string} name of two words */
const inTwo = (name) => name.replace(" / ", " /\n");

/** The positions: "2" of "≠ 2 dog", "6/10" of "6/10 den". @param {string[]} names */
const positions = (names) => names.map((name) => name.replace(`${SIGN} `, "").split(" ")[0]);

/** The names that are kept, and those of what has other positions in A than in B; of the others, the positions alone. @param {string[]} names @param {(i: number) => boolean} isKept */
const some = (names, isKept) =>
  positions(names).map((position, i) => {
    if (isKept(i) || position.includes("/")) return names[i];
    return names[i].startsWith(SIGN) ? `${SIGN} ${position}` : position;
  });

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
  const [figure, minus] = [figureOf(two, 0, { marks: null, top: 1, signed: false }), differenceOf(a, b, 0, null)];
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
  const { rows, predicted, columns } = formIn(decoding, kind, "tokens");
  const places = placesIn({ data: decoding }, SIDES[kind][1], columns);
  const [inRows, inColumns] = SIDES[kind].map((side) => piecesAfter(decoding[side].words));
  const read = [...inRows].filter((i) => predicted.length && rows[i] === predicted[i - 1]);
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
    continued: [inRows, new Set(read.map((i) => i - 1)), inColumns],
  };
}

/** The tokens that continue the word of the one before. @param {number[]} words */
const piecesAfter = (words) =>
  new Set([...words.keys()].filter((at) => !spansOf(words).some(([start]) => start === at)));

/** Cell by cell, B minus A. @param {Sheet} a @param {Sheet} b @param {0 | 1} numbered whether rows get a position @param {Marks | null} marks @returns {Figure} */
function differenceOf(a, b, numbered, marks) {
  const mask = a.mask.map((code, i) => Math.max(code, b.mask[i]));
  const values = Float32Array.from(a.values, (weight, i) =>
    mask[i] ? 0 : Math.fround(b.values[i]) - Math.fround(weight),
  );
  const sheet = { ...a, ...bothOf(a, b), title: t("B minus A"), values, mask };
  const largest = Math.max(...values.map(Math.abs));
  const top = Math.max(LEAST_TOP, Math.ceil(Math.round(2000 * largest) / 100) / 20);
  return figureOf(sheet, numbered, { marks, top, signed: true, compared: [a, b] });
}

/** The names of two maps, in line. @param {Sheet} a @param {Sheet} b */
const bothOf = (a, b) => ({
  rows: both(a.rows, b.rows),
  predicted: both(a.predicted, b.predicted),
  columns: both(a.columns, b.columns),
});

/** Each name, and the one in its place in the other list if that differs. @param {string[]} names @param {string[]} others */
const both = (names, others) => names.map((name, i) => (name === others[i] ? name : `${name} / ${others[i]}`));

/** @param {Sheet} sheet @param {0 | 1} numbered @param {{ marks: Marks | null, top: number, signed: boolean, compared?: Sheet[] | null }} scale @returns {Figure} */
function figureOf(
  { title, kind, values, mask, rows, predicted, columns, places, unit, positions },
  numbered,
  { marks, top, signed, compared },
) {
  const sign = (/** @type {Set<number> | undefined} */ only, /** @type {string[]} */ labels) =>
    labels.map((label, i) => (only?.has(i) ? `${SIGN} ${label}` : label));
  const names = numbered ? positioned(rows, positions?.[0]) : rows;
  const keys = positioned(columns, positions?.[1]);
  const [row_title, column_title] = AXES[kind];
  const shown = Float32Array.from(values, (value, i) => (mask[i] ? 0 : value));
  const header = {
    ...PLAIN,
    rows: sign(marks?.rows, names),
    ends: sign(marks?.ends, predicted).map((token) => (token ? `→ ${token}` : "")),
    columns: sign(marks?.columns, keys),
    grid: [],
    row_title,
    column_title,
    unit: signed ? t("difference of {unit}", { unit }) : unit,
    top,
    signed,
    least: signed ? NOISE : 0,
    frames: marks?.cells ?? [],
    twin_rows: marks?.twins[0] ?? [],
    twin_columns: marks?.twins[1] ?? [],
    caption: captionOf(shown, mask, [names, keys], { signed, unit, compared }),
    places,
  };
  return { title, header, values: shown, mask };
}

/** Tokens with their positions, with two if these differ in A and B: "6/10 den". @param {string[]} tokens @param {number[][]} [places] */
const positioned = (tokens, places) =>
  tokens.map((token, i) => `${[...new Set(places?.[i] ?? [i])].map((at) => at + 1).join("/")} ${token}`);

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
  if (compared && compared[0].rows.length < 2) return gainAndLoss(mask, columns, compared);
  const sign = signed && values[most] > 0 ? "+" : "";
  const value = inSentence(`${sign}${values[most].toFixed(3)}`).replace("-", "−");
  const fields = { unit: signed ? t("difference of {unit}", { unit }) : unit, value, query, key };
  return choice && open.some(({ length }) => length < 2)
    ? t("Where a row sees several keys, the largest {unit} is {value}: {query} looks at {key}.", fields)
    : t("The largest {unit} is {value}, where {query} looks at {key}.", fields);
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

/** @param {Sheet} a @param {Sheet} b @param {ReturnType<typeof counterparts>[0]} pair */
function onePairInWords(a, b, pair) {
  const { rows, words, weights } = pair;
  const writes = [a, b].every(({ predicted }, side) => predicted[rows[side]]); // a row inside a prompt does not
  const axis = Number(writes && rowAxis(a, b));
  const named = [a, b].map((sheet, side) => wordOf(sheet, axis, rows[side]));
  const keys = words.map((word, side) => withWeight(word, weights[side], elsewhere(a, b, pair, side)));
  return looksMore(named, keys, weights, writes);
}

/** The counterparts that differ most; as `pair_in_words`. @param {Sheet} a @param {Sheet} b */
function pairInWords(a, b) {
  const pairs = counterparts(a, b);
  const differing = pairs.filter(({ change }) => change >= DIFFERENT);
  const named = differing.length === 2 ? differing : worthNaming(pairs);
  if (named.length) return named.map((pair) => onePairInWords(a, b, pair)).join(" ");
  const whole = [a, b, ...(subtracted(a, b) ?? [])].map(({ rows, columns }) => `${[rows.length, columns.length]}`);
  if (whole.length > 2 && new Set(whole).size < 2 && pairs[0]?.change === 0)
    return t("Both maps are equal in every cell.");
  return "";
}

/** The word that a row writes (axis 1) or reads, if it is at the word's first piece; otherwise the piece. @param {Sheet} sheet @param {number} axis @param {number} row */
const wordOf = (sheet, axis, row) =>
  wordsAlong(sheet, axis).find(({ places }) => places[0] === row)?.name ?? [sheet.rows, sheet.predicted][axis][row];

/** A word in quotation marks and the weight that it gets, that of all its pieces, and what goes elsewhere. @param {import("./pair_marks.js").Word} word @param {number} weight @param {string} elsewhere */
function withWeight({ name, places }, weight, elsewhere) {
  const number = inSentence(weight.toFixed(2));
  const fields = { word: quoted(name), weight: places.length > 1 ? t("{number} together", { number }) : number };
  return elsewhere ? t("{word} ({weight}; {elsewhere})", { ...fields, elsewhere }) : t("{word} ({weight})", fields);
}

/** What the row that gives less gives to words without a counterpart, as `_elsewhere` of comparison.py. @param {Sheet} a @param {Sheet} b @param {ReturnType<typeof counterparts>[0]} pair @param {number} side */
function elsewhere(a, b, { rows, weights, change }, side) {
  if (weights[side] > weights[1 - side]) return "";
  const sumOf = (/** @type {{ weight: number }[]} */ each) => each.reduce((sum, { weight }) => sum + weight, 0);
  const lone = loneWords(a, b, 2).map((words, i) => {
    const { values, columns } = [a, b][i];
    const weightOf = (/** @type {number} */ at) => Math.fround(values[rows[i] * columns.length + at]);
    return words
      .map(({ name, places }) => ({ name, weight: places.reduce((sum, at) => sum + weightOf(at), 0) }))
      .sort((one, other) => other.weight - one.weight);
  });
  const named = lone[side].filter(({ weight }) => weight >= NAMED).slice(0, MOST_NAMED);
  if (sumOf(named) - sumOf(lone[1 - side]) < EXPLAINS * change) return "";
  const fields = {
    weight: inSentence(sumOf(named).toFixed(2)),
    words: listed(named.map(({ name }) => quoted(name))),
    map: "BA"[side],
  };
  return t("another {weight} goes to {words}, which {map} lacks there", fields);
}

/** In which of two maps a row looks more at a word, as `_looks_more` of comparison.py. @param {string[]} rows @param {string[]} keys @param {number[]} weights @param {boolean} writes */
function looksMore(rows, keys, weights, writes) {
  const [one, two] = weights[0] > weights[1] ? [0, 1] : [1, 0];
  const [word, its] = [quoted(rows[one]), quoted(rows[two])];
  const fields = { word, more: "AB"[one], key: keys[one], less: "AB"[two], other: keys[two], its };
  const isSame = rows[0].toLowerCase() === rows[1].toLowerCase();
  if (writes && isSame) return t("To write {word}, {more} looks more at {key} than {less} at {other}.", fields);
  if (writes) return t("To write {word}, {more} looks more at {key} than {less} at {other} to write {its}.", fields);
  return isSame
    ? t("From {word}, {more} looks more at {key} than {less} at {other}.", fields)
    : t("From {word}, {more} looks more at {key} than {less}, from {its}, at {other}.", fields);
}
