// What the first and the last blocks of the machine hold: tokens, and the likeliest next words.

import { make, makeButton, say } from "./dom.js";
import { marksSource, tokensOf } from "./machine_state.js";
import { NEXT_READ } from "./names.js";
import { wholePercent } from "./numbers.js";
import { goTo, redraw } from "./view.js";
import { t } from "./words.js";

/** @import { MachineBlock, MachineState } from "./types" */

const LINE = 12; // height of a token in a box of tokens, at least
const TITLE = 22; // what else stands in it
const OPTIONS = 5; // words in the box of the next word

/** The tokens of a side, around the current one; each can be chosen. @param {MachineState} S @param {MachineBlock} block @param {number} height of the box */
export function tokenList(S, block, height) {
  const most = Math.floor((height - TITLE) / LINE);
  const list = make("div", "tokens");
  const ofSource = block.stack === "source";
  const before = make("small", "more");
  const after = make("small", "more");
  const lines = Array.from({ length: most }, () => makeButton("token", make("small", "place"), make("bdi")));
  list.append(before, ...lines, after);
  S.texts.push(() => {
    const tokens = tokensOf(S, ofSource ? "source" : "target");
    const at = ofSource ? S.row : S.step;
    const shown = tokens.length > most ? most - 2 : most; // two lines say how many are left out
    const first = Math.max(0, Math.min(at - shown + 2, tokens.length - shown));
    const left = tokens.length - first - shown;
    say(before, first ? t("{n} more", "{n} more", { n: first }) : "");
    say(after, left > 0 ? t("{n} more", "{n} more", { n: left }) : "");
    lines.forEach((line, i) => {
      const token = tokens[first + i];
      const [number, word] = line.children;
      line.hidden = token === undefined || i >= shown;
      if (line.hidden) return;
      line.value = `token ${block.stack} ${i}`;
      say(number, `${first + i + 1}`);
      say(word, token);
      line.title = ofSource ? t("Follow this token through the encoder") : t("Go to the step that reads this token");
      line.classList.toggle("current", first + i === at && (!ofSource || marksSource(S)));
      line.onclick = () => {
        if (ofSource) Object.assign(S, { row: first + i, chosen: true });
        else goTo(S, first + i);
        redraw(S);
      };
    });
  });
  return list;
}

/** The likeliest next words; the chosen one is marked and among them, or the one that is given. @param {MachineState} S */
export function wordList(S) {
  const list = make("span", "words");
  const chosen = make("span", "chosen", make("bdi"), make("small"));
  const lines = Array.from({ length: OPTIONS }, () => make("span", "option", make("bdi"), make("i"), make("small")));
  list.append(chosen, ...lines);
  S.texts.push(() => {
    const { target, alternatives } = S.data;
    const [next, own] = [target.predicted[S.step], target.probabilities[S.step]];
    const isGiven = target.by === NEXT_READ;
    chosen.classList.toggle("given", isGiven);
    say(chosen.children[0], next);
    say(chosen.children[1], isGiven ? t("given: {share}", { share: wholePercent(own) }) : wholePercent(own));
    const isListed = alternatives.ids[S.step].slice(0, OPTIONS).includes(target.predicted_ids[S.step]);
    lines.forEach((line, i) => {
      const isNext = !isListed && i === Math.min(OPTIONS - 1, alternatives.ids[S.step].length);
      const token = isNext ? next : alternatives.tokens[S.step][i];
      const share = isNext ? own : alternatives.probabilities[S.step][i];
      const [word, bar, number] = line.children;
      line.hidden = token === undefined;
      if (token === undefined) return;
      say(word, token);
      say(number, wholePercent(share));
      /** @type {HTMLElement} */ (bar).style.width = `${Math.round(22 * share)}px`;
    });
  });
  return list;
}

/** @param {MachineState} S */
export function bars(S) {
  const box = make("span", "bars");
  const lines = Array.from({ length: OPTIONS }, () => make("i"));
  box.append(...lines);
  S.texts.push(() =>
    lines.forEach((line, i) => {
      line.style.width = `${Math.round(100 * (S.data.alternatives.probabilities[S.step][i] ?? 0))}%`;
    }),
  );
  return box;
}
