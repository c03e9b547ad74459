// The state of the views on the Attention page, and how it changes. In these files, `S` is the state of one mounted
// component and `m` the map of one kind of attention.

import { formIn } from "./head_forms.js";
import { PAUSE, update } from "./view.js";
import { optionsOf } from "./view_options.js";
import { entropyOf, noWords, rankedRow, spanWith, weightsOf, withoutKeys } from "./weights.js";

/** @import { HeadsState, Kind, KindMap } from "./types" */

const SOON = 20; // ms between the last move and its report if another kind is missing

/**
 * The form of a kind's map: between tokens or words, where decoder rows are merged by the word read or the word
 * predicted.
 * @param {HeadsState} S
 * @param {Kind} kind
 * @returns {import("./head_forms.js").Form}
 */
function formOf(S, kind) {
  if (!S.words || !S.data.subwords) return "tokens";
  return S.next && kind !== "encoder" ? "words-next" : "words";
}

/** The map of a kind in its current form, if it has arrived. @param {HeadsState} S @param {Kind} kind @returns {KindMap | undefined} */
export function mapOf(S, kind) {
  const form = formOf(S, kind);
  const content = S.content && kind === "cross";
  const name = `${kind} ${form}${content ? " content" : ""}`;
  const cached = S.maps.get(name);
  if (cached) return cached;
  if (!S.data.maps[kind].weights) return undefined;
  const map = { ...formIn(S.data, kind, form), form };
  S.maps.set(name, content ? overWords(map, S.data.source.words) : map);
  return S.maps.get(name);
}

/**
 * A map of cross-attention over words only. The favoured places were computed from all keys: they are left empty.
 * @param {KindMap} m
 * @param {number[]} words
 * @returns {KindMap}
 */
function overWords(m, words) {
  const map = {
    ...m,
    ...withoutKeys(m, noWords(m.columns, m.column_spans, words)),
    means: new Map(),
    shares: {},
    form: `${m.form}-content`,
  };
  const each = (/** @type {(layer: number, head: number) => any} */ value) =>
    Array.from({ length: m.layers }, (_, l) => Array.from({ length: m.heads }, (_, h) => value(l + 1, h + 1)));
  const keys = (/** @type {number} */ layer, /** @type {number} */ head) => {
    const rows = Array.from({ length: m.queries }, (_, q) => rowOf(map, layer, head, q)).filter(
      (r) => r.seen.length > 1,
    );
    return rows.length ? rows.reduce((sum, r) => sum + Math.exp(r.entropy), 0) / rows.length : null;
  };
  return { ...map, effective: each(keys), roles: each(() => "") };
}

/** The kinds in view; several only in the views that can show them side by side. @param {HeadsState} S */
export const kindsShown = (S) => (S.beside && (S.view === "heads" || S.view === "head") ? S.data.order : [S.kind]);

/**
 * The head of a kind whose map and row are shown: in the view of all heads the one pointed at, else the picked one.
 * @param {HeadsState} S
 * @param {Kind} kind
 */
export const headInView = (S, kind) => (S.view === "heads" && S.peek?.kind === kind ? S.peek : S.pick[kind]);

/** Whether a large map accompanies the pictures of all heads. @param {HeadsState} S */
export const showsLarge = (S) => S.view === "heads" && kindsShown(S).length < 2;

/** The maps in view that have arrived. @param {HeadsState} S */
export const mapsShown = (S) =>
  kindsShown(S)
    .map((kind) => mapOf(S, kind))
    .filter((m) => m !== undefined);

/**
 * One row of a head with its entropy.
 * @param {KindMap} m
 * @param {number} layer
 * @param {number} head
 * @param {number} query
 */
export function rowOf(m, layer, head, query) {
  const row = rankedRow(weightsOf(m, layer, head), m.mask, query, m.keys);
  return { ...row, entropy: entropyOf(row.seen) };
}

/** The current row of a map. @param {HeadsState} S @param {KindMap} m */
export const rowInView = (S, m) => spanWith(m.row_spans, m.kind === "encoder" ? S.encoderRow : S.step);

/** The chosen column of a map, or null. @param {HeadsState} S @param {KindMap} m */
export const columnInView = (S, m) =>
  S.col === null ? null : spanWith(m.column_spans, Math.min(S.col, m.column_spans[m.column_spans.length - 1][0]));

/**
 * The number of rows to draw: all, or those up to the current step if later steps are hidden.
 * @param {HeadsState} S
 * @param {KindMap} m
 */
export const shownRows = (S, m) => (m.kind !== "encoder" && S.steps ? rowInView(S, m) + 1 : m.queries);

/** Whether the view can show several heads of a layer. @param {HeadsState} S */
export const showsSeveral = (S) => S.view === "lines" || S.view === "text";

/** The heads of the layer that are shown, in order. @param {HeadsState} S */
export const linedHeads = (S) => [...S.on].sort((a, b) => a - b);

/** The report to the server: the place of the views and their options. @param {HeadsState} S @returns {import("./structs").ViewReport} */
export function reportOf(S) {
  const pick = S.pick[S.kind];
  const lined = linedHeads(S);
  const single = !showsSeveral(S) || lined.join() === `${pick.head}`;
  const row = S.kind === "encoder" ? S.encoderRow : S.step;
  const column = S.col === null ? null : S.col + 1;
  const options = optionsOf(S, single ? [] : lined);
  const place = { kind: S.kind, ...pick, step: S.step + 1, row: row + 1, column, options };
  return { seq: S.seq, turn: S.turn, place, wanted: kindsShown(S) };
}

/** The delay of a report: shorter if a kind has not arrived yet. @param {HeadsState} S */
export const pauseOf = (S) => (kindsShown(S).every((kind) => mapOf(S, kind)) ? PAUSE : SOON);

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
  const [token] = m.row_spans[query];
  if (m.kind !== S.kind) S.on = new Set([S.pick[m.kind].head]);
  S.kind = m.kind;
  if (m.kind === "encoder") S.encoderRow = token;
  else S.step = token;
  S.col = key === null ? null : m.column_spans[key][0];
  S.hover = null;
  S.player.stop();
  update(S);
}
