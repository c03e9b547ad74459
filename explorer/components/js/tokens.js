// Tokens as chips, the same everywhere: position, token, and what is special about it. Text is always text.

const SPECIALS = ["<pad>", "<sos>", "<eos>", "<unk>"];
// On which side the queries and the keys of a kind of attention stand.
const SIDES = { encoder: ["source", "source"], decoder: ["target", "target"], cross: ["target", "source"] };

function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children);
  return element;
}

// Sets only what differs, so that stepping touches few nodes.
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// The same for several pieces: replaces the content only when it reads differently.
function sayAll(element, ...pieces) {
  const box = make("span", "", ...pieces);
  if (element.textContent !== box.textContent) element.replaceChildren(...box.childNodes);
}

// Exactly `count` children, made when missing; those that exist keep their listeners and the keyboard focus.
function children(parent, count, create) {
  while (parent.children.length > count) parent.lastChild.remove();
  while (parent.children.length < count) parent.append(create(parent.children.length));
  return [...parent.children];
}

// A token inside a sentence: isolated, so that its direction cannot move what stands around it.
function word(text, side) {
  const token = make("bdi", `token ${side || ""}`, text);
  if (SPECIALS.includes(text)) token.classList.add("special");
  return token;
}

const named = (tokens, i, side) => make("span", "named", make("span", "place", `${i + 1}`), "\u2009", word(tokens[i], side));

function chip() {
  const box = make("span", "chip", make("span", "place"), make("bdi", "token"), make("small", "seen"));
  return make("span", "slot", box, make("span", "meter", make("i"), make("span")));
}

function setChip(slot, place, text, classes) {
  const box = slot.firstChild;
  say(box.children[0], `${place}`);
  say(box.children[1], text);
  say(box.children[2], classes.unknown ? "seen as <unk>" : "");
  slot.className = ["slot", ...Object.keys(classes).filter((name) => classes[name])].join(" ");
}

// A token that goes on with the word before it is drawn attached to it.
const joins = (words, i) => i > 0 && words[i] >= 0 && words[i] === words[i - 1];

function drawTokens(S) {
  const { source, target } = S.data, { layer, head } = S.pick.cross;
  const cross = rowOf(S.data.maps.cross, layer, head, S.step).cells;
  const touched = { source: [], target: [] };
  if (S.cell) {
    const [queries, keys] = SIDES[S.cell.kind];
    touched[queries].push(S.cell.query);
    touched[keys].push(S.cell.key);
  }
  const isTouched = (side, i) => touched[side].some((index) => covers(S, side, index, i));
  children(S.$(".source .chips"), source.tokens.length, chip).forEach((slot, i) => {
    setChip(slot, i + 1, source.tokens[i], {
      special: source.words[i] < 0,
      unknown: source.unknown.includes(i),
      joined: joins(source.words, i),
      open: joins(source.words, i + 1),
      touched: isTouched("source", i),
    });
    const [bar, number] = slot.lastChild.children, { mask, weight } = cross[i];
    bar.style.width = `${mask || weight < 0.005 ? 0 : 100 * weight}%`;
    say(number, mask ? "masked" : weight < 0.005 ? "" : `${Math.round(100 * weight)}\u202f%`);
  });
  const n = target.tokens.length;
  const slots = children(S.$(".target .chips"), n + 1, chip);
  slots.forEach((slot, i) => {
    const next = i === S.step + 1;
    const text = next || i === n ? target.predicted[next ? S.step : n - 1] : target.tokens[i];
    setChip(slot, i + 1, text, {
      special: SPECIALS.includes(text),
      joined: joins(target.words, i),
      open: joins(target.words, i + 1),
      touched: i < n && isTouched("target", i),
      next,
      later: i > S.step + 1,
    });
  });
  // Many tokens: the line scrolls by itself, never the page.
  if (!S.scrolls) return;
  const line = S.$(".target .chips"), last = slots[S.step + 1];
  line.scrollTop = last.offsetTop - line.offsetTop - line.clientHeight + last.offsetHeight;
}
