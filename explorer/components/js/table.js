// A table whose columns sort it.

import { children, make, makeButton, say } from "./dom.js";

/** @typedef {import("./types").Column} Column */
/** @typedef {import("./types").Find} Find */
/** @typedef {import("./types").Sort} Sort */
/** @typedef {import("./types").TableRow} TableRow */

/**
 * The rows in order of one column; null is always last, and equal values are in order of the column `tie`.
 * @template {{ at: (number | null)[] }} R
 * @param {R[]} rows
 * @param {Sort} sort
 * @param {number} tie
 */
export function sortRows(rows, { by, sign }, tie) {
  const value = (/** @type {R} */ row) => row.at[by] ?? sign * Infinity;
  return [...rows].sort((a, b) => sign * (value(a) - value(b)) || Number(a.at[tie]) - Number(b.at[tie]));
}

/**
 * The sort after a click on a column: its own first direction, then the other.
 * @param {Sort} sort
 * @param {Column[]} columns
 * @param {number} clicked
 * @returns {Sort}
 */
export const sortAfter = ({ by, sign }, columns, clicked) =>
  ({ by: clicked, sign: clicked === by ? -sign : columns[clicked].first });

/**
 * Draws header and rows; a column that does not exist (any longer) leaves the rows in their order.
 * @param {Find} find
 * @param {Column[]} columns
 * @param {TableRow[]} rows
 * @param {Sort} sort
 * @param {number} tie
 * @param {(sort: Sort) => void} choose is called with the sort that somebody wants
 */
export function drawTable(find, columns, rows, sort, tie, choose) {
  const heads = children(find("thead tr"), columns.length, () =>
    Object.assign(make("th", "", makeButton()), { scope: "col" }));
  heads.forEach((th, i) => {
    const button = /** @type {HTMLButtonElement} */ (th.firstChild);
    say(button, columns[i].name);
    th.setAttribute("aria-sort", i === sort.by ? (sort.sign > 0 ? "ascending" : "descending") : "none");
    button.onclick = () => choose(sortAfter(sort, columns, i));
  });
  const sorted = sort.by < columns.length ? sortRows(rows, sort, tie) : rows;
  find("tbody").replaceChildren(...sorted.map(({ cells }) => make("tr", "", ...cells.map((cell) => make("td", "", cell)))));
}
