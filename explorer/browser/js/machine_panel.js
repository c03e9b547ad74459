// The panel of the open block of the machine: words, numbers, formula or code, and links to other pages.

import { isolated } from "./canvas.js";
import { buttonsOf, children, make, makeButton, say } from "./dom.js";
import { formulaOf } from "./formula.js";
import { positionTool } from "./machine_change.js";
import { looksAt, nameOf, paintPart, paintPicture } from "./machine_diagram.js";
import { AFTER } from "./machine_link.js";
import { stopShown, titleOf, trailNumbers } from "./machine_follow.js";
import { numbersOf, probabilityText } from "./machine_matrix.js";
import { short } from "./machine_origin_text.js";
import { projectionsOf } from "./machine_projections.js";
import {
  arrayOf,
  blockOf,
  hasDetails,
  isTarget,
  leave,
  MAPS,
  rowFor,
  shapeText,
  sidesOf,
  tokensOf,
} from "./machine_state.js";
import { plural, wholePercent } from "./numbers.js";
import { withTerms } from "./terms.js";
import { redraw } from "./view.js";

/** @import { Kind, MachineBlock, MachineState } from "./types" */

/** A token, set apart from the text around it. @param {MachineState} S @param {string} side @param {number} i */
const token = (S, side, i) => make("bdi", `token ${side}`, tokensOf(S, side)[i] ?? "");

/** Title, explanation and formula of the open part of a head, or of the head. @param {MachineState} S @param {MachineBlock} block */
const partOf = (S, block) => S.data.parts[/** @type {Kind} */ (block.attention)]?.[S.opened.part || "head"];

/** @param {MachineState} S */
export function drawPanel(S) {
  const block = blockOf(S, S.opened.block);
  const title = titleOf(S);
  say(S.find(".panel h3"), title);
  S.find(".out").hidden = !block;
  for (const tab of buttonsOf(S.find, ".depths")) {
    tab.setAttribute("aria-selected", `${tab.value === S.depth}`);
    tab.tabIndex = tab.value === S.depth ? 0 : -1;
    tab.hidden = !block;
  }
  drawLinks(S, block);
  const content = S.find(".told");
  content.setAttribute("aria-label", `${title}: ${S.depth}`);
  if (!block) content.replaceChildren(...overview(S));
  else if (S.depth === "numbers") content.replaceChildren(...numbers(S, block));
  else if (S.depth === "formula") content.replaceChildren(...formula(S, block));
  else if (S.depth === "code") drawCode(S, content);
  else words(S, block, content);
}

/** The whole model in a few sentences, with the numbers of this step. @param {MachineState} S @returns {Node[]} */
function overview(S) {
  const { data, step } = S;
  const { encoder, decoder, positions } = data.diagram;
  const sources = data.source.tokens.length;
  const added = data.blocks.some(({ kind }) => kind === "positions")
    ? ", and a vector for its position is added"
    : ["rope", "alibi", "relative"].includes(positions)
      ? "; its position only enters the scores of self-attention"
      : "";
  const read = tokensOf(S, "target");
  const predicted = data.target.predicted[step];
  const share = data.target.probabilities[step];
  const lstm = !positions;
  const mentioned = /** @type {Set<string>} */ (new Set());
  const linked = (/** @type {(string | Node)[]} */ parts) =>
    parts.flatMap(
      (part) =>
        /** @type {(string | Node)[]} */ (typeof part === "string" ? withTerms(part, data.terms, mentioned) : [part]),
    );
  const name = (/** @type {string} */ text) => make("b", "", ...linked([text]));
  const paragraph = (/** @type {(string | Node)[]} */ ...parts) => make("p", "", ...linked(parts));
  const before = data.stepwise ? "all tokens written so far" : "itself and the tokens before it";
  const alone = !encoder.length;
  const encoded = [
    `each of ${plural(sources, "source token")} becomes a vector of ${data.numbers} numbers (embedding)${added}. `,
    ...(lstm
      ? [`${plural(encoder.length, "layer")} of LSTM read them in order.`]
      : [
          `In ${plural(encoder.length, "layer")}, each token looks at every token (`,
          name("self-attention"),
          "), and then passes alone through a small network (",
          name("feed-forward"),
          ").",
        ]),
    " The result, one vector for each source token, is the ",
    name("memory"),
    ": all that goes to the decoder.",
  ];
  const none = ["this model has none: prompt and continuation are one text, which the decoder reads."];
  return [
    paragraph(name("Encoder: "), ...(alone ? none : encoded)),
    paragraph(
      name("Decoder: "),
      `it reads the ${alone ? "text" : "target"} so far, ${plural(read.length, "token")} up to `,
      token(S, "target", step),
      `. `,
      ...(lstm
        ? [`${plural(decoder.length, "layer")} of LSTM read it in order, and `]
        : [
            `In ${plural(decoder.length, "layer")}, each token looks at ${before} (`,
            name(data.stepwise ? "self-attention" : "masked self-attention"),
            "), ",
          ]),
      ...(alone ? [] : [lstm ? "then looks at the memory (" : "then at the memory (", name("cross-attention"), ")"]),
      ...(lstm ? ["."] : [`${alone ? "" : ", "}and then passes through the `, name("feed-forward"), " network."]),
    ),
    paragraph(
      name("Next word: "),
      `the last vector becomes a score for each of ${data.vocabulary.toLocaleString("en")} target tokens (linear), and the scores become probabilities (softmax). Chosen: `,
      make("bdi", "token target", predicted),
      `, ${wholePercent(share)}. In the next step the decoder reads it.`,
    ),
    make(
      "p",
      "hint",
      "Choose any block to open it. Thick frames are attention: in their pictures, the stronger the colour of a cell, the larger its weight. In the others, orange is above 0 and blue below. A row is a token; Linear shows only the token just read. ",
      ...(alone
        ? ["The frame marks the token just read, "]
        : [
            "Above, the frame marks ",
            token(S, "source", S.row),
            " (choose another one in ",
            name("Source"),
            "), below, the token just read, ",
          ]),
      token(S, "target", step),
      ". The arrow keys step.",
    ),
  ];
}

/** @param {MachineState} S @param {MachineBlock | undefined} block */
function drawLinks(S, block) {
  const box = S.find(".links");
  const { head, part } = S.opened;
  const { positions } = S.data.diagram;
  /** @type {[import("./structs").Departure["place"], string][]} */
  let links = [];
  if (block?.attention) {
    links.push(["attention", head ? `Head ${head} in Attention` : "Open in Attention"]);
    if (head && ["scores", "masked", "weights"].includes(part)) links.push(["cell", "One cell"]);
    if (positions && (block.attention === "decoder" || part === "masked")) links.push(["masks", "Masks"]);
    if (["rope", "alibi", "relative"].includes(positions) && block.attention !== "cross")
      links.push(["positions", "Positions"]);
  } else if (block?.kind === "positions") links.push(["positions", "Positions"]);
  else if (!block || ["linear", "softmax", "word"].includes(block.kind))
    links.push(["translate", S.data.diagram.encoder.length ? "Open in Translate" : "Open in Continue"]);
  if (positions && block) links.push(["ledger", "All operations"]);
  links = links.filter(([name]) => S.source.leadsTo?.(name) ?? true);
  const buttons = /** @type {HTMLButtonElement[]} */ (children(box, links.length, () => makeButton("link")));
  links.forEach(([name, label], i) => {
    say(buttons[i], `${label} →`);
    buttons[i].value = name;
    buttons[i].onclick = () => leave(S, name);
  });
}

/** Draws the explanation, a picture, and a sentence with the numbers of this step. @param {MachineState} S @param {MachineBlock} block @param {HTMLElement} content */
function words(S, block, content) {
  const { head, part } = S.opened;
  const facts = S.data.facts[block.name];
  const text = make("div", "text");
  text.append(
    make("p", "", ...withTerms(head || part ? (partOf(S, block)?.words ?? "") : facts.words, S.data.terms)),
    ...currentNumbers(S, block),
  );
  const stop = stopShown(S);
  const side = isTarget(block) ? "target" : "source";
  if (block.kind === "positions" && !stop) text.append(positionTool(S, side, rowFor(S, side)));
  const canvas = make("canvas", "large");
  canvas.setAttribute("role", "img");
  if (stop?.stage) return content.replaceChildren(text, ...trailNumbers(S, stop));
  const projections = block.attention && ["", "query", "key", "value"].includes(part) ? projectionsOf(S, block) : [];
  const drawn = head || part ? arrayOf(S, part || "weights") : !projections.length && facts.picture;
  content.replaceChildren(text, ...projections);
  if (drawn) {
    const figure = make("figure", "", canvas, make("figcaption", "", captionOf(S, block)));
    canvas.setAttribute("aria-label", captionOf(S, block));
    content.append(figure);
    if (head || part) paintPart(S, block, part || "weights", canvas);
    else if (facts.picture) paintPicture(S, block, canvas, facts.picture, S.data.stepwise);
  }
}

/** A sentence on a block at this step: where it looks, the likeliest tokens, or its tokens. @param {MachineState} S @param {MachineBlock} block @returns {Node[]} */
function currentNumbers(S, block) {
  const { data, step } = S;
  if (block.attention) {
    if (AFTER.includes(S.opened.part) || (S.opened.head && !arrayOf(S, "weights"))) return [];
    const [queries, keys] = sidesOf(block.attention);
    const looks = looksAt(S, block, 3).flatMap(({ weight, i }, n) => [
      n ? ", " : "",
      token(S, keys, i),
      ` ${wholePercent(weight)}`,
    ]);
    return [
      make(
        "p",
        "",
        S.opened.head ? `Head ${S.opened.head}: ` : "Mean over the heads: ",
        token(S, queries, rowFor(S, queries)),
        " looks at ",
        ...looks,
        ".",
      ),
    ];
  }
  if (block.kind === "softmax" || block.kind === "word" || block.kind === "linear") {
    const options = data.alternatives.tokens[step]
      .slice(0, 5)
      .flatMap((word, i) => [
        i ? ", " : "",
        make("bdi", "token target", word),
        ` ${wholePercent(data.alternatives.probabilities[step][i])}`,
      ]);
    const from = block.kind === "linear" ? [] : [make("p", "", probabilityText(S))];
    return [make("p", "", "Likeliest now: ", ...options, "."), ...from];
  }
  if (block.kind === "tokens") {
    const side = isTarget(block) ? "target" : "source";
    return [make("p", "", ...tokensOf(S, side).flatMap((_, i) => [i ? " " : "", token(S, side, i)]))];
  }
  return [];
}

/** The caption of a picture. @param {MachineState} S @param {MachineBlock} block */
function captionOf(S, block) {
  const { head, part } = S.opened;
  const facts = S.data.facts[block.name];
  const full = wholePercent(head ? (S.details?.full ?? 1) : (facts.picture?.scale ?? 1));
  const grey = block.attention === "decoder" && !S.data.stepwise ? ", grey is masked" : "";
  if (part === "out_proj")
    return "Rows are tokens, columns are the numbers of the result; blue is below 0, orange above.";
  if (AFTER.includes(part))
    return "Rows are tokens, columns are the numbers of all heads; blue is below 0, orange above.";
  if (!head && block.attention)
    return `Attention weights, mean over the heads: rows are queries, columns are keys; full colour is ${full} or more${grey}.`;
  if (!head) {
    const width = facts.picture?.width ?? 0;
    if (block.kind === "linear")
      return `The scores of the ${width} likeliest tokens, the largest first; blue is below 0, orange above.`;
    const whole = facts.shape[facts.shape.length - 1];
    const columns = `the first ${Math.min(width, whole)} of ${whole} numbers`;
    const what = block.kind === "positions" ? "the vectors that are added" : "the results";
    return `Rows are tokens, columns are ${columns} of ${what}; blue is below 0, orange above.`;
  }
  const name = part || "weights";
  if (name === "weights")
    return `Attention weights of this head: rows are queries, columns are keys; full colour is ${full} or more${grey}.`;
  if (MAPS.includes(name))
    return `Scores of this head: rows are queries, columns are keys; blue is below 0, orange above${name === "masked" ? grey : ""}.`;
  return "Rows are tokens, columns are the numbers of this head; blue is below 0, orange above.";
}

/** The likeliest tokens of this step with their probabilities. @param {MachineState} S @returns {Node[]} */
function likeliest(S) {
  const tokens = S.data.alternatives.tokens[S.step];
  const shares = S.data.alternatives.probabilities[S.step];
  const body = tokens.map((word, i) =>
    make("tr", "", make("td", "", make("bdi", "", word)), make("td", "number", short(shares[i]))),
  );
  const table = make("table", "", make("tr", "", make("th", "", "token"), make("th", "", "probability")), ...body);
  const all = S.data.vocabulary.toLocaleString("en");
  return [
    table,
    make(
      "p",
      "hint",
      `The ${tokens.length} likeliest of ${all} target tokens in this step; all together have probability 1. Their scores before softmax are the result of Linear.`,
    ),
  ];
}

/** The numbers of the block or part. @param {MachineState} S @param {MachineBlock} block @returns {Node[]} */
const numbers = (S, { kind }) => (kind === "softmax" || kind === "word" ? likeliest(S) : numbersOf(S));

/** @param {MachineState} S @param {MachineBlock} block @returns {Node[]} */
function formula(S, block) {
  const { head } = S.opened;
  const facts = S.data.facts[block.name];
  const { heads } = S.data.diagram;
  const { numbers: width } = S.data;
  const tree = head ? (partOf(S, block)?.formula ?? "") : facts.formula;
  const count = block.attention ? (heads[block.attention] ?? 1) : 0;
  const sizes = [
    `d_model = ${width}`,
    ...(count ? [`h = ${count}`, `d_k = ${width / count}`] : []),
    `shape here: ${shapeText(facts.shape, S.step)}`,
  ];
  return [formulaOf(tree), make("p", "hint", `In this model: ${sizes.join(", ")}.`)];
}

/** Draws the function that computes the result, with its lines marked. @param {MachineState} S @param {HTMLElement} content */
function drawCode(S, content) {
  if (!hasDetails(S) || !S.details) return content.replaceChildren(make("p", "hint", "Requesting the code …"));
  const { part, head } = S.opened;
  const { code } = S.details;
  const block = /** @type {MachineBlock} */ (blockOf(S, S.opened.block));
  const result = block.points[block.points.length - 1]?.split(".").pop() ?? "";
  const at = code.places[part] ?? (head ? code.places.output : undefined) ?? code.places.result ?? code.places[result];
  if (!at) return content.replaceChildren(make("p", "", "No line of this program computes it: it is an input."));
  const { file, name, first, lines } = code.functions[at.function];
  const listing = make(
    "pre",
    "",
    ...lines.map((text, i) => {
      const line = make(
        at.marked.includes(first + i) ? "mark" : "span",
        "line",
        make("small", "", `${first + i}`.padStart(4)),
        ` ${text}`,
      );
      return line;
    }),
  );
  content.replaceChildren(
    make("p", "hint", `${file}, ${name}: the marked ${at.marked.length === 1 ? "line computes" : "lines compute"} it.`),
    listing,
  );
  const marked = listing.querySelector("mark");
  if (marked) listing.scrollTop = Math.max(0, marked.offsetTop - listing.offsetTop - 40);
}

/** Listens to the tabs; arrow keys move from one to the next. @param {MachineState} S */
export function listenToDepths(S) {
  const tabs = buttonsOf(S.find, ".depths");
  for (const [i, tab] of tabs.entries()) {
    tab.onclick = () => {
      S.depth = tab.value;
      redraw(S);
    };
    tab.onkeydown = (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      const next = tabs[(i + by + tabs.length) % tabs.length];
      next.click();
      next.tabIndex = 0;
      next.focus();
    };
  }
}

/** Draws the machine as a list, for screen readers. @param {MachineState} S */
export function drawList(S) {
  const { blocks } = S.data;
  const numberOf = new Map(blocks.map(({ name }, i) => [name, i + 1]));
  const items = blocks.map((block) => {
    const { shape, words: text } = S.data.facts[block.name];
    const reads = block.reads.map((name) => `${numberOf.get(name)}`);
    const from = reads.length ? ` Reads ${reads.join(" and ")}.` : "";
    const looks = block.attention
      ? looksAt(S, block, 2).map(({ token: word, weight }) => `${isolated(word)} ${wholePercent(weight)}`)
      : [];
    const now =
      block.kind === "word"
        ? ` Now: ${isolated(S.data.target.predicted[S.step])}, ${wholePercent(S.data.target.probabilities[S.step])}.`
        : looks.length
          ? ` Now, mean over the heads: ${looks.join(", ")}.`
          : "";
    return `${nameOf(S, block)}, ${shapeText(shape, S.step)}.${from} ${text}${now}`;
  });
  const list = children(S.find("details ol"), items.length, () => make("li"));
  items.forEach((item, i) => say(list[i], item));
}
