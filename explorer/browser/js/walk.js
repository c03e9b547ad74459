// The computation as a table and diagram: one row per operation, with lines from its inputs.

import { finder, make, makeButton, makeShape } from "./dom.js";

/** @import { WalkData, WalkRow } from "./structs" */

/** @typedef {{ part: string, chosen: string }} Choice */

const HEAD = 38; // height of the header, which has two lines, in pixels
const ROW = 29; // height of a row, in pixels
const LANE = 6; // distance between lanes, in pixels

/**
 * Streamlit calls this again whenever the data or the theme changes; everything is redrawn.
 * @param {import("./types").Mount<WalkData, "__walk", Choice>} mount
 */
export default function ({ data, parentElement: root, setStateValue }) {
  const choice = (root.__walk ??= { part: "", chosen: "" });
  if (choice.part !== data.part) Object.assign(choice, { part: data.part, chosen: data.chosen });
  const wires = wiresOf(data.rows);
  const width = (1 + Math.max(0, ...wires.map((wire) => wire.lane + 1))) * LANE + 14;
  const choose = (/** @type {string} */ name) => {
    choice.chosen = name;
    setStateValue("chosen", { part: data.part, name });
  };
  const frame = make("div", "frame", table(data, choice, choose, width), diagram(data.rows, wires, width));
  finder(root)(".walk").replaceChildren(frame);
}

/** @param {WalkData} data @param {Choice} choice @param {(name: string) => void} choose @param {number} width */
function table(data, choice, choose, width) {
  const room = make("div"); // because a table ignores the width of an empty cell
  room.style.width = `${width}px`;
  const titles = data.columns.map((name, i) => make("th", i === 1 ? "" : "number", name));
  const made = make("table", "", make("tr", "", make("th", "", room), ...titles));
  for (const [i, row] of data.rows.entries()) {
    const open = makeButton("", row.title);
    open.setAttribute("aria-pressed", `${row.name === choice.chosen}`);
    open.onclick = () => {
      choose(row.name);
      for (const other of made.querySelectorAll("button")) other.setAttribute("aria-pressed", `${other === open}`);
    };
    const cells = row.cells.map((text) => make("td", "number", text));
    cells[cells.length - 1].title = row.words; // the inputs in words, which are also shown with the open operation
    made.append(make("tr", row.given ? "given" : "", make("td"), make("td", "number given", `${i + 1}`), make("td", "", open), ...cells));
  }
  return made;
}

/**
 * A wire for each operation whose output is read within this part; overlapping long wires get separate lanes.
 * @param {WalkRow[]} rows
 */
function wiresOf(rows) {
  const wires = rows.flatMap((row, to) =>
    row.reads.map((from) => ({ from, to, skip: row.sum && to - from > 1, lane: -1 })));
  /** @type {number[]} */
  const ends = [];
  for (const wire of wires.filter((w) => w.to - w.from > 1).sort((a, b) => a.from - b.from || b.to - a.to)) {
    let lane = ends.findIndex((end) => end <= wire.from);
    if (lane < 0) lane = ends.push(0) - 1;
    ends[lane] = wire.to;
    wire.lane = lane;
  }
  return wires;
}

/** @param {WalkRow[]} rows @param {ReturnType<typeof wiresOf>} wires @param {number} width */
function diagram(rows, wires, width) {
  const height = HEAD + rows.length * ROW, x = width - 12;
  const y = (/** @type {number} */ i) => HEAD + i * ROW + ROW / 2;
  const paths = wires.map(({ from, to, skip, lane }) => {
    const left = x - (lane + 1) * LANE - 2;
    const d = lane < 0 ? `M${x} ${y(from)}V${y(to)}` : `M${x} ${y(from)}H${left}V${y(to)}H${x}`;
    return makeShape("path", { d, class: skip ? "skip" : "" });
  });
  const circles = rows.flatMap((row, i) => {
    const circle = makeShape("circle", { cx: x, cy: y(i), r: row.sum ? 7 : 4, class: row.sum ? "sum" : row.learned ? "learned" : "" });
    return row.sum ? [circle, makeShape("text", { x, y: y(i) + 4 }, "+")] : [circle];
  });
  return makeShape("svg", { width, height, "aria-hidden": "true" }, ...paths, ...circles);
}
