// Explains the terms of the glossary: a link to a term shows its explanation on hover, focus or tap, anywhere on the
// page. The explanation is a popover, which nothing covers, and is set as text.

import { finder } from "./dom.js";
import { clamp } from "./numbers.js";
import { readMessage } from "./wire.js";

/** @typedef {Record<string, [term: string, plain: string, explanation: string]>} Terms */

const LINKS = 'a[href^="#term-"]';
const PATIENCE = 180; // ms for which the pointer may be between a term and its explanation
const EDGE = 8; // from the edge of the window, in pixels

/**
 * Streamlit calls this again when the theme changes; it calls the returned function once, at unmount.
 * @param {import("./types").Mount<Uint8Array, "__glossary", () => void>} mount
 */
export default function ({ data, parentElement: root }) {
  const { terms, language } = readMessage(data).header;
  document.documentElement.lang = language; // Streamlit's page says that it is English
  const stop = (root.__glossary ??= listenToTerms(
    /** @type {HTMLElement} */ (finder(root)(".tip")),
    Object.fromEntries(terms.map((/** @type {[string, ...Terms[string]]} */ [address, ...entry]) => [address, entry])),
  ));
  return () => {
    stop();
    delete root.__glossary;
  };
}

/**
 * Listens to all terms of the page, including those in components; returns a function that stops listening.
 * @param {HTMLElement} tip
 * @param {Terms} terms
 */
export function listenToTerms(tip, terms) {
  let timer = 0;
  let open = /** @type {HTMLAnchorElement | null} */ (null);
  const [[name, meaning], explanation] = [tip.children[0].children, tip.children[1]];
  const hide = () => {
    clearTimeout(timer);
    if (open) tip.hidePopover();
    open = null;
  };
  const show = (/** @type {HTMLAnchorElement} */ link) => {
    clearTimeout(timer);
    const entry = terms[link.hash];
    if (!entry || link === open) return;
    [name, meaning, explanation].forEach((element, i) => {
      element.textContent = i === 1 ? `(${entry[i]})` : entry[i];
    });
    link.setAttribute("aria-description", `${entry[1]}: ${entry[2]}`);
    open = link;
    tip.showPopover();
    const { left, top, bottom } = link.getBoundingClientRect();
    const below = bottom + 6;
    const fits = below + tip.offsetHeight < innerHeight - EDGE;
    tip.style.left = `${clamp(left, EDGE, Math.max(EDGE, innerWidth - tip.offsetWidth - EDGE))}px`;
    tip.style.top = `${fits ? below : Math.max(EDGE, top - tip.offsetHeight - 6)}px`;
  };
  const linkOf = (/** @type {Event} */ event) =>
    /** @type {HTMLAnchorElement | undefined} */ (
      event.composedPath().find((node) => node instanceof Element && node.matches(LINKS))
    );
  /** @type {[string, (event: any) => void][]} */
  const listeners = [
    [
      "pointerover",
      (event) => {
        const link = linkOf(event);
        if (event.pointerType === "touch") return;
        if (link) show(link);
        else if (event.composedPath().includes(tip)) clearTimeout(timer);
        else if (open && !open.matches(":focus-visible")) {
          clearTimeout(timer);
          timer = setTimeout(hide, PATIENCE);
        }
      },
    ],
    [
      "focusin",
      (event) => {
        const link = linkOf(event);
        if (link?.matches(":focus-visible")) show(link);
      },
    ],
    ["focusout", (event) => linkOf(event) && hide()],
    [
      "click",
      (event) => {
        const link = linkOf(event);
        if (!link) return;
        event.preventDefault(); // the page has no element with a term's address
        show(link);
      },
    ],
    ["pointerdown", (event) => !linkOf(event) && !event.composedPath().includes(tip) && hide()],
    ["keydown", (event) => event.key === "Escape" && hide()],
    ["scroll", hide],
  ];
  for (const [type, react] of listeners) document.addEventListener(type, react, true);
  return () => {
    hide();
    for (const [type, react] of listeners) document.removeEventListener(type, react, true);
  };
}
