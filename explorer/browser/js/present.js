// Presentation mode, for projectors: one view fills the screen, magnified, in its current state. What is shown grows as
// a whole, figures and words alike; views that fit themselves to the window then fill it.

import { say } from "./dom.js";
import { clamp } from "./numbers.js";

// The size at which a view is comfortable, in pixels.
const WIDE = 1000;
const HIGH = 600;

/** Whether a view fills the screen. @param {Element} box */
export const presenting = (box) => /** @type {ShadowRoot} */ (box.getRootNode()).fullscreenElement === box;

/** The magnification with which a view of comfortable size fills a screen. @param {number} wide @param {number} high */
export const zoomFor = (wide, high) => clamp(Math.min(wide / WIDE, high / HIGH), 1, 4);

/**
 * Lets a button start and end the presentation of a view; `redraw` is called whenever its size has changed.
 * @param {HTMLElement} box
 * @param {HTMLElement} button
 * @param {() => void} redraw
 * @returns {() => void} starts or ends it
 */
export function listenToPresent(box, button, redraw) {
  const fit = () => {
    const on = presenting(box);
    box.style.zoom = on ? `${zoomFor(window.innerWidth, innerHeight)}` : "";
    say(button, on ? "End presentation" : "Present");
    redraw();
  };
  const toggle = () => {
    if (presenting(box)) document.exitFullscreen();
    else box.requestFullscreen().catch((error) => {
      button.title = `This browser does not allow full screen: ${error.message}`;
    });
  };
  button.onclick = toggle;
  box.onfullscreenchange = fit;
  // The window takes its new size only after that.
  const differs = () => Math.abs(Number(box.style.zoom) - zoomFor(window.innerWidth, innerHeight)) > 0.01;
  new ResizeObserver(() => presenting(box) && differs() && fit()).observe(box);
  return toggle;
}
