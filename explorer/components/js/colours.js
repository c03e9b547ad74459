// Colours of the theme in use, the attention scale as a table of 256 steps, and the hatching of masked cells.

const COLOURS = document.createElement("canvas").getContext("2d");

// Any CSS colour as [red, green, blue].
function rgb(colour) {
  COLOURS.fillStyle = "#000";
  COLOURS.fillStyle = colour;
  const six = COLOURS.fillStyle;
  return [1, 3, 5].map((i) => parseInt(six.slice(i, i + 2), 16));
}

// What the eye makes of a colour, 0 black to 1 white: enough to choose between dark and light ink on it.
const brightness = ([r, g, b]) => (0.3 * r + 0.59 * g + 0.11 * b) / 255;

// 256 colours from 0 to 1 through these stops. Weight 0 lies next to the paper, in both themes.
function ramp(stops, paper) {
  const near = (i) => Math.abs(brightness(stops.at(i)) - brightness(paper));
  const ordered = near(0) > near(-1) ? [...stops].reverse() : stops;
  return Array.from({ length: 256 }, (_, i) => {
    const x = (i / 255) * (ordered.length - 1);
    const low = Math.min(Math.floor(x), ordered.length - 2);
    return ordered[low].map((c, j) => Math.round(c + (x - low) * (ordered[low + 1][j] - c)));
  });
}

function readTheme(box) {
  const css = getComputedStyle(box);
  const name = brightness(rgb(css.backgroundColor)) < 0.5 ? "dark" : "light", palette = PALETTES[name];
  const colours = css.getPropertyValue("--st-chart-sequential-colors");
  const scale = ramp(colours.split(",").map(rgb), rgb(css.backgroundColor));
  box.dataset.theme = name;
  for (const part in palette) box.style.setProperty(`--${part}`, palette[part]);
  box.style.setProperty("--scale", scale.filter((_, i) => i % 15 === 0).map((stop) => `rgb(${stop})`).join());
  return { ...palette, scale, ink: css.color, ground: css.backgroundColor, font: css.fontFamily };
}

// Made when something masked is drawn large, which not every view does.
const patternOf = (theme, code) => ((theme.patterns ??= [])[code] ??= hatching(theme, code));

// Future: lines one way. Padding: lines both ways.
function hatching(theme, code) {
  const tile = Object.assign(document.createElement("canvas"), { width: 8, height: 8 });
  const ctx = tile.getContext("2d");
  ctx.fillStyle = theme.masked;
  ctx.fillRect(0, 0, 8, 8);
  ctx.strokeStyle = theme.hatch;
  for (const shift of [-8, 0, 8]) {
    ctx.moveTo(shift, 8);
    ctx.lineTo(shift + 8, 0);
    if (code === 2) {
      ctx.moveTo(shift, 0);
      ctx.lineTo(shift + 8, 8);
    }
  }
  ctx.stroke();
  return ctx.createPattern(tile, "repeat");
}

const shade = (theme, weight) => theme.scale[clamp(Math.round(weight * 255), 0, 255)];

// A head's map, one pixel a cell, to be stretched onto the screen: cheap to draw again at every step.
function bitmap(S, kind, layer, head) {
  const name = `${kind} ${layer} ${head}`;
  if (!S.bitmaps.has(name)) {
    const m = S.maps[kind];
    const image = new ImageData(m.keys, m.queries);
    const masked = rgb(S.theme.masked);
    headWeights(m, layer, head).forEach((weight, i) =>
      image.data.set([...(m.mask[i] ? masked : shade(S.theme, weight)), 255], 4 * i));
    const canvas = Object.assign(document.createElement("canvas"), { width: m.keys, height: m.queries });
    canvas.getContext("2d").putImageData(image, 0, 0);
    S.bitmaps.set(name, canvas);
  }
  return S.bitmaps.get(name);
}

// How much larger a page shows an element than its own pixels say (CSS zoom, in presentations).
const magnified = (element) => element.currentCSSZoom ?? 1;

// The height of the screen in an element's own pixels.
const heightFor = (element) => innerHeight / magnified(element);

// Where a pointer is on an element, in the element's own pixels; browsers differ in offsetX where a page is magnified.
function pointerOn(element, event) {
  const { left, top, width } = element.getBoundingClientRect(), by = width / element.offsetWidth || 1;
  return [(event.clientX - left) / by, (event.clientY - top) / by];
}

// A canvas of this size in CSS pixels, sharp on any screen, empty, ready to draw on.
function paper(canvas, width, height) {
  const ratio = (window.devicePixelRatio || 1) * magnified(canvas);
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    Object.assign(canvas, { width: w, height: h });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  Object.assign(ctx, { imageSmoothingEnabled: false, direction: "ltr" });
  return ctx;
}
