// Keeps in the browser's history what the user did. An address is written in several steps, the first of them while the
// browser is still on the page before. If each were an entry, Back would lead to a half-written one, where the page
// writes the rest again: nobody could leave it. Only the first change after each act of the user is therefore an entry
// of its own; further ones replace it.

let acted = false;
let installed = false;

/** Streamlit calls this again when the theme changes; the history of a tab is wrapped once. */
export default function () {
  if (installed) return;
  installed = true;
  const { history } = window;
  const push = history.pushState.bind(history);
  history.pushState = (state, title, url) => {
    if (!acted) return history.replaceState(state, title, url);
    acted = false;
    return push(state, title, url);
  };
  const note = (/** @type {Event} */ event) => (acted = event.type !== "popstate");
  for (const act of ["pointerdown", "keydown", "click", "popstate"])
    window.addEventListener(act, note, { capture: true });
}
