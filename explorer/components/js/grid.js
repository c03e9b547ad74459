// All heads at once: a thumbnail a head, on one scale, sorted and filtered by what tells heads apart.

const PLACES = ["itself", "previous", "next", "first", "last", "diagonal", "mirror"];

// What stands under a thumbnail: how many keys, and the place that it favours or else, fainter, its largest share.
function described(m, layer, head) {
  const keys = m.effective[layer - 1][head - 1], role = m.roles[layer - 1][head - 1];
  const shares = Object.entries(m.shares).map(([name, share]) => [name, share[layer - 1][head - 1]]);
  const [name, share] = shares.find(([name]) => name === role) ?? shares.reduce((a, b) => (b[1] > a[1] ? b : a), ["", -1]);
  return {
    keys: keys === null ? "no choice" : `${keys.toFixed(1)} keys`,
    role: share === null || share < 0 ? "–" : `${name} ${Math.round(100 * share)}\u202f%`,
    mixed: role !== name,
  };
}

// The heads of a kind in the chosen order, without those that the filters leave out.
function chosenHeads(S, m) {
  const list = [];
  for (let layer = 1; layer <= m.layers; layer++) for (let head = 1; head <= m.heads; head++) list.push({ layer, head });
  const effective = ({ layer, head }) => m.effective[layer - 1][head - 1] ?? Infinity;
  const share = ({ layer, head }) => m.shares[S.by]?.[layer - 1][head - 1] ?? -1;
  const kept = list.filter((h) =>
    (!S.role || m.roles[h.layer - 1][h.head - 1] === S.role) && (!S.most || effective(h) <= S.most));
  if (S.by === "keys") kept.sort((a, b) => effective(a) - effective(b));
  else if (S.by !== "place") kept.sort((a, b) => share(b) - share(a));
  return kept;
}

function drawGrids(S) {
  const compact = S.view !== "heads", kinds = compact ? [S.kind] : kindsShown(S);
  const boxes = children(S.$(".grids"), kinds.length, () => {
    const grid = make("div", "tiles");
    grid.setAttribute("role", "group");
    return make("section", "", make("h3", ""), make("div", "under", make("canvas"), grid), make("p", "none"));
  });
  kinds.forEach((kind, i) => {
    const [title, under, none] = boxes[i].children, [canvas, grid] = under.children, m = mapOf(S, kind);
    say(title, kinds.length > 1 ? TITLES[kind] : "");
    say(none, m ? "" : "Loading …");
    grid.setAttribute("aria-label", `${TITLES[kind]}: heads`);
    if (m) drawGrid(S, m, canvas, grid, none, compact, kinds.length);
  });
}

function drawGrid(S, m, canvas, grid, none, beneath, columns) {
  const heads = beneath ? chosenHeads({ ...S, by: "place", role: "", most: 0 }, m) : chosenHeads(S, m);
  say(none, heads.length ? "" : "No head passes the filters.");
  const ordered = (beneath || S.by === "place") && heads.length === m.layers * m.heads;
  const room = Math.max(120, grid.parentNode.clientWidth - (ordered ? 26 : 0)), across = m.heads + 1;
  // Without room for words under the thumbnails, their names are for the table and for screen readers only.
  const compact = beneath || (ordered && columns > 1 && room / across < 64);
  const aligned = ordered && room / across >= (compact ? 15 : 64);
  // The mean closes each layer's row, where rows are layers.
  const tiles = aligned || compact ? heads.flatMap((h) => (h.head < m.heads ? [h] : [h, { layer: h.layer, head: 0 }])) : heads;
  const wide = aligned ? room / across : compact ? 30 : 84;
  const [around, under, largest] = presenting(S) ? [200, 50, 260] : [350, 36, 150];
  const tall = compact ? 34 : Math.max(52, (heightFor(S.box) - around) / m.layers - under);
  const size = Math.floor(clamp(Math.min(wide - (compact ? 4 : 12), tall, columns > 1 ? 96 : largest), compact ? 10 : 34, largest));
  const most = Math.min(wide, Math.max(size + 14, compact ? 0 : presenting(S) ? 180 : 128));
  grid.style.gridTemplateColumns = aligned ? `22px repeat(${across},${most}px)` : `repeat(auto-fill,minmax(${Math.ceil(wide)}px,1fr))`;
  grid.classList.toggle("compact", compact);
  const top = topOf(S, kindsShown(S)), ratio = (window.devicePixelRatio || 1) * magnified(grid);
  const shown = shownRows(S, m), scale = size / Math.max(m.keys, m.queries), row = rowIn(S, m);
  const labels = aligned ? m.layers : 0, pick = S.pick[m.kind];
  const cells = children(grid, tiles.length + labels, () => make("div", "spot"));
  grid.style.setProperty("--wide", `${m.keys * scale}px`);
  grid.style.setProperty("--high", `${m.queries * scale}px`);
  let pressed = null;
  const buttons = tiles.map(({ layer, head }, i) => {
    const cell = cells[i + (aligned ? layer : 0)];
    if (aligned && head === 1) layerName(cells[i + layer - 1], layer);
    const button = tile(S, cell), says = [S.seq, m.kind, m.form, layer, head, compact].join();
    // Pointing at a cell draws everything again; words change only where they would be others.
    if (button.says !== says) {
      button.says = says;
      nameTile(button, m, layer, head, compact);
    }
    const mine = m.kind === S.kind && layer === pick.layer && head === pick.head;
    if (button.ariaPressed !== `${mine}`) button.ariaPressed = `${mine}`;
    if (mine) pressed = button;
    return button;
  });
  // One stop for the Tab key in each grid: the head in view, else the first.
  const active = grid.getRootNode().activeElement, stop = buttons.includes(active) ? active : (pressed ?? buttons[0]);
  for (const b of buttons) if (b.tabIndex !== (b === stop ? 0 : -1)) b.tabIndex = b === stop ? 0 : -1;
  const look = [
    S.seq, m.kind, m.form, top, S.scale, S.palette, S.theme.ground, scale, shown, row, compact, ratio, grid.clientWidth,
    presenting(S), aligned, ...tiles.map(({ layer, head }) => `${layer}-${head}`),
  ].join();
  if (canvas.look === look) return;
  canvas.look = look;
  if (!tiles.length) paper(canvas, 0, 0);
  else paintTiles(S, m, canvas, grid, buttons, picture(S, m, tiles, top), { scale, shown, row, marked: !compact });
}

// All thumbnails of a grid on one canvas that lies over the buttons, each where its button has left room.
function paintTiles(S, m, canvas, grid, buttons, { canvas: from, places }, { scale, shown, row, marked }) {
  const ratio = (window.devicePixelRatio || 1) * magnified(grid), ctx = paper(canvas, grid.clientWidth, grid.clientHeight);
  const { left, top } = grid.getBoundingClientRect(), [wide, high] = [m.keys * scale, shown * scale];
  // On whole pixels of the screen, like the frame that the browser draws around it.
  const onScreen = window.devicePixelRatio || 1;
  const snap = (to, start) => (Math.round(to * onScreen) - Math.round(start * onScreen)) / ratio;
  ctx.imageSmoothingEnabled = scale * ratio < 1;
  ctx.fillStyle = S.theme[SIDES[m.kind][0]];
  buttons.forEach((button, i) => {
    const at = button.firstChild.getBoundingClientRect(), x = snap(at.left, left), y = snap(at.top, top);
    ctx.drawImage(from, ...places[i], m.keys, shown, x, y, wide, high);
    if (marked) for (const end of [0, wide - 3]) ctx.fillRect(x + end, y + row * scale, 3, Math.max(2, scale));
  });
}

function nameTile(button, m, layer, head, compact) {
  const told = head ? described(m, layer, head) : { keys: "", role: "", mixed: false };
  const [, name, keys, role] = button.children;
  say(name, compact ? (head ? `${head}` : "m") : head ? `L${layer} H${head}` : `L${layer} mean`);
  say(keys, compact ? "" : told.keys);
  say(role, compact ? "" : told.role);
  role.classList.toggle("mixed", told.mixed);
  button.value = `${m.kind} ${layer} ${head}`;
  const which = head ? `Layer ${layer}, head ${head}` : `Layer ${layer}, mean over the heads`;
  button.ariaLabel = button.title = head ? `${which}: ${told.keys}, ` + (told.mixed ? "mixed, " : "") + told.role : which;
}

function layerName(cell, layer) {
  if (cell.firstChild?.tagName !== "SPAN") cell.replaceChildren(make("span", "layer"));
  say(cell.firstChild, `L${layer}`);
}

function tile(S, cell) {
  if (cell.firstChild?.tagName !== "BUTTON") {
    S.tile ??= Object.assign(make("button", "tile", make("i"), make("b"), make("small"), make("small")), { type: "button" });
    cell.replaceChildren(S.tile.cloneNode(true));
  }
  return cell.firstChild;
}

function chooseTile(S, event) {
  const [kind, layer, head] = event.target.closest(".tile")?.value.split(" ") ?? [];
  if (kind) openHead(S, kind, +layer, +head);
}

// Arrow keys go from thumbnail to thumbnail as they lie on the screen; Enter opens one.
function moveInGrid(event) {
  const here = event.target.closest(".tile");
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!here || (!way && event.key !== "Home" && event.key !== "End")) return;
  event.preventDefault();
  const all = [...event.currentTarget.querySelectorAll(".tile")];
  const place = (b) => {
    const { x, y, width } = b.getBoundingClientRect();
    return [x + width / 2, y];
  };
  let next = event.key === "Home" ? all[0] : all.at(-1);
  if (way) {
    const [x, y] = place(here);
    const isAhead = ([, [u, v]]) => (way[0] ? way[0] * (u - x) > 1 && Math.abs(v - y) < 20 : way[1] * (v - y) > 9);
    // Across: the nearest in this row. Up and down: the nearest row first, then the nearest place in it.
    const far = ([, [u, v]]) => (way[0] ? 0 : 9999 * Math.round(Math.abs(v - y) / 9)) + Math.abs(u - x);
    next = all.map((b) => [b, place(b)]).filter(isAhead).sort((a, b) => far(a) - far(b))[0]?.[0];
  }
  if (!next) return;
  here.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
