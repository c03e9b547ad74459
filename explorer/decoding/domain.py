"""Detect sentences that a model was not trained for, from spelling, confidence and length."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from explorer.decoding.examples import length_of, lengths_in_training
from explorer.decoding.translator import Translation
from explorer.locale.messages import t, translated
from explorer.locale.text import listed, percent, quoted, shortened
from model.checkpoint import read_tokenizers
from model.config import SPECIALS
from model.data import TASKS, get_task
from model.data.task import Task
from model.folder import SHIPPED

# Threshold on the geometric mean of the likeliest tokens' probabilities, for models without a measured one. For
# Multi30k models trained on the corpus alone, 2 % to 5 % of the validation sentences lay below it; sentences on other
# subjects or in other languages have 0.2 to 0.45. The shipped models have thresholds of their own, see Task.confidence.
LOW = 0.38
# A sentence with this share of words that are cut into pieces, as rare ones are, needs more confidence than others, and
# so does a short one, whose answer is easier. Of 150 test sentences of Multi30k each, both rules doubt 5 of the English
# and 14 of the German ones more. Of 18 everyday sentences, all wrongly translated, on which 0.68 was chosen, 10 would
# not be doubted otherwise; these rules doubt 8 of them. So this is no independent test.
IN_PIECES, RATHER_LOW = 0.25, 0.68
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


def doubts(translation: Translation, task: Task | None) -> list[str]:
    """Say in sentences not to trust this translation and why; without a reason, there are none.

    Edited translations are not doubted: their low confidence may come from the edit.
    """
    if translation.trace.edits:
        return []
    too_long = _too_long(translation, task)
    reasons = [*too_long, *_unseen(translation), *_unsure(translation, task)]
    reasons = reasons or _shredded(translation, task) or _not_listed(translation, task)
    if not reasons:
        return []
    if task and task.trained_on and reasons != too_long:  # a sentence that is too long may be about the right things
        reasons.append(t("The model was trained on {data}.", data=translated(task.trained_on)))
    return [t("Do not trust the answer."), *reasons]


def doubts_of(translation: Translation, summary: Mapping[str, Any]) -> list[str]:
    """The :func:`doubts` on an answer of the model of this summary; none if it is untrained or its data are unknown."""
    if not summary["trained"] or summary["imported"]:
        return []
    task = str(summary.get("task"))
    said = doubts(translation, get_task(task) if task in TASKS else None)
    if translation.trace.edits:
        return said
    lengths = _untrained_length(translation, summary)
    if lengths and not said:
        said = [t("Do not trust the answer.")]
    return [*said, *lengths, *_in_small_letters(translation, summary)]


def _untrained_length(translation: Translation, summary: Mapping[str, Any]) -> list[str]:
    """Say that a source is longer or shorter than all of somebody's own pairs, of which no task says it."""
    of_letters = (summary.get("data") or {}).get("tokenizer") == "characters"
    range_ = lengths_in_training(summary, letters=of_letters)
    n = length_of(translation.source.text, letters=of_letters)
    if range_ is None or range_[0] <= n <= range_[1]:
        return []
    if n > range_[1]:
        return [_longer(n, range_[1], letters=of_letters)]
    if of_letters:
        return [
            t(
                "The sentence has {n} token; the shortest in training had {shortest}.",
                "The sentence has {n:,} tokens; the shortest in training had {shortest}.",
                n=n,
                shortest=range_[0],
            )
        ]
    return [
        t(
            "The sentence has {n} word; the shortest in training had {shortest}.",
            "The sentence has {n:,} words; the shortest in training had {shortest}.",
            n=n,
            shortest=range_[0],
        )
    ]


def _in_small_letters(translation: Translation, summary: Mapping[str, Any]) -> list[str]:
    """Name words that the vocabulary lacks as they are written, but has in small letters."""
    source = translation.source
    small = {token.lower(): token for token, unknown in zip(source.tokens, source.unknown, strict=True) if unknown}
    changed = [word for word, token in small.items() if word != token]
    if not changed:
        return []
    known = read_tokenizers(Path(summary["folder"]))[0]
    words = [quoted(word) for word in changed if known.encode(word).unknown == (False,)]
    return [t("It knows {words} in small letters.", words=_named(words))] if words else []


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
    return [t("{tokens} never occurred in training.", tokens=_named(list(map(quoted, distinct))))]


def _named(words: Sequence[str]) -> str:
    """List the first of these words, and count the others."""
    more = [t("{n} more", "{n} more", n=len(words) - MOST_NAMED)] if len(words) > MOST_NAMED else []
    return listed([*words[:MOST_NAMED], *more])


def _not_listed(translation: Translation, task: Task | None) -> list[str]:
    if task is None:
        return []
    if task.is_source is not None:
        return [] if task.is_source(translation.source.text) else [translated(task.not_a_source)]
    if not task.complete or _normal(translation.source.text) in sources(task.name):
        return []
    return [t("It is none of the {n:,} sentences of its task.", n=len(sources(task.name)))]


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
    tokens, words = len(source), len(source.text.split())
    sentences = []
    if task.longest and tokens > task.longest:
        sentences.append(_longer(tokens, task.longest, letters=True))
    if task.longest_words and words > task.longest_words:
        sentences.append(_longer(words, task.longest_words, letters=False))
    return sentences


def _longer(n: int, longest: int, *, letters: bool) -> str:
    if letters:
        return t(
            "The sentence has {n} token; the longest in training had {longest}.",
            "The sentence has {n:,} tokens; the longest in training had {longest}.",
            n=n,
            longest=longest,
        )
    return t(
        "The sentence has {n} word; the longest in training had {longest}.",
        "The sentence has {n:,} words; the longest in training had {longest}.",
        n=n,
        longest=longest,
    )


def _unsure(translation: Translation, task: Task | None) -> list[str]:
    mean_probability = confidence(translation)
    # A task's threshold was measured on the shipped models and does not hold for others trained on it.
    usual = task.confidence if task is not None and translation.model in SHIPPED else 0.0
    if mean_probability >= (usual or LOW):
        return _rather_unsure(translation, task, mean_probability)
    letters, share, more = _reads_letters(translation), percent(mean_probability), percent(usual)
    if usual and letters:
        average = t(
            "On average, the model gave only {share} to its likeliest letter (geometric mean); on its own data, it "
            "nearly always gives more than {more}.",
            share=share,
            more=more,
        )
    elif usual:
        average = t(
            "On average, the model gave only {share} to its likeliest word (geometric mean); on its own data, it "
            "nearly always gives more than {more}.",
            share=share,
            more=more,
        )
    elif letters:
        average = t("On average, the model gave only {share} to its likeliest letter (geometric mean).", share=share)
    else:
        average = t("On average, the model gave only {share} to its likeliest word (geometric mean).", share=share)
    words = [] if letters else _in_pieces(translation)
    if words:
        average += " " + t("It had to spell {words} in small pieces.", words=_named(words))
    return [average]


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
            t(
                "Although the sentence is short, the model gave only {share} to its likeliest word (geometric mean).",
                share=percent(mean_probability),
            )
        ]
    return [
        t(
            "It had to spell {words} in pieces, and gave only {share} to its likeliest word (geometric mean).",
            words=_named(cut),
            share=percent(mean_probability),
        )
    ]


def _reads_letters(translation: Translation) -> bool:
    """Whether all tokens of this translation are single letters; then splitting a word into pieces means nothing."""
    tokens = (*translation.source.tokens, *(token for row in translation.trace.top_tokens for token in row))
    return all(len(token) == 1 or token in SPECIALS for token in tokens)


def _shredded(translation: Translation, task: Task | None) -> list[str]:
    """Name words cut into more pieces than those of nearly all validation sentences, whatever the confidence."""
    most = task.most_pieces if task is not None and translation.model in SHIPPED else 0
    words = _in_pieces(translation, most + 1) if most else []
    if not words:
        return []
    return [
        t(
            "It had to spell {words} in more than {n} piece.",
            "It had to spell {words} in more than {n:,} pieces.",
            words=_named(words),
            n=most,
        )
    ]


def _in_pieces(translation: Translation, least: int = MANY_PIECES) -> list[str]:
    """Words of the source, in quotation marks, that have at least `least` pieces."""
    source = translation.source
    words: dict[int, list[tuple[int, int]]] = {}
    for word, span in zip(source.words, source.offsets, strict=True):
        if word >= 0:
            words.setdefault(word, []).append(span)
    split = [spans for spans in words.values() if len(spans) >= least]
    return list(dict.fromkeys(quoted(source.text[spans[0][0] : spans[-1][1]]) for spans in split))
