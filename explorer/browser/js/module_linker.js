// Links the modules of a pack: each becomes a module of the browser under a blob address, by which the others import
// it. A module is linked once per page, even if several packs contain it.

/** @import { Pack } from "./types" */

/** Links a pack, and imports a module of it. @param {Pack} pack @param {string} entry @returns {Promise<any>} */
export function link({ modules }, entry) {
  const page = /** @type {{ __headlightModules?: Map<string, string> }} */ (globalThis);
  const addresses = (page.__headlightModules ??= new Map());
  for (const [name, text] of modules) if (!addresses.has(name)) addresses.set(name, addressOf(name, text, addresses));
  return import(/** @type {string} */ (addresses.get(`${entry}.js`)));
}

/** Makes a module of the browser from a text; returns its address. @param {string} name @param {string} text @param {Map<string, string>} addresses */
function addressOf(name, text, addresses) {
  const linked = text.replace(/(from ")\.\/([\w-]+\.js)"/g, (_, from, file) => `${from}${addresses.get(file)}"`);
  return URL.createObjectURL(new Blob([linked, `\n//# sourceURL=headlight/${name}`], { type: "text/javascript" }));
}

/**
 * Mounts a component of a pack as if Streamlit had sent it, with the latest data.
 * @param {Pack} pack
 * @param {string} entry
 * @param {HTMLElement | ShadowRoot} root
 * @param {{ run?: (mount: any) => any, end?: () => void, latest?: any, dressed?: boolean, failed?: Element }} slot
 * @param {import("./structs").Words | null} words
 */
export async function start(pack, entry, root, slot, words) {
  const { default: run } = await link(pack, entry);
  const { setWords } = await link(pack, "words");
  const { localised } = await link(pack, "markup");
  setWords(words);
  const look = pack.looks[entry];
  if (slot.run || !slot.latest) return; // already started, or unmounted meanwhile
  slot.failed?.remove();
  if (look && !slot.dressed) {
    root.append(Object.assign(document.createElement("style"), { textContent: look.css }));
    root.append(localised(document.createRange().createContextualFragment(look.html)));
  }
  Object.assign(slot, { run, dressed: true, end: run(slot.latest) });
}
