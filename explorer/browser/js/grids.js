// Grids of buttons that arrow keys move in: thumbnails, places in a diagram; and tables that can be sorted by any column.

import { children, make, makeButton, say } from "./dom.js";

/** @import { Content, Find, Sort } from "./types" */

/** The button of a thumbnail that an event is about. @param {EventTarget | null} target @returns {HTMLButtonElement | null} */
export const tileOf = (target) => /** @type {Element} */ (target).closest(".tile");

/**
 * Leaves a grid one Tab stop: the button that has the focus, else the preferred one, else the first.
 * @param {Element} grid
 * @param {HTMLButtonElement[]} buttons
 * @param {HTMLButtonElement | null} preferred
 */
export function giveTabStop(grid, buttons, preferred) {
  const active = /** @type {ShadowRoot} */ (grid.getRootNode()).activeElement;
  const stop = buttons.find((b) => b === active) ?? preferred ?? buttons[0];
  for (const b of buttons) if (b.tabIndex !== (b === stop ? 0 : -1)) b.tabIndex = b === stop ? 0 : -1;
}

/**
 * The button that an arrow key leads to from another one, as they are arranged on the screen.
 * @param {HTMLButtonElement[]} all
 * @param {HTMLButtonElement} here
 * @param {string} key
 */
export function buttonTowards(all, here, key) {
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  if (!way) return undefined;
  const middle = (/** @type {Element} */ b) => {
    const { x, y, width } = b.getBoundingClientRect();
    return { x: x + width / 2, y };
  };
  const { x, y } = middle(here), spots = all.map((button) => ({ button, ...middle(button) }));
  const ahead = spots.filter((b) => (way[0] ? way[0] * (b.x - x) > 1 && Math.abs(b.y - y) < 20 : way[1] * (b.y - y) > 9));
  // Left and right: the nearest in this row. Up and down: the nearest row, then the nearest in that row.
  const far = (/** @type {{ x: number, y: number }} */ b) =>
    (way[0] ? 0 : 9999 * Math.round(Math.abs(b.y - y) / 9)) + Math.abs(b.x - x);
  return ahead.sort((a, b) => far(a) - far(b))[0]?.button;
}

/** Arrow keys move between thumbnails; Enter opens one. @param {KeyboardEvent} event */
export function moveInGrid(event) {
  const here = tileOf(event.target), { key } = event;
  if (!here || !(key.startsWith("Arrow") || key === "Home" || key === "End")) return;
  event.preventDefault();
  /** @type {HTMLButtonElement[]} */
  const all = [.../** @type {Element} */ (event.currentTarget).querySelectorAll(/** @type {"button"} */ (".tile"))];
  const next = key === "Home" ? all[0] : key === "End" ? all[all.length - 1] : buttonTowards(all, here, key);
  if (!next) return;
  here.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

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
 * @param {{ first: number }[]} columns
 * @param {number} clicked
 * @returns {Sort}
 */
export const sortAfter = ({ by, sign }, columns, clicked) =>
  ({ by: clicked, sign: clicked === by ? -sign : columns[clicked].first });

/**
 * Draws the header and the rows; if the sort column does not exist (any longer), the rows keep their order.
 * @param {Find} find
 * @param {{ name: string, first: number }[]} columns and their default direction: 1 ascending, -1 descending
 * @param {{ at: (number | null)[], cells: Content[] }[]} rows the sort key of each column, and what is shown
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
