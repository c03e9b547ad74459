// The colours of the views of heads: three scales, the pictures of heads drawn in them, and the strokes of lines.

import { fullColour, sayScale } from "./colours.js";
import { say } from "./dom.js";
import { mapsShown } from "./heads_state.js";
import { sheetOf } from "./maps.js";
import { decimals } from "./numbers.js";
import { STROKES } from "./palettes.js";
import { weightsOf } from "./weights.js";
import { t } from "./words.js";

/** @import { HeadsState, KindMap } from "./types" */

/** Dash patterns of lines, in pixels. */
const DASHES = [[], [7, 3], [2, 3], [10, 3, 2, 3], [14, 4], [4, 4], [1, 4], [9, 2, 2, 2, 2, 2]];

/** The dashes of a head's lines; those of the mean (head 0) are solid. @param {number} head */
export const dashesOf = (head) => DASHES[head ? STROKES[(head - 1) % STROKES.length][1] : 0];

/** The colour of a head; the mean (head 0) has the colour of text. @param {Pick<HeadsState, "colours" | "theme">} S @param {number} head */
export const colourOf = ({ colours, theme }, head) =>
  head ? colours[STROKES[(head - 1) % STROKES.length][0] % colours.length] : theme.ink;

/**
 * The colour scale, shared by all heads, or where it ends at the largest weight, by those that are on screen.
 * @param {HeadsState} S
 * @param {boolean} [single] whether only the heads in view are on screen
 */
export function scaleOf(S, single = S.view !== "heads") {
  const tops = mapsShown(S).map((m) => {
    const { layer, head } = S.pick[m.kind];
    if (S.scale === "max") return single ? largest(weightsOf(m, layer, head)) : (m.largest ??= largest(m.weights));
    return S.scale === "log" ? 1 : fullColour(S.data.maps[m.kind]);
  });
  return { top: Math.max(0, ...tops) || 1, log: S.scale === "log" };
}

/** @param {ArrayLike<number>} values */
function largest(values) {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]);
  return most;
}

/**
 * The pictures of heads of one kind on one sheet, which is cached.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {{ layer: number, head: number }[]} heads
 * @param {import("./maps.js").Scale} scale
 */
export function pictureOf(S, m, heads, scale) {
  const name = [
    m.kind,
    m.form,
    ...heads.map(({ layer, head }) => `${layer}-${head}`),
    scale.top,
    scale.log,
    S.theme.ground,
  ].join(" ");
  const sheet =
    S.pictures.get(name) ??
    sheetOf(
      S.theme,
      m,
      heads.map(({ layer, head }) => weightsOf(m, layer, head)),
      scale,
    );
  S.pictures.set(name, sheet);
  return sheet;
}

/** Writes the numbers at the ends of the colour scale. @param {HeadsState} S */
export function drawLegend(S) {
  const maps = mapsShown(S);
  S.find(".swatch").hidden = !maps.some((m) => m.mask.some(Boolean));
  say(S.find(".swatch span"), maps.some((m) => m.left) ? t("masked or left out") : t("masked"));
  const { top } = scaleOf(S);
  const ends = S.find(".ramp");
  say(ends.firstChild, S.scale === "log" ? "≤ 0.0001" : "0");
  sayScale(S.find, S.scale === "unit" ? top : 1);
  if (S.scale !== "unit") say(ends.lastChild, S.scale === "max" ? decimals(top) : "1");
}
