// Grids of thumbnails that arrow keys move in.

import { buttonTowards } from "./grids.js";

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

/** Arrow keys move between thumbnails; Enter opens one. @param {KeyboardEvent} event */
export function moveInGrid(event) {
  const here = tileOf(event.target);
  const { key } = event;
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
