// The state of the views on the Attention page, and how it changes. In these files, `S` is the state of one mounted
// component and `m` the map of one kind of attention.

import { SQUARES, headName, headWeights, readKind, readNumbers } from "./weight_blocks.js";
import { hub } from "./hub.js";
import { entropyOf, rankedRow } from "./rows.js";
import { writeView } from "./view_text.js";
import { spanWith } from "./words.js";

/** @typedef {import("./types").HeadsState} HeadsState */
/** @typedef {import("./types").Kind} Kind */
/** @typedef {import("./types").KindMap} KindMap */

const PAUSE = 250; // ms between the last move and its report
const SOON = 20; // the same if weights or another kind are missing

/** Takes over the blocks that carriers delivered for this view; returns whether any were new. @param {HeadsState} S */
export function takeBlocks(S) {
  let news = false;
  for (const [name, block] of hub().blocks) {
    const { header, body } = block;
    if (!body || !name.startsWith(`${S.data.name}/`) || header.seq !== S.seq || S.taken.has(block)) continue;
    S.taken.add(block);
    news = true;
    if (header.given) {
      for (const [head, weights] of readNumbers(header, body)) S.weights.set(head, weights);
      S.pictures.clear();
    } else S.maps.set(`${header.kind} ${header.form}`, readKind(header, body));
  }
  return news;
}

/**
 * Words or tokens; decoder rows can be merged by the word that they read or by the word that they predict.
 * @param {HeadsState} S
 * @param {Kind} kind
 */
function formOf(S, kind) {
  if (!S.words || !S.data.subwords) return "tokens";
  return S.next && kind !== "encoder" ? "words-next" : "words";
}

/** The map of a kind in its current form, if it has arrived. @param {HeadsState} S @param {Kind} kind */
export const mapOf = (S, kind) => S.maps.get(`${kind} ${formOf(S, kind)}`);

/** The kinds in view; several only in the views that can show them side by side. @param {HeadsState} S */
export const kindsShown = (S) => (S.beside && (S.view === "heads" || S.view === "head") ? S.data.order : [S.kind]);

/**
 * The head of a kind whose map and whose row are shown: among all heads the one pointed at, else the one that is picked.
 * @param {HeadsState} S
 * @param {Kind} kind
 */
export const headInView = (S, kind) => (S.view === "heads" && S.peek?.kind === kind ? S.peek : S.pick[kind]);

/** Whether one map stands large with the pictures of all heads. @param {HeadsState} S */
export const showsLarge = (S) => S.view === "heads" && kindsShown(S).length < 2;

/** The maps in view that have arrived. @param {HeadsState} S */
export const mapsShown = (S) => kindsShown(S).map((kind) => mapOf(S, kind)).filter((m) => m !== undefined);

/**
 * Weights of one head [query, key], counted from 1; head 0 is the mean; `exact` if they are float32.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {number} layer
 * @param {number} head
 */
export function weightsOf(S, m, layer, head) {
  const name = headName(m.kind, m.form, layer, head);
  const known = S.weights.get(name);
  if (known) return known;
  const weights = { values: headWeights(m, layer, head, m.exact ? null : SQUARES), exact: m.exact };
  S.weights.set(name, weights);
  return weights;
}

/**
 * One row of a head with its entropy, and whether its weights are exact.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {number} layer
 * @param {number} head
 * @param {number} query
 */
export function rowOf(S, m, layer, head, query) {
  const { values, exact } = weightsOf(S, m, layer, head), row = rankedRow(values, m.mask, query, m.keys);
  return { ...row, exact, entropy: entropyOf(row.seen) };
}

/** The current row of a map. @param {HeadsState} S @param {KindMap} m */
export const rowInView = (S, m) => spanWith(m.rowSpans, m.kind === "encoder" ? S.source : S.step);

/** The chosen column of a map, or null. @param {HeadsState} S @param {KindMap} m */
export const columnInView = (S, m) =>
  S.col === null ? null : spanWith(m.columnSpans, Math.min(S.col, m.columnSpans[m.columnSpans.length - 1][0]));

/**
 * The number of rows drawn: if only the steps so far are shown, rows up to the current step.
 * @param {HeadsState} S
 * @param {KindMap} m
 */
export const shownRows = (S, m) => (m.kind !== "encoder" && S.steps ? rowInView(S, m) + 1 : m.queries);

/** Whether the view can show several heads of a layer. @param {HeadsState} S */
export const showsSeveral = (S) => S.view === "lines" || S.view === "text";

/** The heads of the layer that are shown, in order. @param {HeadsState} S */
export const linedHeads = (S) => [...S.on].sort((a, b) => a - b);

/** @param {HeadsState} S */
export const redraw = (S) => (S.frame ||= requestAnimationFrame(S.draw));

/** The position as reported to the server. @param {HeadsState} S */
export function positionOf(S) {
  const pick = S.pick[S.kind], lined = linedHeads(S), single = !showsSeveral(S) || lined.join() === `${pick.head}`;
  return {
    seq: S.seq, turn: S.turn, kind: S.kind, ...pick, step: S.step, source: S.source, col: S.col,
    view: writeView(S, single ? [] : lined), picks: S.pick, heads: [...S.on], wanted: kindsShown(S),
  };
}

/**
 * Reports the position once the user pauses, never during playback; sooner if weights or another kind are missing.
 * @param {HeadsState} S
 */
export function report(S) {
  clearTimeout(S.reporting);
  if (S.player.playing()) return;
  const lacks = kindsShown(S).some((kind) => {
    const m = mapOf(S, kind), { layer, head } = S.pick[kind];
    const heads = showsSeveral(S) ? [...S.on] : S.view === "heads" && !showsLarge(S) ? [] : [head];
    return !m || heads.some((h) => !weightsOf(S, m, layer, h).exact);
  });
  S.reporting = setTimeout(() => S.setStateValue("at", positionOf(S)), lacks ? SOON : PAUSE);
}

/** Draws and reports a change. @param {HeadsState} S */
export function update(S) {
  redraw(S);
  report(S);
}

/** Applies changed options. @param {HeadsState} S @param {Partial<HeadsState>} changes */
export function change(S, changes) {
  const before = S.kind;
  Object.assign(S, changes, { focus: null, hover: null, peek: null });
  if (before !== S.kind) Object.assign(S, { col: null, brush: null, on: new Set([S.pick[S.kind].head]) });
  if ("words" in changes || "next" in changes) S.brush = null;
  update(S);
}

/**
 * Opens a head; from the view of all heads, in the view of one head.
 * @param {HeadsState} S
 * @param {Kind} kind
 * @param {number} layer
 * @param {number} head
 */
export function openHead(S, kind, layer, head) {
  S.pick[kind] = { layer, head };
  const moved = kind !== S.kind;
  if (moved || !S.on.has(head)) S.on = new Set([head]);
  if (moved) S.col = S.brush = null;
  change(S, S.view === "heads" ? { kind, view: "head" } : { kind });
}

/**
 * Chooses a row of a map, and a column or none. Positions are stored as tokens, so that they also hold between words.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {number} query
 * @param {number | null} key
 */
export function chooseCell(S, m, query, key) {
  const [token] = m.rowSpans[query];
  if (m.kind !== S.kind) S.on = new Set([S.pick[m.kind].head]);
  S.kind = m.kind;
  if (m.kind === "encoder") S.source = token;
  else S.step = token;
  S.col = key === null ? null : m.columnSpans[key][0];
  S.hover = null;
  S.player.stop();
  update(S);
}
