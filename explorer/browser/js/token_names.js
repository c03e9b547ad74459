// How tokens are shown inside sentences, and the special tokens.

import { make } from "./dom.js";

export const SPECIALS = ["<pad>", "<sos>", "<eos>", "<unk>"];

/**
 * A token, isolated so that its writing direction cannot move the text beside it.
 * @param {string} text
 * @param {string} side
 */
export function tokenName(text, side) {
  const token = make("bdi", `token ${side}`, text);
  if (SPECIALS.includes(text)) token.classList.add("special");
  return token;
}

/** A token with its position, counted from 1. @param {string[]} tokens @param {number} i @param {string} side */
export const numbered = (tokens, i, side) =>
  make("span", "named", make("span", "place", `${i + 1}`), "\u2009", tokenName(tokens[i], side));
