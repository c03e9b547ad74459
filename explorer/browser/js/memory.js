// Values that this browser stores between visits.

const PREFIX = "headlight.";

/** The stored text, "" if there is none; null if storage is blocked. @param {string} name */
export function recall(name) {
  try {
    return localStorage.getItem(PREFIX + name) ?? "";
  } catch {
    return null;
  }
}

/** Stores a text, or removes it if empty; returns whether that succeeded. @param {string} name @param {string} text */
export function store(name, text) {
  try {
    if (text) localStorage.setItem(PREFIX + name, text);
    else localStorage.removeItem(PREFIX + name);
    return true;
  } catch {
    return false; // blocked, or full
  }
}
