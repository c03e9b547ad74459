// Copies the address of this page, which always describes what is on screen.

import { finder, make, say } from "./dom.js";

/** @param {import("./types").Mount<unknown, "__copyTimer", number>} mount */
export default function ({ parentElement: root }) {
  const find = finder(root), answer = find("output");
  find("button").onclick = async () => {
    const link = window.location.href;
    let copied = true;
    try {
      await navigator.clipboard.writeText(link);
    } catch {
      copied = copyFromField(link);
    }
    say(answer, copied ? "Copied: it opens this translation and this view." : "Copy it from the address bar.");
    clearTimeout(root.__copyTimer);
    root.__copyTimer = setTimeout(() => say(answer, ""), 4000);
  };
  return () => clearTimeout(root.__copyTimer);
}

/**
 * For pages that are served without https and not from localhost, which have no clipboard API: selects the text in a
 * field and has the browser copy it.
 * @param {string} text
 */
function copyFromField(text) {
  const field = Object.assign(make("textarea"), { value: text });
  Object.assign(field.style, { position: "fixed", opacity: "0" });
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  return copied;
}
