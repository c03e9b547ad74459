// The sentence itself, shaded by what one token of it, or of its translation, attends to.

function drawStrip(S) {
  const box = S.$(".strip"), m = mapOf(S, S.kind);
  box.hidden = S.view !== "text" || !m;
  if (box.hidden) return;
  const [asks, looks] = box.children, [querySide, keySide] = SIDES[S.kind], { layer, head } = S.pick[S.kind];
  const query = S.focus?.side === "query" ? S.focus.at : rowIn(S, m), own = S.kind !== "cross";
  const { cells, exact } = readRow(S, m, layer, head, query), top = topOf(S, kindsShown(S), true);
  const names = m.rows.map((_, q) => nameOfRow(S, m, q)).slice(0, shownRows(S, m));
  say(asks.firstElementChild, own && !S.next ? "Choose a token; the shading shows what it attends to." : "Choose a token; the text below shows what it attends to.");
  asks.lastElementChild.hidden = own && !S.next;
  drawWords(S, m, asks.lastElementChild, asks.lastElementChild.hidden ? [] : names, querySide, m.rowSpans, query, () => null);
  say(looks.firstElementChild, AXES[S.kind][1]);
  const shading = (key) => ({ ...cells[key], exact, top });
  drawWords(S, m, looks.lastElementChild, m.columns, keySide, m.columnSpans, own && !S.next ? query : -1, shading);
}

function drawWords(S, m, box, tokens, side, spans, chosen, shading) {
  const words = side === "source" ? S.data.source.words : S.data.target.words;
  box.className = `text ${side}`;
  children(box, tokens.length, () => Object.assign(make("button", "word", make("bdi", "token"), make("small")), { type: "button" })).forEach((b, at) => {
    const [token, number] = b.children, cell = shading(at);
    say(token, tokens[at]);
    token.classList.toggle("special", SPECIALS.includes(tokens[at]));
    b.classList.toggle("joined", m.form === "tokens" && joins(words, spans[at][0]));
    b.classList.toggle("masked", !!cell?.mask);
    b.setAttribute("aria-pressed", at === chosen);
    const colour = cell && !cell.mask ? S.theme.scale[level(S, cell.weight, cell.top)] : null;
    b.style.background = colour ? `rgb(${colour})` : "";
    b.style.color = colour ? (brightness(colour) > 0.55 ? "#10243d" : "#fff") : "";
    const share = !cell || cell.mask ? "" : !cell.exact ? "…" : cell.weight < 0.005 ? "" : `${Math.round(100 * cell.weight)}\u202f%`;
    say(number, cell?.mask ? "masked" : share);
    const told = !cell ? "" : cell.mask ? ": masked" : `: ${share || "0 %"}`;
    b.setAttribute("aria-label", `${at + 1} ${tokens[at]}${told}`);
    const asks = !cell || m.kind !== "cross";
    const point = (focus) => () => {
      S.focus = focus;
      redraw(S);
    };
    b.onpointerenter = b.onfocus = asks && !cell ? point({ side: "query", at }) : null;
    b.onpointerleave = b.onblur = asks && !cell ? point(null) : null;
    b.onclick = () => (asks && at < shownRows(S, m) ? chooseCell(S, m.kind, at, null) : chooseCell(S, m.kind, rowIn(S, m), at));
  });
}
