// The script that Streamlit sends with each component: it fetches the component's pack, which mounts it.

/** @param {{ parentElement: any }} mount */
export default function (mount) {
  const root = mount.parentElement;
  const former = root.__headlight?.words === "%WORDS%" ? null : root.__headlight;
  if (former) leave(former);
  const slot = former || !root.__headlight ? slotOf(root, former) : root.__headlight;
  slot.latest = mount;
  if (slot.run) slot.end = slot.run(mount) ?? slot.end;
  else
    Promise.all([load("%ADDRESS%", open), loadWords("%WORDS%"), slot.cleared])
      .then(([{ looks, modules }, words]) =>
        modules["component.js"].start(modules["%ENTRY%.js"].component, looks["%ENTRY%"], root, slot, words),
      )
      .catch((error) => {
        const textContent = "This figure could not be loaded. Reload the page.";
        slot.failed ??= root.appendChild(Object.assign(document.createElement("p"), { role: "alert", textContent }));
        throw error; // to the console
      });
  return () => {
    slot.end?.();
    slot.run = slot.end = slot.latest = undefined;
  };
}

/** Ends the view in another language, in whose place Streamlit mounts this one. @param {any} slot */
function leave(slot) {
  slot.end?.();
  slot.run = slot.end = slot.latest = undefined; // what is still loading is not mounted any more
}

/** @param {any} root @param {any} former the slot of the view before, whose last frame may still be asked for */
function slotOf(root, former) {
  const given = former?.given ?? [...root.childNodes];
  const cleared = former && new Promise(requestAnimationFrame).then(() => clear(root, given));
  return (root.__headlight = { words: "%WORDS%", given, cleared });
}

/** Takes away all that a view has left. @param {any} root @param {Node[]} given */
function clear(root, given) {
  root.replaceChildren(...given);
  const left = Object.keys(root).filter((name) => /^__(?!react|headlight)/.test(name));
  for (const name of left) delete root[name];
}

/** Loads a file once. @param {string} address @param {(address: string) => Promise<any>} how @returns {Promise<any>} */
function load(address, how) {
  /** @type {any} */
  const page = globalThis;
  const packs = (page.__headlightPacks ??= new Map());
  if (!packs.has(address)) {
    const pack = how(address);
    pack.catch(() => packs.delete(address)); // the next mount tries again
    packs.set(address, pack);
  }
  return packs.get(address);
}

/** Loads the catalogue; English has none. @param {string} address */
const loadWords = (address) => (address ? load(address, read) : null);

/** @param {string} address @returns {Promise<any>} */
async function read(address) {
  // Under any base path of the app, Streamlit's own scripts are beside ours.
  const { src } = /** @type {HTMLScriptElement} */ (document.querySelector("script[src*='/static/']"));
  return (await fetch(src.slice(0, src.indexOf("/static/") + 1) + address)).json();
}

/** Loads a pack, and runs its script. @param {string} address */
async function open(address) {
  const { script, looks } = await read(address);
  await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  return { looks, modules: /** @type {any} */ (globalThis).__headlightModules };
}
