"""Detect sentences that a model was not trained for, from spelling, confidence and length."""

from __future__ import annotations

import functools
import re

import numpy as np

from explorer.decoding.translator import Translation
from explorer.locale.text import listed, percent, plural, quoted, shortened
from model.config import SPECIALS
from model.data import get_task
from model.data.task import Task
from model.folder import SHIPPED

# Threshold on the geometric mean of the likeliest tokens' probabilities, for models without a measured one. For
# Multi30k models trained on the corpus alone, 2 % to 5 % of the validation sentences lay below it; sentences on other
# subjects or in other languages have 0.2 to 0.45. The shipped models have thresholds of their own, see Task.confidence.
LOW = 0.38
# A sentence with this share of words that are cut into pieces, as rare ones are, needs more confidence than others. Of
# 150 test sentences of Multi30k each, this doubts 1 % of the English and 4 % of the German ones more; of 50 sentences
# on other subjects, on which both numbers were chosen, 48 instead of 32.
IN_PIECES, RATHER_LOW = 0.25, 0.6
# So does a short sentence, whose answer is easier. Of 222 test and validation sentences of at most this many tokens,
# this doubts 5 more, of which 3 have an answer with a word that does not exist; of 15 wrong answers to everyday
# sentences that were not doubted otherwise, and on which no number was chosen, 6. The other 9 have more confidence.
SHORT = 10
_BYTE = re.compile("<0x[0-9A-F]{2}>")  # how tokenizers write a byte of a character that is not in their alphabet
MANY_PIECES = 3  # a word with this many pieces was hardly ever seen in training
MOST_NAMED = 4
LONGEST_NAMED = 24  # characters of an unknown token


def confidence(translation: Translation) -> float:
    """The geometric mean over the steps of the probability of the likeliest token, from 0 to 1.

    Rows that the model was never trained to predict do not count: the source, of a decoder alone trained on pairs.
    """
    likeliest = np.asarray(translation.trace.top_probabilities[translation.unpredicted :], dtype=np.float64).max(axis=1)
    return float(np.exp(np.log(np.maximum(likeliest, np.finfo(np.float64).tiny)).mean()))


def warning(translation: Translation, task: Task | None) -> str:
    """A sentence that says why not to trust this translation, or an empty string.

    Edited translations get no warning: their low confidence may come from the edit.
    """
    if translation.trace.edits:
        return ""
    reasons = [*_unseen(translation), *_too_long(translation, task), *_unsure(translation, task)]
    if not reasons:
        reasons = _shredded(translation, task)
    if not reasons:
        reasons = _not_listed(translation, task)
    if not reasons:
        return ""
    data = f"Trained on {task.trained_on}: this is far from them" if task and task.trained_on else "Far from its data"
    return f"{data}, so do not trust the answer. {' '.join(reasons)}"


def _unseen(translation: Translation) -> list[str]:
    """Name tokens that are not in the vocabulary, and characters that a subword tokenizer can only spell in bytes."""
    source = translation.source
    unseen: list[str] = []
    for token, unknown, (start, end) in zip(source.tokens, source.unknown, source.offsets, strict=True):
        if unknown:
            unseen.append(shortened(token, LONGEST_NAMED))
        elif _BYTE.fullmatch(token):
            unseen += [character for character in source.text[start:end] if not character.isspace()]
    distinct = list(dict.fromkeys(unseen))
    if not distinct:
        return []
    names = listed([quoted(token) for token in distinct[:MOST_NAMED]])
    more = f" and {len(distinct) - MOST_NAMED} more" if len(distinct) > MOST_NAMED else ""
    return [f"{names}{more} never occurred in training."]


def _not_listed(translation: Translation, task: Task | None) -> list[str]:
    if task is None:
        return []
    if task.is_source is not None:
        return [] if task.is_source(translation.source.text) else [task.not_a_source]
    if not task.complete or _normal(translation.source.text) in sources(task.name):
        return []
    return [f"It is none of the {len(sources(task.name)):,} sentences of its task."]


@functools.cache
def sources(name: str) -> frozenset[str]:
    """Every source of a task, normalised by :func:`_normal`."""
    return frozenset(_normal(example.source) for split in get_task(name).splits.values() for example in split)


def _normal(text: str) -> str:
    """Normalise a text for comparison: case, spaces and the final punctuation mark are ignored."""
    return " ".join(text.casefold().rstrip(" .!?").split())


def _too_long(translation: Translation, task: Task | None) -> list[str]:
    if task is None:
        return []
    source = translation.source
    sizes = ("token", len(source), task.longest), ("word", len(source.text.split()), task.longest_words)
    return [
        f"It has {plural(length, unit)}; the longest in training had {longest}."
        for unit, length, longest in sizes
        if longest and length > longest
    ]


def _unsure(translation: Translation, task: Task | None) -> list[str]:
    mean_probability = confidence(translation)
    # A task's threshold was measured on the shipped models and does not hold for others trained on it.
    usual = task.confidence if task is not None and translation.model in SHIPPED else 0.0
    if mean_probability >= (usual or LOW):
        return _rather_unsure(translation, task, mean_probability)
    words = [] if _reads_letters(translation) else _in_pieces(translation)
    pieces = f" It had to spell {listed(words[:MOST_NAMED])} in small pieces." if words else ""
    unit = "letter" if _reads_letters(translation) else "word"
    mostly = f"; on its own data, it nearly always gives more than {percent(usual)}" if usual else ""
    return [
        f"On average, the model gave only {percent(mean_probability)} to its likeliest {unit} (geometric mean)"
        f"{mostly}.{pieces}"
    ]


def _rather_unsure(translation: Translation, task: Task | None, mean_probability: float) -> list[str]:
    """Doubt a sentence that is short or has many words in pieces, if the model was not very sure of its answer."""
    measured = task is not None and task.most_pieces and translation.model in SHIPPED
    if not measured or mean_probability >= RATHER_LOW:
        return []
    cut, words = _in_pieces(translation, 2), set(translation.source.words) - {-1}
    if len(cut) < IN_PIECES * len(words):
        if len(translation.source) > SHORT:
            return []
        return [
            f"Although the sentence is short, the model gave only {percent(mean_probability)} to its likeliest word "
            f"(geometric mean)."
        ]
    return [
        f"It had to spell {listed(cut[:MOST_NAMED])} in pieces, and gave only {percent(mean_probability)} to its "
        f"likeliest word (geometric mean)."
    ]


def _reads_letters(translation: Translation) -> bool:
    """Whether all tokens of this translation are single letters; then splitting a word into pieces means nothing."""
    tokens = (*translation.source.tokens, *(token for row in translation.trace.top_tokens for token in row))
    return all(len(token) == 1 or token in SPECIALS for token in tokens)


def _shredded(translation: Translation, task: Task | None) -> list[str]:
    """Name words cut into more pieces than those of nearly all validation sentences, whatever the confidence."""
    most = task.most_pieces if task is not None and translation.model in SHIPPED else 0
    words = _in_pieces(translation, most + 1) if most else []
    return [f"It had to spell {listed(words[:MOST_NAMED])} in more than {plural(most, 'piece')}."] if words else []


def _in_pieces(translation: Translation, least: int = MANY_PIECES) -> list[str]:
    """Words of the source, in quotation marks, that have at least `least` pieces."""
    source = translation.source
    words: dict[int, list[tuple[int, int]]] = {}
    for word, span in zip(source.words, source.offsets, strict=True):
        if word >= 0:
            words.setdefault(word, []).append(span)
    split = [spans for spans in words.values() if len(spans) >= least]
    return list(dict.fromkeys(quoted(source.text[spans[0][0] : spans[-1][1]]) for spans in split))
