// A page that computes its models itself: the frame around the desk. It reads and writes the address, which has the
// app's parameters, and moves between pages without loading them again.

import { mountDesk } from "./desk.js";
import { make, say } from "./dom.js";
import { listenToTerms } from "./glossary.js";
import { createLiveEngine } from "./live_engine.js";
import { recall, store } from "./memory.js";
import { tour } from "./tour.js";
import { readMessage } from "./wire.js";

/** @import { SiteHeader } from "./structs" */
/** @import { Message } from "./types" */
/** @typedef {Record<string, string>} Query */
/** @typedef {{ __headlightPack?: Uint8Array, __headlightSite?: SiteHeader, __headlightWorker: string }} Given */

const TITLES = { translate: "Translate", attention: "Attention", inside: "Inside" };

/** An element of the page. @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Draws the page into the elements that Python wrote (explorer/files/live_site.py). */
export function start() {
  const given = /** @type {Given} */ (/** @type {unknown} */ (globalThis));
  const packed = given.__headlightPack ? readMessage(given.__headlightPack) : null;
  const header = packed ? /** @type {SiteHeader} */ (packed.header) : /** @type {SiteHeader} */ (given.__headlightSite);
  const places = header.root === null ? hashPlaces() : pathPlaces(header.root, header.pages);
  const read = packed
    ? readerOf(packed.arrays)
    : (/** @type {string} */ address, /** @type {any} */ progress) => fetchFile(places.base + address, progress);
  const engine = createLiveEngine(given.__headlightWorker, read);
  listenToTheme(() => desk.redraw());
  listenToTerms(byId("tip"), header.terms);
  const first = places.read();
  const desk = mountDesk(byId("desk-place"), {
    engine,
    models: header.models,
    query: { ...header.query, ...first.query },
    page: first.page || header.page,
    moved: (query, page, isNew) => {
      places.write(query, page, isNew);
      const { text = "" } = query;
      document.title = [text, TITLES[/** @type {keyof typeof TITLES} */ (page)], "Headlight"]
        .filter(Boolean)
        .join(" · ");
      drawNavigation(header.pages, page, query);
    },
  });
  const go = (/** @type {string} */ page) => desk.open(desk.query(), page);
  places.listen((query, page) => desk.open(query, page || header.page, false));

  /** @param {string[]} pages @param {string} page @param {Query} query */
  function drawNavigation(pages, page, query) {
    byId("pages").replaceChildren(
      ...pages.map((name) => {
        const link = Object.assign(make("a", "", TITLES[/** @type {keyof typeof TITLES} */ (name)]), {
          href: places.address(query, name),
        });
        if (name === page) link.setAttribute("aria-current", "page");
        link.onclick = (event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
          event.preventDefault();
          void go(name);
        };
        return link;
      }),
    );
    byId("tour-button").hidden = page !== "translate";
  }
  let tours = 0;
  const tourRoot = byId("tour-place").attachShadow({ mode: "open" });
  tourRoot.append(/** @type {HTMLTemplateElement} */ (byId("tour")).content.cloneNode(true));
  byId("tour-button").onclick = () => {
    tour(tourRoot, ++tours);
  };
  if (header.root !== null && isSecureContext && "serviceWorker" in navigator)
    navigator.serviceWorker.register(`${places.base}service-worker.js`).catch((error) => {
      say(byId("offline"), `This page cannot be kept for use without a network (${error.message}).`);
    });
  return desk.ready;
}

/** Reads a file that the page contains. @param {Message["arrays"]} arrays */
const readerOf = (arrays) => (/** @type {string} */ address, /** @type {(bytes: number) => void} */ progress) => {
  const bytes = /** @type {Uint8Array} */ (arrays[address].values).slice();
  progress(bytes.length);
  return Promise.resolve(bytes);
};

/** Loads a file, and tells how many bytes have come. @param {string} address @param {(bytes: number) => void} progress */
async function fetchFile(address, progress) {
  const name = address.slice(address.lastIndexOf("/") + 1);
  let answer;
  try {
    answer = await fetch(address);
  } catch {
    const why =
      location.protocol === "file:"
        ? "Opened from a disk, a browser lets a page load no other files: put the folder on a web server."
        : "Is the network there? Then try again.";
    throw new Error(`The file ${name} of the model could not be loaded. ${why}`);
  }
  if (!answer.ok || !answer.body)
    throw new Error(`The file ${name} of the model could not be loaded (${answer.status}).`);
  const counted = new TransformStream({
    transform(part, to) {
      progress(part.length);
      to.enqueue(part);
    },
  });
  return new Uint8Array(await new Response(answer.body.pipeThrough(counted)).arrayBuffer());
}

/** The address of a page in a folder on a web server: its path names the page. @param {string} root @param {string[]} pages */
function pathPlaces(root, pages) {
  const base = new URL(root || "./", location.href).href;
  const address = (/** @type {Query} */ query, /** @type {string} */ page) =>
    `${base}${page === "translate" ? "" : `${page}/`}${location.protocol === "file:" ? "index.html" : ""}?${new URLSearchParams(query)}`;
  const read = () => {
    const [page] = location.href.slice(base.length).split(/[/?#]/);
    return {
      query: Object.fromEntries(new URLSearchParams(location.search)),
      page: pages.includes(page) ? page : "translate",
    };
  };
  return { base, address, read, ...written(address, read, "popstate") };
}

/** The address of a single file: what is on screen stands behind the #, which every browser lets a page change. */
function hashPlaces() {
  const address = (/** @type {Query} */ query, /** @type {string} */ page) =>
    `#?${new URLSearchParams({ page, ...query })}`;
  const read = () => {
    const { page = "", ...query } = Object.fromEntries(new URLSearchParams(location.hash.replace(/^#\??/, "")));
    return { query, page };
  };
  return { base: "", address, read, ...written(address, read, "hashchange") };
}

/**
 * @param {(query: Query, page: string) => string} address @param {() => { query: Query, page: string }} read
 * @param {"popstate" | "hashchange"} event
 */
function written(address, read, event) {
  let here = "";
  return {
    /** Writes what is on screen; what is new gets an entry of its own in the history. @param {Query} query @param {string} page @param {boolean} isNew */
    write(query, page, isNew) {
      const next = address(query, page);
      if (next === here) return;
      const first = !here;
      here = next;
      if (isNew && !first) history.pushState(null, "", next);
      else history.replaceState(null, "", next);
    },
    /** Calls back when the user goes back or forward, or opens a link to this page. @param {(query: Query, page: string) => void} moved */
    listen(moved) {
      addEventListener(event, () => {
        const { query, page } = read();
        if (address(query, page) === here) return;
        here = address(query, page);
        moved(query, page);
      });
    },
  };
}

/** The theme is the browser's until the user chooses one, which is kept. @param {() => void} changed */
function listenToTheme(changed) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const button = byId("theme");
  const draw = () => {
    const isDark = root.dataset.theme === "dark";
    say(button, isDark ? "Light" : "Dark");
    button.title = `${isDark ? "Light" : "Dark"} colours`;
  };
  const set = (/** @type {boolean} */ isDark) => {
    root.dataset.theme = isDark ? "dark" : "light";
    draw();
  };
  const kept = recall("theme");
  set(kept ? kept === "dark" : dark.matches);
  dark.onchange = () => {
    if (recall("theme")) return;
    set(dark.matches);
    changed();
  };
  button.onclick = () => {
    set(root.dataset.theme !== "dark");
    store("theme", root.dataset.theme ?? "");
    changed();
  };
  button.hidden = false;
}
