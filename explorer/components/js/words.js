// Attention between words: summed over the pieces of a key, averaged over those pieces of a query that are read by now.

// First token and end of each run of tokens of one word; -1 marks tokens that belong to none.
function spansOf(words) {
  const starts = words.flatMap((_, i) => (joins(words, i) ? [] : [i]));
  return starts.map((start, i) => [start, starts[i + 1] ?? words.length]);
}

// A word that is not read to its end has the name of what is read of it.
const joined = (tokens, spans, read) =>
  spans.map(([start, end]) => tokens.slice(start, start < read ? Math.min(end, read) : end).join(""));

// What is drawn: the maps as recorded, or those between words as far as the decoder has read.
function look(S) {
  const { maps, source, target } = S.data, step = S.words ? S.step : -1;
  if (S.look?.data === S.data && S.look.step === step) return;
  S.look = { data: S.data, step };
  S.bitmaps = new Map();
  S.maps = maps;
  if (!S.words) return;
  S.spans = { source: spansOf(source.words), target: spansOf(target.words) };
  S.maps = Object.fromEntries(KINDS.map((kind) => [kind, between(S, kind)]));
}

function between(S, kind) {
  const m = S.data.maps[kind], [rows, columns] = SIDES[kind].map((side) => S.spans[side]);
  const read = kind === "encoder" ? m.queries : S.step + 1, area = rows.length * columns.length;
  const out = { ...m, queries: rows.length, keys: columns.length, area, means: new Map() };
  const seen = kind === "decoder" ? read : m.keys;
  Object.assign(out, { rows: joined(m.rows, rows, read), columns: joined(m.columns, columns, seen) });
  out.weights = new Float32Array(m.layers * m.heads * area);
  out.mask = new Uint8Array(area);
  rows.forEach(([top, end], r) => {
    const bottom = Math.max(top + 1, Math.min(end, read));
    columns.forEach(([left, right], c) => {
      let mask = 9;
      const sums = new Float64Array(m.layers * m.heads);
      for (let q = top; q < bottom; q++) for (let k = left; k < right; k++) {
        mask = Math.min(mask, m.mask[q * m.keys + k]);
        for (let h = 0; h < sums.length; h++) sums[h] += m.weights[h * m.area + q * m.keys + k];
      }
      out.mask[r * columns.length + c] = mask;
      sums.forEach((sum, h) => (out.weights[h * area + r * columns.length + c] = sum / (bottom - top)));
    });
  });
  return out;
}

// The row of the token that the decoder reads now, and the token that a row's last piece predicts.
const frontier = (S) => (S.words ? S.spans.target.findIndex(([, end]) => S.step < end) : S.step);
const lastRead = (S, row) => (S.words ? Math.min(S.spans.target[row][1] - 1, S.step) : row);

// Whether token `i` is part of the row or column `index`.
function covers(S, side, index, i) {
  const [start, end] = S.words ? S.spans[side][index] : [index, index + 1];
  return start <= i && i < end;
}
