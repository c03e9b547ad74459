// Turns technical terms into links to their explanations (see glossary.js).

import { make } from "./dom.js";

/** @import { Kind } from "./types" */

/** The term that names a kind of attention. @type {Record<Kind, string>} */
const KIND_TERMS = { encoder: "self-attention", decoder: "self-attention", cross: "cross-attention" };

/** The expressions that match the terms of a glossary. @type {WeakMap<Record<string, string>, RegExp>} */
const finders = new WeakMap();

/** @param {Record<string, string>} terms */
function finderOf(terms) {
  const cached = finders.get(terms);
  if (cached) return cached;
  const forms = Object.keys(terms)
    .sort((a, b) => b.length - a.length)
    .map((form) => form.replace(new RegExp("[^\\w\\s]", "g"), "\\$&"));
  const finder = new RegExp(`(?<![\\w-])(?:${forms.join("|") || "(?!)"})(?![\\w-])`, "gi");
  finders.set(terms, finder);
  return finder;
}

/**
 * Splits a text at its terms; the first mention of each has the address of its explanation.
 * @param {string} text
 * @param {Record<string, string>} terms the address of each form of a term, in lower case
 * @param {Set<string>} [mentioned] addresses of terms that were mentioned before; those of this text are added
 * @returns {{ text: string, address: string }[]}
 */
export function splitAtTerms(text, terms, mentioned = new Set()) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(finderOf(terms))) {
    const address = terms[match[0].toLowerCase()];
    if (mentioned.has(address)) continue;
    mentioned.add(address);
    parts.push({ text: text.slice(end, match.index), address: "" }, { text: match[0], address });
    end = match.index + match[0].length;
  }
  return [...parts, { text: text.slice(end), address: "" }].filter((part) => part.text);
}

/** A text whose terms are links. @param {string} text @param {Record<string, string>} terms @param {Set<string>} [mentioned] @returns {(string | HTMLElement)[]} */
export const withTerms = (text, terms, mentioned) =>
  splitAtTerms(text, terms, mentioned).map(({ text: part, address }) =>
    address ? Object.assign(make("a", "term", part), { href: address }) : part,
  );

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
