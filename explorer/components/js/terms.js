// Terms of the field as links that explain themselves (see glossary.js); the addresses are those of the glossary.

import { make } from "./dom.js";

/** @typedef {import("./types").Kind} Kind */

/** The term that names a kind of attention. @type {Record<Kind, string>} */
const KIND_TERMS = { encoder: "self-attention", decoder: "self-attention", cross: "cross-attention" };

/**
 * Names a kind of attention in an element, as a link to its explanation.
 * @param {Element} element
 * @param {Kind} kind
 * @param {string} title
 */
export function sayKind(element, kind, title) {
  if (element.textContent === title) return;
  element.replaceChildren(Object.assign(make("a", "term", title), { href: `#term-${KIND_TERMS[kind]}` }));
}
