// What differs between two maps: tokens that only one of them has, and cells with another weight; as
// explorer/decoding/pair_marks.py.

import { matched, runsOf } from "./matching.js";
import { listed, quoted } from "./numbers.js";
import { inSentence, t } from "./words.js";

/** @import { Sheet } from "./comparison.js" */
/** @typedef {{ rows: Set<number>, ends: Set<number>, columns: Set<number>, cells: [number, number][], twins: [number[], number[]] }} Marks */
/** A word's pieces and their name. @typedef {{ places: number[], name: string }} Word */

export const SIGN = "≠"; // before a token that the other map does not have there
export const DIFFERENT = 0.2; // difference of two weights from which their cells are framed
export const MOST_NAMED = 4; // words in a sentence
export const NAMED = 0.01; // difference from which two weights are not the same in two decimals
const PEAK = 2; // largest weight of a row, from which it is not spread out, as a multiple of equal weights
const LEADS = 0.1; // by how much a row looks more at one word than at any other, for it to be paired by that word

/** The words of the rows (axis 0), of what they predict (1), or of the columns (2) of a map; if all pieces are single characters, each is a word. @param {Sheet} sheet @param {number} axis @returns {Word[]} */
export function wordsAlong({ rows, predicted, columns, continued }, axis) {
  const names = [rows, predicted, columns][axis];
  const isLetter = (/** @type {number} */ at) => [...names[at]].length < 2;
  const inner = [...continued[axis]].filter(Boolean);
  const isSpelt = inner.every((at) => isLetter(at) && isLetter(at - 1));
  const starts = [...names.keys()].filter((at) => isSpelt || !inner.includes(at));
  return starts.map((start, i) => {
    const places = Array.from({ length: (starts[i + 1] ?? names.length) - start }, (_, nth) => start + nth);
    return { places, name: places.map((at) => names[at]).join("") };
  });
}

/** Words along an axis that have counterparts, and the places of those that differ. @param {Sheet} a @param {Sheet} b @param {number} axis @returns {{ pairs: Word[][], only: Set<number>[] }} */
function matchedAlong(a, b, axis) {
  const words = [a, b].map((sheet) => wordsAlong(sheet, axis));
  const [names, others] = words.map((each) => each.map(({ name }) => name));
  const { pairs, only } = matched(names, others);
  const found = pairs.map(([i, j]) => [words[0][i], words[1][j]]);
  const byKey = axis === rowAxis(a, b) ? matchedByKey([a, b], words, pairs) : [];
  return {
    pairs: [...found, ...byKey].sort(([one], [other]) => one.places[0] - other.places[0]),
    only: only.map((own, side) => new Set([...own].flatMap((at) => words[side][at].places))),
  };
}

/** The words of rows that have no counterpart by their names: in order, if they look most at the same word. @param {Sheet[]} sheets @param {Word[][]} words @param {number[][]} pairs @returns {Word[][]} */
function matchedByKey(sheets, words, pairs) {
  const lone = words.map((own, side) => own.filter((_, at) => !pairs.some((pair) => pair[side] === at)));
  if (!lone.every(({ length }) => length)) return [];
  const found = matchedAlong(sheets[0], sheets[1], 2).pairs;
  const keys = sheets.map((sheet, side) =>
    lone[side].map(({ places: [row] }, nth) => {
      const leading = leadingOf(sheet, row);
      const pair = found.find((each) => each[side].places[0] === leading);
      return pair ? `${pair[0].places[0]}` : `${"AB"[side]} ${nth}`; // is like no other
    }),
  );
  return runsOf(keys[0], keys[1])
    .filter(({ changed }) => !changed)
    .flatMap(({ from: [i, j], to: [end] }) => lone[0].slice(i, end).map((word, n) => [word, lone[1][j + n]]));
}

/** The word that a row looks at clearly more than at any other, by the place of its first piece; -1 if none. @param {Sheet} sheet @param {number} row */
function leadingOf(sheet, row) {
  const pieces = sheet.columns.map((_, at) => weightIn(sheet, row, [at]));
  if (Math.max(...pieces) < PEAK / pieces.length) return -1;
  const [first, second] = wordsAlong(sheet, 2)
    .map(({ places }) => ({ at: places[0], weight: weightIn(sheet, row, places) }))
    .sort((one, other) => other.weight - one.weight);
  return first && first.weight - (second?.weight ?? 0) >= LEADS ? first.at : -1;
}

/** The weight of the pieces of a word together. @param {Sheet} sheet @param {number} row @param {number[]} places */
function weightIn({ values, mask, columns }, row, places) {
  const cells = places.map((at) => row * columns.length + at).filter((cell) => !mask[cell]);
  return Math.fround(cells.reduce((sum, cell) => sum + Math.fround(values[cell]), 0));
}

/** What rows are matched by: what they predict, if both maps have it. @param {Sheet} a @param {Sheet} b */
export const rowAxis = (a, b) => Number(a.predicted.length > 0 && b.predicted.length > 0);

/** Whether two words have as many pieces. @param {Word[]} pair */
const isEven = ([one, other]) => one.places.length === other.places.length;

/** The rows of two maps that have counterparts: piece by piece, or by the first pieces of a word. @param {Sheet} a @param {Sheet} b @returns {[number, number][]} */
const rowsMatched = (a, b) =>
  matchedAlong(a, b, rowAxis(a, b)).pairs.flatMap((pair) =>
    pair[0].places
      .slice(0, isEven(pair) ? undefined : 1)
      .map((at, nth) => /** @type {[number, number]} */ ([at, pair[1].places[nth]])),
  );

/** Both maps where rows and columns have counterparts, in the order of A, to be subtracted; null if none have. A column is a piece of a word, or a whole word if its counterpart has not as many. @param {Sheet} a @param {Sheet} b @returns {Sheet[] | null} */
export function subtracted(a, b) {
  const rows = rowsMatched(a, b);
  const columns = matchedAlong(a, b, 2).pairs.flatMap((pair) =>
    isEven(pair) ? pair[0].places.map((at, nth) => [[at], [pair[1].places[nth]]]) : [pair.map(({ places }) => places)],
  );
  if (!rows.length || !columns.length) return null;
  const positions = [rows, columns.map(([[i], [j]]) => [i, j])];
  return [a, b].map((sheet, side) => {
    const own = rows.map((pair) => pair[side]);
    const cells = own.flatMap((row) => columns.map((word) => word[side].map((at) => row * sheet.columns.length + at)));
    return {
      ...sheet,
      values: cells.map((each) => each.reduce((sum, at) => sum + Math.fround(sheet.values[at]), 0)),
      mask: Uint8Array.from(cells, (each) => Math.min(...each.map((at) => sheet.mask[at]))),
      rows: own.map((at) => sheet.rows[at]),
      predicted: sheet.predicted.length ? own.map((at) => sheet.predicted[at]) : [],
      columns: columns.map((word) => word[side].map((at) => sheet.columns[at]).join("")),
      places: orderOf(sheet.places, columns, side),
      positions,
    };
  });
}

/** The places of columns that are left of others, from the left. @param {number[]} places of all columns, empty if they are in order @param {number[][][]} columns @param {number} side */
function orderOf(places, columns, side) {
  if (!places.length) return [];
  const left = columns.map((word) => Math.min(...word[side].map((at) => places[at])));
  return left.map((at) => left.filter((other) => other < at).length);
}

/** The words along an axis that have no counterpart in the other map. @param {Sheet} a @param {Sheet} b @param {number} axis */
export function loneWords(a, b, axis) {
  const { pairs } = matchedAlong(a, b, axis);
  return [a, b].map((sheet, side) => {
    const paired = new Set(pairs.map((pair) => pair[side].places[0]));
    return wordsAlong(sheet, axis).filter(({ places }) => !paired.has(places[0]));
  });
}

/** Marks what only one of two maps has, and the counterparts whose weights differ. @param {Sheet} a @param {Sheet} b @returns {{ marks: Marks[], legend: string, said: string }} what the marks mean, and what is compared */
export function marked(a, b) {
  const [read, written, columns] = [0, 1, 2].map((axis) => matchedAlong(a, b, axis));
  const pairs = counterparts(a, b);
  const differing = pairs.filter(({ change }) => change >= DIFFERENT);
  const framed = differing.length ? differing : worthNaming(pairs);
  const twins = twinsOf(a, b);
  const marks = [0, 1].map((side) => ({
    rows: read.only[side],
    ends: written.only[side],
    columns: columns.only[side],
    cells: framed.flatMap(({ rows, words }) =>
      words[side].places.map((at) => /** @type {[number, number]} */ ([rows[side], at])),
    ),
    twins: twins[side],
  }));
  const isMarked = marks.some((each) => each.rows.size || each.ends.size || each.columns.size);
  const legend = [
    isMarked ? t("{sign} marks words that differ or are missing.", { sign: SIGN }) : "",
    framesInWords(framed.length, differing.length, pairs.length),
  ];
  const said = [uncompared(a, b), pairsInWords(a, b)];
  return { marks, legend: legend.filter(Boolean).join(" "), said: said.filter(Boolean).join(" ") };
}

/** For the rows and the columns of both maps: the place in A of each one's counterpart, as `_twins` of pair_marks.py. @param {Sheet} a @param {Sheet} b @returns {[number[], number[]][]} */
function twinsOf(a, b) {
  /** @type {[number[], number[]]} */
  const own = [[...a.rows.keys()], [...a.columns.keys()]];
  /** @type {[number[], number[]]} */
  const its = [b.rows.map(() => -1), b.columns.map(() => -1)];
  for (const [i, j] of rowsMatched(a, b)) its[0][j] = i;
  for (const pair of matchedAlong(a, b, 2).pairs) {
    const [{ places }, other] = pair;
    for (const at of places) own[1][at] = isEven(pair) ? at : places[0];
    other.places.forEach((at, nth) => (its[1][at] = places[isEven(pair) ? nth : 0]));
  }
  return [own, its];
}

/** Names the words whose rows or columns have no counterpart. @param {Sheet} a @param {Sheet} b */
function uncompared(a, b) {
  const parts = [rowAxis(a, b), 2].flatMap((axis) =>
    loneWords(a, b, axis).flatMap((own, side) => {
      const fields = { n: own.length, words: listed(own.map(({ name }) => quoted(name))), map: "AB"[side] };
      if (!own.length) return [];
      if (axis === 2) return t("the column {words} of {map}", "the columns {words} of {map}", fields);
      return axis
        ? t("the row of {map} that writes {words}", "the rows of {map} that write {words}", fields)
        : t("the row {words} of {map}", "the rows {words} of {map}", fields);
    }),
  );
  if (!parts.length) return "";
  return t("No single counterpart, so neither compared nor in B − A: {parts}.", { parts: parts.join("; ") });
}

/** Says how rows are compared whose words differ in their numbers of pieces, or in their names. @param {Sheet} a @param {Sheet} b */
function pairsInWords(a, b) {
  const rows = matchedAlong(a, b, rowAxis(a, b)).pairs;
  const isUneven = rows.some((pair) => !isEven(pair));
  const [names, others] = [a, b].map((sheet) => wordsAlong(sheet, rowAxis(a, b)).map(({ name }) => name));
  const isByKey = rows.length > matched(names, others).pairs.length;
  return [
    ...(isUneven ? [t("Words with unequal numbers of pieces are compared by the rows of their first pieces.")] : []),
    ...(isByKey ? [t("Words that differ are paired where they look most at the same word.")] : []),
  ].join(" ");
}

/** The weights of two maps that can be compared, those that differ most first; a key is a whole word. @param {Sheet} a @param {Sheet} b @returns {{ change: number, rows: [number, number], words: Word[], weights: number[] }[]} */
export function counterparts(a, b) {
  const keys = matchedAlong(a, b, 2).pairs;
  const pairs = rowsMatched(a, b).flatMap((rows) =>
    keys.flatMap((words) => {
      const cells = [a, b].map((sheet, side) => words[side].places.map((at) => rows[side] * sheet.columns.length + at));
      if ([a, b].some(({ mask }, side) => cells[side].every((cell) => mask[cell]))) return [];
      const weights = [a, b].map((sheet, side) => weightIn(sheet, rows[side], words[side].places));
      return { change: Math.abs(weights[1] - weights[0]), rows, words, weights };
    }),
  );
  return pairs.sort((one, other) => other.change - one.change);
}

/** The pair that differs most, if it does in the decimals that a sentence gives. @param {ReturnType<typeof counterparts>} pairs */
export const worthNaming = ([first]) => (first && first.change >= NAMED ? [first] : []);

/** @param {number} framed @param {number} differing @param {number} compared */
function framesInWords(framed, differing, compared) {
  const least = inSentence(`${DIFFERENT}`);
  if (!compared) return "";
  if (!differing) {
    const none = t(
      "Of {n} weight with a counterpart, none differs by {least:g} or more.",
      "Of {n:,} weights with a counterpart, none differs by {least:g} or more.",
      { n: compared, least },
    );
    return framed ? `${none} ${t("The largest difference is framed.")}` : none;
  }
  return t(
    "The frame marks the one weight that differs by {least:g} or more.",
    "Frames mark {n:,} weights that differ by {least:g} or more.",
    { n: differing, least },
  );
}
