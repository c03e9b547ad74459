"""The app's technical terms, each with a plain word and one sentence: the only text that tooltips may use.

A term is spelt as in the literature. `pages` are those on which it appears, named as in :data:`lesson.PAGES`. In a text
of :func:`explained`, a term is a link that explains itself on hover, focus or tap (explorer/browser/glossary.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from explorer.locale.text import plain


@dataclass(frozen=True)
class GlossaryEntry:
    """A term, the plain word that stands before it on screen, its explanation, and the pages that use it."""

    term: str
    plain: str
    explanation: str
    pages: tuple[str, ...]


_READING = ("translate", "attention")  # pages that show a translation at work
_TEACHING = ("positions", "masks", "inside")
_RUNS = ("train", "runs", "experiments")

GLOSSARY: tuple[GlossaryEntry, ...] = (
    # Text in and out
    GlossaryEntry(
        "token",
        "piece of text",
        "A unit that the model reads or writes: a word, part of a word or a character.",
        (*_READING, *_TEACHING, "probe", "train"),
    ),
    GlossaryEntry(
        "tokenizer",
        "splitter",
        "The component that splits text into tokens and joins tokens into text.",
        ("train", "runs"),
    ),
    GlossaryEntry(
        "vocabulary",
        "known tokens",
        "The fixed list of tokens that a model can read or write.",
        ("translate", "inside", "train"),
    ),
    GlossaryEntry(
        "subword",
        "word piece",
        "A frequent sequence of characters that serves as a token, so that rare words can be spelt with several.",
        ("attention", "train"),
    ),
    GlossaryEntry(
        "<eos>",
        "end",
        "The end-of-sequence token: it closes the source, and the model predicts it when the translation is complete.",
        (*_READING, *_TEACHING),
    ),
    GlossaryEntry(
        "<sos>",
        "start",
        "The start-of-sequence token, which the decoder reads before it has written anything.",
        (*_READING, *_TEACHING),
    ),
    GlossaryEntry(
        "<unk>",
        "unknown",
        "The token that stands for everything outside of the vocabulary.",
        ("translate", "train"),
    ),
    GlossaryEntry(
        "padding",
        "filling",
        "Tokens without meaning that bring the short sentences of a batch to the length of the longest one.",
        ("masks", "inside"),
    ),
    # The model
    GlossaryEntry(
        "Transformer",
        "attention model",
        "A neural network that relates all tokens of a sequence to each other by attention (Vaswani et al. 2017).",
        (*_TEACHING, "train"),
    ),
    GlossaryEntry(
        "LSTM",
        "recurrent network",
        "A recurrent neural network that reads tokens one after the other and carries a memory along.",
        ("attention", "train"),
    ),
    GlossaryEntry(
        "encoder",
        "reader",
        "The part of the model that reads the whole source and gives each of its tokens a vector.",
        (*_READING, *_TEACHING, "probe"),
    ),
    GlossaryEntry(
        "decoder",
        "writer",
        "The part of the model that predicts the target token by token, from the source and from what it has written.",
        (*_READING, *_TEACHING, "probe"),
    ),
    GlossaryEntry(
        "layer",
        "stage",
        "One of several blocks of the same structure, each of which reads the output of the one before.",
        (*_READING, *_TEACHING, "probe", "train"),
    ),
    GlossaryEntry(
        "embedding",
        "word vector",
        "The learned vector of a token, looked up in a table.",
        ("positions", "inside"),
    ),
    GlossaryEntry(
        "positional encoding",
        "position",
        "A vector that stands for a token's position and is added to its embedding.",
        ("positions", "inside"),
    ),
    GlossaryEntry(
        "d_model",
        "vector size",
        "The number of values in the vector of a token between two layers.",
        ("positions", "inside", "train"),
    ),
    GlossaryEntry(
        "residual",
        "shortcut",
        "A connection that adds a sublayer's input to its output, so that each sublayer computes a change.",
        ("inside",),
    ),
    GlossaryEntry(
        "layer norm",
        "normalization",
        "An operation that brings each token's vector to mean 0 and standard deviation 1, then scales and shifts it.",
        ("inside", "train"),
    ),
    GlossaryEntry(
        "feed-forward",
        "per-token network",
        "The sublayer that transforms each token's vector on its own, through a wider hidden layer.",
        ("inside",),
    ),
    GlossaryEntry(
        "parameter",
        "learned number",
        "One of the numbers that training adjusts.",
        ("inside", *_RUNS),
    ),
    # Attention
    GlossaryEntry(
        "attention",
        "looking",
        "A mixture of the vectors of several tokens, weighted by how well each of them fits what is asked for.",
        ("attention", *_TEACHING, "probe"),
    ),
    GlossaryEntry(
        "attention weight",
        "share of attention",
        "The share, from 0 to 1, with which a row takes the value of a token; the weights of a row sum to 1.",
        ("attention", "masks", "inside"),
    ),
    GlossaryEntry(
        "self-attention",
        "looking at its own side",
        "Attention in which queries, keys and values come from the same sequence.",
        ("attention", "masks", "inside"),
    ),
    GlossaryEntry(
        "cross-attention",
        "looking at the source",
        "Attention in which the decoder's queries look at the keys and values of the source.",
        ("attention", "masks", "inside", "probe"),
    ),
    GlossaryEntry(
        "head",
        "one attention pattern",
        "One of several attention computations side by side in a layer, each with its own learned projections.",
        ("attention", *_TEACHING, "probe", "runs"),
    ),
    GlossaryEntry(
        "query",
        "question",
        "The vector with which a row asks for what it needs.",
        ("attention", "masks", "inside"),
    ),
    GlossaryEntry(
        "key",
        "label",
        "The vector by which a token is found: the better it fits a query, the higher its weight.",
        ("attention", "masks", "inside"),
    ),
    GlossaryEntry(
        "value",
        "content",
        "The vector that a token hands on to the rows that look at it.",
        ("attention", "inside"),
    ),
    GlossaryEntry(
        "score",
        "fit",
        "The dot product of a query and a key, divided by the square root of their length, before softmax.",
        ("attention", "masks", "inside"),
    ),
    GlossaryEntry(
        "softmax",
        "shares of 1",
        "The function that turns scores into positive shares that sum to 1: e to the power of each, over the total.",
        ("masks", "inside"),
    ),
    GlossaryEntry(
        "causal mask",
        "no look ahead",
        "A mask that keeps each row of the decoder from seeing later tokens.",
        ("masks", "inside"),
    ),
    GlossaryEntry(
        "entropy",
        "width of the choice",
        "A measure of how evenly a distribution is spread: 0 for a single choice, the logarithm of n for n equal ones.",
        ("attention", "probe"),
    ),
    # Prediction
    GlossaryEntry(
        "logit",
        "raw score",
        "The score of a token of the vocabulary before softmax makes a probability of it.",
        ("inside",),
    ),
    GlossaryEntry(
        "greedy",
        "always the likeliest",
        "A search that takes the likeliest token at every step.",
        ("translate", "inside"),
    ),
    GlossaryEntry(
        "beam search",
        "several candidates",
        "A search that keeps the best few partial translations at every step.",
        ("translate",),
    ),
    GlossaryEntry(
        "temperature",
        "boldness",
        "A number that flattens the distribution over tokens above 1 and sharpens it below 1.",
        ("translate", "inside"),
    ),
    GlossaryEntry(
        "teacher forcing",
        "given target",
        "Running the decoder on a given target instead of on its own predictions, as in training.",
        ("attention", "masks"),
    ),
    # Training and scores
    GlossaryEntry(
        "loss",
        "error",
        "The negative logarithm of the probability of the right token, averaged; training lowers it.",
        ("masks", "inside", *_RUNS),
    ),
    GlossaryEntry(
        "label smoothing",
        "softened target",
        "Training towards a little less than probability 1 for the right token, the rest shared by all tokens.",
        ("inside", "train"),
    ),
    GlossaryEntry(
        "consistency",
        "agreement of two passes",
        "Training that asks two noisy passes over a sentence for the same prediction, as in SimCut and R-Drop.",
        ("train",),
    ),
    GlossaryEntry(
        "token cutoff",
        "hidden words",
        "Setting the embeddings of a few random tokens to zero while training, so that no word is relied on alone.",
        ("train",),
    ),
    GlossaryEntry(
        "data diversification",
        "translated training data",
        "Training on a model's own translations of the training sentences as well, in both directions.",
        ("train",),
    ),
    GlossaryEntry(
        "learning rate",
        "step size",
        "The factor by which each update changes the parameters.",
        _RUNS,
    ),
    GlossaryEntry(
        "batch",
        "group of sentences",
        "Sentences that are computed together.",
        ("masks", "train"),
    ),
    GlossaryEntry(
        "validation",
        "held-out check",
        "Sentences kept out of training, on which the model is scored while it trains.",
        _RUNS,
    ),
    GlossaryEntry(
        "exact match",
        "completely right",
        "The share of sentences whose translation equals the reference.",
        _RUNS,
    ),
    GlossaryEntry(
        "BLEU",
        "overlap with a reference",
        "A score from 0 to 100 for the words and word sequences that a translation shares with a reference.",
        _RUNS,
    ),
    GlossaryEntry(
        "ablation",
        "switching off",
        "Removing one part of a model and measuring what changes.",
        ("probe",),
    ),
)


def explain(term: str) -> GlossaryEntry:
    """The entry of a term, without regard to capitals.

    Raises:
        KeyError: the glossary has no such term.
    """
    return _BY_TERM[term.casefold()]


_BY_TERM = {entry.term.casefold(): entry for entry in GLOSSARY}


def address_of(term: str) -> str:
    """What the link of a term leads to: "#term-self-attention"."""
    return f"#term-{'-'.join(re.findall('[a-z0-9]+', term.casefold()))}"


def addresses(page: str) -> dict[str, str]:
    """For each form of a term that appears on a page, in lower case, what its link leads to."""
    return {form: address_of(term) for form, term in _FORMS.items() if page in explain(term).pages}


def explained(text: str) -> str:
    """`text` as Markdown that shows exactly these characters; the first mention of each term is a link.

    What stands in quotation marks is a token or a sentence, and never a term.
    """
    known: set[str] = set()
    pieces = []
    for i, part in enumerate(_QUOTED.split(text)):
        end = 0
        for match in () if i % 2 else _TERMS.finditer(part):
            term = _FORMS[match[0].casefold()]
            if term in known:
                continue
            known.add(term)
            pieces += [plain(part[end : match.start()]), f"[{plain(match[0])}]({address_of(term)})"]
            end = match.end()
        pieces.append(plain(part[end:]))
    return "".join(pieces)


def _plural(term: str) -> str:
    if term.endswith("y") and term[-2] not in "aeiou":
        return f"{term[:-1]}ies"
    return f"{term}es" if term.endswith(("s", "x", "h")) else f"{term}s"


_EVERYDAY = {"value", "parameter", "attention", "consistency", "validation"}  # these mostly have their everyday meaning
_QUOTED = re.compile("(“[^”]*”)")
_FORMS = {
    form: entry.term.casefold()
    for entry in GLOSSARY
    if entry.term not in _EVERYDAY
    for form in (entry.term.casefold(), _plural(entry.term.casefold()))
}
_TERMS = re.compile(
    rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(_FORMS, key=len, reverse=True)))})(?![\w-])", re.IGNORECASE
)
