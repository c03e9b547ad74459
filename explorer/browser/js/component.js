// Mounts a component of a pack as Streamlit would mount one that it had sent.

import { localised } from "./markup.js";
import { setWords } from "./words.js";

/**
 * Mounts it with the latest data.
 * @param {(mount: any) => any} run @param {{ css: string, html: string } | undefined} look @param {HTMLElement | ShadowRoot} root
 * @param {{ run?: typeof run, end?: () => void, latest?: any, dressed?: boolean, failed?: Element }} slot
 * @param {import("./structs").Words | null} words
 */
export function start(run, look, root, slot, words) {
  setWords(words);
  if (slot.run || !slot.latest) return; // already started, or unmounted meanwhile
  slot.failed?.remove();
  delete slot.failed;
  if (look && !slot.dressed) {
    root.append(Object.assign(document.createElement("style"), { textContent: look.css }));
    root.append(localised(document.createRange().createContextualFragment(look.html)));
    slot.dressed = true;
  }
  Object.assign(slot, { run, end: run(slot.latest) });
}
