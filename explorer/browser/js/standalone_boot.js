// The script of a page without a server: it gets the program, which the page contains as compressed text together with
// its data, or which stands beside it, and starts it.

/** @typedef {import("./types").Pack & { worker?: string }} Program */

/** Starts the program; if that is impossible, the page says why. */
async function start() {
  const packed = document.getElementById("packed");
  try {
    const program = packed ? await unpack(packed) : await load();
    addLooks(program.looks);
    Object.assign(globalThis, { __headlightLooks: addLooks });
    const address = URL.createObjectURL(new Blob([program.script], { type: "text/javascript" }));
    const { default: run } = await import(address);
    run();
  } catch (error) {
    const message = /** @type {HTMLElement} */ (document.getElementById("failed"));
    message.textContent =
      !packed && location.protocol === "file:"
        ? "Opened from a disk, this page may not load its other files: put the folder on a web server."
        : `This page could not be opened (${error}). It needs a browser of 2023 or later, and the whole file or folder.`;
    message.hidden = false;
  }
}

/** Adds style and markup of views to the page, as templates. @param {Program["looks"]} looks */
function addLooks(looks) {
  for (const [id, look] of Object.entries(looks)) {
    if (!look) continue;
    const template = Object.assign(document.createElement("template"), { id });
    template.content.append(Object.assign(document.createElement("style"), { textContent: look.css }));
    template.content.append(document.createRange().createContextualFragment(look.html));
    document.body.append(template);
  }
}

/** The program in the page; the data that follow it stay in memory. @param {HTMLElement} packed @returns {Promise<Program>} */
async function unpack(packed) {
  const bytes = await inflate(bytesOf((packed.textContent ?? "").trim()));
  const end = 4 + new DataView(bytes.buffer).getUint32(0, true);
  Object.assign(globalThis, { __headlightPack: bytes.subarray(end) });
  const program = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end)));
  Object.assign(globalThis, { __headlightWorker: program.worker });
  packed.remove();
  return program;
}

/** The program beside the page, and its header: one part is in the page, the other is in a language. @returns {Promise<Program>} */
async function load() {
  const site = /** @type {HTMLElement} */ (document.getElementById("site"));
  /** @type {import("./structs").SiteHeader} */
  const header = JSON.parse(site.textContent ?? "");
  const files = [`${site.dataset.program}`, `${header.root}${wanted(header.languages).address}`];
  const [program, texts] = await Promise.all(files.map(fetched));
  Object.assign(globalThis, { __headlightSite: { ...header, ...texts }, __headlightWorker: program.worker });
  return program;
}

/** @param {string} address */
async function fetched(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  return answer.json();
}

/** The language that the address asks for, or the browser, or the first. @param {import("./structs").SiteLanguage[]} languages */
function wanted(languages) {
  const asked = new URLSearchParams(location.search).get("lang");
  const found = languages.find(({ code }) => code === asked);
  if (found) return found;
  const wishes = navigator.languages.flatMap((wish) => [wish, wish.split("-")[0]]);
  const offered = languages.filter(({ unasked }) => unasked);
  return wishes.flatMap((wish) => offered.find(({ code }) => code === wish) ?? [])[0] ?? languages[0];
}

/** The bytes of base64 text. @param {string} text */
function bytesOf(text) {
  // Browsers of 2025 and later have a function for it, ten times as fast.
  const own = /** @type {{ fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }} */ (
    /** @type {unknown} */ (Uint8Array)
  );
  if (own.fromBase64) return own.fromBase64(text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

void start();
