// Reads the examples that Python is also tested on.

import { readFileSync } from "node:fs";

/** @param {string} name */
export const fixture = (name) =>
  JSON.parse(readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), "utf-8"));

/** The bytes of a text in base64. @param {string} text */
export const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
