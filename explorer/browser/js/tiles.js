// Arrow keys and Tab in grids of thumbnails.

import { buttonTowards } from "./grids.js";

/** The thumbnail's button at an event's target. @param {EventTarget | null} target @returns {HTMLButtonElement | null} */
export const tileOf = (target) => /** @type {Element} */ (target).closest(".tile");

/**
 * Gives a grid a single Tab stop: the button that has the focus, else the preferred one, else the first.
 * @param {Element} grid
 * @param {HTMLButtonElement[]} buttons
 * @param {HTMLButtonElement | null} preferred
 */
export function giveTabStop(grid, buttons, preferred) {
  const active = /** @type {ShadowRoot} */ (grid.getRootNode()).activeElement;
  const stop = buttons.find((b) => b === active) ?? preferred ?? buttons[0];
  for (const b of buttons) if (b.tabIndex !== (b === stop ? 0 : -1)) b.tabIndex = b === stop ? 0 : -1;
}

/** Moves the focus between thumbnails by arrow keys, Home and End. @param {KeyboardEvent} event */
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
