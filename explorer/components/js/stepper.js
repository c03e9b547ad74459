// The stepper itself: what is being looked at, the keys, the play button, and the two messages to the server.

const PAUSE = 250, TEMPO = 700;
// Widgets that need the arrow keys or the space bar for themselves.
const ROLES = ["slider", "tab", "radio", "grid", "listbox", "menu", "dialog"].map((role) => `[role=${role}]`);
const KEYED = `input,textarea,select,canvas,[contenteditable],${ROLES}`;
const PRESSED = "button,a,summary,[role=button]";

// Streamlit calls this again whenever the data or the theme changes, and the returned function once, at the end.
export default function ({ data, parentElement: root, setStateValue, setTriggerValue }) {
  const S = (root.__stepper ??= create(root));
  Object.assign(S, { setStateValue, setTriggerValue, theme: readTheme(S.box), look: null });
  load(S, readPayload(data));
  drawTokens(S);
  layOut(S);
  draw(S);
  return () => {
    S.observer.disconnect();
    document.removeEventListener("keydown", S.onKey);
    for (const timer of [S.report, S.play]) clearTimeout(timer);
    cancelAnimationFrame(S.frame);
  };
}

function create(root) {
  const $ = (selector) => root.querySelector(selector);
  const S = { $, box: $(".stepper"), pick: {}, cell: null, play: 0, frame: 0, figures: {}, sort: { by: "key", sign: 1 } };
  const parts = { box: "", canvas: "canvas", title: "b", about: "small", caption: "p", readout: ".readout" };
  for (const kind of KINDS) {
    const f = (S.figures[kind] = {});
    for (const part in parts) f[part] = $(`figure.${kind} ${parts[part]}`);
    listenToMap(S, kind);
  }
  for (const button of $(".buttons").children) button.onclick = () => command(S, button.value);
  for (const tab of $(".kinds").children) tab.onclick = () => pick(S, tab.value, {});
  $(".words").onclick = () => {
    Object.assign(S, { words: !S.words, cell: null });
    look(S);
    layOut(S);
    draw(S);
  };
  for (const button of root.querySelectorAll("th button")) {
    button.onclick = () => {
      const { by, sign } = S.sort, heaviestFirst = button.value === "weight" ? -1 : 1;
      S.sort = { by: button.value, sign: by === button.value ? -sign : heaviestFirst };
      drawTable(S);
    };
  }
  $("input").oninput = (event) => {
    stop(S);
    go(S, event.target.value - 1);
  };
  $("details").ontoggle = () => drawTable(S);
  S.onKey = (event) => onKey(S, event);
  document.addEventListener("keydown", S.onKey);
  S.observer = new ResizeObserver(() => {
    if (S.width === S.box.clientWidth) return;
    S.width = S.box.clientWidth;
    layOut(S);
    draw(S);
  });
  S.observer.observe(S.box);
  return S;
}

// New data. The person keeps the place, except where the server sends a new `seq`: then the header says where to be.
function load(S, data) {
  const { seq, step, kind, layer, head, target, alternatives } = data;
  Object.assign(S, { data, cell: null, width: S.box.clientWidth, last: target.tokens.length - 1 });
  S.optionRows = Math.max(...alternatives.ids.map((ids, row) => ids.length + !ids.includes(target.predicted_ids[row])));
  if (seq !== S.seq) {
    stop(S);
    clearTimeout(S.report);
    Object.assign(S, { seq, step: step - 1, kind });
    S.pick[kind] = { layer, head };
  }
  S.step = clamp(S.step, 0, S.last);
  // A model without self-attention, such as an LSTM, has no map of it.
  S.kinds = KINDS.filter((kind) => data.maps[kind].layers);
  for (const kind of KINDS) S.figures[kind].box.hidden = !S.kinds.includes(kind);
  for (const tab of S.$(".kinds").children) tab.hidden = !S.kinds.includes(tab.value);
  for (const kind of S.kinds) {
    const { layers, heads } = data.maps[kind], had = S.pick[kind];
    S.pick[kind] = { layer: clamp(had?.layer ?? layers, 1, layers), head: clamp(had?.head ?? 0, 0, heads) };
  }
  S.$(".chips").scrollTop = 0;
  const pieces = [data.source, target].some(({ words }) => words.some((_, i) => joins(words, i)));
  S.words &&= pieces;
  S.$(".words").hidden = !pieces;
  look(S);
  drawChecks(S);
}

function draw(S) {
  S.frame = 0;
  look(S);
  S.$(".words").setAttribute("aria-pressed", !!S.words);
  // Canvases first: writing on one makes the browser settle the styles of whatever was changed before.
  for (const kind of S.kinds) drawMap(S, kind);
  drawPick(S);
  drawControls(S);
  drawNext(S);
  for (const kind of S.kinds) drawCaption(S, kind);
  drawTokens(S);
  drawReadout(S);
  drawTable(S);
}

const redraw = (S) => (S.frame ||= requestAnimationFrame(() => draw(S)));

function drawControls(S) {
  const slider = S.$("input"), { tokens, predicted } = S.data.target;
  slider.max = S.last + 1;
  slider.value = S.step + 1;
  slider.disabled = !S.last;
  slider.style.setProperty("--done", `${S.last ? (100 * S.step) / S.last : 100}%`);
  slider.setAttribute("aria-valuetext", `${S.step + 1}: reads ${tokens[S.step]}, predicts ${predicted[S.step]}`);
  say(S.$("output"), `step ${S.step + 1} of ${S.last + 1}`);
  for (const button of S.$(".buttons").children) {
    const end = { start: 0, back: 0, forward: S.last, end: S.last }[button.value];
    // Not `disabled`, which would throw the keyboard focus away at either end.
    button.setAttribute("aria-disabled", S.step === end || !S.last);
  }
  const play = S.$("button.play");
  play.classList.toggle("playing", !!S.play);
  play.setAttribute("aria-label", S.play ? "Pause" : "Play");
}

const where = (S) => ({ seq: S.seq, step: S.step + 1, kind: S.kind, ...S.pick[S.kind] });

// One message when the person pauses, none while it plays.
function tell(S) {
  clearTimeout(S.report);
  if (!S.play) S.report = setTimeout(() => S.setStateValue("at", where(S)), PAUSE);
}

function go(S, step) {
  step = clamp(step, 0, S.last);
  if (step === S.step) return;
  S.step = step;
  if (S.cell?.kind !== "encoder") S.cell = null;
  redraw(S);
  tell(S);
}

function pick(S, kind, choice) {
  S.kind = kind;
  Object.assign(S.pick[kind], choice);
  redraw(S);
  tell(S);
}

function fork(S, id, button) {
  stop(S);
  clearTimeout(S.report);
  button.classList.add("waiting");
  S.setTriggerValue("fork", { ...where(S), token_id: id });
}

function stop(S) {
  clearTimeout(S.play);
  S.play = 0;
}

function command(S, name) {
  const playing = S.play;
  stop(S);
  if (name === "play" && !playing) {
    const tick = () => {
      S.play = setTimeout(tick, TEMPO);
      if (S.step + 1 >= S.last) stop(S);
      go(S, S.step + 1);
    };
    S.play = setTimeout(tick, TEMPO);
    if (S.step === S.last) go(S, 0);
  } else if (name !== "play") go(S, { start: 0, back: S.step - 1, forward: S.step + 1, end: S.last }[name]);
  if (playing) tell(S);
  redraw(S);
}

function onKey(S, event) {
  if (event.key === "Escape" && S.cell) {
    S.cell = null;
    redraw(S);
  }
  const name = { ArrowLeft: "back", ArrowRight: "forward", Home: "start", End: "end", " ": "play" }[event.key];
  if (!name || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  const path = event.composedPath().filter((node) => node.matches);
  if (path.some((node) => node.matches(KEYED) || (name === "play" && node.matches(PRESSED)))) return;
  event.preventDefault();
  command(S, name);
}

function listenToMap(S, kind) {
  const { canvas } = S.figures[kind];
  const choose = (cell) => {
    S.cell = cell;
    redraw(S);
  };
  canvas.onpointermove = (event) => {
    if (event.pointerType === "touch" || S.cell?.locked) return;
    const cell = cellAt(S, kind, event), old = S.cell;
    if (cell?.key !== old?.key || cell?.query !== old?.query || cell?.kind !== old?.kind) choose(cell);
  };
  canvas.onpointerleave = canvas.onblur = () => S.cell?.locked || choose(null);
  canvas.onclick = (event) => {
    const cell = cellAt(S, kind, event), old = S.cell;
    const again = old?.locked && cell && old.kind === kind && old.query === cell.query && old.key === cell.key;
    choose(cell && { ...cell, locked: !again });
    if (cell && S.kind !== kind) pick(S, kind, {});
  };
  canvas.onkeydown = (event) => {
    const m = S.maps[kind], { layer, head } = S.pick[kind], row = currentRow(S, kind);
    const old = S.cell?.kind === kind ? S.cell : null;
    let { query, key, locked } = old ?? { query: row, key: rowOf(m, layer, head, row).seen[0]?.key ?? 0 };
    const way = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Escape") canvas.blur();
    else if (event.key === "Enter" || event.key === " ") locked = !locked;
    else if (event.key === "Home") key = 0;
    else if (event.key === "End") key = m.keys - 1;
    else if (!way) return;
    else if (old) {
      // The first arrow only shows where the cursor is.
      query = clamp(query + way[0], 0, kind === "encoder" ? m.queries - 1 : frontier(S));
      key = clamp(key + way[1], 0, m.keys - 1);
    }
    choose(event.key === "Escape" ? null : { kind, query, key, locked });
    if (S.kind !== kind) pick(S, kind, {});
    event.preventDefault();
  };
}
