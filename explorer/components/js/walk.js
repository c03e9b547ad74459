// The computation as a table that is also a diagram: a row an operation, lines from what it reads.

const HEAD = 26, ROW = 29, LANE = 6, SVG = "http://www.w3.org/2000/svg";

// Streamlit calls this again whenever the data or the theme changes; everything is drawn anew.
export default function ({ data, parentElement: root, setStateValue }) {
  const box = root.querySelector(".walk");
  const S = (root.__walk ??= { part: null, chosen: null });
  if (S.part !== data.part) Object.assign(S, { part: data.part, chosen: data.chosen });
  const lanes = wires(data.rows);
  const width = (1 + Math.max(0, ...lanes.map((wire) => wire.lane + 1))) * LANE + 14;
  const frame = element("div", "frame");
  frame.append(table(data, S, setStateValue, width), drawing(data.rows, lanes, width));
  box.replaceChildren(frame);
}

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function table(data, S, setStateValue, width) {
  const made = element("table"), head = element("tr");
  const first = element("th");
  const room = element("div"); // a table takes no notice of the width of an empty cell
  room.style.width = `${width}px`;
  first.append(room);
  head.append(first, ...data.columns.map((name, i) => element("th", i === 1 ? "" : "number", name)));
  made.append(head);
  for (const [i, row] of data.rows.entries()) {
    const line = element("tr"), cell = element("td"), open = element("button", "", row.title);
    open.type = "button";
    open.setAttribute("aria-pressed", String(row.name === S.chosen));
    open.onclick = () => {
      S.chosen = row.name;
      for (const other of made.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === open));
      setStateValue("chosen", { part: data.part, name: row.name });
    };
    cell.append(open);
    if (row.given) line.className = "given";
    const cells = row.cells.map((text) => element("td", "number", text));
    cells.at(-1).title = row.words; // the same in words; they stand beside the opened operation, too
    line.append(element("td"), element("td", "number given", String(i + 1)), cell, ...cells);
    made.append(line);
  }
  return made;
}

// Every reading within the part, each long one in a lane of its own while others are under way.
function wires(rows) {
  const found = [], ends = [];
  rows.forEach((row, to) => {
    for (const from of row.reads) found.push({ from, to, skip: row.sum && to - from > 1, lane: -1 });
  });
  for (const wire of found.filter((w) => w.to - w.from > 1).sort((a, b) => a.from - b.from || b.to - a.to)) {
    let lane = ends.findIndex((end) => end <= wire.from);
    if (lane < 0) lane = ends.push(0) - 1;
    ends[lane] = wire.to;
    wire.lane = lane;
  }
  return found;
}

function shape(name, attributes, className) {
  const made = document.createElementNS(SVG, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (className) made.setAttribute("class", className);
  return made;
}

function drawing(rows, lanes, width) {
  const height = HEAD + rows.length * ROW, x = width - 12;
  const y = (i) => HEAD + i * ROW + ROW / 2;
  const svg = shape("svg", { width, height, "aria-hidden": "true" });
  for (const { from, to, skip, lane } of lanes) {
    const left = x - (lane + 1) * LANE - 2;
    const d = lane < 0 ? `M${x} ${y(from)}V${y(to)}` : `M${x} ${y(from)}H${left}V${y(to)}H${x}`;
    svg.append(shape("path", { d }, skip ? "skip" : ""));
  }
  rows.forEach((row, i) => {
    const kind = row.sum ? "sum" : row.learned ? "learned" : "";
    svg.append(shape("circle", { cx: x, cy: y(i), r: row.sum ? 7 : 4 }, kind));
    if (!row.sum) return;
    const plus = shape("text", { x, y: y(i) + 4 });
    plus.textContent = "+";
    svg.append(plus);
  });
  return svg;
}
