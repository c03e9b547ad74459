// What stands around the heatmaps: the next token, the choice of layer and head, captions, the readout, the table.

function drawNext(S) {
  const { target, alternatives } = S.data, row = S.step;
  const ids = alternatives.ids[row], chosen = target.predicted_ids[row];
  const predicts = word(target.predicted[row], "target");
  sayAll(S.$(".reads"), "reads ", named(target.tokens, row, "target"), " → predicts ", predicts);
  const options = ids.map((id, i) => ({ id, text: alternatives.tokens[row][i], p: alternatives.probabilities[row][i] }));
  // A forced or sampled token may not be among the likeliest.
  if (!ids.includes(chosen)) options.push({ id: chosen, text: target.predicted[row], p: target.probabilities[row] });
  const list = children(S.$(".options"), S.optionRows, () => {
    const bar = make("span", "bar", make("i"));
    const button = make("button", "option", make("span", "mark"), make("bdi", "token"), bar, make("span", "number"));
    button.type = "button";
    return make("li", "", button);
  });
  list.forEach((item, i) => {
    const option = options[i], button = item.firstChild;
    item.style.visibility = option ? "" : "hidden";
    if (!option) return;
    const current = option.id === chosen;
    say(button.children[0], current ? "▸" : "");
    say(button.children[1], option.text);
    button.children[1].classList.toggle("special", SPECIALS.includes(option.text));
    button.children[2].firstChild.style.width = `${100 * option.p}%`;
    say(button.children[3], percent(option.p));
    button.classList.remove("waiting");
    if (current) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    button.title = current ? "The token predicted here" : "Take this token instead and decode on from it";
    button.onclick = () => current || fork(S, option.id, button);
  });
}

function drawPick(S) {
  const m = S.maps[S.kind], { layer, head } = S.pick[S.kind];
  for (const tab of S.$(".kinds").children) tab.setAttribute("aria-pressed", tab.value === S.kind);
  const button = () => Object.assign(make("button", ""), { type: "button" });
  children(S.$(".layers"), m.layers, button).forEach((b, i) => {
    say(b, `${i + 1}`);
    b.setAttribute("aria-label", `Layer ${i + 1} of ${m.layers}`);
    b.setAttribute("aria-pressed", i + 1 === layer);
    b.onclick = () => pick(S, S.kind, { layer: i + 1 });
  });
  const shown = S.kind === "encoder" ? m.queries : frontier(S) + 1;
  const thumb = () => {
    const b = button();
    b.append(document.createElement("canvas"), make("span"));
    return b;
  };
  const side = m.heads > 7 ? 26 : 42, scale = side / Math.max(m.keys, m.queries);
  children(S.$(".heads"), m.heads + 1, thumb).forEach((b, h) => {
    const ctx = paper(b.firstChild, m.keys * scale, m.queries * scale);
    ctx.drawImage(bitmap(S, S.kind, layer, h), 0, 0, m.keys, shown, 0, 0, m.keys * scale, shown * scale);
    say(b.lastChild, h ? `${h}` : "mean");
    b.setAttribute("aria-label", h ? `Head ${h} of ${m.heads}` : "Mean over the heads");
    b.setAttribute("aria-pressed", h === head);
    b.onclick = () => pick(S, S.kind, { head: h });
  });
}

// "*Hund* looks at *dog* 62 %, *a* 21 %", from the numbers of the row.
function drawCaption(S, kind) {
  const f = S.figures[kind], m = S.maps[kind], { layer, head } = S.pick[kind];
  const which = head ? `head ${head} (of ${m.heads})` : `mean of ${m.heads} head${m.heads > 1 ? "s" : ""}`;
  const step = kind === "encoder" ? "" : ` · step ${S.step + 1}`;
  say(f.title, TITLES[kind]);
  say(f.about, `layer ${layer} · ${which} · ${S.data.model}${step}`);
  f.box.classList.toggle("focus", kind === S.kind);
  f.canvas.setAttribute("aria-label", `${TITLES[kind]}, ${f.about.textContent}. Arrow keys move from cell to cell.`);
  const query = currentRow(S, kind), { seen } = rowOf(m, layer, head, query);
  // Two lines at most, so that nothing below moves.
  const most = kind === "encoder" ? 2 : 3, best = seen.filter((c, i) => i < most && (c.weight >= 0.1 || i < 1));
  const share = (c) => ` ${Math.round(100 * c.weight)}\u202f%`;
  const keys = best.flatMap((c, i) => [i ? ", " : " ", named(m.columns, c.key, SIDES[kind][1]), share(c)]);
  const how = kind === "encoder" && !(S.cell?.locked && S.cell.kind === kind) ? " (looked at most now)" : "";
  const verb = seen.length ? " looks at" : " sees nothing: every key is masked";
  sayAll(f.caption, named(m.rows, query, SIDES[kind][0]), how + verb, ...keys, ".");
}

// The chosen cell in words.
function drawReadout(S) {
  for (const kind of S.kinds) {
    const f = S.figures[kind], c = S.cell;
    f.readout.replaceChildren();
    if (c?.kind !== kind) continue;
    const m = S.maps[kind], { layer, head } = S.pick[kind];
    const { cells, seen } = rowOf(m, layer, head, c.query), { weight, mask, rank } = cells[c.key];
    const why = ["", "masked (future): a later position may not be looked at", "masked (padding): filler, not a word"][mask];
    const line = (name, ...text) => make("div", "", make("span", "name", name), ...text);
    const predicts = kind === "encoder" ? [] : [" → ", word(S.data.target.predicted[lastRead(S, c.query)], "target")];
    f.readout.replaceChildren(
      line("query", named(m.rows, c.query, SIDES[kind][0]), ...predicts),
      line("key", named(m.columns, c.key, SIDES[kind][1])),
      mask ? make("div", "", why) : line("weight", make("b", "", decimals(weight)), ` · rank ${rank} of ${seen.length}`),
      make("div", "hint", c.locked ? "locked · Esc lets go" : "click or Enter locks"),
    );
    const { left, top, cell } = f.plot;
    // Under the cell's row, so that it never hides the row that it speaks of.
    const x = Math.min(left + c.key * cell - f.canvas.parentNode.scrollLeft, f.box.clientWidth - f.readout.offsetWidth);
    f.readout.style.transform = `translate(${Math.max(0, x)}px,${f.canvas.offsetTop + top + (c.query + 1) * cell + 6}px)`;
  }
}

function drawTable(S) {
  const m = S.maps[S.kind], { layer, head } = S.pick[S.kind], query = currentRow(S, S.kind);
  sayAll(S.$("summary"), `Table: ${TITLES[S.kind]}, row `, named(m.rows, query, SIDES[S.kind][0]));
  if (!S.$("details").open) return;
  const { cells } = rowOf(m, layer, head, query), { by, sign } = S.sort;
  const value = (c) => (c.mask && by !== "key" ? Infinity * sign : by === "query" ? 0 : c[by]);
  cells.sort((a, b) => sign * (value(a) - value(b)) || a.key - b.key);
  for (const th of S.$("thead tr").children) {
    const mine = th.firstChild.value === by;
    th.setAttribute("aria-sort", mine ? (sign > 0 ? "ascending" : "descending") : "none");
  }
  S.$("tbody").replaceChildren(...cells.map((c) => {
    const why = ["", "masked: future", "masked: padding"][c.mask];
    const [row, column] = SIDES[S.kind];
    const numbers = why ? [why, "–"] : [decimals(c.weight), `${c.rank}`];
    const columns = [named(m.rows, query, row), named(m.columns, c.key, column), ...numbers];
    return make("tr", "", ...columns.map((content) => make("td", "", content)));
  }));
}

// Sanity on screen, over all heads of all layers; and what kind of run this is.
function drawChecks(S) {
  const { error, leaks, heads } = S.data.checks, good = error < 1e-4 && !leaks;
  const sums = error < 1e-4 ? "rows sum to 1" : `rows do not sum to 1 (off by ${error})`;
  const zeros = leaks ? `${leaks} masked cells are not 0` : "masked cells exactly 0";
  say(S.$(".checks"), `${good ? "✓" : "✗"} ${sums} · ${zeros} · in all ${heads} heads`);
  S.$(".checks").classList.toggle("bad", !good);
  S.$(".untrained").hidden = S.data.trained;
  S.$(".edited").hidden = !S.data.edits.length;
  say(S.$(".edited"), `edited: ${S.data.edits.join(", ")}`);
}
