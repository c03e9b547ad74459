// What this browser remembers from one visit to the next.

const PREFIX = "headlight.";

/** Whether something was remembered; never, where the browser lets a page keep nothing. @param {string} name */
export function recalls(name) {
  try {
    return localStorage.getItem(PREFIX + name) !== null;
  } catch {
    return false;
  }
}

/** @param {string} name */
export function remember(name) {
  try {
    localStorage.setItem(PREFIX + name, "1");
  } catch {
    // Nothing can be kept here: the next visit begins like the first one.
  }
}

/** The text that was kept, "" if there is none; null where the browser lets a page keep nothing. @param {string} name */
export function recall(name) {
  try {
    return localStorage.getItem(PREFIX + name) ?? "";
  } catch {
    return null;
  }
}

/** Keeps a text, or nothing where it is empty; whether that worked. @param {string} name @param {string} text */
export function keep(name, text) {
  try {
    if (text) localStorage.setItem(PREFIX + name, text);
    else localStorage.removeItem(PREFIX + name);
    return true;
  } catch {
    return false; // blocked, or full
  }
}
