// The sizes of thumbnails, maps and words: as large as fit into a space.

const STRETCH = 1.6; // maximum ratio of the sides of a thumbnail's cell
const LARGEST = 46; // maximum side of such a cell, in pixels

// The form of a thumbnail's text, the height that it takes, and the least width that it needs.
/** @type {[form: string, below: number, least: number][]} */
const FORMS = [
  ["line", 20, 212],
  ["lines", 36, 112],
  ["name", 19, 0],
];

/**
 * The size of the cells of a map that fills a space; they are nearly square.
 * @param {number} wide
 * @param {number} high
 * @param {number} keys
 * @param {number} queries
 */
export function fitCell(wide, high, keys, queries) {
  const across = Math.max(4, wide) / keys;
  const down = Math.max(4, high) / queries;
  return { x: Math.min(across, STRETCH * down, LARGEST), y: Math.min(down, STRETCH * across, LARGEST) };
}

/**
 * The form and the size of a thumbnail that fills a space with its text.
 * @param {number} wide
 * @param {number} high
 * @param {number} keys
 * @param {number} queries
 */
export function fitTile(wide, high, keys, queries) {
  const [form, below] = /** @type {typeof FORMS[0]} */ (FORMS.find(([, , least]) => wide >= least));
  return { form, ...fitCell(wide - 14, high - 9 - below, keys, queries) };
}

/**
 * The size of cells with which maps fill a line, beside their labels and up to a height.
 * @param {{ beside: number, above: number, keys: number, queries: number }[]} maps the room for labels, and the cells
 * @param {number} wide
 * @param {number} high
 */
export function fitCells(maps, wide, high) {
  const across = maps.reduce((sum, m) => sum + m.keys, 0);
  const labels = maps.reduce((sum, m) => sum + m.beside, 0);
  return Math.floor(Math.min((wide - labels) / across, ...maps.map((m) => (high - m.above) / m.queries)));
}

/**
 * The largest type size, of a few, at which words fit into a space.
 * @param {number[]} lengths the width of each word in type of size 1
 * @param {number} wide
 * @param {number} high
 * @param {number} extra height below each row of words, in pixels
 */
export function fitType(lengths, wide, high, extra) {
  const fits = (/** @type {number} */ size) => {
    let rows = 0;
    let x = Infinity;
    for (const length of lengths) {
      const width = Math.max(34, size * length + 20);
      if (x + width > wide) [rows, x] = [rows + 1, 0];
      x += width;
    }
    return rows * (1.3 * size + extra) <= high;
  };
  return [34, 31, 28, 25, 22, 20, 18].find(fits) ?? 16;
}
