// The colour of text on a coloured ground.

/** @import { Rgb } from "./types" */

const EQUAL = 0.179; // relative luminance on which white and black have the same contrast, 4.58

/** The relative luminance of a colour (WCAG 2). @param {Rgb} colour */
function luminance(colour) {
  const [r, g, b] = colour.map((part) => (part > 10 ? ((part / 255 + 0.055) / 1.055) ** 2.4 : part / 255 / 12.92));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The text colour with the higher contrast on this colour. @param {Rgb} colour */
export const inkOn = (colour) => (luminance(colour) > EQUAL ? "#000" : "#fff");
