// One head, large: rows are queries with query 0 on top, keys on top, numbers where there is room.

const ROOMY = 26;

// The rows of the decoder read one word and predict another; one of the two names the row, the other stands behind it.
const nameOfRow = (S, m, q) => (S.next && m.predicted.length ? m.predicted[q] : m.rows[q]);
const otherName = (S, m, q) => (!m.predicted.length ? "" : S.next ? `after \u2068${m.rows[q]}\u2069` : `→ \u2068${m.predicted[q]}\u2069`);
const rowTitle = (S, kind) => (kind === "encoder" ? "source (query)" : S.next ? "decoder predicts (query)" : "decoder reads (query)");

function drawMaps(S) {
  const kinds = S.view === "head" ? kindsShown(S) : [];
  for (const kind of KINDS) {
    S.figures[kind].box.hidden = !kinds.includes(kind);
    if (kinds.includes(kind)) drawHead(S, kind, kinds.length);
  }
}

function drawHead(S, kind, columns) {
  const f = S.figures[kind], m = mapOf(S, kind), { layer, head } = S.pick[kind];
  say(f.title, TITLES[kind]);
  const which = head ? `head ${head}` : "mean over the heads";
  say(f.about, `layer ${layer} · ${which} · ${S.data.model}` + (m ? "" : " · loading …"));
  f.canvas.hidden = !m;
  if (!m) return;
  f.canvas.setAttribute("aria-label", `${TITLES[kind]}, ${f.about.textContent}. Arrow keys move from cell to cell; with Shift they mark rows and columns.`);
  const { values, exact } = weightsOf(S, m, layer, head), { ink, ground, font } = S.theme;
  const measure = f.canvas.getContext("2d");
  const large = presenting(S) ? 1.4 : 1;
  measure.font = `${12 * large}px ${font}`;
  const widest = (texts) => Math.ceil(texts.reduce((most, text) => Math.max(most, measure.measureText(text).width), 0));
  const names = m.rows.map((_, q) => fitText(measure, label(m.rows.map((_, i) => nameOfRow(S, m, i)), q)));
  const others = m.rows.map((_, q) => fitText(measure, otherName(S, m, q)));
  const keys = m.columns.map((_, k) => fitText(measure, label(m.columns, k)));
  const left = AXIS + widest(names) + 8, right = m.predicted.length ? widest(others) + 10 : 0;
  const wideKeys = widest(keys), room = f.box.clientWidth - left - 4;
  const tall = Math.max(230, heightFor(f.box) - 420);
  // Where type is large, so are the cells that it stands in.
  const fit = (over) => Math.min((room - over) / m.keys, tall / m.queries);
  let cell = Math.floor(fit(Math.max(right, wideKeys * Math.cos(TILT))));
  if (cell < 10) cell = Math.min(10, Math.floor((room - right) / m.keys));
  cell = clamp(cell, 4, 46 * large);
  const flat = cell > wideKeys + 5, top = Math.ceil(AXIS + (flat ? 20 : wideKeys * Math.sin(TILT) + 12));
  const shown = shownRows(S, m), wide = m.keys * cell, high = shown * cell, row = rowIn(S, m), column = columnIn(S, m);
  const over = Math.max(right, flat ? 0 : wideKeys * Math.cos(TILT));
  const ctx = paper(f.canvas, Math.ceil(left + Math.max(wide + over + 2, TITLE)), top + Math.max(m.queries * cell + 4, TITLE + 20));
  f.plot = { left, top, cell };
  f.canvas.dataset.plot = [left, top, cell, shown, m.keys];
  ctx.textBaseline = "middle";
  const write = (text, x, y, align, tilt = 0, size = 12, weight = 400) => {
    ctx.save();
    ctx.font = `${weight} ${size * large}px ${font}`;
    ctx.textAlign = align;
    ctx.translate(x, y);
    ctx.rotate(tilt);
    ctx.fillText(text, 0, 0);
    ctx.restore();
  };
  ctx.fillStyle = ink;
  ctx.globalAlpha = 0.75;
  write(AXES[kind][1], left, AXIS / 2, "left", 0, 11);
  write(rowTitle(S, kind), AXIS / 2, top, "right", -Math.PI / 2, 11);
  const every = Math.ceil((10 * large) / cell), size = clamp(cell, 10, 12);
  const named = (i, current) => i === current || (i % every === 0 && Math.abs(i - (current ?? -99)) >= every);
  for (let q = 0; q < shown; q++) if (named(q, row)) write(others[q], left + wide + 8, top + (q + 0.5) * cell, "left", 0, size);
  ctx.globalAlpha = 1;
  for (let q = 0; q < shown; q++) if (named(q, row)) write(names[q], left - 6, top + (q + 0.5) * cell, "right", 0, size, q === row ? 700 : 400);
  for (let k = 0; k < m.keys; k++) {
    if (!named(k, column) || (kind === "decoder" && m.mask[(shown - 1) * m.keys + k] === FUTURE)) continue;
    const x = left + (k + 0.5) * cell, weight = k === column ? 700 : 400;
    if (flat) write(keys[k], x, top - 10, "center", 0, size, weight);
    else write(keys[k], x, top - 6, "left", -TILT, size, weight);
  }
  const most = topOf(S, kindsShown(S), true);
  ctx.drawImage(picture(S, m, [{ layer, head }], most).canvas, 0, 0, m.keys, shown, left, top, wide, high);
  if (cell > 4) hatch(S, ctx, m, shown, f.plot);
  if (cell >= ROOMY && exact) writeWeights(S, ctx, m, values, shown, f.plot, most);
  dim(S, ctx, m, shown, f.plot);
  ctx.strokeStyle = ink;
  ctx.globalAlpha = 0.35;
  ctx.strokeRect(left - 0.5, top - 0.5, wide + 1, high + 1);
  ctx.globalAlpha = 1;
  const frame = (x, y, w, h, colour) => {
    for (const [thick, style] of [[4, ground], [2, colour]]) {
      Object.assign(ctx, { lineWidth: thick, strokeStyle: style });
      ctx.strokeRect(x, y, w, h);
    }
  };
  const [side, keySide] = SIDES[kind];
  if (row < shown) frame(left, top + row * cell, wide, cell, S.theme[side]);
  if (column !== null && kind === S.kind) {
    ctx.setLineDash([4, 3]);
    frame(left + column * cell, top, cell, high, S.theme[keySide]);
    ctx.setLineDash([]);
    if (row < shown) frame(left + column * cell, top + row * cell, cell, cell, ink);
  }
}

function writeWeights(S, ctx, m, values, shown, { left, top, cell }, most) {
  Object.assign(ctx, { font: `${cell > 46 ? 16 : 11}px ${S.theme.font}`, textAlign: "center" });
  for (let i = 0; i < shown * m.keys; i++) {
    if (m.mask[i]) continue;
    const text = values[i] < 0.005 ? "0" : values[i] >= 0.995 ? "1" : values[i].toFixed(2).slice(1);
    ctx.fillStyle = brightness(S.theme.scale[level(S, values[i], most)]) > 0.55 ? "#10243d" : "#fff";
    ctx.fillText(text, left + ((i % m.keys) + 0.5) * cell, top + (Math.floor(i / m.keys) + 0.5) * cell + 0.5);
  }
}

// What the brush leaves out steps back.
function dim(S, ctx, m, shown, { left, top, cell }) {
  const b = S.brush;
  if (b?.kind !== m.kind) return;
  ctx.fillStyle = S.theme.ground;
  ctx.globalAlpha = 0.72;
  const [first, last] = [Math.min(b.rows[1], shown - 1), b.columns[1]];
  const boxes = [[0, 0, m.keys, b.rows[0]], [0, first + 1, m.keys, shown - first - 1],
    [0, b.rows[0], b.columns[0], first - b.rows[0] + 1], [last + 1, b.rows[0], m.keys - last - 1, first - b.rows[0] + 1]];
  for (const [x, y, w, h] of boxes) if (w > 0 && h > 0) ctx.fillRect(left + x * cell, top + y * cell, w * cell, h * cell);
  ctx.globalAlpha = 1;
}

// Row and column under the pointer; -1 over the labels of the other axis; null outside.
function cellUnder(S, kind, event) {
  const { canvas } = S.figures[kind], [x, y] = pointerOn(canvas, event);
  const [left, top, cell, rows, columns] = canvas.dataset.plot.split(",").map(Number);
  const query = Math.floor((y - top) / cell), key = Math.floor((x - left) / cell);
  if (query >= rows || key >= columns || (query < 0 && key < 0)) return null;
  return { kind, query: Math.max(query, -1), key: Math.max(key, -1) };
}

// Pointing shows a cell, a click chooses it, dragging marks rows, columns (from their labels) or a block of both.
function listenToHead(S, kind) {
  const { canvas } = S.figures[kind];
  const range = (a, b, count) => (a < 0 || b < 0 ? [0, count - 1] : [Math.min(a, b), Math.max(a, b)]);
  const mark = (from, to) => {
    const m = mapOf(S, kind);
    S.brush = { kind, rows: range(from.query, to.query, m.queries), columns: range(from.key, to.key, m.keys) };
  };
  canvas.onpointerdown = (event) => {
    S.drag = cellUnder(S, kind, event);
    S.dragged = false;
  };
  canvas.onpointermove = (event) => {
    const cell = cellUnder(S, kind, event), from = S.drag;
    if (from && event.buttons && cell && (cell.query !== from.query || cell.key !== from.key)) {
      S.dragged = true;
      mark(from, cell);
    } else if (event.pointerType === "touch") return;
    S.hover = cell && cell.query >= 0 && cell.key >= 0 ? cell : null;
    redraw(S);
  };
  canvas.onpointerleave = () => {
    S.hover = null;
    redraw(S);
  };
  canvas.onclick = (event) => {
    const cell = cellUnder(S, kind, event);
    S.drag = null;
    if (!cell || S.dragged) return;
    if (cell.query < 0 || cell.key < 0) mark(cell, cell);
    else chooseCell(S, kind, cell.query, cell.key);
    redraw(S);
  };
  canvas.onkeydown = (event) => {
    const m = mapOf(S, kind), way = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!m || event.key === "Tab" || event.ctrlKey || event.metaKey) return;
    const query = rowIn(S, m), key = S.kind === kind ? columnIn(S, m) : null, { layer, head } = S.pick[kind];
    const heaviest = readRow(S, m, layer, head, query).seen[0]?.key ?? 0;
    if (way && event.shiftKey) {
      const at = S.brush?.kind === kind ? S.brush : { rows: [query, query], columns: [key ?? heaviest, key ?? heaviest] };
      const grow = ([a, b], by, count) => [a, clamp(b + by, a, count - 1)];
      S.brush = { kind, rows: grow(at.rows, way[0], m.queries), columns: grow(at.columns, way[1], m.keys) };
      redraw(S);
    } else if (way && key === null) chooseCell(S, kind, query, heaviest);
    else if (way) chooseCell(S, kind, clamp(query + way[0], 0, shownRows(S, m) - 1), clamp(key + way[1], 0, m.keys - 1));
    else if (event.key === "Home") chooseCell(S, kind, query, 0);
    else if (event.key === "End") chooseCell(S, kind, query, m.keys - 1);
    else if (event.key === "Enter" || event.key === " ") chooseCell(S, kind, query, key ?? heaviest);
    else return;
    event.preventDefault();
  };
}
