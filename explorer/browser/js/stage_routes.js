// How curves of the stage pass rows of words: where a sentence needs several lines, a curve to one of the outer lines goes
// through the gaps between the words of the others, so that it crosses out none of them.

/** @typedef {import("./types").Box} Box */
/** @typedef {import("./types").Gap} Gap */
/** @typedef {import("./types").Side} Side */

const SAME = 8; // how much the upper edges of words on one line may differ, in pixels
const PAST = 4; // how far beyond the last word of a line a curve passes, in pixels

/**
 * The gaps that lead from a word to the other sentence, the nearest line first: above a word of the translation, below
 * one of the source. Each is the nearest to the one before.
 * @param {Box[]} boxes the words of the sentence
 * @param {Box} from
 * @param {Side} side
 * @returns {Gap[]}
 */
export function gapsFrom(boxes, from, side) {
  const up = side === "target", edge = (/** @type {Box} */ box) => (up ? -box.top : box.top);
  /** @type {Box[][]} */
  const lines = [];
  for (const box of boxes.filter((each) => !each.hidden && edge(each) > edge(from) + SAME).sort((a, b) => edge(a) - edge(b) || a.left - b.left)) {
    const line = lines[lines.length - 1];
    if (line && Math.abs(line[0].top - box.top) < SAME) line.push(box);
    else lines.push([box]);
  }
  let at = (from.left + from.right) / 2;
  return lines.map((line) => {
    const [top, bottom] = [Math.min(...line.map((box) => box.top)), Math.max(...line.map((box) => box.bottom))];
    const wanted = at;  // beside the last word of a line, everything is free
    const gaps = line.map((box, i) => (i + 1 < line.length ? (box.right + line[i + 1].left) / 2 : Math.max(box.right + PAST, wanted)));
    at = gaps.reduce((best, gap) => (Math.abs(gap - at) < Math.abs(best - at) ? gap : best));
    return { x: at, near: up ? bottom : top, far: up ? top : bottom };
  });
}

/**
 * Where a curve meets a word: the middle of the edge that faces the other sentence; on the way to a gap, the place of that
 * edge that is nearest to it; and the right end of the last word if the gap is beyond it.
 * @param {Box} box
 * @param {Side} side
 * @param {Gap[]} gaps
 * @param {boolean} last whether nothing stands to the right of the word
 */
export function meeting(box, side, [gap], last) {
  const y = side === "target" ? box.top : box.bottom;
  if (!gap) return { x: (box.left + box.right) / 2, y };
  if (last && gap.x > box.right + PAST) return { x: box.right, y: (box.top + box.bottom) / 2 };
  return { x: Math.min(Math.max(gap.x, box.left + 6), box.right - 6), y };
}
