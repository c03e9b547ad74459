// Sets formulas, given as trees of symbols (machine_words.py), as MathML.

/** @import { Formula } from "./types" */

const MATHML = "http://www.w3.org/1998/Math/MathML";
/** The element for each arrangement of parts. @type {Record<string, string>} */
const SETS = { row: "mrow", sub: "msub", sup: "msup", frac: "mfrac", sqrt: "msqrt" };
const OPERATORS = "=+−·∈⊙∼(),Σ|/";

/** @param {string} name @param {Node[]} inside */
function element(name, ...inside) {
  const node = document.createElementNS(MATHML, name);
  node.append(...inside);
  return node;
}

/** The MathML element of a symbol: an operator, a number, or a name. @param {string} text */
export function symbolOf(text) {
  if (!text.trim()) return "mtext";
  if ([...text].every((letter) => OPERATORS.includes(letter) || letter === " ")) return "mo";
  if ([...text].every((letter) => "0123456789.".includes(letter))) return "mn";
  return text.includes(" ") ? "mtext" : "mi";
}

/** @param {Formula} formula @returns {Element} */
function set(formula) {
  if (typeof formula === "string") return element(symbolOf(formula), document.createTextNode(formula));
  const [how, ...parts] = formula;
  return element(SETS[/** @type {string} */ (how)] ?? "mrow", ...parts.map(set));
}

/** A formula as an element. @param {Formula} formula */
export function formulaOf(formula) {
  const math = element("math", set(formula));
  math.setAttribute("display", "block");
  math.setAttribute("aria-label", readFormula(formula));
  return math;
}

/** A formula as one line of text, for screen readers. @param {Formula} formula @returns {string} */
export function readFormula(formula) {
  if (typeof formula === "string") return formula;
  const [how, ...parts] = formula;
  const read = parts.map(readFormula);
  if (how === "frac") return `(${read[0]}) / (${read[1]})`;
  if (how === "sqrt") return `√(${read[0]})`;
  if (how === "sub") return `${read[0]}_${read[1]}`;
  if (how === "sup") return `${read[0]}^${read[1]}`;
  return read.join(" ");
}
