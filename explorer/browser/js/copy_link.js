// Copies the address of this page, which always describes the view on screen, or the markup that embeds the view.

import { finder, make, say } from "./dom.js";

const LINK = "Copied: it opens this translation and this view.";
const CODE = "Copied: it shows this view in pages of sites that HEADLIGHT_FRAMES names.";

/** @param {import("./types").Mount<{ embeds: boolean }, "__copyTimer", number>} mount */
export default function ({ parentElement: root, data }) {
  const find = finder(root);
  const answer = find("output");
  const embed = find("[value=embed]");
  /** @param {string} text @param {string} success @param {string} failure */
  const copy = async (text, success, failure) => {
    say(answer, (await copyText(text)) ? success : failure);
    clearTimeout(root.__copyTimer);
    root.__copyTimer = setTimeout(() => say(answer, ""), 4000);
  };
  find("[value=link]").onclick = () => copy(window.location.href, LINK, "Copy it from the address bar.");
  embed.hidden = !data.embeds;
  embed.onclick = () => {
    const code = embedCode(window.location.href, document.title);
    copy(code, CODE, code);
  };
  return () => clearTimeout(root.__copyTimer);
}

/** Copies a text; returns whether that succeeded. @param {string} text */
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

/**
 * @param {string} address of the view on screen
 * @param {string} title of the frame, for screen readers
 * @returns {string} an `<iframe>` with the same view, without sidebar and controls
 */
export function embedCode(address, title) {
  const url = new URL(address);
  url.searchParams.set("embed", "true");
  return (
    `<iframe src="${escaped(url.href)}" title="${escaped(title)}" width="700" height="420" style="border: 0"` +
    ` allow="fullscreen"></iframe>`
  );
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\u0022", "&quot;");
}
