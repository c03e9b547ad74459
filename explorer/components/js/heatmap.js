// One heatmap: rows are queries with query 0 on top, columns are keys with their labels on top, weights from 0 to 1.

const TITLES = { encoder: "Encoder self-attention", decoder: "Masked decoder self-attention", cross: "Cross-attention" };
const AXES = {
  encoder: ["source (query)", "source (key)"],
  decoder: ["decoder reads (query)", "decoder reads (key)"],
  cross: ["decoder reads (query)", "source (key)"],
};
const AXIS = 17, LABEL = 82, TILT = Math.PI / 3.4, LOW = 3, TITLE = 126;

// The position keeps repeated words apart; the isolates keep right-to-left words from moving it.
const label = (tokens, i) => `${i + 1} \u2068${tokens[i]}\u2069`;

// Sizes of the three plots for the width at hand; one height above the rows, so that the plots line up.
function layOut(S) {
  const sizes = S.kinds.map((kind) => {
    const f = S.figures[kind], m = S.maps[kind];
    const ctx = f.canvas.getContext("2d");
    ctx.font = `12px ${S.theme.font}`;
    const long = (tokens) => tokens.map((_, i) => ctx.measureText(label(tokens, i)).width);
    const widest = (tokens) => Math.min(LABEL, Math.max(...long(tokens)));
    const wide = widest(m.columns), left = AXIS + widest(m.rows) + 7;
    return { f, m, wide, left, over: wide * Math.cos(TILT) };
  });
  // As many plots side by side as leave room for the smallest cells.
  const least = Math.max(...sizes.map(({ m, left, over }) => left + m.keys * LOW + over));
  S.$(".maps").style.setProperty("--least", `${Math.ceil(least)}px`);
  const tall = Math.max(186, heightFor(S.box) - 586);
  for (const { f, m, wide, left, over } of sizes) {
    const across = (f.box.clientWidth - left - over) / m.keys, fair = Math.min(across, tall / m.queries);
    // Many rows: rather a taller plot than cells too small to see.
    const cell = clamp(Math.floor(fair < 10 ? Math.min(10, across) : fair), LOW, Math.min(Math.floor(tall / 6), 44));
    const flat = cell > wide + 5;
    const width = left + Math.max(m.keys * cell + over, TITLE), top = AXIS + (flat ? 18 : wide * Math.sin(TILT) + 12);
    f.plot = { left, top, width, cell, flat };
  }
  const line = S.$(".target .chips");
  S.scrolls = line.scrollHeight > line.clientHeight;
  const top = Math.ceil(Math.max(...sizes.map(({ f }) => f.plot.top)));
  for (const { f } of sizes) f.plot.top = top;
}

function drawMap(S, kind) {
  const f = S.figures[kind], m = S.maps[kind], { layer, head } = S.pick[kind], now = frontier(S);
  const { left, top, cell, flat, width } = f.plot;
  const shown = kind === "encoder" ? m.queries : now + 1;
  const current = currentRow(S, kind);
  // High enough for the title of the query axis, however few rows there are.
  const ctx = paper(f.canvas, Math.ceil(width), top + Math.max(m.queries * cell + 4, TITLE));
  const { ink, font, ground } = S.theme;
  const wide = m.keys * cell, high = shown * cell;
  f.canvas.dataset.plot = [left, top, cell, shown, m.keys];

  ctx.fillStyle = ink;
  ctx.textBaseline = "middle";
  const write = (text, x, y, align, tilt, size, weight = 400) => {
    ctx.save();
    ctx.font = `${weight} ${size}px ${font}`;
    ctx.textAlign = align;
    ctx.translate(x, y);
    ctx.rotate(tilt);
    ctx.fillText(text, 0, 0);
    ctx.restore();
  };
  ctx.font = `12px ${font}`;
  ctx.globalAlpha = 0.7;
  write(AXES[kind][1], left, AXIS / 2, "left", 0, 11);
  write(AXES[kind][0], AXIS / 2, top, "right", -Math.PI / 2, 11);
  ctx.globalAlpha = 1;

  // Labels thin out when there is no room for all; the current row always has its own.
  const every = Math.ceil(10 / cell), size = clamp(cell, 10, 12);
  for (let q = 0; q < shown; q++) {
    const near = Math.abs(q - current);
    if (near && (q % every || near < every)) continue;
    write(fitText(ctx, label(m.rows, q)), left - 6, top + (q + 0.5) * cell, "right", 0, size, near ? 400 : 700);
  }
  for (let k = 0; k < m.keys; k += every) {
    // A word that the decoder has not read yet has no name at this step.
    if (kind === "decoder" && m.mask[(shown - 1) * m.keys + k] === FUTURE) continue;
    const x = left + (k + 0.5) * cell;
    const text = fitText(ctx, label(m.columns, k));
    if (flat) write(text, x, top - 9, "center", 0, size);
    else write(text, x, top - 6, "left", -TILT, size);
  }

  ctx.drawImage(bitmap(S, kind, layer, head), 0, 0, m.keys, shown, left, top, wide, high);
  if (cell > 4) hatch(S, ctx, m, shown, f.plot);
  ctx.strokeStyle = ink;
  ctx.lineWidth = 1;
  if (cell > 7) {
    ctx.globalAlpha = 0.1;
    ctx.beginPath();
    for (let k = 1; k < m.keys; k++) ctx.rect(left + k * cell - 0.5, top, 0, high);
    for (let q = 1; q < shown; q++) ctx.rect(left, top + q * cell - 0.5, wide, 0);
    ctx.stroke();
  }
  ctx.globalAlpha = 0.35;
  ctx.strokeRect(left - 0.5, top - 0.5, wide + 1, high + 1);
  ctx.globalAlpha = 1;
  if (cell > 23) numbers(S, ctx, m, headWeights(m, layer, head), shown, f.plot);

  const frame = (x, y, w, h, colour) => {
    for (const [thick, style] of [[4, ground], [2, colour]]) {
      Object.assign(ctx, { lineWidth: thick, strokeStyle: style });
      ctx.strokeRect(x, y, w, h);
    }
  };
  // A frame around the row; around cells too small for one, a mark at either end instead, which hides nothing.
  const mark = (row, colour) => {
    if (cell > 7) return frame(left, top + row * cell, wide, cell, colour);
    ctx.fillStyle = colour;
    for (const x of [left - 5, left + wide + 1]) ctx.fillRect(x, top + row * cell, 4, cell);
  };
  if (kind !== "encoder") mark(now, S.theme.target);
  ctx.setLineDash([4, 3]);
  if (kind === "encoder" || current !== now) mark(current, S.theme[SIDES[kind][0]]);
  ctx.setLineDash([]);
  const c = S.cell;
  const out = cell > 7 ? 0 : 2;
  if (c?.kind === kind) frame(left + c.key * cell - out, top + c.query * cell - out, cell + 2 * out, cell + 2 * out, ink);
}

// Long labels lose their end; the whole token is in the readout and in the table.
function fitText(ctx, text) {
  if (ctx.measureText(text).width <= LABEL + 2) return text;
  let parts = [...text];
  const cut = () => `${parts.join("")}…`;
  while (parts.length && ctx.measureText(cut()).width > LABEL) parts = parts.slice(0, -Math.ceil(parts.length / 9));
  return cut();
}

function hatch(S, ctx, m, shown, { left, top, cell }) {
  for (let i = 0; i < shown * m.keys; i++) {
    if (!m.mask[i]) continue;
    ctx.fillStyle = patternOf(S.theme, m.mask[i]);
    ctx.fillRect(left + (i % m.keys) * cell, top + Math.floor(i / m.keys) * cell, cell, cell);
  }
}

function numbers(S, ctx, m, weights, shown, { left, top, cell }) {
  Object.assign(ctx, { font: `11px ${S.theme.font}`, textAlign: "center" });
  for (let i = 0; i < shown * m.keys; i++) {
    if (m.mask[i]) continue;
    const text = weights[i] < 0.005 ? "0" : weights[i] >= 0.995 ? "1" : weights[i].toFixed(2).slice(1);
    ctx.fillStyle = brightness(shade(S.theme, weights[i])) > 0.55 ? "#10243d" : "#fff";
    ctx.fillText(text, left + ((i % m.keys) + 0.5) * cell, top + (Math.floor(i / m.keys) + 0.5) * cell + 0.5);
  }
}

// The row that captions and table speak about: the locked cell's, else the frontier, else (encoder) the source token
// that the decoder looks at most at this step.
function currentRow(S, kind) {
  if (S.cell?.locked && S.cell.kind === kind) return S.cell.query;
  if (kind !== "encoder") return frontier(S);
  const { layer, head } = S.pick.cross;
  return rowOf(S.maps.cross, layer, head, frontier(S)).seen[0]?.key ?? 0;
}

// The cell under the pointer, or null outside the rows that are drawn.
function cellAt(S, kind, event) {
  const { canvas } = S.figures[kind], [x, y] = pointerOn(canvas, event);
  const [left, top, cell, rows, columns] = canvas.dataset.plot.split(",").map(Number);
  const query = Math.floor((y - top) / cell), key = Math.floor((x - left) / cell);
  return query >= 0 && key >= 0 && query < rows && key < columns ? { kind, query, key } : null;
}
