// The views of attention together: what is being looked at, what the views share, and the messages to the server.

const PAUSE = 250, SOON = 20, PATIENCE = 150;
const VIEWS = ["heads", "head", "lines", "text"];
// The view's options as they stand in the address: a word for each that is not the default.
const START = { view: "heads", words: false, next: false, scale: "unit", palette: "theme", steps: false, beside: false, by: "place", role: "", most: 0, mass: 80 };

// Streamlit calls this again when the theme changes, and the returned function once, at the end. `data` never changes,
// or all of this code would be sent once more: it is the name under which carriers bring what is to be drawn, and the
// first header, so that one carrier less has to be set up before the first picture.
export default function ({ data, parentElement: root, setStateValue, setTriggerValue }) {
  const S = (root.__heads ??= create(root));
  Object.assign(S, { name: data.name, first: data.header, setStateValue, setTriggerValue, theme: readTheme(S.box) });
  S.theme.own = S.theme.scale;
  S.colours = getComputedStyle(S.box).getPropertyValue("--st-chart-categorical-colors").split(",").filter(Boolean);
  if (!S.colours.length) S.colours = [S.theme.ink];
  const header = latest(S);
  if (header) load(S, header);
  return () => {
    S.observer.disconnect();
    document.removeEventListener("keydown", S.onKey);
    hub().removeEventListener("block", S.onBlock);
    for (const timer of [S.report, S.play, S.lacking]) clearTimeout(timer);
    cancelAnimationFrame(S.frame);
  };
}

const latest = (S) => hub().blocks.get(S.name)?.header ?? S.first;

function create(root) {
  const $ = (selector) => root.querySelector(selector);
  const S = { $, box: $(".explorer"), ...START, pick: {}, on: new Set(), step: 0, source: 0, col: null, figures: {}, drawn: [] };
  Object.assign(S, { weights: new Map(), blocks: new Map(), pictures: new Map(), taken: new WeakSet(), sort: { by: 0, sign: 1 } });
  for (const kind of KINDS) {
    const f = (S.figures[kind] = {}), parts = { box: "", canvas: "canvas", title: "b", about: "small" };
    for (const part in parts) f[part] = $(`figure.${kind} ${parts[part]}`);
    listenToHead(S, kind);
  }
  for (const button of $(".kinds").children) button.onclick = () => change(S, button.value === "beside" ? { beside: !S.beside } : { kind: button.value, beside: false });
  for (const button of $(".views").children) button.onclick = () => change(S, { view: button.value });
  for (const button of $(".buttons").children) button.onclick = () => command(S, button.value);
  for (const select of root.querySelectorAll("select")) {
    select.onchange = () => change(S, { [select.name]: ["most"].includes(select.name) ? +select.value : select.value });
  }
  for (const box of root.querySelectorAll("input[type=checkbox]")) box.onchange = () => change(S, { [box.name]: box.checked });
  $(".mass input").oninput = (event) => change(S, { mass: +event.target.value });
  $(".player input[type=range]").oninput = (event) => {
    stop(S);
    go(S, event.target.value - 1);
  };
  $(".grids").onkeydown = moveInGrid;
  $(".grids").onclick = (event) => chooseTile(S, event);
  $(".why").onclick = () => {
    clearTimeout(S.report);
    S.setStateValue("at", where(S));
    S.setTriggerValue("open", "cell");
  };
  $(".present").onclick = () => present(S);
  // The width need not change when the height does.
  S.box.onfullscreenchange = () => redraw(S);
  $("details").ontoggle = () => drawTable(S);
  S.onKey = (event) => onKey(S, event);
  document.addEventListener("keydown", S.onKey);
  S.onBlock = () => {
    const header = latest(S);
    if (header && header !== S.data) load(S, header);
    else if (header && takeBlocks(S)) redraw(S);
  };
  hub().addEventListener("block", S.onBlock);
  S.observer = new ResizeObserver(() => {
    if (S.width !== S.box.clientWidth && !S.box.hidden) redraw(S);
  });
  S.observer.observe(S.box);
  return S;
}

// What the server says of this decoding. The person keeps the place, except where its `turn` says that it has moved.
function load(S, data) {
  Object.assign(S, { data, last: data.target.tokens.length - 1 });
  if (data.seq !== S.seq) {
    for (const name of ["weights", "blocks", "pictures"]) S[name].clear();
    Object.assign(S, { seq: data.seq, taken: new WeakSet(), hover: null, brush: null, focus: null, turn: null });
  }
  if (data.turn !== S.turn) {
    stop(S);
    clearTimeout(S.report);
    const { kind, layer, head, step, source, col, view } = data.start;
    Object.assign(S, { turn: data.turn, kind, step, source, col, ...readView(view) });
    S.pick[kind] = { layer, head };
    S.on = new Set(S.lined.length ? S.lined : [head]);
  }
  S.step = clamp(S.step, 0, S.last);
  S.source = clamp(S.source, 0, Math.max(0, data.source.tokens.length - 1));
  for (const kind of data.order) {
    const { layers, heads } = data.kinds[kind], had = S.pick[kind];
    S.pick[kind] = { layer: clamp(had?.layer ?? layers, 1, layers), head: clamp(had?.head ?? 0, 0, heads) };
  }
  takeBlocks(S);
  choosePalette(S);
  // The numbers follow the header at once: until then, but not for long, what stands on the screen stays there.
  clearTimeout(S.lacking);
  if (kindsShown(S).every((kind) => mapOf(S, kind))) redraw(S);
  else S.lacking = setTimeout(() => redraw(S), PATIENCE);
}

function readView(text) {
  const found = { ...START, lined: [] };
  for (const part of text.split(".")) {
    const [name, ...rest] = part.split("-"), value = rest.join("-");
    if (VIEWS.includes(part)) found.view = part;
    else if (["words", "next", "steps", "beside"].includes(part)) found[part] = true;
    else if (["max", "log"].includes(part)) found.scale = part;
    else if (part in RAMPS) found.palette = part;
    else if (name === "by" && ["keys", ...PLACES].includes(value)) found.by = value;
    else if (name === "role" && ["mixed", ...PLACES].includes(value)) found.role = value;
    else if (name === "most" && value > 0) found.most = value / 10;
    else if (name === "mass" && value > 0) found.mass = clamp(+value, 10, 100);
    else if (name === "h") found.lined = rest.map(Number).filter((head) => head >= 0);
  }
  return found;
}

function writeView(S) {
  const lined = [...S.on].sort((a, b) => a - b), alone = lined.length === 1 && lined[0] === S.pick[S.kind].head;
  const flags = ["words", "next", "steps", "beside"].filter((name) => S[name]);
  return [
    S.view, ...flags, S.scale === "unit" ? "" : S.scale, S.palette === "theme" ? "" : S.palette,
    S.by === "place" ? "" : `by-${S.by}`, S.role && `role-${S.role}`, S.most ? `most-${Math.round(10 * S.most)}` : "",
    S.mass === 80 ? "" : `mass-${S.mass}`, S.view !== "lines" || alone ? "" : `h-${lined.join("-")}`,
  ].filter(Boolean).join(".");
}

const kindsShown = (S) => (S.beside && (S.view === "heads" || S.view === "head") ? S.data.order : [S.kind]);

function draw(S) {
  S.frame = 0;
  clearTimeout(S.lacking);
  S.box.hidden = false;
  drawControls(S);
  drawGrids(S);
  drawMaps(S);
  drawLines(S);
  drawStrip(S);
  drawLegend(S);
  drawReadout(S);
  drawCaption(S);
  drawTable(S);
  drawBadges(S);
  S.width = S.box.clientWidth;
  S.box.dataset.drawn = `${S.seq} ${S.view} ${kindsShown(S).filter((kind) => mapOf(S, kind)).join("+")}`;
}

const redraw = (S) => (S.frame ||= requestAnimationFrame(() => draw(S)));

function drawControls(S) {
  S.box.dataset.view = S.view;
  say(S.$(".present"), presenting(S) ? "End presentation" : "Present");
  for (const tab of S.$(".kinds").children) {
    const beside = tab.value === "beside";
    tab.hidden = beside ? S.data.order.length < 2 || !["heads", "head"].includes(S.view) : !S.data.order.includes(tab.value);
    tab.setAttribute("aria-pressed", beside ? kindsShown(S).length > 1 : tab.value === S.kind);
  }
  for (const tab of S.$(".views").children) tab.setAttribute("aria-pressed", tab.value === S.view);
  for (const name of ["scale", "palette", "by", "role", "most"]) S.$(`select[name=${name}]`).value = S[name];
  const m = mapOf(S, S.kind);
  for (const name of ["by", "role"]) {
    for (const option of S.$(`select[name=${name}]`).options) option.hidden = PLACES.includes(option.value) && m && !(option.value in m.shares);
  }
  for (const name of ["words", "steps"]) S.$(`input[name=${name}]`).checked = S[name];
  S.$("select[name=next]").value = S.next ? "next" : "";
  S.$("input[name=words]").disabled = !S.data.subwords;
  S.$(".mass input").value = S.mass;
  say(S.$(".mass output"), `${S.mass}\u202f%`);
  for (const box of S.box.querySelectorAll("[data-for]")) box.hidden = !box.dataset.for.split(" ").includes(S.view);
  S.$(".walk").hidden = !S.data.order.some((kind) => kind !== "encoder");
  drawPlayer(S);
}

// One message when the person pauses, none while it plays; at once when numbers or another kind are wanted.
function tell(S) {
  clearTimeout(S.report);
  if (S.play) return;
  const lacks = kindsShown(S).some((kind) => {
    const m = mapOf(S, kind), { layer, head } = S.pick[kind];
    return !m || (S.view !== "heads" && (S.view === "lines" ? [...S.on] : [head]).some((h) => !weightsOf(S, m, layer, h).exact));
  });
  S.report = setTimeout(() => S.setStateValue("at", where(S)), lacks ? SOON : PAUSE);
}

const where = (S) => ({
  seq: S.seq, turn: S.turn, kind: S.kind, ...S.pick[S.kind], step: S.step, source: S.source, col: S.col,
  view: writeView(S), picks: S.pick, heads: [...S.on], wanted: kindsShown(S),
});

function change(S, changes) {
  const before = S.kind;
  if ("next" in changes) changes.next = !!changes.next;
  Object.assign(S, changes);
  if (before !== S.kind) Object.assign(S, { col: null, brush: null, on: new Set([S.pick[S.kind].head]) });
  if ("words" in changes || "next" in changes) Object.assign(S, { brush: null, hover: null });
  S.focus = S.hover = null;
  if ("palette" in changes) choosePalette(S);
  redraw(S);
  tell(S);
}

function openHead(S, kind, layer, head) {
  S.pick[kind] = { layer, head };
  const moved = kind !== S.kind;
  if (moved || !S.on.has(head)) S.on = new Set([head]);
  if (moved) S.col = S.brush = null;
  change(S, S.view === "heads" ? { kind, view: "head" } : { kind });
  S.on = S.on.size ? S.on : new Set([head]);
}

// For the projector: the views alone, in larger type, in the state that they are in.
function present(S) {
  if (presenting(S)) return document.exitFullscreen();
  return S.box.requestFullscreen().catch((error) => {
    S.$(".present").title = `This browser does not allow it: ${error.message}`;
  });
}

const presenting = (S) => S.box.getRootNode().fullscreenElement === S.box;

// A row, and a column or none, of a map; positions are kept as tokens, so that words and tokens share them.
function chooseCell(S, kind, query, key) {
  const m = mapOf(S, kind), token = m.rowSpans[query][0];
  if (kind !== S.kind) S.on = new Set([S.pick[kind].head]);
  S.kind = kind;
  if (kind === "encoder") S.source = token;
  else S.step = token;
  S.col = key === null ? null : m.columnSpans[key][0];
  S.hover = null;
  stop(S);
  redraw(S);
  tell(S);
}
