// The steps of the decoding: buttons, slider, keys and a timer that walks through them.

const TEMPO = 700;
// Widgets that need the arrow keys or the space bar for themselves.
const ROLES = ["slider", "tab", "radio", "grid", "listbox", "menu", "dialog"].map((role) => `[role=${role}]`);
const KEYED = `input,textarea,select,canvas,.tiles,[contenteditable],${ROLES}`;
const PRESSED = "button,a,summary,[role=button]";

function drawPlayer(S) {
  const { tokens, predicted } = S.data.target, slider = S.$(".player input[type=range]");
  slider.max = S.last + 1;
  slider.value = S.step + 1;
  slider.disabled = !S.last;
  slider.style.setProperty("--done", `${S.last ? (100 * S.step) / S.last : 100}%`);
  slider.setAttribute("aria-valuetext", `${S.step + 1}: reads ${tokens[S.step]}, predicts ${predicted[S.step]}`);
  say(S.$(".player output"), `step ${S.step + 1} of ${S.last + 1}`);
  sayAll(S.$(".reads"), "reads ", named(tokens, S.step, "target"), " → predicts ", word(predicted[S.step], "target"));
  for (const button of S.$(".buttons").children) {
    const end = { start: 0, back: 0, forward: S.last, end: S.last }[button.value];
    // Not `disabled`, which would throw the keyboard focus away at either end.
    button.setAttribute("aria-disabled", S.step === end || !S.last);
  }
  const play = S.$("button.play");
  play.classList.toggle("playing", !!S.play);
  play.setAttribute("aria-label", S.play ? "Pause" : "Play");
}

function go(S, step) {
  step = clamp(step, 0, S.last);
  if (step === S.step) return;
  S.step = step;
  S.hover = null;
  redraw(S);
  tell(S);
}

function stop(S) {
  clearTimeout(S.play);
  S.play = 0;
}

function command(S, name) {
  const playing = S.play;
  stop(S);
  if (name === "play" && !playing) {
    // Played, a decoding is seen as it went: rows that are still to come are absent.
    S.steps = true;
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
  if (event.key === "Escape" && (S.col !== null || S.brush)) {
    Object.assign(S, { col: null, brush: null, hover: null });
    redraw(S);
    tell(S);
  }
  const name = { ArrowLeft: "back", ArrowRight: "forward", Home: "start", End: "end", " ": "play" }[event.key];
  if (!name || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  const path = event.composedPath().filter((node) => node.matches);
  if (path.some((node) => node.matches(KEYED) || (name === "play" && node.matches(PRESSED)))) return;
  event.preventDefault();
  command(S, name);
}
