// A table that can be sorted by any of its columns.

import { children, make, makeButton, say } from "./dom.js";

/** @typedef {import("./types").Column} Column */
/** @typedef {import("./types").Find} Find */
/** @typedef {import("./types").Sort} Sort */
/** @typedef {import("./types").TableRow} TableRow */

/**
 * The rows sorted by one column; null is always last, and equal values are sorted by the column `tie`.
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
 * The sort order after a click on a column: first the column's default direction, then the other one.
 * @param {Sort} sort
 * @param {Column[]} columns
 * @param {number} clicked
 * @returns {Sort}
 */
export const sortAfter = ({ by, sign }, columns, clicked) =>
  ({ by: clicked, sign: clicked === by ? -sign : columns[clicked].first });

/**
 * Draws the header and the rows; if the sort column does not exist (any longer), the rows keep their order.
 * @param {Find} find
 * @param {Column[]} columns
 * @param {TableRow[]} rows
 * @param {Sort} sort
 * @param {number} tie
 * @param {(sort: Sort) => void} choose called with the requested sort order
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
