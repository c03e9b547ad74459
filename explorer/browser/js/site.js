// A page that computes its models itself: the frame around the desk. It reads and writes the address, which has the
// app's parameters, and moves between pages without loading them again.

import { mountDesk } from "./desk.js";
import { titleOf, VIEWS, templateOf } from "./desk_views.js";
import { children, make, say } from "./dom.js";
import { listenToTerms } from "./glossary.js";
import { editsOf, readChanges } from "./head_changes.js";
import { createLiveEngine } from "./live_engine.js";
import { localised } from "./markup.js";
import { recall, store } from "./memory.js";
import { readMessage } from "./wire.js";
import { language, setWords, t } from "./words.js";

/** @import { SiteHeader } from "./structs" */
/** @import { Message } from "./types" */
/** @typedef {import("./live_engine.js").LiveEngine} LiveEngine */
/** @typedef {Record<string, string>} Query */
/** @typedef {(address: string, progress: (bytes: number) => void) => Promise<Uint8Array>} Reader */
/** @typedef {{ __headlightPack?: Uint8Array, __headlightSite?: SiteHeader, __headlightWorker: string }} Given */

/** An element of the page. @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Draws the page into the elements that Python wrote (explorer/files/live_site.py). */
export function start() {
  const given = /** @type {Given} */ (/** @type {unknown} */ (globalThis));
  const packed = given.__headlightPack ? readMessage(given.__headlightPack) : null;
  const header = packed ? /** @type {SiteHeader} */ (packed.header) : /** @type {SiteHeader} */ (given.__headlightSite);
  setWords(header.words);
  document.documentElement.lang = language();
  for (const part of document.querySelectorAll("body > header, body > footer")) localised(part);
  const places = header.root === null ? hashPlaces() : pathPlaces(header);
  listenToLanguage(header, places);
  const read = packed
    ? readerOf(packed.arrays)
    : (/** @type {string} */ address, /** @type {any} */ progress) => fetchFile(places.base + address, progress);
  const engine = createLiveEngine(given.__headlightWorker, read);
  const first = places.read();
  const { embed } = first.query;
  if (embed) document.documentElement.dataset.embed = embed;
  listenToTerms(byId("tip"), header.terms);
  listenToOffline(header, places.base);
  const attention = once(() => loadProgram(read, header.attention));
  const more = once(() => loadProgram(read, header.more));
  const lessons = once(() => loadProgram(read, header.lessons));
  const about = { header, places, engine, attention, more, lessons, first };
  if (header.page === "class") {
    drawNavigation(header, places, {}, "class");
    listenToTheme(() => {});
    return lessons().then(({ openClass, lessons }) => openClass(byId("desk-place"), { lessons }));
  }
  return header.page === "lessons" ? startLessons(about) : startDesk(about);
}

/** @typedef {{ header: SiteHeader, places: ReturnType<typeof pathPlaces>, engine: LiveEngine, attention: () => Promise<typeof import("./desk_attention.js")>, more: () => Promise<typeof import("./desk_more.js")>, lessons: () => Promise<typeof import("./lesson_site.js") & { lessons: import("./structs").LessonOnSite[] }>, first: { query: Query, page: string } }} About */

/** The model that a query names. @param {SiteHeader} header @param {Query} query */
const cardOf = ({ models }, { model }) => models.find(({ name }) => name === model) ?? models[0];

/** What a desk is mounted with on every page. @param {About} about */
const optionsOf = ({ header, engine, attention, more, first }) => ({
  ...{ engine, models: header.models, attention, more },
  query: { ...header.query, ...first.query },
});

/** @param {About} about */
function startDesk(about) {
  const { header, places, attention, first } = about;
  const { embed } = first.query;
  const desk = mountDesk(byId("desk-place"), {
    ...optionsOf(about),
    page: first.page || header.page,
    moved: afterPaint((query, page, isNew) => {
      places.write(embed ? { ...query, embed } : query, page, isNew);
      const { text = "" } = query;
      document.title = [text, titleOf(page, cardOf(header, query)), "Headlight"].filter(Boolean).join(" · ");
      drawNavigation(header, places, query, page, (to) => void desk.open(desk.query(), to));
      byId("tour-button").hidden = page !== "translate";
    }),
  });
  places.listen((query, page) => desk.open(query, page || header.page, false));
  listenToTheme(() => desk.redraw());
  let tours = 0;
  const root = byId("tour-place").attachShadow({ mode: "open" });
  byId("tour-button").onclick = async () => {
    say(byId("offline"), "");
    try {
      const { tour } = (await attention()).attention;
      if (!root.firstChild) root.append(templateOf("tour"));
      tour(root, ++tours);
    } catch (error) {
      say(byId("offline"), error instanceof Error ? error.message : `${error}`);
    }
  };
  return desk.ready;
}

/** Calls once after the next frame is painted, for what was asked for last: addresses and links take as long as a step. @param {(query: Query, page: string, isNew: boolean) => void} run @returns {typeof run} */
function afterPaint(run) {
  /** @type {Parameters<typeof run> | null} */
  let last = null;
  return (query, page, isNew) => {
    const isFirst = !last;
    last = [query, page, isNew || !!last?.[2]];
    if (!isFirst) return;
    requestAnimationFrame(() =>
      setTimeout(() => {
        const given = /** @type {Parameters<typeof run>} */ (last);
        last = null;
        run(...given);
      }),
    );
  };
}

/** @param {About} about */
async function startLessons(about) {
  const { header, places, engine, first } = about;
  const own = (/** @type {Query} */ query) =>
    Object.fromEntries(Object.entries(query).filter(([name]) => ["lesson", "at", "done"].includes(name)));
  /** @type {ReturnType<typeof import("./lesson.js").mountLessons> | null} */
  let lessons = null;
  let position = own(first.query);
  const write = (/** @type {Query} */ query, /** @type {string} */ page, /** @type {boolean} */ isNew) =>
    places.write({ ...(position.lesson && { ...query, at_page: page }), ...position }, "lessons", isNew);
  const desk = mountDesk(byId("desk-place"), {
    ...optionsOf(about),
    page: first.query.at_page,
    idle: !("text" in first.query), // the step opens its figure
    compact: true,
    moved: (query, page, isNew) => {
      write(query, page, isNew);
      drawNavigation(header, places, query, "lessons");
      lessons?.moved(query);
    },
  });
  drawNavigation(header, places, desk.query(), "lessons");
  listenToTheme(() => desk.redraw());
  const { openLessons, lessons: all } = await about.lessons();
  const options = {
    lessons: all,
    desk,
    query: first.query,
    picture: byId("desk-place"),
    moved: (/** @type {Query} */ query) => {
      const isNew = query.lesson !== position.lesson || query.at !== position.at;
      position = query;
      write(desk.query(), desk.page(), isNew);
    },
    address: (/** @type {Query} */ query) => new URL(places.address(query, "lessons"), location.href).href,
    read: (/** @type {Query} */ query) => readOwn(header, engine, query),
  };
  const tell = (/** @type {string} */ sentence) => say(byId("offline"), sentence);
  lessons = openLessons(byId("lessons-place"), options, header.root === null, tell);
  places.listen((query) => lessons?.open(query));
  return desk.ready;
}

/** Decodes the reader's own sentence, for a question about it. @param {SiteHeader} header @param {LiveEngine} engine @param {Query} query */
async function readOwn(header, engine, query) {
  const card = cardOf(header, query);
  const { text, path, edit = "" } = query;
  await engine.open(card);
  const edits = editsOf(readChanges(edit, card.shapes).changes);
  const answer = await engine.decode(card.name, text, { path: path ? path.split("-").map(Number) : [], edits });
  return { predicted: answer.message.header.decoding.target.predicted, text: answer.text };
}

/** Loads a part of the program; what came with it stands beside what its module exports. @param {Reader} read @param {string[]} addresses @returns {Promise<any>} */
async function loadProgram(read, addresses) {
  const files = await Promise.all(addresses.map((address) => read(address, () => {})));
  const { script, looks, css, words, ...rest } = Object.assign({}, ...files.map(partOf));
  const { __headlightLooks: addLooks } = /** @type {any} */ (globalThis);
  if (words) setWords(words);
  addLooks(looks);
  if (css) document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
  const { default: entry } = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  return { ...entry, ...rest };
}

/** A file of the program. @param {Uint8Array} file */
const partOf = (file) => JSON.parse(new TextDecoder().decode(file));

/** Calls a function that loads something when that is first wanted, and again if it failed. @template T @param {() => Promise<T>} load @returns {() => Promise<T>} */
function once(load) {
  /** @type {Promise<T> | null} */
  let loaded = null;
  return () =>
    (loaded ??= load().catch((error) => {
      loaded = null;
      throw error;
    }));
}

/**
 * Draws the links to the pages. Lessons and Class are documents of their own; between the others, `go` moves.
 * @param {SiteHeader} header @param {About["places"]} places @param {Query} query @param {string} page @param {(page: string) => void} [go]
 */
function drawNavigation(header, places, query, page, go) {
  const { pages, root } = header;
  const shown = root === null && page === "lessons" ? [] : pages;
  children(byId("pages"), shown.length, () => make("a")).forEach((link, i) => {
    const name = shown[i];
    const ofDesk = name in VIEWS;
    say(link, titleOf(name, cardOf(header, query)));
    link.href = places.address(ofDesk ? query : {}, name);
    link.ariaCurrent = name === page ? "page" : null;
    link.onclick = (event) => {
      if (!go || !ofDesk || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      go(name);
    };
  });
}

/** Keeps the page for use without a network, where the browser can. @param {SiteHeader} header @param {string} base */
function listenToOffline({ root }, base) {
  if (root === null || !isSecureContext || !("serviceWorker" in navigator)) return;
  navigator.serviceWorker.register(`${base}service-worker.js`).catch((error) => {
    const fields = { reason: error.message };
    say(byId("offline"), t("This page cannot be kept for use without a network ({reason}).", fields));
  });
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
        ? t("Opened from a disk, a browser lets a page load no other files: put the folder on a web server.")
        : t("Is the network there? Then try again.");
    throw new Error(`${t("The file {name} of the model could not be loaded.", { name })} ${why}`);
  }
  if (!answer.ok || !answer.body)
    throw new Error(t("The file {name} of the model could not be loaded ({status}).", { name, status: answer.status }));
  const counted = new TransformStream({
    transform(part, to) {
      progress(part.length);
      to.enqueue(part);
    },
  });
  return new Uint8Array(await new Response(answer.body.pipeThrough(counted)).arrayBuffer());
}

/** The address of a page in a folder on a web server: its path names the page. @param {SiteHeader} header */
function pathPlaces({ root, pages, languages }) {
  const base = new URL(root || "./", location.href).href;
  const file = location.protocol === "file:" ? "index.html" : "";
  const asked = new URLSearchParams(location.search).get("lang");
  const lang = languages.some(({ code }) => code === asked) ? asked : null; // a choice, which links keep
  const address = (/** @type {Query} */ query, /** @type {string} */ page) => {
    const parameters = `${new URLSearchParams(lang ? { lang, ...query } : query)}`;
    return `${base}${page === "translate" ? "" : `${page}/`}${file}${parameters && `?${parameters}`}`;
  };
  const read = () => {
    const [page] = location.href.slice(base.length).split(/[/?#]/);
    const query = Object.fromEntries(new URLSearchParams(location.search));
    delete query.lang;
    return { query, page: pages.includes(page) ? page : "translate" };
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

/** Draws the menu of languages, and the link to the examples in this one. @param {SiteHeader} header @param {About["places"]} places */
function listenToLanguage({ languages, examples }, places) {
  const link = /** @type {HTMLAnchorElement} */ (byId("examples"));
  if (examples) Object.assign(link, { href: places.base + examples, hidden: false });
  const menu = /** @type {HTMLSelectElement} */ (byId("language"));
  menu.hidden = languages.length < 2;
  menu.append(...languages.map(({ code, name }) => new Option(name, code, false, code === language())));
  for (const option of menu.options) option.lang = option.value;
  menu.onchange = () => {
    const { query, page } = places.read();
    location.assign(places.address({ ...query, lang: menu.value }, page));
  };
}

/** The theme is the browser's until the user chooses one, which is kept. @param {() => void} changed */
function listenToTheme(changed) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const button = byId("theme");
  const draw = () => {
    const isDark = root.dataset.theme === "dark";
    say(button, isDark ? t("Light") : t("Dark"));
    button.title = isDark ? t("Light colours") : t("Dark colours");
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
