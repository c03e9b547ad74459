// Links the modules of a pack: each becomes a module of the browser, in which the others are imported by the addresses
// that the browser has given them. A module is made once for a page, whichever packs hold it.

/** @import { Pack } from "./types" */

/** What a module of a pack exports. @param {Pack} pack @param {string} entry @returns {Promise<{ default: (mount?: any) => any }>} */
export function link({ modules }, entry) {
  const page = /** @type {{ __headlightModules?: Map<string, string> }} */ (globalThis);
  const made = (page.__headlightModules ??= new Map());
  for (const [name, text] of modules) if (!made.has(name)) made.set(name, addressOf(name, text, made));
  return import(/** @type {string} */ (made.get(`${entry}.js`)));
}

/** The browser's address of a module, made of its text. @param {string} name @param {string} text @param {Map<string, string>} made */
function addressOf(name, text, made) {
  const linked = text.replace(/(from ")\.\/([\w-]+\.js)"/g, (_, from, file) => `${from}${made.get(file)}"`);
  return URL.createObjectURL(new Blob([linked, `\n//# sourceURL=headlight/${name}`], { type: "text/javascript" }));
}

/**
 * Mounts a component of a pack as if Streamlit had sent it, with the data that have come meanwhile.
 * @param {Pack} pack
 * @param {string} entry
 * @param {HTMLElement | ShadowRoot} root
 * @param {{ run?: (mount: any) => any, end?: () => void, latest?: any, dressed?: boolean, failed?: Element }} slot
 */
export async function start(pack, entry, root, slot) {
  const { default: run } = await link(pack, entry);
  const look = pack.looks[entry];
  if (slot.run || !slot.latest) return; // an earlier call has started it, or it has been unmounted meanwhile
  slot.failed?.remove();
  if (look && !slot.dressed) {
    root.append(Object.assign(document.createElement("style"), { textContent: look.css }));
    root.append(document.createRange().createContextualFragment(look.html));
  }
  Object.assign(slot, { run, dressed: true, end: run(slot.latest) });
}
