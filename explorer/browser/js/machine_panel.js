// The panel of the open block of the machine: words, numbers, formula or code, and links to other pages.

import { isolated } from "./canvas.js";
import { buttonsOf, children, make, makeButton, say } from "./dom.js";
import { formulaOf } from "./formula.js";
import { captionOf, nameOf, wordsOf } from "./machine_captions.js";
import { positionTool } from "./machine_change.js";
import { paintPicture } from "./machine_diagram.js";
import { AFTER } from "./machine_link.js";
import { drawStop, stopShown, titleOf } from "./machine_follow.js";
import { numbersOf, probabilityText } from "./machine_matrix.js";
import { short } from "./machine_origin_text.js";
import { paintPart } from "./machine_parts.js";
import { projectionsOf } from "./machine_projections.js";
import {
  arrayOf,
  blockOf,
  hasDetails,
  isTarget,
  leave,
  looksAt,
  rowFor,
  shapeText,
  sidesOf,
  tokensOf,
} from "./machine_state.js";
import { NEXT_READ } from "./names.js";
import { wholePercent, listed, grouped } from "./numbers.js";
import { withTerms } from "./terms.js";
import { redraw } from "./view.js";
import { pieces, t } from "./words.js";

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
  /** @type {Record<string, string>} */
  const depths = { words: t("words"), numbers: t("numbers"), formula: t("formula"), code: t("code") };
  content.setAttribute("aria-label", `${title}: ${depths[S.depth]}`);
  if (!block) content.replaceChildren(...overview(S));
  else if (S.depth === "numbers") content.replaceChildren(...numbers(S, block));
  else if (S.depth === "formula") content.replaceChildren(...formula(S, block));
  else if (S.depth === "code") drawCode(S, content);
  else words(S, block, content);
}

/** The whole model in a few sentences, with the numbers of this step. @param {MachineState} S @returns {Node[]} */
function overview(S) {
  const { data, step } = S;
  const { encoder, positions } = data.diagram;
  const read = tokensOf(S, "target");
  const next = {
    word: make("bdi", "token target", data.target.predicted[step]),
    share: wholePercent(data.target.probabilities[step]),
  };
  const lstm = !positions;
  const mentioned = /** @type {Set<string>} */ (new Set());
  const linked = (/** @type {(string | Node)[]} */ parts) =>
    parts.flatMap(
      (part) =>
        /** @type {(string | Node)[]} */ (typeof part === "string" ? withTerms(part, data.terms, mentioned) : [part]),
    );
  const name = (/** @type {string} */ text) => make("b", "", ...linked([text]));
  const paragraph = (/** @type {(string | Node)[]} */ ...parts) => make("p", "", ...linked(parts));
  const alone = !encoder.length;
  const encoded = () => [
    embeddingText(S),
    " ",
    ...(lstm
      ? [t("{n} layer of LSTM read them in order.", "{n} layers of LSTM read them in order.", { n: encoder.length })]
      : pieces(
          "In {n} layer, each token looks at every token ({attention}), and then passes alone through a small network ({network}).",
          "In {n} layers, each token looks at every token ({attention}), and then passes alone through a small network ({network}).",
          { n: encoder.length, attention: name(t("self-attention")), network: name(t("feed-forward")) },
        )),
    " ",
    ...pieces("The result, one vector for each source token, is the {memory}: all that goes to the decoder.", {
      memory: name(t("memory")),
    }),
  ];
  const { width = 0 } = Object.values(data.facts).find(({ picture }) => picture?.kind === "rows")?.picture ?? {};
  const heads = Object.values(data.diagram.heads)[0] ?? 1;
  const none = () => [t("this model has none: prompt and continuation are one text, which the decoder reads.")];
  const reads = { n: read.length, token: token(S, "target", step) };
  const sees = token(S, "target", step);
  const names = { plus: name("+"), norm: name(t("norm")), both: name("Add & Norm") };
  return [
    make("p", "hint", t("Choose any block to open it.")),
    paragraph(name(`${t("Encoder:")} `), ...(alone ? none() : encoded())),
    paragraph(
      name(`${t("Decoder:")} `),
      ...(alone
        ? pieces(
            "it reads the text so far, {n} token up to {token}.",
            "it reads the text so far, {n} tokens up to {token}.",
            reads,
          )
        : pieces(
            "it reads the target so far, {n} token up to {token}.",
            "it reads the target so far, {n} tokens up to {token}.",
            reads,
          )),
      " ",
      ...decodedBy(S, name),
    ),
    paragraph(
      name(`${t("Next word:")} `),
      ...pieces(
        "the last vector becomes a score for each of the {vocabulary} tokens in its target vocabulary (linear), and the scores become probabilities (softmax).",
        { vocabulary: grouped(data.vocabulary) },
      ),
      " ",
      ...(data.target.by === NEXT_READ
        ? pieces(
            "The target is given: its next token, {word}, has {share}. In the next step the decoder reads it.",
            next,
          )
        : pieces("Chosen: {word}, {share}. In the next step the decoder reads it.", next)),
    ),
    ...(lstm
      ? []
      : [
          paragraph(
            ...(data.diagram.norm === "pre"
              ? pieces(
                  "Before every attention and every network, and after the last layer, {norm} brings each token's numbers to a common scale; {plus} adds the numbers from before the norm to the result. In “Attention Is All You Need”, norm follows the sum, and both are called {both}.",
                  names,
                )
              : pieces(
                  "Around every attention and every network, {plus} adds what went in to what came out, and {norm} brings each token's numbers to a common scale. “Attention Is All You Need” calls both {both}.",
                  names,
                )),
          ),
        ]),
    make(
      "p",
      "hint",
      `${t("In the pictures, a row is a token; orange is above 0 and blue below.")} `,
      ...(width < data.numbers
        ? [
            `${t("The picture of a vector shows {shown} of its {numbers} numbers.", { shown: width, numbers: data.numbers })} `,
          ]
        : []),
      `${t("Thick frames are attention: the more a cell stands out from the background, the larger its weight.")} `,
      ...(heads > 1
        ? [`${t("Such a picture is the mean of {heads} heads; below it stand heads × rows × columns.", { heads })} `]
        : []),
      ...pieces("The frame marks the token just read, {token}.", { token: sees }),
    ),
  ];
}

/** How the tokens of the source become vectors. @param {MachineState} S */
function embeddingText({ data }) {
  const fields = { n: data.source.tokens.length, numbers: data.numbers };
  if (data.blocks.some(({ kind }) => kind === "positions"))
    return t(
      "each of {n} source token becomes a vector of {numbers} numbers (embedding), and a vector for its position is added.",
      "each of {n} source tokens becomes a vector of {numbers} numbers (embedding), and a vector for its position is added.",
      fields,
    );
  return ["rope", "alibi", "relative"].includes(data.diagram.positions)
    ? t(
        "each of {n} source token becomes a vector of {numbers} numbers (embedding); its position only enters the scores of self-attention.",
        "each of {n} source tokens becomes a vector of {numbers} numbers (embedding); its position only enters the scores of self-attention.",
        fields,
      )
    : t(
        "each of {n} source token becomes a vector of {numbers} numbers (embedding).",
        "each of {n} source tokens becomes a vector of {numbers} numbers (embedding).",
        fields,
      );
}

/** What the layers of the decoder do. @param {MachineState} S @param {(text: string) => HTMLElement} name a term */
function decodedBy({ data }, name) {
  const { encoder, decoder, positions } = data.diagram;
  const n = decoder.length;
  if (!positions)
    return pieces(
      "{n} layer of LSTM read it in order, and then looks at the memory ({cross}).",
      "{n} layers of LSTM read it in order, and then looks at the memory ({cross}).",
      { n, cross: name(t("cross-attention")) },
    );
  const attention = name(data.stepwise ? t("self-attention") : t("masked self-attention"));
  if (!encoder.length) {
    const fields = { n, attention, network: name(t("feed-forward")) };
    return data.stepwise
      ? pieces(
          "In {n} layer, each token looks at all tokens written so far ({attention}), and then passes through the {network} network.",
          "In {n} layers, each token looks at all tokens written so far ({attention}), and then passes through the {network} network.",
          fields,
        )
      : pieces(
          "In {n} layer, each token looks at itself and the tokens before it ({attention}), and then passes through the {network} network.",
          "In {n} layers, each token looks at itself and the tokens before it ({attention}), and then passes through the {network} network.",
          fields,
        );
  }
  const fields = { n, attention, cross: name(t("cross-attention")), network: name(t("feed-forward")) };
  return data.stepwise
    ? pieces(
        "In {n} layer, each token looks at all tokens written so far ({attention}), then at the memory ({cross}), and then passes through the {network} network.",
        "In {n} layers, each token looks at all tokens written so far ({attention}), then at the memory ({cross}), and then passes through the {network} network.",
        fields,
      )
    : pieces(
        "In {n} layer, each token looks at itself and the tokens before it ({attention}), then at the memory ({cross}), and then passes through the {network} network.",
        "In {n} layers, each token looks at itself and the tokens before it ({attention}), then at the memory ({cross}), and then passes through the {network} network.",
        fields,
      );
}

/** @param {MachineState} S @param {MachineBlock | undefined} block */
function drawLinks(S, block) {
  const box = S.find(".links");
  const { head, part } = S.opened;
  const { positions } = S.data.diagram;
  /** @type {[import("./structs").Departure["place"], string][]} */
  let links = [];
  if (block?.attention) {
    links.push(["attention", head ? t("Head {head} in Attention", { head }) : t("Open in Attention")]);
    if (head && ["scores", "masked", "weights"].includes(part)) links.push(["cell", t("One cell")]);
    if (positions && (block.attention === "decoder" || part === "masked")) links.push(["masks", t("Masks")]);
    if (["rope", "alibi", "relative"].includes(positions) && block.attention !== "cross")
      links.push(["positions", t("Positions")]);
  } else if (block?.kind === "positions") links.push(["positions", t("Positions")]);
  else if (!block || ["linear", "softmax", "word"].includes(block.kind))
    links.push(["translate", S.data.diagram.encoder.length ? t("Open in Translate") : t("Open in Continue")]);
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
  const said = head || part ? (partOf(S, block)?.words ?? "") : wordsOf(S, block);
  const stop = stopShown(S);
  if (stop?.stage) return drawStop(S, content, stop, said);
  const text = make("div", "text");
  text.append(make("p", "", ...withTerms(said, S.data.terms)), ...currentNumbers(S, block));
  const side = isTarget(block) ? "target" : "source";
  if (block.kind === "positions") text.append(positionTool(S, side, rowFor(S, side)));
  const canvas = make("canvas", "large");
  canvas.setAttribute("role", "img");
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
    const { head } = S.opened;
    const fields = { token: token(S, queries, rowFor(S, queries)), keys: looks };
    const sentence = head
      ? pieces("Head {head}: {token} looks at {keys}.", { ...fields, head })
      : pieces("Mean over the heads: {token} looks at {keys}.", fields);
    return [make("p", "", ...sentence)];
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
    return [make("p", "", ...pieces("Likeliest now: {options}.", { options })), ...from];
  }
  if (block.kind === "tokens") {
    const side = isTarget(block) ? "target" : "source";
    return [make("p", "", ...tokensOf(S, side).flatMap((_, i) => [i ? " " : "", token(S, side, i)]))];
  }
  return [];
}

/** The likeliest tokens of this step with their probabilities. @param {MachineState} S @returns {Node[]} */
function likeliest(S) {
  const tokens = S.data.alternatives.tokens[S.step];
  const shares = S.data.alternatives.probabilities[S.step];
  const body = tokens.map((word, i) =>
    make("tr", "", make("td", "", make("bdi", "", word)), make("td", "number", short(shares[i]))),
  );
  const table = make(
    "table",
    "",
    make("tr", "", make("th", "", t("token")), make("th", "", t("probability"))),
    ...body,
  );
  return [
    table,
    make(
      "p",
      "hint",
      t(
        "The {count} likeliest of {all} target tokens in this step; all together have probability 1. Their scores before softmax are the result of Linear.",
        { count: tokens.length, all: grouped(S.data.vocabulary) },
      ),
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
    t("shape here: {shape}", { shape: shapeText(facts.shape, S.step) }),
  ];
  return [formulaOf(tree), make("p", "hint", t("In this model: {sizes}.", { sizes: sizes.join(", ") }))];
}

/** Draws the function that computes the result, with its lines marked. @param {MachineState} S @param {HTMLElement} content */
function drawCode(S, content) {
  if (!hasDetails(S) || !S.details) return content.replaceChildren(make("p", "hint", t("Requesting the code …")));
  const { part, head } = S.opened;
  const { code } = S.details;
  const block = /** @type {MachineBlock} */ (blockOf(S, S.opened.block));
  const result = block.points[block.points.length - 1]?.split(".").pop() ?? "";
  const at = code.places[part] ?? (head ? code.places.output : undefined) ?? code.places.result ?? code.places[result];
  if (!at) return content.replaceChildren(make("p", "", t("No line of this program computes it: it is an input.")));
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
    make(
      "p",
      "hint",
      t("{file}, {name}: the marked line computes it.", "{file}, {name}: the marked lines compute it.", {
        n: at.marked.length,
        file,
        name,
      }),
    ),
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
    const { shape } = S.data.facts[block.name];
    const reads = block.reads.map((name) => `${numberOf.get(name)}`);
    const from = reads.length ? ` ${t("Reads {blocks}.", { blocks: listed(reads) })}` : "";
    const looks = block.attention
      ? looksAt(S, block, 2).map(({ token: word, weight }) => `${isolated(word)} ${wholePercent(weight)}`)
      : [];
    const word = {
      word: isolated(S.data.target.predicted[S.step]),
      share: wholePercent(S.data.target.probabilities[S.step]),
    };
    const now =
      block.kind === "word"
        ? ` ${t("Now: {word}, {share}.", word)}`
        : looks.length
          ? ` ${t("Now, mean over the heads: {keys}.", { keys: looks.join(", ") })}`
          : "";
    return `${nameOf(S, block)}, ${shapeText(shape, S.step)}.${from} ${wordsOf(S, block)}${now}`;
  });
  const list = children(S.find("details ol"), items.length, () => make("li"));
  items.forEach((item, i) => say(list[i], item));
}
