// Copies the address of this page, which always describes the view on screen; asks the page to export or embed the view.

import { copyText } from "./clipboard.js";
import { finder, say } from "./dom.js";
import { reportMoved } from "./view.js";
import { t } from "./words.js";

const PATIENCE = 2000; // ms for which a step that was just made may take to reach the address

/** @param {import("./types").Mount<{ view: boolean }, "__copyTimer", number>} mount */
export default function ({ parentElement: root, data, setTriggerValue }) {
  const find = finder(root);
  const answer = find("output");
  find("[value=link]").onclick = async () => {
    await addressed();
    const copied = await copyText(window.location.href);
    say(answer, copied ? t("Copied: it opens this translation and this view.") : t("Copy it from the address bar."));
    clearTimeout(root.__copyTimer);
    root.__copyTimer = setTimeout(() => say(answer, ""), 4000);
  };
  for (const name of ["export", "embed"]) {
    const button = find(`[value=${name}]`);
    button.hidden = !data.view;
    button.onclick = async () => {
      await addressed(); // a report that came after it would close the dialog
      setTriggerValue("asked", name);
    };
  }
  return () => clearTimeout(root.__copyTimer);
}

/** Waits until the address says what is on screen. */
async function addressed() {
  const before = window.location.href;
  const end = reportMoved() ? performance.now() + PATIENCE : 0;
  while (window.location.href === before && performance.now() < end) await new Promise((done) => setTimeout(done, 50));
}
