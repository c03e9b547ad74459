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
