// Tells the server that the user went back or forward to another address of this page. The address alone does not show
// that: an address that the server has just replaced also comes back, with a request that was sent before. Streamlit
// requests the address at once, and this report follows (see explorer/web/address.py).

/** @typedef {import("./types").Mount<null, "__history", HistoryState>} Mounted */
/** @typedef {{ setStateValue: (name: string, value: unknown) => void, onMove: () => void }} HistoryState */

/** Streamlit calls this again when the theme changes; it calls the returned function once, at unmount. @param {Mounted} mount */
export default function ({ parentElement: root, setStateValue }) {
  const S = (root.__history ??= create());
  S.setStateValue = setStateValue;
  window.addEventListener("popstate", S.onMove); // a second time has no effect; after an unmount, it listens again
  return () => window.removeEventListener("popstate", S.onMove);
}

/** @returns {HistoryState} */
function create() {
  const { pathname } = window.location;
  /** @type {HistoryState} */
  const S = {
    setStateValue: () => {},
    // A move to another page of the app needs no report: that page is new to the server anyway.
    onMove: () => window.location.pathname === pathname && S.setStateValue("moved", Date.now()),
  };
  return S;
}
