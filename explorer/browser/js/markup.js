// The markup of a component in the language of the page: each of its texts and labels is a message.

import { isEnglish, translated } from "./words.js";

const LABELS = ["aria-label", "placeholder", "title"]; // as explorer/browser/words.py

/** Translates everything below a node; returns the node. @template {ParentNode & Node} N @param {N} root @returns {N} */
export function localised(root) {
  if (isEnglish()) return root;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.nodeValue ?? "").trim();
    if (text && !node.parentElement?.matches("style")) {
      const [before, after] = (node.nodeValue ?? "").split(text);
      node.nodeValue = `${before}${translated(text)}${after ?? ""}`;
    }
  }
  for (const name of LABELS)
    for (const element of root.querySelectorAll(`[${name}]`))
      element.setAttribute(name, translated(element.getAttribute(name) ?? ""));
  return root;
}
