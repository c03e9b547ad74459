// The buttons of a grid of thumbnails: one Tab stop, and arrow keys that move between them.

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
 * Arrow keys move between thumbnails as they are arranged on the screen; Enter opens one.
 * @param {KeyboardEvent} event
 */
export function moveInGrid(event) {
  const here = tileOf(event.target);
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!here || (!way && event.key !== "Home" && event.key !== "End")) return;
  event.preventDefault();
  /** @type {HTMLButtonElement[]} */
  const all = [.../** @type {Element} */ (event.currentTarget).querySelectorAll(/** @type {"button"} */ (".tile"))];
  /** @type {HTMLButtonElement | undefined} */
  let next = event.key === "Home" ? all[0] : all[all.length - 1];
  if (way) {
    const middle = (/** @type {Element} */ b) => {
      const { x, y, width } = b.getBoundingClientRect();
      return { x: x + width / 2, y };
    };
    const { x, y } = middle(here), spots = all.map((button) => ({ button, ...middle(button) }));
    const ahead = spots.filter((b) => (way[0] ? way[0] * (b.x - x) > 1 && Math.abs(b.y - y) < 20 : way[1] * (b.y - y) > 9));
    // Left and right: the nearest in this row. Up and down: the nearest row, then the nearest in that row.
    const far = (/** @type {{ x: number, y: number }} */ b) =>
      (way[0] ? 0 : 9999 * Math.round(Math.abs(b.y - y) / 9)) + Math.abs(b.x - x);
    next = ahead.sort((a, b) => far(a) - far(b))[0]?.button;
  }
  if (!next) return;
  here.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
