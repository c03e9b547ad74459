// The few lines that Streamlit sends with each component: they fetch the pack that the component is in, once for a page,
// and mount what it exports as if Streamlit had sent that. Until it is there, the latest data wait.

/** @import { Pack } from "./types" */

const ENTRY = "%ENTRY%";
const ADDRESS = "%ADDRESS%";

/** @typedef {{ run?: (mount: any) => any, end?: () => void, latest?: any, dressed?: boolean }} Slot */

/** @param {{ parentElement: (HTMLElement | ShadowRoot) & { __headlight?: Slot } }} mount */
export default function (mount) {
  const root = mount.parentElement, slot = (root.__headlight ??= {});
  slot.latest = mount;
  if (slot.run) slot.end = slot.run(mount) ?? slot.end;
  else load().then((loaded) => start(root, slot, loaded), () => root.append("This figure could not be loaded. Reload the page."));
  return () => {
    slot.end?.();
    slot.run = slot.end = slot.latest = undefined;
  };
}

/** @param {HTMLElement | ShadowRoot} root @param {Slot} slot @param {{ pack: Pack, run: (mount: any) => any }} loaded */
function start(root, slot, { pack, run }) {
  if (slot.run || !slot.latest) return; // an earlier call has started it, or it has been unmounted meanwhile
  const look = pack.looks[ENTRY];
  if (look && !slot.dressed) {
    root.append(Object.assign(document.createElement("style"), { textContent: look.css }));
    root.append(document.createRange().createContextualFragment(look.html));
  }
  Object.assign(slot, { run, dressed: true, end: run(slot.latest) });
}

/** The pack and what this component exports. @returns {Promise<{ pack: Pack, run: (mount: any) => any }>} */
async function load() {
  const page = /** @type {{ __headlightPacks?: Map<string, Promise<Pack>> }} */ (globalThis);
  const packs = (page.__headlightPacks ??= new Map());
  if (!packs.has(ADDRESS)) packs.set(ADDRESS, fetchPack());
  const pack = await packs.get(ADDRESS).catch((/** @type {unknown} */ error) => {
    packs.delete(ADDRESS); // the next mount tries again
    throw error;
  });
  const first = URL.createObjectURL(new Blob([pack.modules[0][1]], { type: "text/javascript" }));
  const { link } = await import(first);
  return { pack, run: (await link(pack, ENTRY)).default };
}

async function fetchPack() {
  // Wherever the app is served from, Streamlit's own scripts lie beside ours.
  const { src } = /** @type {HTMLScriptElement} */ (document.querySelector("script[src*='/static/']"));
  const answer = await fetch(src.slice(0, src.indexOf("/static/") + 1) + ADDRESS);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.json();
}
