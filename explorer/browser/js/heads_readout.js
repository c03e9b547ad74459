// The text beside the views of heads: the readout of a cell, the caption, the table. All numbers come from float32.

import { make, say, sayAll } from "./dom.js";
import { drawTable } from "./grids.js";
import { PLACES, listHeads, placeName } from "./head_list.js";
import {
  columnInView,
  headInView,
  kindsShown,
  linedHeads,
  mapOf,
  rowInView,
  rowOf,
  shownRows,
  showsLarge,
  showsSeveral,
} from "./heads_state.js";
import { NEXT_READ, SIDES, TITLES, shortHead, shortName } from "./names.js";
import { decimals, percent, wholePercent } from "./numbers.js";
import { rowInWords } from "./row_in_words.js";
import { keyRows, line, numbered, readsOn, tokenName, weighed, whyMasked } from "./wording.js";
import { keysLookedAt } from "./map_zoom.js";
import { NAMED_FROM, weightsOf } from "./weights.js";
import { inSentence, pieces, t } from "./words.js";

/** @import { Content, HeadsState, KindMap } from "./types" */

const MEASURED = 16; // sentences of each form

/** Describes the cell under the pointer, else the chosen cell. @param {HeadsState} S */
export function drawReadout(S) {
  const kind = S.hover?.kind ?? S.kind;
  const m = mapOf(S, kind);
  const box = S.find(".readout");
  box.hidden = S.view === "heads";
  if (!m || box.hidden) return;
  const { layer, head } = S.pick[kind];
  const query = S.hover?.query ?? rowInView(S, m);
  const key = S.hover ? S.hover.key : columnInView(S, m);
  const { cells, seen, entropy } = rowOf(m, layer, head, query);
  const cell = key === null ? null : cells[key];
  const entry = (/** @type {string} */ name, /** @type {Content[]} */ ...content) =>
    line(name, make("span", "", ...content));
  const read = numbered(m.rows, query, SIDES[kind][0]);
  const word = m.predicted[query];
  const lines = [entry(t("query"), ...(word ? readsOn(S.data.target, read, tokenName(word, "target")) : [read]))];
  if (cell) {
    lines.push(entry(t("key"), numbered(m.columns, cell.key, SIDES[kind][1])));
    if (cell.mask) lines.push(entry(t("weight"), whyMasked(cell.mask)));
    else {
      lines.push(entry(t("weight"), make("b", "", decimals(cell.weight))));
      lines.push(entry(t("rank"), t("{rank} of {count}", { rank: cell.rank, count: seen.length })));
    }
  }
  // In a lesson, neither term has been explained.
  if (seen.length && !S.mount.compact) {
    const weight = decimals(1 / seen.length);
    const uniform = t("would be {weight} for each of {n} key", "would be {weight} for each of {n} keys", {
      n: seen.length,
      weight,
    });
    lines.push(entry(t("uniform"), seen.length > 1 ? uniform : t("the only visible key")));
    const looks = t("looks at {number} keys (entropy {entropy} nats)", {
      number: inSentence(Math.exp(entropy).toFixed(2)),
      entropy: inSentence(entropy.toFixed(3)),
    });
    lines.push(entry(t("row"), looks));
  } else if (!seen.length) lines.push(entry(t("row"), t("sees nothing: every key is masked")));
  if (S.brush?.kind === kind) lines.push(entry(t("marked"), describeBrush(S, S.brush, m)));
  S.find(".cell").replaceChildren(...lines);
  S.find(".why").hidden = !S.mount.explains || !cell || !!cell.mask || !head;
}

/** The mean weight that the marked rows put on the marked columns. @param {HeadsState} S @param {NonNullable<HeadsState["brush"]>} brush @param {KindMap} m */
function describeBrush(S, { rows, columns }, m) {
  const { layer, head } = S.pick[m.kind];
  const values = weightsOf(m, layer, head);
  const last = Math.min(rows[1], shownRows(S, m) - 1);
  let sum = 0;
  for (let q = rows[0]; q <= last; q++) for (let k = columns[0]; k <= columns[1]; k++) sum += values[q * m.keys + k];
  const span = (/** @type {number} */ a, /** @type {number} */ b) => (a < b ? `${a + 1}–${b + 1}` : `${a + 1}`);
  const mean = percent(sum / Math.max(1, last - rows[0] + 1));
  const fields = { rows: span(rows[0], last), columns: span(...columns), mean };
  if (last > rows[0])
    return columns[1] > columns[0]
      ? t("rows {rows} put {mean} of their weight on columns {columns} (Esc clears the selection)", fields)
      : t("rows {rows} put {mean} of their weight on column {columns} (Esc clears the selection)", fields);
  return columns[1] > columns[0]
    ? t("row {rows} puts {mean} of its weight on columns {columns} (Esc clears the selection)", fields)
    : t("row {rows} puts {mean} of its weight on column {columns} (Esc clears the selection)", fields);
}

/**
 * "L2 H2: *books* is looked at most by *lis* 96 %, *je* 12 %.": the rows that put the most weight on a key.
 * @param {HeadsState} S
 * @param {KindMap} m
 * @param {number} head
 * @param {number} key
 * @returns {Content[]}
 */
function lookedAt(S, m, head, key) {
  const { layer } = S.pick[m.kind];
  const values = weightsOf(m, layer, head);
  const rows = Array.from({ length: shownRows(S, m) }, (_, query) => ({ query, i: query * m.keys + key }))
    .filter(({ i }) => !m.mask[i])
    .sort((a, b) => values[b.i] - values[a.i])
    .slice(0, 3);
  const named = rows
    .filter(({ i }, rank) => !rank || values[i] >= NAMED_FROM)
    .map(({ query, i }) => ({ key: query, weight: values[i] }));
  const fields = { head: shortName(layer, head), key: numbered(m.columns, key, SIDES[m.kind][1]) };
  if (named.length)
    return pieces("{head}: {key} is looked at by {rows}.", {
      ...fields,
      rows: weighed(named, m.rows, SIDES[m.kind][0]),
    });
  return m.left
    ? pieces("{head}: {key} is left out.", fields)
    : pieces("{head}: {key} is masked for every row.", fields);
}

/** @param {HeadsState} S */
export function drawCaption(S) {
  const m = mapOf(S, S.kind);
  const box = S.find(".caption");
  if (!m) return say(box, "");
  const kinds = kindsShown(S);
  if (S.view === "heads") return say(box, kinds.map((kind) => leftOut(S, mapOf(S, kind))).join(" "));
  const { layer, head } = S.pick[S.kind];
  if (kinds.length > 1) {
    const maps = kinds.map((kind) => mapOf(S, kind)).filter((each) => each !== undefined);
    const each = maps.flatMap((map) => {
      const { layer, head } = S.pick[map.kind];
      return [...sentenceOf(S, map, layer, head, rowInView(S, map)), ` ${leftOut(S, map)} `];
    });
    return sayAll(box, ...each);
  }
  const query = S.focus?.side === "query" ? S.focus.at : rowInView(S, m);
  const sentence = (/** @type {number} */ h) =>
    S.focus?.side === "key" ? lookedAt(S, m, h, S.focus.at) : sentenceOf(S, m, layer, h, query);
  const heads = showsSeveral(S) ? linedHeads(S).sort((a, b) => Number(b === head) - Number(a === head)) : [head];
  const sentences = heads.flatMap((h, i) => [...(i ? [" "] : []), ...sentence(h)]);
  if (S.view === "lines") {
    const visible = m.mask.subarray(0, shownRows(S, m) * m.keys).filter((code) => !code).length * S.on.size;
    const hold = t(
      "{drawn} of {n} line hold {mass} of each row's weight.",
      "{drawn} of {n} lines hold {mass} of each row's weight.",
      { drawn: S.drawn.length, n: visible, mass: `${S.mass}\u202f%` },
    );
    sentences.push(` ${hold}`);
  }
  sayAll(box, ...sentences, ` ${leftOut(S, m)}`);
}

/** What a map over words only leaves out, and that its rows were scaled; empty for other maps. @param {HeadsState} S @param {KindMap | undefined} m */
function leftOut(S, m) {
  if (!m?.left) return "";
  const { layer, head } = headInView(S, m.kind);
  const first = (layer - 1) * m.heads;
  const shares = head ? [m.left[first + head - 1]] : [...m.left.subarray(first, first + m.heads)];
  const share = wholePercent(shares.reduce((sum, value) => sum + value, 0) / shares.length);
  return t(
    "Words only: <eos>, other specials and punctuation are left out, on average {share} of the weight of {head}; what remains is scaled to 1. Files keep all keys.",
    { share, head: shortName(layer, head) },
  );
}

/**
 * Draws the text around the pictures of all heads: above them what the head in view looks at, below them how to read a
 * picture.
 * @param {HeadsState} S
 */
export function drawLead(S) {
  const kind = S.hover?.kind ?? S.kind;
  const m = S.view === "heads" ? mapOf(S, kind) : undefined;
  const box = S.find(".lead");
  box.hidden = !m;
  const how = S.find(".how");
  if (!m) return say(how, "");
  const { layer, head } = headInView(S, kind);
  sayAll(box, ...sentenceOf(S, m, layer, head, S.hover?.query ?? rowInView(S, m)));
  box.style.minHeight = `${roomOfLead(S, m, box)}px`;
  const fields = rolesOf(kind);
  say(
    how,
    t("Rows: {rows}; the marked one is in view. Columns: {columns}. Choose a picture or a cell to open it.", fields),
  );
}

/** What a row looks at. @param {HeadsState} S @param {KindMap} m @param {number} layer @param {number} head @param {number} query */
function sentenceOf(S, m, layer, head, query) {
  const look = !m.predicted[query] || S.data.target.by === NEXT_READ ? "plain" : "write";
  const word = tokenName(m.predicted[query] ?? "", "target");
  const name = numbered(m.rows, query, SIDES[m.kind][0]);
  // The large map beside the pictures has the layer and the head as its title.
  return rowInWords(m, { layer, head }, rowOf(m, layer, head, query), name, word, look, !showsLarge(S));
}

/**
 * The height of the longest of these sentences, of all rows of all heads, so that no map moves under the pointer. Of the
 * rows that name keys and of the others, those with the longest names are measured.
 * @param {HeadsState} S @param {KindMap} m @param {HTMLElement} box
 */
function roomOfLead(S, m, box) {
  const at = [S.seq, m.kind, m.form, box.clientWidth, showsLarge(S)].join();
  if (S.leadRoom?.at === at) return S.leadRoom.high;
  /** @type {{ layer: number, head: number, query: number, length: number }[][]} */
  const rows = [[], []];
  for (const { layer, head } of [...listHeads(m), ...m.effective.map((_, l) => ({ layer: l + 1, head: 0 }))]) {
    const values = weightsOf(m, layer, head);
    for (let query = 0; query < m.queries; query++) {
      const named = keysLookedAt(values, query * m.keys, m.keys).slice(0, 3);
      const names = [m.rows[query], m.predicted[query] ?? "", ...named.map((key) => `${key} ${m.columns[key]} 10 %`)];
      rows[named.length ? 0 : 1].push({ layer, head, query, length: names.join(", ").length });
    }
  }
  const longest = rows.flatMap((some) => some.sort((a, b) => b.length - a.length).slice(0, MEASURED));
  const sentences = longest.map(({ layer, head, query }) => make("p", "", ...sentenceOf(S, m, layer, head, query)));
  const hidden = make("div", "measured", ...sentences);
  hidden.style.width = `${box.clientWidth}px`;
  box.before(hidden);
  const high = Math.max(...sentences.map(({ offsetHeight }) => offsetHeight));
  hidden.remove();
  S.leadRoom = { at, high };
  return high;
}

/** The meaning of the rows and the columns of a map, for first-time readers. @param {string} kind */
function rolesOf(kind) {
  if (kind === "encoder") return { rows: t("the words that look"), columns: t("the words looked at") };
  const columns = kind === "decoder" ? t("the words written before") : t("the words of the source");
  return { rows: t("the word read → the word written next"), columns };
}

/** Draws the table of the view: heads with their scores, or the keys of the current row. @param {HeadsState} S */
export function drawNumbers(S) {
  const m = mapOf(S, S.kind);
  if (!m) return;
  const { layer } = S.pick[S.kind];
  const query = rowInView(S, m);
  const heads = S.view === "heads";
  const kind = TITLES[S.kind];
  const row = numbered(m.rows, query, SIDES[S.kind][0]);
  const title = heads
    ? pieces("Table: {kind}, all heads", { kind })
    : pieces("Table: {kind}, layer {layer}, row {row}", { kind, layer, row });
  sayAll(S.find("summary"), ...title);
  if (!S.details.open) return;
  const { names, rows } = heads ? headTable(m) : keyTable(S, m, query);
  const columns = names.map((name, i) => ({ name, first: i > 1 ? -1 : 1 }));
  drawTable(S.find, columns, rows, S.sort, (sort) => {
    S.sort = sort;
    drawNumbers(S);
  });
}

/** @param {KindMap} m */
function headTable(m) {
  const places = Object.keys(m.shares);
  const rows = listHeads(m).map(({ layer, head }) => {
    const values = [m.effective, ...places.map((name) => m.shares[name])].map((scores) => scores[layer - 1][head - 1]);
    const texts = values.map((value, i) => (value === null ? "–" : i ? percent(value) : inSentence(value.toFixed(2))));
    const role = m.roles[layer - 1][head - 1];
    return {
      at: [layer, head, ...values, [...PLACES, "mixed"].indexOf(role)],
      cells: [`${layer}`, `${head}`, ...texts, placeName(role)],
    };
  });
  const names = [t("layer"), t("head"), t("effective keys"), ...places.map((place) => placeName(place)), t("favours")];
  return { names, rows };
}

/** @param {HeadsState} S @param {KindMap} m @param {number} query */
function keyTable(S, m, query) {
  const { layer, head } = S.pick[m.kind];
  const heads = showsSeveral(S) ? linedHeads(S) : [head];
  const several = heads.length > 1;
  const rows = keyRows(
    heads.map((h) => rowOf(m, layer, h, query)),
    m.columns,
    SIDES[m.kind][1],
  );
  return { names: several ? [t("key"), ...heads.map(shortHead)] : [t("key"), t("weight"), t("rank")], rows };
}
