// Arrow keys among boxes, and tables that can be sorted by any column.

import { children, make, makeButton, say } from "./dom.js";

/** @import { Content, Find, Sort } from "./types" */

/**
 * The index of the box that an arrow key leads to: the nearest in that direction, and to the left and right only one at
 * the same height; undefined if there is none.
 * @param {{ x: number, y: number, width: number, height: number }[]} boxes
 * @param {number} at
 * @param {string} key
 */
export function boxTowards(boxes, at, key) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [0, 0];
  const middle = (/** @type {typeof boxes[0]} */ box) => [box.x + box.width / 2, box.y + box.height / 2];
  const [x, y] = middle(boxes[at]);
  let best = -1;
  let least = Infinity;
  boxes.forEach((box, i) => {
    const [bx, by] = middle(box);
    const along = (bx - x) * dx + (by - y) * dy;
    const beside = Math.abs((bx - x) * dy) + Math.abs((by - y) * dx);
    if (i === at || along <= 1 || (dx && beside > Math.max(24, box.height, boxes[at].height))) return;
    const distance = along + 2 * beside;
    if (distance < least) [best, least] = [i, distance];
  });
  return best < 0 ? undefined : best;
}

/** The button on the screen that an arrow key leads to from another one. @param {HTMLButtonElement[]} all @param {HTMLButtonElement} here @param {string} key */
export function buttonTowards(all, here, key) {
  const next = boxTowards(
    all.map((button) => button.getBoundingClientRect()),
    all.indexOf(here),
    key,
  );
  return next === undefined ? undefined : all[next];
}

/**
 * The rows sorted by one column; null is always last, and equal values are sorted by the first column.
 * @template {{ at: (number | null)[] }} R
 * @param {R[]} rows
 * @param {Sort} sort
 */
export function sortRows(rows, { by, sign }) {
  const value = (/** @type {R} */ row) => row.at[by] ?? sign * Infinity;
  return [...rows].sort((a, b) => sign * (value(a) - value(b)) || Number(a.at[0]) - Number(b.at[0]));
}

/**
 * The sort order after a click on a column: first the column's default direction, then the other one.
 * @param {Sort} sort
 * @param {{ first: number }[]} columns
 * @param {number} clicked
 * @returns {Sort}
 */
export const sortAfter = ({ by, sign }, columns, clicked) => ({
  by: clicked,
  sign: clicked === by ? -sign : columns[clicked].first,
});

/**
 * Draws the header and the rows; if the sort column does not exist, the rows keep their order.
 * @param {Find} find
 * @param {{ name: string, first: number }[]} columns and their default direction: 1 ascending, -1 descending
 * @param {{ at: (number | null)[], cells: Content[] }[]} rows the sort key of each column, and what is shown
 * @param {Sort} sort
 * @param {(sort: Sort) => void} choose called with the requested sort order
 */
export function drawTable(find, columns, rows, sort, choose) {
  const heads = children(find("thead tr"), columns.length, () =>
    Object.assign(make("th", "", makeButton()), { scope: "col" }),
  );
  heads.forEach((th, i) => {
    const button = /** @type {HTMLButtonElement} */ (th.firstChild);
    say(button, columns[i].name);
    th.setAttribute("aria-sort", i === sort.by ? (sort.sign > 0 ? "ascending" : "descending") : "none");
    button.onclick = () => choose(sortAfter(sort, columns, i));
  });
  const sorted = sort.by < columns.length ? sortRows(rows, sort) : rows;
  find("tbody").replaceChildren(
    ...sorted.map(({ cells }) => make("tr", "", ...cells.map((cell) => make("td", "", cell)))),
  );
}
