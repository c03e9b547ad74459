// The colour and the dashes of each head. The export draws with the same ones (explorer/charts/palette.py); both are
// tested on tests/fixtures/head_strokes.json.

const COLOURS = 8;
const DASHES = [[], [7, 3], [2, 3], [10, 3, 2, 3], [14, 4], [4, 4], [1, 4], [9, 2, 2, 2, 2, 2]];

/**
 * Which colour and which dashes a head has, counted from 0; the mean (head 0) has the colour of text, and no dashes.
 * Colours repeat after eight heads, but then with other dashes.
 * @param {number} head
 */
export function strokeOf(head) {
  const i = Math.max(0, head - 1), turn = Math.floor(i / COLOURS);
  return { colour: head ? i % COLOURS : -1, dashes: head ? (i + turn) % DASHES.length : 0 };
}

/** The dashes as a canvas takes them. @param {number} head */
export const dashesOf = (head) => DASHES[strokeOf(head).dashes];

/** @param {{ colours: string[], theme: { ink: string } }} S @param {number} head */
export function colourOf({ colours, theme }, head) {
  const { colour } = strokeOf(head);
  return colour < 0 || !colours.length ? theme.ink : colours[colour % colours.length];
}
