// The row of heads whose lines, or whose shares of the sentence, are shown together.

import { children, makeButton, say } from "./dom.js";
import { colourOf } from "./head_strokes.js";
import { linedHeads, mapOf, showsSeveral, update } from "./heads_state.js";
import { layerName, nameInLayer, shortHead } from "./names.js";

/** @typedef {import("./types").HeadsState} HeadsState */

/** @param {HeadsState} S */
export function drawHeadChoice(S) {
  const box = S.find(".choice"), m = mapOf(S, S.kind);
  box.hidden = !showsSeveral(S) || !m;
  if (box.hidden || !m) return;
  const { layer } = S.pick[S.kind], every = Array.from({ length: m.heads }, (_, i) => i + 1);
  const all = every.every((head) => S.on.has(head));
  const buttons = children(S.find(".pickers"), m.heads + 2, () => makeButton("headpick"));
  buttons.forEach((b, i) => {
    const head = (i + 1) % (m.heads + 1), last = i > m.heads;
    b.hidden = last && m.heads < 2;
    say(b, last ? (all ? "only one" : "all") : shortHead(head));
    b.setAttribute("aria-pressed", `${!last && S.on.has(head)}`);
    b.setAttribute("aria-label", last ? (all ? "Only one head" : "All heads of the layer") : `${S.view === "lines" ? "Lines" : "Weights"} of ${layerName(layer)}, ${nameInLayer(head)}`);
    b.style.borderBottomColor = !last && S.on.has(head) ? colourOf(S, head) : "";
    b.onclick = () => {
      if (last) S.on = new Set(all ? [S.pick[S.kind].head || 1] : every);
      else if (!S.on.delete(head) || !S.on.size) S.on.add(head);
      const pick = S.pick[S.kind];
      if (!S.on.has(pick.head)) [pick.head] = linedHeads(S);
      update(S);
    };
  });
}
