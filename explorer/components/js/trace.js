// The payload as numbers: weights, masks, ranks, sums. Layout: see payload.py. Nothing here touches the screen.

const KINDS = ["encoder", "decoder", "cross"];
const FUTURE = 1;

function readPayload(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  // A copy, because float32 views must start at a multiple of 4 of their buffer.
  const body = bytes.slice(4 + size).buffer;
  let end = 0;
  const take = (type, count) => {
    const values = new type(body, end, count);
    end += values.byteLength;
    return values;
  };
  const maps = header.maps;
  for (const m of KINDS.map((kind) => maps[kind])) {
    m.area = m.queries * m.keys;
    m.weights = take(Float32Array, m.layers * m.heads * m.area);
    m.means = new Map();
  }
  for (const m of KINDS.map((kind) => maps[kind])) m.mask = take(Uint8Array, m.area);
  const { source, target } = header;
  maps.encoder.rows = maps.encoder.columns = maps.cross.columns = source.tokens;
  maps.decoder.rows = maps.decoder.columns = maps.cross.rows = target.tokens;
  return header;
}

// Weights of one head [query, key], layer and head from 1; head 0 is the mean over heads.
function headWeights(m, layer, head) {
  const from = (layer - 1) * m.heads * m.area;
  if (head) return m.weights.subarray(from + (head - 1) * m.area, from + head * m.area);
  if (!m.means.has(layer)) {
    const mean = new Float64Array(m.area);
    for (let i = 0; i < m.heads * m.area; i++) mean[i % m.area] += m.weights[from + i] / m.heads;
    m.means.set(layer, mean);
  }
  return m.means.get(layer);
}

// One row as the table and the captions need it: every key with weight, mask code and rank among the visible keys.
function rowOf(m, layer, head, query) {
  const at = query * m.keys;
  const weights = headWeights(m, layer, head).subarray(at, at + m.keys);
  const cells = Array.from(weights, (weight, key) => ({ key, weight, mask: m.mask[at + key] }));
  const seen = cells.filter((c) => !c.mask).sort((a, b) => b.weight - a.weight || a.key - b.key);
  seen.forEach((c, i) => (c.rank = i && seen[i - 1].weight === c.weight ? seen[i - 1].rank : i + 1));
  return { cells, seen };
}

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

const percent = (p) => (p > 0 && p < 0.0005 ? "< 0.1 %" : `${(100 * p).toFixed(1)}\u202f%`);

const decimals = (w) => (w > 0 && w < 0.0005 ? "< 0.001" : w.toFixed(3));
