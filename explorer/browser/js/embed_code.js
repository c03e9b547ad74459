// The markup that shows a view inside a page of a course: copied as text, never added to this page.

/**
 * @param {string} address of what is on screen
 * @param {string} title what a screen reader calls the frame
 * @returns {string} an `<iframe>` with the same view, without sidebar and controls
 */
export function embedCode(address, title) {
  const url = new URL(address);
  url.searchParams.set("embed", "true");
  return `<iframe src="${escaped(url.href)}" title="${escaped(title)}" width="700" height="420" style="border: 0"` +
    ` allow="fullscreen"></iframe>`;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\u0022", "&quot;");
}
