// The room of a view on the screen. In presentation mode, for projectors, it fills the screen, magnified, in its
// current state: figures and text grow alike, and views that fit themselves to the window then fill it.

import { magnification, windowHeight } from "./canvas.js";
import { say } from "./dom.js";
import { clamp } from "./numbers.js";
import { t } from "./words.js";

// The size at which a view is comfortable, in pixels.
const WIDE = 960;
const HIGH = 540;
/** The smallest type of a presentation, in pixels before it is magnified; css/views.css has the same. */
export const LEAST_PRESENTED = 12;

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
    say(button, on ? t("End presentation") : t("Present"));
    box.classList.toggle("presenting", on);
    box.style.setProperty("--high", `${innerHeight / zoomFor(window.innerWidth, innerHeight)}px`);
    redraw();
  };
  const toggle = () => {
    if (presenting(box)) document.exitFullscreen();
    else
      box.requestFullscreen().catch((error) => {
        button.title = t("This browser does not allow full screen: {reason}", { reason: error.message });
      });
  };
  button.onclick = toggle;
  box.onfullscreenchange = fit;
  // The window gets its new size only after that.
  const differs = () => Math.abs(Number(box.style.zoom) - zoomFor(window.innerWidth, innerHeight)) > 0.01;
  new ResizeObserver(() => presenting(box) && differs() && fit()).observe(box);
  return toggle;
}

const BELOW = 140; // height of the caption and the diagram, the title of the table, and the row that opens panels, in pixels

/** How far an element is below the upper edge of its page, in its own pixels, however far that is scrolled. @param {Element} element */
export function topOf(element) {
  const page = element.closest(":fullscreen") ?? document.querySelector("main");
  const { top } = (page ?? document.documentElement).getBoundingClientRect();
  return (element.getBoundingClientRect().top - top) / magnification(element) + (page?.scrollTop ?? 0);
}

/**
 * The height of the screen below the upper edge of an element, minus that of the elements below the views. It does not
 * depend on scrolling; an element that begins in the lower half of the first screen gets most of a screen.
 * @param {Element} element
 * @param {boolean} alone whether nothing is shown below the views
 */
export function roomBelow(element, alone) {
  const [high, top] = [windowHeight(element), topOf(element)];
  return (top < high / 2 ? high - top : 0.85 * high) - (alone ? 60 : BELOW);
}
