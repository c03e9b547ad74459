// The keys of a view. They work anywhere on the page, except in a text field and in a widget that was reached by
// keyboard and uses the key itself. "?" lists them.

import { make, makeButton } from "./dom.js";
import { t } from "./words.js";

/** @import { KeyUser } from "./types" */

/** The keys that step through a decoding. @type {Record<string, string>} */
export const STEPPING = { ArrowLeft: "back", ArrowRight: "forward", Home: "start", End: "end", " ": "play" };
/** The stepping keys, for the list of keys. @returns {[string, string][]} */
export const steppingHelp = () => [
  ["← →", t("one step back, forward")],
  ["Home End", t("first step, last step")],
  ["Space", t("play, pause")],
];

const TYPING = "textarea,select,[contenteditable],input:not([type=range],[type=checkbox],[type=radio],[type=button])";
const POPUPS = "dialog,[role=dialog],[role=menu],[role=listbox]";
const SLIDERS = "[type=range],[role=slider]";
const ARROWED = "canvas,.tiles,[role=grid],[role=application]"; // arrow keys move inside these, also after a click
const CHOICES = "[role=tab],[role=radio],[type=radio],[role=toolbar]";
const PRESSED = "button,a,summary,[type=checkbox],[type=radio],[role=button],[role=tab],[role=radio]";
const FIELD = ".st-key-sentence_row input"; // the sentence, on every page

/**
 * Whether the focused element and those around it leave a key to the view.
 * @param {string} key
 * @param {{ matches: (selector: string) => boolean }[]} path the focused element, then those around it
 * @param {boolean} pointed whether the focus came by pointer: a button that was clicked no longer needs the space bar
 */
export function isFree(key, path, pointed) {
  const has = (/** @type {string} */ selector) => path.some((element) => element.matches(selector));
  if (has(POPUPS)) return false;
  if (has(TYPING)) return pointed && has("[role=combobox][aria-expanded=false][value='']");
  if (key === " ") return pointed || !has(`${PRESSED},${ARROWED}`);
  if (!(key in STEPPING)) return true;
  return !has(`${SLIDERS},${ARROWED}`) && (pointed || !has(CHOICES));
}

/**
 * Lets a view handle its keys wherever they are free. On a page with several views, the focused one handles them, else
 * the first. Enter in the sentence field leaves the field, so that the keys go to the view.
 * @param {HTMLElement} box
 * @param {KeyUser} user
 */
export function listenToKeys(box, { commands, help, run, escape }) {
  let pointed = false;
  let handled = "";
  const showHelp = () =>
    openHelp(box, [...help(), ["Esc", t("close what is open, clear the selection")], ["?", t("this list")]]);
  const onPointer = () => {
    pointed = true;
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const { key } = event;
    const path = event.composedPath().filter((node) => node instanceof Element);
    handled = "";
    if (key === "Tab") pointed = false;
    // A click on empty space gives the focus to the whole page, around which a key would then draw a frame.
    else if (pointed) /** @type {HTMLElement | null} */ (document.querySelector("main:focus"))?.blur();
    if (key === "Enter" && !event.isComposing && path[0]?.matches(FIELD))
      setTimeout(() => /** @type {HTMLElement} */ (path[0]).blur(), 80);
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    const other = path.find((node) => node.matches(".explorer,.stepper,.machine"));
    if (other && other !== box) return;
    if (key === "Escape") return escape?.();
    const name = key === "?" ? "help" : (key === " " || key.length > 1) && event.shiftKey ? "" : commands[key];
    if (!name || !isFree(key, path, pointed)) return;
    event.preventDefault();
    event.stopPropagation();
    handled = key;
    // The clicked element would now get a focus frame, as if it handled the key. Tab still continues from there.
    if (pointed) /** @type {HTMLElement | undefined} */ (path[0])?.blur?.();
    if (name === "help") showHelp();
    else run(name);
  };
  // Firefox presses a button when the space bar is released.
  const onRelease = (/** @type {KeyboardEvent} */ event) => {
    if (handled === " " && event.key === handled) event.preventDefault();
  };
  document.addEventListener("pointerdown", onPointer, true);
  document.addEventListener("keydown", onKey, true);
  document.addEventListener("keyup", onRelease, true);
  const stop = () => {
    document.removeEventListener("pointerdown", onPointer, true);
    document.removeEventListener("keydown", onKey, true);
    document.removeEventListener("keyup", onRelease, true);
  };
  return { stop, showHelp };
}

/** Opens the list of keys over the page. @param {HTMLElement} box @param {[string, string][]} help */
function openHelp(box, help) {
  const entries = help.flatMap(([keys, meaning]) => [
    make("dt", "", ...keys.split(" ").map((key) => make("kbd", "", key))),
    make("dd", "", meaning),
  ]);
  const close = makeButton("", t("Close"));
  const dialog = make("dialog", "keyhelp", make("h3", "", t("List of keys")), make("dl", "", ...entries), close);
  dialog.setAttribute("aria-label", t("List of keys"));
  close.onclick = () => dialog.close();
  dialog.onclick = (event) => event.target === dialog && dialog.close(); // a click on the backdrop
  // The page handles Esc before the dialog does.
  dialog.onkeydown = (event) => ["?", "Escape"].includes(event.key) && dialog.close();
  dialog.onclose = () => dialog.remove();
  box.append(dialog);
  dialog.showModal();
}
