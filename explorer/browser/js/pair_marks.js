// What differs between two maps: tokens that only one of them has, and cells with another weight; as
// explorer/decoding/pair_marks.py.

import { matched } from "./matching.js";
import { listed, quoted } from "./numbers.js";
import { inSentence, t } from "./words.js";

/** @import { Sheet } from "./comparison.js" */
/** @typedef {{ rows: Set<number>, ends: Set<number>, columns: Set<number>, cells: [number, number][] }} Marks */

export const SIGN = "≠"; // before a token that the other map does not have there
const DIFFERENT = 0.2; // difference of two weights from which their cells are framed
const MOST_FRAMED = 40; // cells; of more, those with the largest differences
const MOST_NAMED = 4; // rows that have counterparts
const LEAST_NAMED = 0.001; // difference from which two weights are not the same in three decimals

/** What the rows (axis 0), what they predict (1), and the columns (2) of a map are matched by. @param {Sheet} sheet */
const namesOf = ({ rows, predicted, columns }) => [rows, predicted, columns];

/** @param {Sheet} a @param {Sheet} b @param {number} axis */
const matchedAlong = (a, b, axis) =>
  matched(namesOf(a)[axis], namesOf(b)[axis], [a.continued[axis], b.continued[axis]]);

/** What rows are matched by: what they predict, if both maps have it. @param {Sheet} a @param {Sheet} b */
const rowAxis = (a, b) => Number(a.predicted.length > 0 && b.predicted.length > 0);

/** The rows of two maps that have counterparts. @param {Sheet} a @param {Sheet} b */
export const rowsMatched = (a, b) => matchedAlong(a, b, rowAxis(a, b)).pairs;

/** Whether counterparts stand in the same places, so that one map can be subtracted from the other. @param {Sheet} a @param {Sheet} b */
export function isInLine(a, b) {
  const pairs = [...rowsMatched(a, b), ...matchedAlong(a, b, 2).pairs];
  const isSame = a.rows.length === b.rows.length && a.columns.length === b.columns.length;
  return isSame && pairs.every(([i, j]) => i === j);
}

/** Marks what only one of two maps has, and the counterparts whose weights differ. @param {Sheet} a @param {Sheet} b @returns {{ marks: Marks[], said: string }} */
export function marked(a, b) {
  const [read, written, columns] = [0, 1, 2].map((axis) => matchedAlong(a, b, axis));
  const pairs = counterparts(a, b);
  const differing = pairs.filter(({ change }) => change >= DIFFERENT);
  const framed = (differing.length ? differing : worthNaming(pairs)).slice(0, MOST_FRAMED);
  const marks = [0, 1].map((side) => ({
    rows: read.only[side],
    ends: written.only[side],
    columns: columns.only[side],
    cells: framed.map(({ cells }) => cells[side]),
  }));
  const isMarked = marks.some((each) => each.rows.size || each.ends.size || each.columns.size);
  const sentences = [
    fewInWords(a, b) || uncompared(a, b),
    byFirstPieces(a, b),
    isMarked ? t("{sign} marks words that differ.", { sign: SIGN }) : "",
    framesInWords(framed.length, differing.length, pairs.length),
  ];
  return { marks, said: sentences.filter(Boolean).join(" ") };
}

/** Names the rows that have no counterpart: other rows stand in their place, but not as many, or none. A piece is not named if the first one of its word has a counterpart. @param {Sheet} a @param {Sheet} b */
function uncompared(a, b) {
  const axis = rowAxis(a, b);
  const pairs = rowsMatched(a, b);
  const [one, other] = [a, b].map((each, i) => {
    const compared = new Set(pairs.map((pair) => pair[i]));
    const named = namesOf(each)[axis].filter(
      (_, at) => !compared.has(at) && !compared.has(firstPiece(at, each.continued[axis])),
    );
    return listed(named.map(quoted));
  });
  const rows = listed([
    ...(one ? [t("{words} in A", { words: one })] : []),
    ...(other ? [t("{words} in B", { words: other })] : []),
  ]);
  if (!rows) return "";
  return axis
    ? t("Not compared, because they have no single counterpart: the rows that write {rows}.", { rows })
    : t("Not compared, because they have no single counterpart: the rows of {rows}.", { rows });
}

/** The place of the first piece of a word. @param {number} at @param {Set<number>} continued @returns {number} */
const firstPiece = (at, continued) => (continued.has(at) ? firstPiece(at - 1, continued) : at);

/** Names the words that are compared by their first pieces, because one has more of them than the other. @param {Sheet} a @param {Sheet} b */
function byFirstPieces(a, b) {
  const words = [...new Set([rowAxis(a, b), 2])].flatMap((axis) => {
    const [one, other] = [a, b].map((each) =>
      Map.groupBy(namesOf(each)[axis].keys(), (at) => firstPiece(at, each.continued[axis])),
    );
    return matchedAlong(a, b, axis).pairs.flatMap(([i, j]) => {
      const pieces = [one.get(i) ?? [], other.get(j) ?? []];
      if (pieces.some((each) => !each.length) || pieces[0].length === pieces[1].length) return [];
      const [own, its] = pieces.map((each, side) => each.map((at) => namesOf([a, b][side])[axis][at]).join(""));
      return [t("{a} with {b}", { a: quoted(own), b: quoted(its) })];
    });
  });
  const pairs = listed([...new Set(words)]);
  return pairs && t("Compared by the first piece of each word: {pairs}.", { pairs });
}

/** The cells of two maps that can be compared, those that differ most first. @param {Sheet} a @param {Sheet} b @returns {{ change: number, cells: [number, number][] }[]} */
export function counterparts(a, b) {
  const columns = matchedAlong(a, b, 2).pairs;
  const pairs = rowsMatched(a, b).flatMap(([i, j]) =>
    columns.flatMap(([k, m]) => {
      const [at, there] = [i * a.columns.length + k, j * b.columns.length + m];
      if (a.mask[at] || b.mask[there]) return [];
      const change = Math.abs(Math.fround(b.values[there]) - Math.fround(a.values[at]));
      return { change, cells: /** @type {[number, number][]} */ ([[i, k], [j, m]]) }; // prettier-ignore
    }),
  );
  return pairs.sort((one, other) => other.change - one.change);
}

/** The pair that differs most, if it does in the decimals that a sentence gives. @param {ReturnType<typeof counterparts>} pairs */
export const worthNaming = ([first]) => (first && first.change >= LEAST_NAMED ? [first] : []);

/** The rows that have counterparts, if these are few. @param {Sheet} a @param {Sheet} b */
function fewInWords(a, b) {
  const rows = rowsMatched(a, b);
  if (rows.length > Math.min(MOST_NAMED, ...[a, b].map((each) => Math.floor(each.rows.length / 2)))) return "";
  if (!rows.length) return t("No row has a counterpart to be compared with.");
  const written = a.predicted.length && b.predicted.length;
  const fields = { rows: listed(rows.map(([i]) => quoted((written ? a.predicted : a.rows)[i]))) };
  return written
    ? t("Few words in common: only the rows that write {rows} can be compared.", fields)
    : t("Few words in common: only the rows of {rows} can be compared.", fields);
}

/** @param {number} framed @param {number} differing @param {number} compared */
function framesInWords(framed, differing, compared) {
  const least = inSentence(`${DIFFERENT}`);
  if (!compared) return "";
  if (!differing) {
    const none = t(
      "Of {n} weight compared, none differs by {least:g} or more.",
      "Of {n:,} weights compared, none differs by {least:g} or more.",
      { n: compared, least },
    );
    return framed ? `${none} ${t("The frame marks the largest difference.")}` : none;
  }
  if (framed < differing)
    return t("Frames mark the {n} largest of {all} that differ by {least:g} or more.", {
      n: framed,
      all: t("{n} weight", "{n:,} weights", { n: differing }),
      least,
    });
  return t(
    "The frame marks the one weight that differs by {least:g} or more.",
    "Frames mark {n:,} weights that differ by {least:g} or more.",
    { n: differing, least },
  );
}
