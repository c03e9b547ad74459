// Values that this browser stores between visits.

const PREFIX = "headlight.";

/** Whether a mark was stored; false if storage is blocked. @param {string} name */
export function recalls(name) {
  try {
    return localStorage.getItem(PREFIX + name) !== null;
  } catch {
    return false;
  }
}

/** Stores a mark. @param {string} name */
export function remember(name) {
  try {
    localStorage.setItem(PREFIX + name, "1");
  } catch {
    // Storage is blocked or full: the next visit begins like the first one.
  }
}

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
