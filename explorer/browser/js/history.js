// Tells the server that the person went back or forward to another address of this page. The address alone does not say
// so: one that the server has just replaced comes back, too, with a request that had left before. Streamlit requests the
// address at once, and this follows (see explorer/web/address.py).

/** @typedef {import("./types").Mount<null, "__history", HistoryState>} Mounted */
/** @typedef {{ setStateValue: (name: string, value: unknown) => void, stop: () => void }} HistoryState */

/** Streamlit calls this again when the theme changes; it calls the returned function once, at unmount. @param {Mounted} mount */
export default function ({ parentElement: root, setStateValue }) {
  const S = (root.__history ??= create());
  S.setStateValue = setStateValue;
  return S.stop;
}

/** @returns {HistoryState} */
function create() {
  const { pathname } = window.location;
  /** @type {HistoryState} */
  const S = { setStateValue: () => {}, stop: () => window.removeEventListener("popstate", onMove) };
  // Another page of the app asks for itself, and is new to the server anyway.
  const onMove = () => window.location.pathname === pathname && S.setStateValue("moved", Date.now());
  window.addEventListener("popstate", onMove);
  return S;
}
