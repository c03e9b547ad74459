// The same as the pictures in words and numbers: the cell in view, the caption, the table. All numbers are float32's.

const share = (weight, exact) => (exact ? `${Math.round(100 * weight)}\u202f%` : "…");
const fixed = (weight) => (weight > 0 && weight < 0.00005 ? weight.toExponential(2) : weight.toFixed(4));
const rowName = (S, m, q) => {
  const [side] = SIDES[m.kind], read = named(m.rows, q, side);
  if (!m.predicted.length) return [read];
  return ["reads ", read, " → predicts ", word(m.predicted[q], "target")];
};

function drawReadout(S) {
  const kind = S.hover?.kind ?? S.kind, m = mapOf(S, kind), box = S.$(".readout");
  box.hidden = S.view === "heads";
  if (!m || box.hidden) return;
  const { layer, head } = S.pick[kind], query = S.hover?.query ?? rowIn(S, m), key = S.hover ? S.hover.key : columnIn(S, m);
  const row = readRow(S, m, layer, head, query), cell = key === null ? null : row.cells[key];
  const line = (name, ...content) => make("div", "", make("span", "name", name), make("span", "", ...content));
  const why = ["", "masked (future): a later position may not be looked at", "masked (padding): filler, not a word"];
  const number = (text) => make("b", "", row.exact ? text : "…");
  const lines = [line("query", ...rowName(S, m, query))];
  if (cell) {
    lines.push(line("key", named(m.columns, key, SIDES[kind][1])));
    if (cell.mask) lines.push(line("weight", why[cell.mask]));
    else lines.push(line("weight", number(fixed(cell.weight))), line("rank", row.exact ? `${cell.rank} of ${row.seen.length}` : "…"));
  }
  if (row.seen.length) {
    lines.push(line("uniform", row.seen.length > 1 ? `would be ${fixed(row.uniform)} for each of ${row.seen.length} keys` : "only one key to look at"));
    lines.push(line("row", row.exact ? `looks at ${Math.exp(row.entropy).toFixed(2)} keys (entropy ${row.entropy.toFixed(3)} nats)` : "…"));
  } else lines.push(line("row", "sees nothing: every key is masked"));
  if (S.brush?.kind === kind) lines.push(line("marked", brushed(S, m, layer, head)));
  S.$(".cell").replaceChildren(...lines);
  S.$(".why").hidden = !S.data.explains || !cell || !!cell.mask || !head;
}

// What the marked rows put on the marked columns, on average.
function brushed(S, m, layer, head) {
  const { rows, columns } = S.brush, { values, exact } = weightsOf(S, m, layer, head);
  const last = Math.min(rows[1], shownRows(S, m) - 1);
  let sum = 0;
  for (let q = rows[0]; q <= last; q++) for (let k = columns[0]; k <= columns[1]; k++) sum += values[q * m.keys + k];
  const span = ([a, b]) => (a === b ? `${a + 1}` : `${a + 1}–${b + 1}`);
  const mean = sum / Math.max(1, last - rows[0] + 1);
  return `rows ${span([rows[0], Math.max(rows[0], last)])} put ${exact ? percent(mean) : "…"} of their weight on columns ${span(columns)} (Esc lets go)`;
}

function rowSentence(S, m, layer, head, query) {
  const { seen, exact } = readRow(S, m, layer, head, query), [, side] = SIDES[m.kind];
  const best = seen.filter((c, i) => i < 3 && (c.weight >= 0.1 || i < 1));
  const keys = best.flatMap((c, i) => [i ? ", " : " ", named(m.columns, c.key, side), ` ${share(c.weight, exact)}`]);
  return [...rowName(S, m, query), seen.length ? " looks at" : " sees nothing: every key is masked", ...keys, "."];
}

function drawCaption(S) {
  const m = mapOf(S, S.kind), box = S.$(".caption");
  if (!m) return say(box, "");
  const { layer, head } = S.pick[S.kind], query = S.focus?.side === "query" ? S.focus.at : rowIn(S, m);
  const headName = (h) => `L${layer} ` + (h ? `H${h}` : "mean") + ": ", which = headName(head);
  if (S.view === "heads") return sayAll(box, ...gridSentences(S).join(" "));
  const pieces = [which, ...rowSentence(S, m, layer, head, query)];
  if (S.view === "lines") {
    const drawn = S.drawn.length, heads = S.on.size;
    const visible = m.mask.subarray(0, shownRows(S, m) * m.keys).filter((code) => !code).length * heads;
    const others = [...S.on].filter((h) => h !== head).sort((a, b) => a - b);
    for (const h of others) pieces.push(` ${headName(h)}`, ...rowSentence(S, m, layer, h, query));
    pieces.push(` ${drawn} of ${visible} lines hold ${S.mass}\u202f% of each row's weight.`);
  }
  sayAll(box, ...pieces);
}

function gridSentences(S) {
  return kindsShown(S).map((kind) => {
    const m = mapOf(S, kind);
    if (!m) return "";
    const heads = chosenHeads({ ...S, by: "keys" }, m), all = m.layers * m.heads;
    const count = heads.length === all ? `all ${all} heads in ${m.layers} ${m.layers > 1 ? "layers" : "layer"}` : `${heads.length} of ${all} heads`;
    if (!heads.length) return `${TITLES[kind]}: ${count}.`;
    const tell = ({ layer, head }) => [`L${layer} H${head}`, described(m, layer, head)];
    const [sharp, { keys, role, mixed }] = tell(heads[0]), [wide, { keys: most }] = tell(heads.at(-1));
    const others = heads.length > 1 ? `, ${wide} at the most (${most})` : "";
    return `${TITLES[kind]}: ${count}. ${sharp} looks at the fewest keys (${keys}; ` + (mixed ? "mixed, " : "") + `${role})${others}.`;
  });
}

// The table of the view: heads with their scores, or the keys of the row in view.
function drawTable(S) {
  const m = mapOf(S, S.kind);
  if (!m) return;
  const { layer, head } = S.pick[S.kind], query = rowIn(S, m);
  const title = S.view === "heads" ? [`Table: ${TITLES[S.kind]}, all heads`] : [`Table: ${TITLES[S.kind]}, layer ${layer}, row `, ...rowName(S, m, query)];
  sayAll(S.$("summary"), ...title);
  if (!S.$("details").open) return;
  const { names, rows } = S.view === "heads" ? headTable(S, m) : keyTable(S, m, layer, head, query);
  const { by, sign } = S.sort;
  if (by < names.length) rows.sort((a, b) => sign * (a.at[by] - b.at[by]) || a.at[0] - b.at[0]);
  children(S.$("thead tr"), names.length, () => {
    const button = make("button", "");
    const th = make("th", "", Object.assign(button, { type: "button" }));
    th.scope = "col";
    return th;
  }).forEach((th, i) => {
    say(th.firstChild, names[i]);
    th.setAttribute("aria-sort", i === by ? (sign > 0 ? "ascending" : "descending") : "none");
    th.firstChild.onclick = () => {
      S.sort = { by: i, sign: i === by ? -sign : i > 1 ? -1 : 1 };
      drawTable(S);
    };
  });
  S.$("tbody").replaceChildren(...rows.map(({ cells }) => make("tr", "", ...cells.map((content) => make("td", "", content)))));
}

function headTable(S, m) {
  const places = Object.keys(m.shares), heads = chosenHeads({ ...S, by: "place" }, m);
  const rows = heads.map(({ layer, head }) => {
    const values = [m.effective, ...places.map((name) => m.shares[name])].map((scores) => scores[layer - 1][head - 1]);
    const texts = values.map((value, i) => (value === null ? "–" : i ? percent(value) : value.toFixed(2)));
    const role = m.roles[layer - 1][head - 1];
    return { at: [layer, head, ...values.map((v) => v ?? -1), [...PLACES, "mixed"].indexOf(role)], cells: [`${layer}`, `${head}`, ...texts, role] };
  });
  return { names: ["layer", "head", "effective keys", ...places, "favours"], rows };
}

function keyTable(S, m, layer, head, query) {
  const heads = S.view === "lines" ? [...S.on].sort((a, b) => a - b) : [head];
  const read = heads.map((h) => readRow(S, m, layer, h, query)), several = heads.length > 1;
  const why = ["", "masked: future", "masked: padding"];
  const rows = m.columns.map((_, key) => {
    const cells = read.map((row) => row.cells[key]), closed = cells[0].mask;
    const texts = cells.flatMap((c, i) => {
      const weight = closed ? why[closed] : read[i].exact ? fixed(c.weight) : "…";
      return several ? [weight] : [weight, closed ? "–" : read[i].exact ? `${c.rank}` : "…"];
    });
    const order = cells.flatMap((c) => (several ? [closed ? -1 : c.weight] : [closed ? -1 : c.weight, closed ? 9999 : c.rank]));
    return { at: [key, ...order], cells: [named(m.columns, key, SIDES[m.kind][1]), ...texts] };
  });
  const columns = heads.map((h) => (h ? `H${h}` : "mean"));
  return { names: several ? ["key", ...columns] : ["key", "weight", "rank"], rows };
}

// Sanity and kind of run, from the server.
function drawBadges(S) {
  S.$(".untrained").hidden = S.data.trained;
  S.$(".edited").hidden = !S.data.edits.length;
  say(S.$(".edited"), `edited: ${S.data.edits.join(", ")}`);
}
