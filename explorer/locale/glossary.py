"""The app's technical terms, each with a plain word and a one-sentence explanation, which is the text of tooltips.

Terms are spelt as in the literature. In a text of :func:`explained`, a term is a link whose explanation appears on
hover, focus or tap (explorer/browser/frame.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from explorer.locale import language
from explorer.locale.messages import translated
from explorer.locale.text import plain, plural


@dataclass(frozen=True)
class GlossaryEntry:
    """A term, the plain word that precedes it on screen, and its explanation."""

    term: str
    plain: str
    explanation: str


GLOSSARY: tuple[GlossaryEntry, ...] = (
    # Text in and out
    GlossaryEntry(
        "token", "piece of text", "A unit that the model reads or writes: a word, part of a word or a character."
    ),
    GlossaryEntry("tokenizer", "splitter", "The component that splits text into tokens and joins tokens into text."),
    GlossaryEntry("vocabulary", "known tokens", "The fixed list of tokens that a model can read or write."),
    GlossaryEntry(
        "subword",
        "word piece",
        "A frequent sequence of characters that serves as a token, so that rare words can be spelt with several.",
    ),
    GlossaryEntry(
        "<eos>",
        "end",
        "The end-of-sequence token: it closes the source, and the model predicts it when the translation is complete.",
    ),
    GlossaryEntry(
        "<sos>", "start", "The start-of-sequence token, which the decoder reads before it has written anything."
    ),
    GlossaryEntry("<unk>", "unknown", "The token that stands for everything outside of the vocabulary."),
    GlossaryEntry(
        "padding",
        "filling",
        "Tokens without meaning that bring the short sentences of a batch to the length of the longest one.",
    ),
    # The model
    GlossaryEntry(
        "Transformer",
        "attention model",
        "A neural network that relates all tokens of a sequence to each other by attention (Vaswani et al. 2017).",
    ),
    GlossaryEntry(
        "LSTM",
        "recurrent network",
        "A recurrent neural network that reads tokens one after the other and carries a memory along.",
    ),
    GlossaryEntry(
        "encoder", "reader", "The part of the model that reads the whole source and gives each of its tokens a vector."
    ),
    GlossaryEntry(
        "decoder",
        "writer",
        "The part of the model that predicts the target token by token, from the source and from what it has written.",
    ),
    GlossaryEntry(
        "layer",
        "stage",
        "One of several blocks of the same structure, each of which reads the output of the one before.",
    ),
    GlossaryEntry("embedding", "word vector", "The learned vector of a token, looked up in a table."),
    GlossaryEntry(
        "positional encoding", "position", "A vector that stands for a token's position and is added to its embedding."
    ),
    GlossaryEntry("d_model", "vector size", "The number of values in the vector of a token between two layers."),
    GlossaryEntry(
        "residual",
        "shortcut",
        "A connection that adds a sublayer's input to its output, so that each sublayer computes a change.",
    ),
    GlossaryEntry(
        "layer norm",
        "normalization",
        "An operation that brings each token's vector to mean 0 and standard deviation 1, then scales and shifts it.",
    ),
    GlossaryEntry(
        "feed-forward",
        "per-token network",
        "The sublayer that transforms each token's vector on its own, through a wider hidden layer.",
    ),
    GlossaryEntry("parameter", "learned number", "One of the numbers that training adjusts."),
    # Attention
    GlossaryEntry(
        "attention",
        "looking",
        "A mixture of the vectors of several tokens, weighted by how well each token fits the query.",
    ),
    GlossaryEntry(
        "attention weight",
        "share of attention",
        "The share, from 0 to 1, with which a row takes the value of a token; the weights of a row sum to 1.",
    ),
    GlossaryEntry(
        "self-attention",
        "looking at its own side",
        "Attention in which queries, keys and values come from the same sequence.",
    ),
    GlossaryEntry(
        "cross-attention",
        "looking at the source",
        "Attention in which the decoder's queries look at the keys and values of the source.",
    ),
    GlossaryEntry(
        "head",
        "one attention pattern",
        "One of several attention computations side by side in a layer, each with its own learned projections.",
    ),
    GlossaryEntry("query", "question", "The vector with which a row asks for what it needs."),
    GlossaryEntry(
        "key", "label", "The vector by which a token is found: the better it fits a query, the higher its weight."
    ),
    GlossaryEntry("value", "content", "The vector that a token passes on to the rows that look at it."),
    GlossaryEntry(
        "score",
        "fit",
        "The dot product of a query and a key, divided by the square root of their length, before softmax.",
    ),
    GlossaryEntry(
        "softmax",
        "shares of 1",
        "The function that turns scores into positive shares that sum to 1: e to the power of each, over the total.",
    ),
    GlossaryEntry(
        "causal mask", "no look ahead", "A mask that keeps each row of the decoder from seeing later tokens."
    ),
    GlossaryEntry(
        "entropy",
        "width of the choice",
        "A measure of how evenly a distribution is spread: 0 for a single choice, the logarithm of n for n equal ones.",
    ),
    # Prediction
    GlossaryEntry(
        "logit", "raw score", "The score of a token of the vocabulary, before softmax turns it into a probability."
    ),
    GlossaryEntry("greedy", "always the likeliest", "A search that takes the likeliest token at every step."),
    GlossaryEntry(
        "beam search", "several candidates", "A search that keeps the best few partial translations at every step."
    ),
    GlossaryEntry(
        "temperature",
        "boldness",
        "A number that flattens the distribution over tokens above 1 and sharpens it below 1.",
    ),
    GlossaryEntry(
        "teacher forcing",
        "given target",
        "Running the decoder on a given target instead of on its own predictions, as in training.",
    ),
    # Training and scores
    GlossaryEntry(
        "loss", "error", "The negative logarithm of the probability of the right token, averaged; training lowers it."
    ),
    GlossaryEntry(
        "label smoothing",
        "softened target",
        "Training towards a probability of slightly less than 1 for the right token; all tokens share the rest.",
    ),
    GlossaryEntry(
        "consistency",
        "agreement of two passes",
        "Training that requires the same prediction from two noisy passes over a sentence, as in SimCut and R-Drop.",
    ),
    GlossaryEntry(
        "token cutoff",
        "hidden words",
        "Setting the embeddings of a few random tokens to zero in training, so that no single word is relied on.",
    ),
    GlossaryEntry(
        "data diversification",
        "translated training data",
        "Training on a model's own translations of the training sentences as well, in both directions.",
    ),
    GlossaryEntry("learning rate", "step size", "The factor by which each update changes the parameters."),
    GlossaryEntry("batch", "group of sentences", "Sentences that are computed together."),
    GlossaryEntry(
        "validation", "held-out check", "Sentences kept out of training, on which the model is scored while it trains."
    ),
    GlossaryEntry("exact match", "completely right", "The share of sentences whose translation equals the reference."),
    GlossaryEntry(
        "BLEU",
        "overlap with a reference",
        "A score from 0 to 100 for the words and word sequences that a translation shares with a reference.",
    ),
    GlossaryEntry("ablation", "switching off", "Removing one part of a model and measuring what changes."),
)


def explain(term: str) -> GlossaryEntry:
    """Look up the entry of a term, ignoring case.

    Raises:
        KeyError: the glossary has no such term.
    """
    return _BY_TERM[term.casefold()]


_BY_TERM = {entry.term.casefold(): entry for entry in GLOSSARY}


def address_of(term: str) -> str:
    """The link target of a term: "#term-self-attention"."""
    return f"#term-{'-'.join(re.findall('[a-z0-9]+', term.casefold()))}"


NAMED = "glossary: {}"
"""The message that translates a term: its name, and other forms that texts use, as in "Gewicht|Gewichte"."""


def names_of(entry: GlossaryEntry) -> tuple[str, ...]:
    """The name of a term in the language chosen, and its other forms in texts."""
    message = NAMED.format(entry.term)
    written = translated(message)
    if written != message:
        return tuple(written.split("|"))
    return entry.term, plural(2, entry.term).removeprefix("2 ")


def addresses() -> dict[str, str]:
    """Link targets by each form in which a term may occur in a text, in lower case."""
    return {form: address_of(term) for form, term in _forms(language.current()).items()}


@language.cached_by_language(1024)
def explained(text: str) -> str:
    """Escape `text` as Markdown that shows exactly these characters; the first mention of each term becomes a link.

    Text in quotation marks is a token or a sentence, so it is never linked.
    """
    pieces = split_at_terms(text, set())
    return "".join(f"[{plain(piece)}]({address})" if address else plain(piece) for piece, address in pieces)


def linked(markdown: str) -> str:
    """Make the first mention of each term in a Markdown text a link."""
    parts, seen = _SET_APART.split(markdown), set[str]()
    for i in range(0, len(parts), 2):
        pieces = split_at_terms(parts[i], seen)
        parts[i] = "".join(f"[{piece}]({address})" if address else piece for piece, address in pieces)
    return "".join(parts)


def split_at_terms(text: str, linked: set[str]) -> Iterator[tuple[str, str]]:
    """Split a text into pieces, each with the link target of its term, or with "" if it is no first mention.

    `linked` holds the terms that are links already; the new ones are added. Text in quotation marks has no terms.
    """
    forms, finder = _forms(language.current()), _finder(language.current())
    for i, part in enumerate(_QUOTED.split(text)):
        end = 0
        for match in () if i % 2 else finder.finditer(part):
            term = forms[match[0].casefold()]
            if term in linked:
                continue
            linked.add(term)
            yield part[end : match.start()], ""
            yield match[0], address_of(term)
            end = match.end()
        yield part[end:], ""


_EVERYDAY = {"value", "parameter", "attention", "consistency", "validation"}  # mostly used in their everyday meaning
_SET_APART = re.compile(r"(```.*?```|`[^`]*`|\[[^]]*\]\([^)]*\))", re.DOTALL)  # code and links
_QUOTED = re.compile("(“[^”]*”|„[^“]*“|«[^»]*»)")


@lru_cache(maxsize=8)
def _forms(code: str) -> dict[str, str]:
    with language.written_in(code):
        return {
            form.casefold(): entry.term.casefold()
            for entry in GLOSSARY
            if entry.term not in _EVERYDAY
            for form in names_of(entry)
        }


@lru_cache(maxsize=8)
def _finder(code: str) -> re.Pattern[str]:
    forms = sorted(_forms(code), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, forms))})(?![\w-])", re.IGNORECASE)
