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

// A head's map, one pixel a cell, to be stretched onto the screen.
function picture(S, m, layer, head, top) {
  const name = `${m.kind} ${m.form} ${layer} ${head} ${top}`;
  if (!S.pictures.has(name)) {
    const image = new ImageData(m.keys, m.queries), pixels = new Uint32Array(image.data.buffer);
    const from = ((layer - 1) * m.heads + head - 1) * m.area;
    if (head && !m.exact) {
      const levels = Uint8Array.from({ length: 256 }, (_, i) => level(S, (i / 255) ** 2, top));
      for (let i = 0; i < m.area; i++) pixels[i] = m.mask[i] ? S.grey : S.inks[levels[m.weights[from + i]]];
    } else {
      const { values } = weightsOf(S, m, layer, head);
      for (let i = 0; i < m.area; i++) pixels[i] = m.mask[i] ? S.grey : S.inks[level(S, values[i], top)];
    }
    const canvas = Object.assign(document.createElement("canvas"), { width: m.keys, height: m.queries });
    canvas.getContext("2d").putImageData(image, 0, 0);
    S.pictures.set(name, canvas);
  }
  return S.pictures.get(name);
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
