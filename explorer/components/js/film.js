// The film: thumbnails of all heads, one of them large, and a slider over the moments of training.

const WORDS = {
  encoder: ["Encoder self-attention", "source (query)", "source (key)"],
  decoder: ["Decoder self-attention", "decoder reads (query)", "decoder reads (key)"],
  cross: ["Cross-attention", "decoder reads (query)", "source (key)"],
};
const TALL = 340, NARROW = 90, REPORT = 250, TEMPO = 600;

// Streamlit calls this again whenever the data or the theme changes, and the returned function once, at the end.
export default function ({ data, parentElement: root, setStateValue }) {
  const S = (root.__film ??= create(root));
  Object.assign(S, { setStateValue, theme: readTheme(S.box) });
  load(S, readFilm(data));
  draw(S);
  return () => {
    clearTimeout(S.report);
    clearTimeout(S.timer);
    S.observer.disconnect();
  };
}

function readFilm(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const film = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  let at = 4 + size;
  for (const f of film.frames) {
    f.area = f.rows.length * f.columns.length;
    f.weights = bytes.slice(at, (at += film.layers * film.heads * f.area));
  }
  return film;
}

function create(root) {
  const $ = (selector) => root.querySelector(selector);
  const S = { $, box: $(".film"), frame: 0, layer: 1, head: 1, cell: null, timer: 0 };
  $("input").oninput = (event) => go(S, +event.target.value);
  $(".play").onclick = () => (S.timer ? halt(S) : play(S));
  const big = $(".big");
  const point = (event) => {
    const [left, top, cell] = S.plot, f = S.film.frames[S.frame];
    const key = Math.floor((event.offsetX - left) / cell), query = Math.floor((event.offsetY - top) / cell);
    S.cell = query >= 0 && key >= 0 && query < f.rows.length && key < f.columns.length ? { query, key } : null;
    read(S);
  };
  big.onpointermove = big.onclick = point;
  big.onpointerleave = () => { S.cell = null; read(S); };
  S.observer = new ResizeObserver(() => {
    if (S.width !== S.box.clientWidth && S.film) draw(S);
  });
  S.observer.observe(S.box);
  return S;
}

// New data. The person keeps the place, except where the server sends another film.
function load(S, film) {
  S.film = film;
  S.masked = rgb(S.theme.masked);
  if (film.seq !== S.seq) Object.assign(S, film.place, { seq: film.seq });
  S.frame = clamp(S.frame, 0, film.frames.length - 1);
  S.layer = clamp(S.layer, 1, film.layers);
  S.head = clamp(S.head, 1, film.heads);
  S.cell = null;
  if (S.frame === film.frames.length - 1) halt(S);
}

function go(S, frame) {
  halt(S);
  show(S, frame);
}

function show(S, frame) {
  S.frame = frame;
  paint(S);
  tell(S);
}

function play(S) {
  if (S.frame === S.film.frames.length - 1) show(S, 0);
  const next = () => {
    show(S, S.frame + 1);
    if (S.frame < S.film.frames.length - 1) S.timer = setTimeout(next, TEMPO);
    else halt(S);
  };
  S.timer = setTimeout(next, TEMPO);
  mark(S);
}

function halt(S) {
  clearTimeout(S.timer);
  S.timer = 0;
  mark(S);
}

function mark(S) {
  const button = S.$(".play");
  button.classList.toggle("playing", !!S.timer);
  button.ariaLabel = S.timer ? "Pause" : "Play";
}

// One message for a burst of moves.
function tell(S) {
  clearTimeout(S.report);
  const { seq, frame, layer, head } = S;
  S.report = setTimeout(() => S.setStateValue("at", { seq, frame, layer, head }), REPORT);
}

// Everything whose size depends on the film or on the width; then the pictures.
function draw(S) {
  const { layers, heads, frames } = S.film;
  S.width = S.box.clientWidth;
  S.$(".controls").hidden = frames.length < 2;
  S.$(".masked").hidden = S.film.kind !== "decoder";
  const slider = S.$("input");
  slider.max = frames.length - 1;
  const grid = S.$(".heads");
  S.thumb = clamp(Math.floor((S.width * (S.width < 700 ? 0.9 : 0.45) - 60) / heads) - 14, 30, NARROW);
  grid.style.gridTemplateColumns = `auto repeat(${heads}, auto)`;
  grid.replaceChildren();
  S.thumbs = [];
  for (let layer = 1; layer <= layers; layer++) {
    grid.append(Object.assign(document.createElement("span"), { textContent: `Layer ${layer}` }));
    for (let head = 1; head <= heads; head++) {
      const button = document.createElement("button"), canvas = document.createElement("canvas");
      button.type = "button";
      button.ariaLabel = button.title = `Layer ${layer}, head ${head}`;
      button.append(canvas);
      button.onclick = () => {
        Object.assign(S, { layer, head });
        paint(S);
        tell(S);
      };
      grid.append(button);
      S.thumbs.push({ layer, head, button, canvas });
    }
  }
  paint(S);
}

function paint(S) {
  const { film } = S, f = film.frames[S.frame];
  S.$("input").value = S.frame;
  const step = `step ${f.step.toLocaleString("en")}`;
  S.$("input").ariaValueText = step;
  S.$("output").textContent = `${step} (${S.frame + 1} of ${film.frames.length})`;
  for (const { layer, head, button, canvas } of S.thumbs) {
    button.ariaPressed = layer === S.layer && head === S.head;
    const ctx = paper(canvas, S.thumb, S.thumb);
    const cell = Math.min(S.thumb / f.columns.length, S.thumb / f.rows.length);
    const wide = cell * f.columns.length, high = cell * f.rows.length;
    ctx.drawImage(picture(S, f, layer, head), (S.thumb - wide) / 2, (S.thumb - high) / 2, wide, high);
  }
  enlarge(S, f);
  read(S);
}

const weightAt = (S, f, layer, head, i) => f.weights[((layer - 1) * S.film.heads + head - 1) * f.area + i] / 255;

const hidden = (S, f, i) => S.film.kind === "decoder" && i % f.columns.length > Math.floor(i / f.columns.length);

// A head's map, one pixel a cell.
function picture(S, f, layer, head) {
  const image = new ImageData(f.columns.length, f.rows.length), masked = S.masked;
  for (let i = 0; i < f.area; i++) {
    image.data.set([...(hidden(S, f, i) ? masked : shade(S.theme, weightAt(S, f, layer, head, i))), 255], 4 * i);
  }
  const canvas = Object.assign(document.createElement("canvas"), { width: f.columns.length, height: f.rows.length });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

// The chosen head: rows are queries, query 0 on top, labels of the keys on top.
function enlarge(S, f) {
  const { ink, font } = S.theme, [title, rows, columns] = WORDS[S.film.kind];
  S.$("figcaption").textContent = `${title}, layer ${S.layer}, head ${S.head}, step ${f.step.toLocaleString("en")}`;
  const canvas = S.$(".big"), ctx = canvas.getContext("2d");
  ctx.font = `12px ${font}`;
  const label = (tokens, i) => fit(ctx, `${i + 1} \u2068${tokens[i]}\u2069`, 96);
  const next = (i) => fit(ctx, `\u2192 \u2068${f.predicted[i]}\u2069`, 84);
  const widest = (texts) => Math.ceil(Math.max(0, ...texts.map((text) => ctx.measureText(text).width)));
  const left = 20 + widest(f.rows.map((_, i) => label(f.rows, i))) + 6;
  const right = f.predicted.length ? widest(f.predicted.map((_, i) => next(i))) + 8 : 4;
  const above = 18 + widest(f.columns.map((_, i) => label(f.columns, i))) + 8;
  const room = S.$("figure").clientWidth - left - right;
  const cell = Math.max(3, Math.min(30, room / f.columns.length, (TALL + 40 - above) / f.rows.length));
  const wide = cell * f.columns.length, high = cell * f.rows.length;
  paper(canvas, Math.ceil(Math.max(left + wide + right, left + 150)), Math.ceil(Math.max(above + high + 2, 190)));
  S.plot = [left, above, cell];
  ctx.fillStyle = ink;
  ctx.textBaseline = "middle";
  const write = (text, x, y, align, angle = 0) => {
    ctx.save();
    ctx.translate(x, y);
    ctx.rotate(angle);
    ctx.textAlign = align;
    ctx.fillText(text, 0, 0);
    ctx.restore();
  };
  ctx.font = `11px ${font}`;
  ctx.globalAlpha = 0.7;
  write(columns, left, 8, "left");
  write(rows, 8, above, "right", -Math.PI / 2);
  ctx.globalAlpha = 1;
  const size = Math.min(12, Math.max(9, cell)), every = Math.ceil(11 / cell);
  ctx.font = `${size}px ${font}`;
  for (let i = 0; i < f.rows.length; i += every) {
    write(label(f.rows, i), left - 5, above + (i + 0.5) * cell, "right");
    if (f.predicted.length) write(next(i), left + wide + 6, above + (i + 0.5) * cell, "left");
  }
  for (let i = 0; i < f.columns.length; i += every) write(label(f.columns, i), left + (i + 0.5) * cell, above - 5, "left", -Math.PI / 2);
  ctx.drawImage(picture(S, f, S.layer, S.head), 0, 0, f.columns.length, f.rows.length, left, above, wide, high);
  for (let i = 0; i < f.area; i++) {
    const x = left + (i % f.columns.length) * cell, y = above + Math.floor(i / f.columns.length) * cell;
    const weight = weightAt(S, f, S.layer, S.head, i);
    if (hidden(S, f, i)) {
      ctx.fillStyle = patternOf(S.theme, FUTURE);
      ctx.fillRect(x, y, cell, cell);
    } else if (cell > 24 && weight >= 0.005) {
      ctx.font = `11px ${font}`;
      ctx.fillStyle = brightness(shade(S.theme, weight)) > 0.55 ? "#10243d" : "#fff";
      write(weight >= 0.995 ? "1" : weight.toFixed(2).slice(1), x + cell / 2, y + cell / 2, "center");
    }
  }
  ctx.strokeStyle = ink;
  ctx.globalAlpha = 0.35;
  ctx.strokeRect(left - 0.5, above - 0.5, wide + 1, high + 1);
  ctx.globalAlpha = 1;
}

function fit(ctx, text, most) {
  if (ctx.measureText(text).width <= most) return text;
  let parts = [...text];
  while (parts.length && ctx.measureText(`${parts.join("")}…`).width > most) parts.pop();
  return `${parts.join("")}…`;
}

// The cell under the pointer in words.
function read(S) {
  const f = S.film.frames[S.frame], c = S.cell;
  let text = "";
  if (c) {
    const i = c.query * f.columns.length + c.key;
    const says = f.predicted.length ? ` (predicts ${f.predicted[c.query]})` : "";
    const value = hidden(S, f, i) ? "masked, still to come" : percent(weightAt(S, f, S.layer, S.head, i));
    text = `${c.query + 1} ${f.rows[c.query]}${says} \u2192 ${c.key + 1} ${f.columns[c.key]}: ${value}`;
  }
  const line = S.$("figure p");
  if (line.textContent !== text) line.textContent = text;
}
