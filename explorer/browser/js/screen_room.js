// The room that a view has on the first screen, so that its figure and the caption below it can be seen together.

import { magnification } from "./canvas.js";

const BELOW = 116; // caption, title of the table, and the row that opens panels, in pixels

/**
 * The height of the screen below the upper edge of an element, less what comes below the views. Scrolling changes
 * nothing; an element that begins in the lower half of the first screen gets most of a screen.
 * @param {Element} element
 * @param {boolean} alone whether nothing is shown below the views
 */
export function roomBelow(element, alone) {
  const by = magnification(element), high = innerHeight / by;
  const page = element.closest(":fullscreen") ?? document.querySelector("main"), { top: edge } = (page ?? document.documentElement).getBoundingClientRect();
  const top = (element.getBoundingClientRect().top - edge) / by + (page?.scrollTop ?? 0);
  return (top < high / 2 ? high - top : 0.85 * high) - (alone ? 60 : BELOW);
}
