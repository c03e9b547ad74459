// Blocks of attention as the server sends them (see blocks.py): weights, rows and ranks of the heads in them.

const hub = () => (globalThis.__headlight ??= Object.assign(new EventTarget(), { blocks: new Map() }));

// Takes over what has come for this view; says whether anything was new.
function takeBlocks(S) {
  let news = false;
  for (const [name, block] of hub().blocks) {
    const { header, body } = block;
    if (!name.startsWith(`${S.data.name}/`) || header.seq !== S.seq || S.taken.has(block)) continue;
    S.taken.add(block);
    news = true;
    if (header.given) takeNumbers(S, header, body);
    else S.blocks.set(`${header.kind} ${header.form}`, readKind(header, body));
  }
  return news;
}

function readKind(header, body) {
  const area = header.queries * header.keys, count = header.layers * header.heads * area;
  const weights = new (header.exact ? Float32Array : Uint8Array)(body, 0, count);
  return { ...header, area, weights, mask: new Uint8Array(body, weights.byteLength, area) };
}

function takeNumbers(S, { kind, form, given }, body) {
  const area = body.byteLength / 4 / given.length;
  given.forEach(([layer, head], i) => {
    S.weights.set(`${kind} ${form} ${layer} ${head}`, { values: new Float32Array(body, 4 * i * area, area), exact: true });
  });
  S.pictures.clear();
}

// A byte stands for the root of a weight.
const SQUARES = Float64Array.from({ length: 256 }, (_, i) => (i / 255) ** 2);

// Words or tokens; decoder rows may be put together by the word that they read or that they predict.
function formOf(S, kind) {
  if (!S.words || !S.data.subwords) return "tokens";
  return S.next && kind !== "encoder" ? "words-next" : "words";
}

const mapOf = (S, kind) => S.blocks.get(`${kind} ${formOf(S, kind)}`);

// Weights of one head [query, key], counted from 1; head 0 is the mean. `exact` where they are float32.
function weightsOf(S, m, layer, head) {
  const name = `${m.kind} ${m.form} ${layer} ${head}`;
  if (!S.weights.has(name)) {
    const from = (layer - 1) * m.heads * m.area, first = head ? from + (head - 1) * m.area : from;
    let values = m.weights.subarray(first, first + m.area);
    if (!head || !m.exact) {
      const end = head ? first + m.area : from + m.heads * m.area, share = head ? 1 : 1 / m.heads;
      values = new Float64Array(m.area);
      for (let at = first; at < end; at += m.area) addWeights(values, m.weights, at, share, m.exact ? null : SQUARES);
    }
    S.weights.set(name, { values, exact: m.exact });
  }
  return S.weights.get(name);
}

// Small functions that are called often are compiled early; in one long loop the first picture would be slow.
function addWeights(values, weights, from, share, table) {
  const count = values.length;
  if (table) for (let i = 0; i < count; i++) values[i] += share * table[weights[from + i]];
  else for (let i = 0; i < count; i++) values[i] += share * weights[from + i];
}

// One row: every key with weight, mask and rank among the visible keys, and what is known of the row as a whole.
function readRow(S, m, layer, head, query) {
  const { values, exact } = weightsOf(S, m, layer, head), at = query * m.keys;
  const cells = Array.from({ length: m.keys }, (_, key) => ({ key, weight: values[at + key], mask: m.mask[at + key] }));
  const seen = cells.filter((c) => !c.mask).sort((a, b) => b.weight - a.weight || a.key - b.key);
  seen.forEach((c, i) => (c.rank = i && seen[i - 1].weight === c.weight ? seen[i - 1].rank : i + 1));
  const entropy = -seen.reduce((sum, { weight }) => sum + (weight > 0 ? weight * Math.log(weight) : 0), 0);
  return { cells, seen, exact, entropy: Math.max(0, entropy), uniform: 1 / seen.length };
}

const inSpan = (spans, token) => Math.max(0, spans.findIndex(([start, end]) => token >= start && token < end));

// The row that this kind is looked at in, and the column that is chosen, or null.
const rowIn = (S, m) => inSpan(m.rowSpans, m.kind === "encoder" ? S.source : S.step);
const columnIn = (S, m) => (S.col === null ? null : inSpan(m.columnSpans, Math.min(S.col, m.columnSpans.at(-1)[0])));

// Rows after the step in view are absent where the decoding is followed step by step.
const shownRows = (S, m) => (m.kind !== "encoder" && S.steps ? rowIn(S, m) + 1 : m.queries);
