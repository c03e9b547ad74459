// Keeps the progress through the lessons in this browser, in step with the session on the server.

import { keep, recall } from "./memory.js";

/** @typedef {{ text: string, seen: string }} Progress the session's progress, and what it last learned of ours */
/** @typedef {{ data: Progress, setStateValue: (name: string, value: unknown) => void, synchronise: () => void }} State */

const NAME = "lessons";

/**
 * Streamlit calls this whenever the session's progress changes; it calls the returned function once, at unmount.
 * @param {import("./types").Mount<Progress, "__progress", State>} mount
 */
export default function ({ data, parentElement: root, setStateValue }) {
  const S = (root.__progress ??= create());
  Object.assign(S, { data, setStateValue });
  S.synchronise();
  return () => window.removeEventListener("storage", S.synchronise);
}

/**
 * Whoever changed what is kept here, the session learns of it before anything is written over it: what another tab or
 * an earlier visit left is never lost. What this tab itself wrote is no news, on any page.
 */
function create() {
  const page = /** @type {{ __headlightProgress?: string }} */ (globalThis);
  const S = /** @type {State} */ ({});
  S.synchronise = () => {
    const kept = recall(NAME);
    const { text, seen } = S.data;
    if (kept === null) {
      S.setStateValue("blocked", true);
    } else if (kept !== seen && kept !== page.__headlightProgress) {
      page.__headlightProgress = kept;
      S.setStateValue("kept", kept);
    } else if (kept !== text && keep(NAME, text)) {
      page.__headlightProgress = text;
    }
  };
  window.addEventListener("storage", S.synchronise);
  return S;
}
