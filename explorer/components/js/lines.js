// Tokens left and right, weights as lines between them; each row keeps the heaviest keys that hold the chosen share.

const DASHES = [[], [7, 3], [2, 3], [10, 3, 2, 3], [14, 4], [4, 4], [1, 4], [9, 2, 2, 2, 2, 2]];

// The heads whose lines are drawn: [head, colour, dashes].
function linedHeads(S) {
  const m = mapOf(S, S.kind), heads = [...S.on].filter((head) => head <= (m?.heads ?? 0)).sort((a, b) => a - b);
  return heads.map((head) => [head, S.colours[Math.max(0, head - 1) % S.colours.length], DASHES[Math.max(0, head - 1) % DASHES.length]]);
}

// The lines of one head: for each row that is shown, its heaviest keys until they hold `mass` percent of it.
function linesOf(S, m, layer, head) {
  const lines = [];
  for (let query = 0; query < shownRows(S, m); query++) {
    let held = 0;
    for (const { key, weight } of readRow(S, m, layer, head, query).seen) {
      if (held >= S.mass / 100 - 1e-6 || weight <= 0) break;
      held += weight;
      lines.push({ head, query, key, weight });
    }
  }
  return lines;
}

function drawLines(S) {
  const box = S.$(".lines"), m = mapOf(S, S.kind);
  box.hidden = S.view !== "lines" || !m;
  if (box.hidden) return;
  const { layer } = S.pick[S.kind], [querySide, keySide] = SIDES[S.kind];
  const most = Math.max(m.queries, m.keys), [around, largest] = presenting(S) ? [290, 40] : [452, 26];
  const step = Math.round(clamp((innerHeight - around) / most, 14, largest));
  const [heads, titles, body] = box.children, [left, canvas, right] = body.children;
  drawHeadButtons(S, m, layer, heads);
  say(titles.firstElementChild, rowTitle(S, S.kind));
  say(titles.lastElementChild, AXES[S.kind][1]);
  body.style.setProperty("--step", `${step}px`);
  const names = m.rows.map((_, q) => nameOfRow(S, m, q)), shown = shownRows(S, m);
  drawColumn(S, left, names.slice(0, shown), querySide, "query", m);
  drawColumn(S, right, m.columns, keySide, "key", m);
  const wide = Math.max(80, body.clientWidth - left.offsetWidth - right.offsetWidth), high = most * step;
  const ctx = paper(canvas, wide, high), focus = S.focus ?? (S.col === null ? { side: "query", at: rowIn(S, m) } : { side: "key", at: columnIn(S, m) });
  const drawn = linedHeads(S).flatMap(([head, colour, dashes]) => linesOf(S, m, layer, head).map((line) => ({ ...line, colour, dashes })));
  S.drawn = drawn;
  for (const pass of [false, true]) {
    for (const line of drawn) {
      const mine = line[focus.side] === focus.at;
      // Pointing at a token shows its lines only; the token in view has its lines in front.
      if (mine !== pass || (!mine && S.focus)) continue;
      ctx.strokeStyle = line.colour;
      ctx.setLineDash(line.dashes);
      ctx.globalAlpha = (mine ? 1 : 0.55) * clamp(0.12 + 0.88 * line.weight, 0, 1);
      ctx.lineWidth = 0.8 + (mine ? 3 : 2) * line.weight;
      ctx.beginPath();
      const [from, to] = [(line.query + 0.5) * step, (line.key + 0.5) * step];
      ctx.moveTo(2, from);
      ctx.bezierCurveTo(wide * 0.4, from, wide * 0.6, to, wide - 2, to);
      ctx.stroke();
    }
  }
  canvas.dataset.lines = `${drawn.filter((line) => !S.focus || line[S.focus.side] === S.focus.at).length}`;
}

function drawHeadButtons(S, m, layer, box) {
  const colours = new Map(linedHeads(S).map(([head, colour]) => [head, colour]));
  children(box, m.heads + 1, () => Object.assign(make("button", "headpick"), { type: "button" })).forEach((b, i) => {
    const head = (i + 1) % (m.heads + 1);
    say(b, head ? `H${head}` : "mean");
    b.setAttribute("aria-pressed", S.on.has(head));
    b.setAttribute("aria-label", head ? `Lines of head ${head} in layer ${layer}` : "Lines of the mean over the heads");
    b.style.borderBottomColor = colours.get(head) ?? "";
    b.onclick = () => {
      if (!S.on.delete(head)) S.on.add(head);
      else if (!S.on.size) S.on.add(head);
      if (!S.on.has(S.pick[S.kind].head)) S.pick[S.kind].head = [...S.on].sort((a, b) => a - b)[0];
      redraw(S);
      tell(S);
    };
  });
}

function drawColumn(S, box, tokens, side, role, m) {
  const current = role === "query" ? rowIn(S, m) : columnIn(S, m);
  children(box, tokens.length, () => {
    const button = make("button", "end", make("span", "place"), make("bdi"));
    return Object.assign(button, { type: "button" });
  }).forEach((b, at) => {
    say(b.firstChild, `${at + 1}`);
    say(b.lastChild, tokens[at]);
    b.lastChild.className = `token ${side}` + (SPECIALS.includes(tokens[at]) ? " special" : "");
    b.setAttribute("aria-pressed", at === current);
    const point = (focus) => () => {
      S.focus = focus;
      redraw(S);
    };
    b.onpointerenter = b.onfocus = point({ side: role, at });
    b.onpointerleave = b.onblur = point(null);
    b.onclick = () => (role === "query" ? chooseCell(S, m.kind, at, null) : chooseCell(S, m.kind, rowIn(S, m), at === columnIn(S, m) ? null : at));
  });
}
