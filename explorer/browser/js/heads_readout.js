// The text beside the views of heads: the readout of a cell, the caption, the table. All numbers come from float32.

import { make, say, sayAll } from "./dom.js";
import { drawTable } from "./grids.js";
import { PLACES, describeHead, listHeads } from "./head_list.js";
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
import { NEXT_READ, SIDES, TITLES, layerName, nameInLayer, shortHead, shortName } from "./names.js";
import { fourDecimals, percent, plural, wholePercent } from "./numbers.js";
import { WHY_MASKED, keyRows, leadsOn, line, looksAt, numbered, tokenName } from "./wording.js";
import { weightsOf } from "./weights.js";

/** @import { Content, HeadsState, KindMap } from "./types" */

/** "1 Hund"; for a decoder row also the token that it predicts. @param {HeadsState} S @param {KindMap} m @param {number} q @returns {Content[]} */
function rowName(S, m, q) {
  const read = numbered(m.rows, q, SIDES[m.kind][0]);
  return m.predicted[q] ? ["reads ", read, leadsOn(S.data.target), tokenName(m.predicted[q], "target")] : [read];
}

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
  const lines = [entry("query", ...rowName(S, m, query))];
  if (cell) {
    lines.push(entry("key", numbered(m.columns, cell.key, SIDES[kind][1])));
    if (cell.mask) lines.push(entry("weight", WHY_MASKED[cell.mask]));
    else {
      lines.push(entry("weight", make("b", "", fourDecimals(cell.weight))));
      lines.push(entry("rank", `${cell.rank} of ${seen.length}`));
    }
  }
  // In a lesson, neither term has been explained.
  if (seen.length && !S.mount.compact) {
    const uniform = `would be ${fourDecimals(1 / seen.length)} for each of ${seen.length} keys`;
    lines.push(entry("uniform", seen.length > 1 ? uniform : "the only visible key"));
    lines.push(entry("row", `looks at ${Math.exp(entropy).toFixed(2)} keys (entropy ${entropy.toFixed(3)} nats)`));
  } else if (!seen.length) lines.push(entry("row", "sees nothing: every key is masked"));
  if (S.brush?.kind === kind) lines.push(entry("marked", describeBrush(S, S.brush, m)));
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
  const span = (/** @type {string} */ noun, /** @type {number} */ a, /** @type {number} */ b) =>
    a === b ? `${noun} ${a + 1}` : `${noun}s ${a + 1}–${b + 1}`;
  const mean = percent(sum / Math.max(1, last - rows[0] + 1));
  const [puts, its] = last > rows[0] ? ["put", "their"] : ["puts", "its"];
  return `${span("row", rows[0], Math.max(rows[0], last))} ${puts} ${mean} of ${its} weight on ${span("column", ...columns)} (Esc clears the selection)`;
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
    .filter(({ i }, rank) => !rank || values[i] >= 0.1)
    .flatMap(({ query, i }, rank) => [
      rank ? ", " : " ",
      numbered(m.rows, query, SIDES[m.kind][0]),
      ` ${wholePercent(values[i])}`,
    ]);
  const name = numbered(m.columns, key, SIDES[m.kind][1]);
  return [
    `${shortName(layer, head)}: `,
    name,
    ...(named.length ? [" is looked at by", ...named, "."] : [m.left ? " is left out." : " is masked for every row."]),
  ];
}

/** "L2 H2: reads *je* → predicts *lis* looks at *read* 96 %." @param {HeadsState} S @param {KindMap} m @param {number} layer @param {number} head @param {number} query @returns {Content[]} */
function sentenceOf(S, m, layer, head, query) {
  const keys = looksAt(rowOf(m, layer, head, query), m.columns, SIDES[m.kind][1], 3);
  return [`${shortName(layer, head)}: `, ...rowName(S, m, query), ...keys];
}

/** @param {HeadsState} S */
export function drawCaption(S) {
  const m = mapOf(S, S.kind);
  const box = S.find(".caption");
  if (!m) return say(box, "");
  if (S.view === "heads") {
    return say(box, [...describeGrids(S), ...kindsShown(S).map((kind) => leftOut(S, mapOf(S, kind)))].join(" "));
  }
  const { layer, head } = S.pick[S.kind];
  const kinds = kindsShown(S);
  if (kinds.length > 1) {
    const maps = kinds.map((kind) => mapOf(S, kind)).filter((each) => each !== undefined);
    const each = maps.flatMap((map) => {
      const { layer, head } = S.pick[map.kind];
      return [`${TITLES[map.kind]}, `, ...sentenceOf(S, map, layer, head, rowInView(S, map)), ` ${leftOut(S, map)} `];
    });
    return sayAll(box, ...each);
  }
  const query = S.focus?.side === "query" ? S.focus.at : rowInView(S, m);
  const sentence = (/** @type {number} */ h) =>
    S.focus?.side === "key" ? lookedAt(S, m, h, S.focus.at) : sentenceOf(S, m, layer, h, query);
  const heads = showsSeveral(S) ? linedHeads(S).sort((a, b) => Number(b === head) - Number(a === head)) : [head];
  const pieces = heads.flatMap((h, i) => [...(i ? [" "] : []), ...sentence(h)]);
  if (S.view === "lines") {
    const visible = m.mask.subarray(0, shownRows(S, m) * m.keys).filter((code) => !code).length * S.on.size;
    pieces.push(` ${S.drawn.length} of ${plural(visible, "line")} hold ${S.mass}\u202f% of each row's weight.`);
  }
  sayAll(box, ...pieces, ` ${leftOut(S, m)}`);
}

/** What a map over words only leaves out, and that its rows were scaled; empty for other maps. @param {HeadsState} S @param {KindMap | undefined} m */
function leftOut(S, m) {
  if (!m?.left) return "";
  const { layer, head } = headInView(S, m.kind);
  const first = (layer - 1) * m.heads;
  const shares = head ? [m.left[first + head - 1]] : [...m.left.subarray(first, first + m.heads)];
  const share = wholePercent(shares.reduce((sum, value) => sum + value, 0) / shares.length);
  return `Words only: <eos>, other specials and punctuation are left out, on average ${share} of the weight of ${shortName(layer, head)}; what remains is scaled to 1. Files keep all keys.`;
}

/**
 * Draws the text around the pictures of all heads: above them what the head in view looks at, below them how to read a
 * picture and what to do next, and beside the large map what the head favours.
 * @param {HeadsState} S
 */
export function drawLead(S) {
  const kind = S.hover?.kind ?? S.kind;
  const m = S.view === "heads" ? mapOf(S, kind) : undefined;
  const box = S.find(".lead");
  box.hidden = !m;
  if (!m) for (const line of S.box.querySelectorAll(".how")) say(line, "");
  if (!m) return;
  const [legend, next] = S.box.querySelectorAll(".how");
  const { layer, head } = headInView(S, kind);
  const query = S.hover?.query ?? rowInView(S, m);
  const [side, keySide] = SIDES[kind];
  const row = rowOf(m, layer, head, query);
  const keys = looksAt(row, m.columns, keySide, 3);
  const which = head ? nameInLayer(head) : `mean of its ${plural(m.heads, "head")}`;
  const of = kindsShown(S).length > 1 ? `${TITLES[kind]}, ` : "";
  const whose = `${of}${layerName(layer)} (${which})`;
  const name = numbered(m.rows, query, side);
  if (m.predicted[query] && S.data.target.by === NEXT_READ) sayAll(box, "Having read ", name, `, ${whose}`, ...keys);
  else if (m.predicted[query])
    sayAll(box, "To write ", tokenName(m.predicted[query], "target"), ", having read ", name, `, ${whose}`, ...keys);
  else sayAll(box, "In ", whose, ", ", name, ...keys);
  const [rows, columns] = WORDS[kind];
  say(legend, `Each picture is one head. Rows: ${rows}. Columns: ${columns}.`);
  // A lesson may hide the buttons of the steps; the text then does not mention them.
  const phone = S.box.clientWidth < 760;
  const buttons = S.find(".walk").offsetWidth > 0;
  const large = phone ? "tap a picture to open that head" : "point at a picture to see it large, click it to open it";
  const walk =
    S.last < 1 || kind === "encoder" || (phone && !buttons)
      ? ""
      : phone
        ? "; ▸ above goes to the next word"
        : "; the key → steps to the next word";
  sayAll(next, make("b", "", "Next: "), `${showsLarge(S) ? large : "click a picture to open that head"}${walk}.`);
  say(
    S.find(".tells"),
    !showsLarge(S)
      ? ""
      : head
        ? favours(m, layer, head)
        : `The average of the ${plural(m.heads, "head")} of this layer.`,
  );
}

/** The meaning of the rows and the columns of a map, for first-time readers. @type {Record<string, [string, string]>} */
const WORDS = {
  encoder: ["the words that look", "the words looked at"],
  decoder: ["the word read → the word written next", "the words written before"],
  cross: ["the word read → the word written next", "the words of the source"],
};

/** The names of favoured places. @type {Record<string, string>} */
const PLACES_IN_WORDS = {
  itself: "the word itself",
  previous: "the word before",
  next: "the next word",
  first: "the first word",
  last: "the last one",
  diagonal: "the diagonal (first word to first word, … last to last)",
  mirror: "the mirrored diagonal (first word to last, … last to first)",
};

/**
 * "In this sentence it looks at 1.8 keys (tokens) at a time, on average; 62 % of its weight is on the diagonal (…)." What
 * a head does over many sentences, its role, is for the page Probe to say.
 * @param {KindMap} m @param {number} layer @param {number} head */
function favours(m, layer, head) {
  const { keys, role, mixed } = describeHead(m, layer, head);
  const at = role.indexOf(" ");
  const where = PLACES_IN_WORDS[role.slice(0, at)];
  const most = mixed ? "at most " : "";
  const on = mixed ? `any one place, ${where}` : where;
  const place = at < 0 ? "" : `; ${most}${role.slice(at + 1)} of its weight is on ${on}`;
  return keys === "no choice"
    ? "It has no choice: only one key is visible."
    : `In this sentence it looks at ${keys} (tokens) at a time, on average${place}.`;
}

/** The number of heads on screen, and which of them look at the fewest and at the most keys. @param {HeadsState} S */
function describeGrids(S) {
  return kindsShown(S).map((kind) => {
    const m = mapOf(S, kind);
    if (!m) return "";
    const heads = listHeads(m, { ...S, by: "keys" });
    const all = m.layers * m.heads;
    const whole = (all > 1 ? "all " : "") + `${plural(all, "head")} in ${plural(m.layers, "layer")}`;
    const count = heads.length === all ? whole : `${heads.length} of ${plural(all, "head")}`;
    if (!heads.length) return `${TITLES[kind]}: ${count}.`;
    const [sharp, wide] = [heads[0], heads[heads.length - 1]].map(({ layer, head }) => ({
      name: shortName(layer, head),
      ...describeHead(m, layer, head),
    }));
    const others = heads.length > 1 ? `, ${wide.name} at the most (${wide.keys})` : "";
    return `${TITLES[kind]}: ${count}. ${sharp.name} looks at the fewest keys (${sharp.keys}; ${sharp.mixed ? "at most " : ""}${sharp.role})${others}.`;
  });
}

/** Draws the table of the view: heads with their scores, or the keys of the current row. @param {HeadsState} S */
export function drawNumbers(S) {
  const m = mapOf(S, S.kind);
  if (!m) return;
  const { layer } = S.pick[S.kind];
  const query = rowInView(S, m);
  const heads = S.view === "heads";
  const title = heads ? [", all heads"] : [`, ${layerName(layer)}, row `, ...rowName(S, m, query)];
  sayAll(S.find("summary"), `Table: ${TITLES[S.kind]}`, ...title);
  if (!S.details.open) return;
  const { names, rows } = heads ? headTable(S, m) : keyTable(S, m, query);
  const columns = names.map((name, i) => ({ name, first: i > 1 ? -1 : 1 }));
  drawTable(S.find, columns, rows, S.sort, (sort) => {
    S.sort = sort;
    drawNumbers(S);
  });
}

/** @param {HeadsState} S @param {KindMap} m */
function headTable(S, m) {
  const places = Object.keys(m.shares);
  const rows = listHeads(m, { ...S, by: "place" }).map(({ layer, head }) => {
    const values = [m.effective, ...places.map((name) => m.shares[name])].map((scores) => scores[layer - 1][head - 1]);
    const texts = values.map((value, i) => (value === null ? "–" : i ? percent(value) : value.toFixed(2)));
    const role = m.roles[layer - 1][head - 1];
    return {
      at: [layer, head, ...values, [...PLACES, "mixed"].indexOf(role)],
      cells: [`${layer}`, `${head}`, ...texts, role],
    };
  });
  return { names: ["layer", "head", "effective keys", ...places, "favours"], rows };
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
  return { names: several ? ["key", ...heads.map(shortHead)] : ["key", "weight", "rank"], rows };
}
