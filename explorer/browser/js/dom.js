// Creates and updates elements with as few changes as possible. Text is always set as text, never as markup.

/** @import { Content, Find } from "./types" */

/**
 * Creates an element with a class and children.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [name]
 * @param {Content[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children);
  return element;
}

/** Creates an element of an SVG. @param {string} tag @param {Record<string, string | number>} attributes @param {(Node | string)[]} children */
export function makeShape(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, `${value}`);
  element.append(...children);
  return element;
}

/** Whether this is used by touch, without a pointer that could hover. */
export const isTouch = () => matchMedia("(pointer: coarse)").matches;

/** Creates a button that submits nothing. @param {string} [name] @param {Content[]} children */
export const makeButton = (name, ...children) => Object.assign(make("button", name, ...children), { type: "button" });

/**
 * Sets the text if it differs, so that stepping changes few nodes.
 * @param {Node | null} element
 * @param {string} text
 */
export function say(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

/** Replaces the content if its text differs. @param {Element} element @param {Content[]} pieces */
export function sayAll(element, ...pieces) {
  const box = make("span", "", ...pieces);
  if (element.textContent !== box.textContent) element.replaceChildren(...box.childNodes);
}

/**
 * Gives an element exactly `count` children. Existing ones keep their listeners and the keyboard focus.
 * @template {HTMLElement} E
 * @param {Element} parent
 * @param {number} count
 * @param {() => E} create
 * @returns {E[]}
 */
export function children(parent, count, create) {
  while (parent.children.length > count) parent.lastChild?.remove();
  while (parent.children.length < count) parent.append(create());
  return /** @type {E[]} */ ([...parent.children]);
}

/** Gives an element these children in this order; those that it has already stay where they are. @param {HTMLElement} parent @param {Element[]} nodes */
export function fill(parent, nodes) {
  const wanted = new Set(nodes);
  for (const node of [...parent.children]) if (!wanted.has(node)) node.remove();
  nodes.forEach((node, i) => parent.children[i] === node || parent.insertBefore(node, parent.children[i] ?? null));
}

/** Returns a function that finds the first match below `root`; the component's HTML guarantees that there is one. @param {ParentNode} root */
export const finder = (root) => /** @type {Find} */ ((selector) => root.querySelector(selector));

/** The buttons directly below the first match. @param {Find} find @param {string} selector */
export const buttonsOf = (find, selector) => /** @type {HTMLButtonElement[]} */ ([...find(selector).children]);
