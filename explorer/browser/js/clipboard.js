// Copies texts, also on pages without a clipboard API.

import { make } from "./dom.js";

/** Copies a text; returns whether it could. @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyFromField(text);
  }
}

/**
 * Copies a text by selecting it in a field, for pages without a clipboard API: those served without https, except from
 * localhost.
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
