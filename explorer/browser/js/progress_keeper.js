// Stores the progress in the lessons in this browser, synchronised with the session on the server.

import { recall, store } from "./memory.js";

/** @typedef {{ text: string, seen: string }} Progress the session's progress, and the stored one that it last received */
/** @typedef {{ data: Progress, setStateValue: (name: string, value: unknown) => void, synchronise: () => void }} State */

const NAME = "lessons";

/**
 * Streamlit calls this whenever the session's progress changes; it calls the returned function once, at unmount.
 * @param {import("./types").Mount<Progress, "__progress", State>} mount
 */
export default function ({ data, parentElement: root, setStateValue }) {
  const S = (root.__progress ??= create());
  Object.assign(S, { data, setStateValue });
  window.addEventListener("storage", S.synchronise); // a second time has no effect; after an unmount, it listens again
  S.synchronise();
  return () => window.removeEventListener("storage", S.synchronise);
}

/**
 * Reports stored progress that is new to the session before anything overwrites it, so that the progress of another tab
 * or an earlier visit is never lost. Progress that this tab wrote itself is not reported, on any page.
 */
function create() {
  const page = /** @type {{ __headlightProgress?: string }} */ (globalThis);
  const S = /** @type {State} */ ({});
  S.synchronise = () => {
    const stored = recall(NAME);
    const { text, seen } = S.data;
    if (stored === null) {
      S.setStateValue("blocked", true);
    } else if (stored !== seen && stored !== page.__headlightProgress) {
      page.__headlightProgress = stored;
      S.setStateValue("kept", stored);
    } else if (stored !== text && store(NAME, text)) {
      page.__headlightProgress = text;
    }
  };
  return S;
}
