// Thumbnails of all heads, lettered and framed by their roles; a click or Enter opens a head or chooses it.

import { readTheme } from "./colours.js";
import { children, finder, make, makeButton, say } from "./dom.js";
import { giveTabStop, moveInGrid, tileOf } from "./tiles.js";
import { paintCells } from "./maps.js";
import { capitalised, shortHead, shortLayer } from "./names.js";
import { readMessage } from "./wire.js";
import { t } from "./words.js";

/** @import { GridRole, RoleGridHeader as RoleGrid, RoleTile } from "./structs" */
/** @import { Messenger, Theme } from "./types" */

/**
 * Streamlit calls this again whenever the data or the theme changes.
 * @param {{ data: Uint8Array, parentElement: ParentNode, setTriggerValue: Messenger["setTriggerValue"] }} mount
 */
export default function ({ data, parentElement: root, setTriggerValue }) {
  /** @type {HTMLElement} */
  const box = finder(root)(".rolegrid");
  const { header, arrays } = readMessage(data);
  const theme = readTheme(box);
  const colours = getComputedStyle(box).getPropertyValue("--st-chart-categorical-colors").split(",");
  box.classList.toggle("choosing", header.choosing);
  const [chips, rest] = /** @type {HTMLElement[]} */ ([...box.children]);
  chips.replaceChildren(
    ...header.roles.map((/** @type {GridRole} */ { letters, name, colour, heads }) => {
      const chip = make("span", "role", make("b", "", letters), ` ${name} `, make("small", "", `× ${heads}`));
      chip.style.setProperty("--role", colours[colour]);
      return chip;
    }),
  );
  const boxes = children(rest, header.grids.length, makeGrid);
  header.grids.forEach((/** @type {RoleGrid} */ grid, /** @type {number} */ i) => {
    const levels = /** @type {Uint8Array} */ (arrays[grid.kind].values);
    drawGrid(boxes[i], grid, levels, header.choosing, theme, colours);
  });
  box.onclick = (event) => {
    const [kind, layer, head] = tileOf(event.target)?.value.split(" ") ?? [];
    if (kind) setTriggerValue("clicked", { kind, layer: Number(layer), head: Number(head) });
  };
}

function makeGrid() {
  const tiles = Object.assign(make("div", "tiles"), { onkeydown: moveInGrid });
  tiles.setAttribute("role", "group");
  const legend = make("p", "legend", make("span", "ramp", make("span"), make("i"), make("span")));
  return make("figure", "", make("h5"), tiles, legend);
}

/**
 * Draws the heads of one kind; a row is a layer.
 * @param {HTMLElement} box
 * @param {RoleGrid} grid
 * @param {Uint8Array} levels [layer, head, bin, bin], steps of the colour scale
 * @param {boolean} choosing
 * @param {Theme} theme
 * @param {string[]} colours of roles
 */
function drawGrid(box, grid, levels, choosing, theme, colours) {
  const [title, tiles, legend] = /** @type {HTMLElement[]} */ ([...box.children]);
  const { kind, layers, heads, bins } = grid;
  const area = bins * bins;
  const maps = { keys: bins, queries: bins, mask: new Uint8Array(area) };
  say(title, capitalised(kind));
  const [least, , most] = legend.children[0].children;
  say(least, t("uniform or less"));
  say(most, t("≥ {times} × uniform", { times: grid.top }));
  tiles.setAttribute("aria-label", t("{kind} heads", { kind: capitalised(kind) }));
  tiles.style.setProperty("--heads", `${heads}`);
  const cells = children(tiles, layers * (heads + 1), () => make("div"));
  const buttons = grid.tiles.map((tile, i) => {
    const layer = Math.floor(i / heads);
    const head = i % heads;
    const cell = cells[layer * (heads + 1) + head + 1];
    const button = buttonIn(cell);
    button.value = `${kind} ${layer + 1} ${head + 1}`;
    if (choosing) button.ariaPressed = `${tile.chosen}`;
    writeTile(button, kind, tile, head + 1, colours[tile.colour] ?? "");
    // One pixel for each cell; the style sheet enlarges them.
    paintCells(
      /** @type {HTMLCanvasElement} */ (button.querySelector("canvas")),
      theme,
      maps,
      levels.subarray(i * area, (i + 1) * area),
    );
    return button;
  });
  for (let layer = 0; layer < layers; layer++) {
    const cell = cells[layer * (heads + 1)];
    cell.className = "layer";
    say(cell, shortLayer(layer + 1));
  }
  giveTabStop(tiles, buttons, null);
}

/** The button in a cell, created if there is none. @param {HTMLElement} cell */
function buttonIn(cell) {
  if (cell.firstElementChild?.tagName !== "BUTTON") {
    cell.className = "";
    cell.replaceChildren(
      makeButton(
        "tile",
        make("span", "names", make("small"), make("b")),
        make("span", "map", make("canvas"), make("em")),
      ),
    );
  }
  return /** @type {HTMLButtonElement} */ (cell.firstChild);
}

/** @param {HTMLButtonElement} button @param {string} kind @param {RoleTile} tile @param {number} head @param {string} colour */
function writeTile(button, kind, tile, head, colour) {
  const [name, letters, mark] = button.querySelectorAll("small, b, em");
  say(name, shortHead(head));
  say(letters, tile.letters);
  say(mark, tile.mark);
  button.classList.toggle("clear", tile.colour >= 0);
  button.style.setProperty("--role", colour);
  button.ariaLabel = button.title = titleOf(kind, tile);
}

/** The title of a thumbnail: "Encoder L1 H2: previous token, off". @param {string} kind @param {RoleTile} tile */
const titleOf = (kind, { name, role, mark }) =>
  t("{head}: {role}", { head: `${capitalised(kind)} ${name}`, role: [role, mark].filter(Boolean).join(", ") });
