// The script that Streamlit sends with each component: it fetches the component's pack, whose first module mounts it.

/** @param {{ parentElement: any }} mount */
export default function (mount) {
  const root = mount.parentElement;
  const slot = (root.__headlight ??= {});
  slot.latest = mount;
  if (slot.run) slot.end = slot.run(mount) ?? slot.end;
  else
    load("%ADDRESS%")
      .then(({ linker, pack }) => linker.start(pack, "%ENTRY%", root, slot))
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

/** @param {string} address @returns {Promise<any>} */
function load(address) {
  /** @type {any} */
  const page = globalThis;
  const packs = (page.__headlightPacks ??= new Map());
  if (!packs.has(address)) {
    const pack = fetchPack(address);
    pack.catch(() => packs.delete(address)); // the next mount tries again
    packs.set(address, pack);
  }
  return packs.get(address);
}

/** @param {string} address */
async function fetchPack(address) {
  // Under any base path of the app, Streamlit's own scripts are beside ours.
  const { src } = /** @type {HTMLScriptElement} */ (document.querySelector("script[src*='/static/']"));
  const answer = await fetch(src.slice(0, src.indexOf("/static/") + 1) + address);
  const pack = await answer.json();
  const first = URL.createObjectURL(new Blob([pack.modules[0][1]], { type: "text/javascript" }));
  return { pack, linker: await import(first) };
}
