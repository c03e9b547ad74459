// From weights to colours: three scales, three palettes that colour-blind eyes can read, and a head as a small picture.

// Cividis after Nuñez, Anderton and Renslow (2018); both run evenly from dark to light.
const RAMPS = {
  cividis: "#00224e,#123570,#3b496c,#575d6d,#707173,#8a8678,#a59c74,#c3b369,#e1cc55,#fee838",
  grey: "#ffffff,#000000",
};
const FAINTEST = 1e-4;

function choosePalette(S) {
  const { theme } = S, ramped = RAMPS[S.palette]?.split(",").map(rgb);
  theme.scale = ramped ? ramp(ramped, rgb(theme.ground)) : theme.own;
  S.box.style.setProperty("--scale", theme.scale.filter((_, i) => i % 15 === 0).map((c) => `rgb(${c})`).join());
  const pack = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  S.inks = Uint32Array.from(theme.scale, pack);
  S.grey = pack(rgb(theme.masked));
  S.pictures.clear();
}

// Where a weight stands on the scale, 0 to 255.
function level(S, weight, top) {
  if (S.scale === "log") return weight < FAINTEST ? 0 : clamp(Math.round(255 * (1 - Math.log10(weight) / Math.log10(FAINTEST))), 0, 255);
  return clamp(Math.round((255 * weight) / top), 0, 255);
}

// The weight that gets the last colour: one for all that is compared, the heads of a grid or the maps side by side.
function topOf(S, kinds, alone) {
  if (S.scale !== "max") return 1;
  let top = 0;
  for (const m of kinds.map((kind) => mapOf(S, kind)).filter(Boolean)) {
    const { layer, head } = S.pick[m.kind];
    if (alone) top = Math.max(top, largest(weightsOf(S, m, layer, head).values));
    else {
      const most = (m.largest ??= largest(m.weights));
      top = Math.max(top, m.exact ? most : (most / 255) ** 2);
    }
  }
  return top || 1;
}

const largest = (values) => values.reduce((a, b) => Math.max(a, b), 0);

// Some heads of a kind, one pixel a cell, to be stretched onto the screen: a canvas, and where on it each head stands.
// All of them in one, because the browser pays more for a canvas than for what is on it.
function picture(S, m, heads, top) {
  const name = `${m.kind} ${m.form} ${heads.map(({ layer, head }) => `${layer}-${head}`)} ${top}`;
  if (!S.pictures.has(name)) {
    // A pixel between two heads keeps each one's colours out of the other when they are drawn small.
    const wide = m.keys + 1, across = clamp(Math.floor(4096 / wide), 1, heads.length);
    const width = across * wide, image = new ImageData(width, Math.ceil(heads.length / across) * (m.queries + 1));
    const pixels = new Uint32Array(image.data.buffer), inks = S.inks;
    const bytes = Uint32Array.from(SQUARES, (weight) => inks[level(S, weight, top)]);
    const places = heads.map(({ layer, head }, h) => {
      const x = (h % across) * wide, y = Math.floor(h / across) * (m.queries + 1), whole = head && !m.exact;
      const values = whole ? m.weights.subarray(((layer - 1) * m.heads + head - 1) * m.area) : weightsOf(S, m, layer, head).values;
      const colours = whole ? bytes : coloursOf(S, values, top), named = whole ? values : null;
      for (let q = 0; q < m.queries; q++) fillRow(pixels, (y + q) * width + x, named, colours, q * m.keys, m.keys, m.mask, S.grey);
      return [x, y];
    });
    const canvas = Object.assign(document.createElement("canvas"), { width, height: image.height });
    canvas.getContext("2d").putImageData(image, 0, 0);
    S.pictures.set(name, { canvas, places });
  }
  return S.pictures.get(name);
}

function coloursOf(S, values, top) {
  const colours = new Uint32Array(values.length);
  for (let i = 0; i < values.length; i++) colours[i] = S.inks[level(S, values[i], top)];
  return colours;
}

// One row of pixels: the colours that its bytes stand for, or that its cells have; grey where masked.
function fillRow(pixels, at, bytes, colours, from, count, mask, grey) {
  for (let i = from, end = from + count; i < end; i++, at++) pixels[at] = mask[i] ? grey : colours[bytes ? bytes[i] : i];
}

function drawLegend(S) {
  const alone = S.view !== "heads", top = topOf(S, kindsShown(S), alone);
  const exact = kindsShown(S).map((kind) => mapOf(S, kind)).filter(Boolean).every((m) => {
    const { layer, head } = S.pick[m.kind];
    return alone ? weightsOf(S, m, layer, head).exact : m.exact;
  });
  const most = S.scale === "max" ? `${exact ? "" : "≈ "}${decimals(top)}` : "1";
  say(S.$(".ramp").firstChild, S.scale === "log" ? "≤ 0.0001" : "0");
  say(S.$(".ramp").lastChild, most);
  say(S.$(".scaled"), { unit: "", max: "up to the largest weight in view", log: "logarithmic" }[S.scale]);
}
