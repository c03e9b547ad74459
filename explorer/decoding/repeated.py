"""Translate a sentence several times over, count what comes through, and say what the counts can tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from explorer.decoding.translator import Translation
from explorer.locale.messages import t

MOST = 6  # repetitions that are always tried

Translate = Callable[[str], Translation]


@dataclass(frozen=True)
class Several:
    """Several sentences in one input: its tokens without <eos>, the answer, and the translations that stand in it.

    A translation counts if it stands in the answer word for word; capitals do not matter, nor which mark ends it. One
    that ends with a mark has to end there, too: the beginning of a longer sentence is not this sentence.
    `texts` are the sentences, if they differ.
    """

    sentences: int
    tokens: int
    answer: str
    found: int
    texts: tuple[str, ...] = ()


def repeated(translation: Translation, translate: Translate, trained: int, between: str) -> tuple[Several, ...]:
    """The sentence once, twice and so on, `between` them, up to :data:`MOST` and past the longest training sentence.

    It ends before an input of which the model reads no more than of the one before.
    """
    text = translation.source.text
    if not _plain(translation.text):
        return ()
    rows: list[Several] = []
    for n in range(1, max(MOST, trained // len(translation.source) + 1) + 1):
        longer = translate(between.join([text] * n))
        if rows and len(longer.source) <= rows[-1].tokens:
            break
        found = len(_found(translation.text, longer.text, spaced=bool(between)))
        rows.append(Several(n, len(longer.source), longer.text, min(n, found)))
    return tuple(rows)


def different(
    translation: Translation, translate: Translate, examples: Sequence[str], n: int, between: str
) -> Several | None:
    """The sentence and `n - 1` other examples in one input; None if there are not as many."""
    texts = [translation.source.text, *(text for text in examples if text != translation.source.text)][:n]
    if len(texts) < n:
        return None
    longer = translate(between.join(texts))
    answers = [translate(text).text for text in texts]
    found = sum(bool(_plain(answer) and _found(answer, longer.text, spaced=bool(between))) for answer in answers)
    return Several(n, len(longer.source), longer.text, found, tuple(texts))


def first_lost(rows: Sequence[Several]) -> Several | None:
    """The fewest repetitions in whose answer a translation is missing; None if none is missing anywhere."""
    return next((row for row in rows if row.found < row.sentences), None)


def verdict(rows: Sequence[Several], trained: int, others: Several | None) -> str:
    """What the counts say about length and repetition; `trained` is the longest training sentence (0 = unknown).

    `others` are as many different sentences as the first repetitions that lose one.
    """
    if len(rows) < 2:
        return ""
    lost, last = first_lost(rows), rows[-1]
    if lost is None:
        if 0 < trained < last.tokens:
            return t(
                "Up to {n} × ({tokens} tokens, longer than anything in training) the answer has every translation.",
                n=last.sentences,
                tokens=last.tokens,
            )
        return t(
            "Up to {n} × ({tokens} tokens) the answer has every translation.", n=last.sentences, tokens=last.tokens
        )
    counted = t(
        "At {times} × ({tokens} tokens) the answer has the sentence's translation, word for word, {n} × instead of "
        "{times} ×.",
        n=lost.found,
        times=lost.sentences,
        tokens=lost.tokens,
    )
    return " ".join([counted, *([_reason(lost, rows, trained, others)] if trained else []), *_unchanged(rows, trained)])


def _unchanged(rows: Sequence[Several], trained: int) -> list[str]:
    """Whether the last answers are one and the same from inputs as long as in training to longer ones."""
    first = next(row for row in rows if all(other.answer == row.answer for other in rows[row.sentences - 1 :]))
    if not first.tokens <= trained < rows[-1].tokens:
        return []
    return [
        t(
            "The answer is the same from {first} to {last} tokens, also beyond the longest input in training.",
            first=first.tokens,
            last=rows[-1].tokens,
        )
    ]


def _reason(lost: Several, rows: Sequence[Several], trained: int, others: Several | None) -> str:
    """What the first loss can be due to."""
    before = rows[lost.sentences - 2]
    if lost.tokens > trained:
        if before.sentences > 1 and before.tokens <= trained:
            return t(
                "That is longer than anything in training, and {n} × came through: here the length is the likely "
                "reason.",
                n=before.sentences,
            )
        if others and others.tokens > trained and others.found < others.sentences:
            return t(
                "That is longer than anything in training. {found} of {n} different sentences ({tokens} tokens) came "
                "through, so it does not take a repetition.",
                found=others.found,
                n=others.sentences,
                tokens=others.tokens,
            )
        return t(
            "That is longer than anything in training and repeated: it cannot be told here which of the two is the "
            "reason."
        )
    if others is None or others.tokens > trained:
        return t("Training had inputs of this length, so the length alone does not explain it.")
    if others.found == others.sentences:
        return t(
            "Training had inputs of this length, and {n} different sentences ({tokens} tokens) came through: this "
            "suggests that the repetition is the reason, not the length.",
            n=others.sentences,
            tokens=others.tokens,
        )
    if not others.found:
        return t(
            "Training had inputs of this length, and none of {n} different sentences ({tokens} tokens) came through "
            "word for word: this suggests that the reason is several sentences in one input, rather than the length or "
            "the repetition.",
            n=others.sentences,
            tokens=others.tokens,
        )
    return t(
        "Training had inputs of this length, and of {n} different sentences ({tokens} tokens) {found} came "
        "through word for word: this suggests that the reason is several sentences in one input, rather than the "
        "length or the repetition.",
        n=others.sentences,
        tokens=others.tokens,
        found=others.found,
    )


_MARKS = ".!?…"


def _plain(text: str) -> str:
    return text.strip().rstrip(_MARKS).strip().casefold()


def _found(translation: str, text: str, *, spaced: bool) -> list[str]:
    """The places at which a translation stands in a text; between words, if these are `spaced`."""
    pattern = re.escape(_plain(translation))
    ends = rf"(?=\s*(?:[{_MARKS}]|$))" if translation.strip().endswith(tuple(_MARKS)) else ""
    return re.findall((rf"(?<!\w){pattern}(?!\w)" if spaced else pattern) + ends, text.casefold())
