// Numbers as they are written on the screen.

/** @param {number} value @param {number} low @param {number} high */
export const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

/** A probability with one decimal. @param {number} p */
export const percent = (p) => (p > 0 && p < 0.0005 ? "< 0.1 %" : `${(100 * p).toFixed(1)}\u202f%`);

/** A weight as a whole percentage. @param {number} weight */
export const wholePercent = (weight) => `${Math.round(100 * weight)}\u202f%`;

/** A weight with three decimals. @param {number} weight */
export const decimals = (weight) => (weight > 0 && weight < 0.0005 ? "< 0.001" : weight.toFixed(3));

/** A weight with four decimals; smaller ones in powers of ten. @param {number} weight */
export const fourDecimals = (weight) =>
  weight > 0 && weight < 0.00005 ? weight.toExponential(2) : weight.toFixed(4);

/** A weight as it fits into a cell of a map: ".42", "0" or "1". @param {number} weight */
export const cellNumber = (weight) => (weight >= 0.995 ? "1" : weight.toFixed(2).slice(1));
