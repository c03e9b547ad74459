"""Propose sentences that differ from another one in a single word of the same kind, as a minimal pair does."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import pairwise

from explorer.decoding.coordinates import Place
from explorer.decoding.pair_marks import DIFFERENT
from explorer.decoding.translator import Translation, Translator
from explorer.probing.sample import task_of
from explorer.probing.syntax import determiners, function_words, word_class
from model.analysis.patching import changed_rows, neighbours
from model.checkpoint import LoadedModel
from model.config import EOS, SOS, DecodeConfig
from model.data import Task
from model.recording import AttentionRecorder
from model.scoring import evenly_spaced

NEIGHBOURS = 6  # replacements that are tried for each token
MOST_DECODED = 3  # proposals whose answers are computed
MOST_PLACES = 12  # tokens of a sentence that are tried
_NEAREST = 150  # tokens among which they are looked for
_NOMINAL = 1.2  # factor that prefers nouns and adjectives, whose replacement leaves a sentence grammatical
_ENDING = 2  # letters in which agreement shows in an inflected language


def others_of(loaded: LoadedModel, ids: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Sources that differ from `ids` (without <eos>) in one token, replaced by a similar one of the same kind.

    They can all be typed: their text has these tokens again. Long sentences are changed at evenly spread places. Where
    tokens are words, or parts of them, whole words are replaced.
    """
    similar, others = neighbours(loaded.transformer, ids, _NEAREST)[0], []
    words = loaded.source.encode(loaded.source.decode(ids)).words
    known = _contexts(loaded)
    for place in evenly_spaced(len(ids), MOST_PLACES):
        is_part = loaded.source.kind != "characters" and words.count(words[place]) > 1
        tried = 0
        for token in () if is_part else map(int, similar[place]):
            changed = (*ids[:place], token, *ids[place + 1 :])
            around = pairwise((SOS, *changed, EOS)[place : place + 3])
            fits = all(pair in known for pair in around) if known else _is_alike(loaded, ids[place], token)
            if fits and tried < NEIGHBOURS:
                encoded = loaded.source.encode(loaded.source.decode(changed))
                if (encoded.ids, encoded.words) == (changed, words):
                    others.append(changed)
                    tried += 1
    return others


def _small_task(loaded: LoadedModel) -> Task | None:
    """The task of a model that reads whole words, if its data is at hand."""
    task = task_of(loaded) if loaded.source.kind == "words" else None
    return None if task is None or task.from_folder else task


def _contexts(loaded: LoadedModel) -> Container[tuple[int, ...]]:
    """All neighbouring tokens in the data of a task of few words; empty for others, and for data to be downloaded."""
    task = _small_task(loaded)
    if task is None:
        return ()
    sources = ((SOS, *loaded.source.encode(example.source).ids, EOS) for example in task.splits["train"])
    return {pair for ids in sources for pair in pairwise(ids)}


def _is_alike(loaded: LoadedModel, token: int, other: int) -> bool:
    """Whether two tokens are alike: letters, digits or signs, and in case; words also in class and ending."""
    pieces = loaded.source.piece(token), loaded.source.piece(other)
    a, b = (piece.strip(" ▁") for piece in pieces)
    forms = {
        (piece[:1].isspace(), piece[:1] == "▁", text[:1].isupper(), text.isalpha(), text.isdigit())
        for piece, text in zip(pieces, (a, b), strict=True)
    }
    lang = loaded.source.lang
    if len(forms) > 1 or a.lower() == b.lower() or loaded.source.kind == "characters":
        return len(forms) == 1
    is_same_class = lang not in function_words() or word_class(a, lang) == word_class(b, lang)
    return is_same_class and (lang == "en" or a[-_ENDING:] == b[-_ENDING:])


def suggested_other(loaded: LoadedModel, translation: Translation) -> str:
    """A sentence that differs in one word and changes one word of the answer; the sentence itself if none is found."""
    return next(iter(_ranked(loaded, translation)), translation.source.text)


def other_to_compare(translator: Translator, translation: Translation, at: Place, examples: Sequence[str]) -> str:
    """A sentence whose map of this head is worth comparing; the sentence itself if none is found.

    It has one other word, and its sentence is known in a task of few words; else it is one of `examples`, or of that
    task's sentences, of as many tokens. Of the best, which alone are decoded, it has an answer of as many tokens.
    """
    loaded, own = translator.loaded, translation.source
    task = _small_task(loaded)
    sources = [each.source for each in task.splits["train"]] if task else []
    known = [loaded.source.decode(loaded.source.encode(source).ids) for source in sources]
    ranked = _ranked(loaded, translation, at) if loaded.model_config.architecture != "lstm" else []

    def likeness(text: str) -> tuple[bool, int]:
        ids = loaded.source.encode(text).ids
        return len(ids) == len(own.ids), sum(a == b for a, b in zip(ids, own.ids, strict=False))

    others = [text for text in dict.fromkeys((*examples, *known)) if _letters(text) != _letters(own.text)]
    best = [other for other in ranked if not task or other in known] or sorted(others, key=likeness, reverse=True)
    for other in best[:MOST_DECODED]:
        if len(translator.translate(other, DecodeConfig()).path) == len(translation.path):
            return other
    return next(iter(best), own.text)


def _letters(text: str) -> str:
    """What is left of a text without punctuation, spaces and capitals."""
    return "".join(filter(str.isalnum, text.lower()))


def _ranked(loaded: LoadedModel, translation: Translation, at: Place | None = None) -> list[str]:
    """Sentences that differ in one word and change the answer, best first.

    The best change one word of it, surely, by a word that is similar, nouns and adjectives first. If they can, they
    change it after its first row: the decoder has then more rows that carry it. With `at`, those go first in which a
    weight of that head differs clearly, in rows up to the word that changes.
    """
    ids = tuple(translation.source.ids)
    others = others_of(loaded, ids)
    if not others:
        return []
    recorder = AttentionRecorder()
    read = (SOS, *translation.path[translation.n_prompt : -1])
    rows = changed_rows(loaded.transformer, (*ids, EOS), [(*other, EOS) for other in others], read, tap=recorder)
    changes = rows.answer_changes
    nearest, likeness = neighbours(loaded.transformer, ids, _NEAREST)
    scores = {}
    for nth, other in enumerate(others):
        if not changes[nth].any():
            continue
        place = next(i for i, (own, new) in enumerate(zip(ids, other, strict=True)) if own != new)
        row, is_nominal = int(changes[nth].argmax()), _is_nominal(loaded, ids, place)
        alike = float(likeness[place][nearest[place] == other[place]][0])
        sure = float(rows.chance[nth, row]) * (1 + 2 * alike) * (_NOMINAL if is_nominal else 1)
        cases = {loaded.target.label(int(i))[:1].isupper() for i in (rows.token[row], rows.instead[nth, row])}
        is_clear = at is not None and _differs(recorder, at, nth, row - len(read)) >= DIFFERENT
        is_one = changes[nth].sum() == 1 and len(cases) == 1
        scores[loaded.source.decode(other)] = (is_one, is_clear, is_clear and is_nominal, row > 0, sure)
    return sorted(scores, key=scores.__getitem__, reverse=True)


def _differs(recorder: AttentionRecorder, at: Place, nth: int, last: int) -> float:
    """The largest difference of a weight at a head between the source and the nth other one.

    Rows of the decoder count up to `last`, from the end: those after it read another word.
    """
    weights = recorder.calls[at.kind, at.layer - 1][0][[0, nth + 1]]
    own, other = weights[:, at.head - 1] if at.head else weights.mean(dim=1)
    rows = len(own) if at.kind == "encoder" else len(own) + last + 1
    return float((other - own)[:rows].abs().max())


def _is_nominal(loaded: LoadedModel, ids: tuple[int, ...], place: int) -> bool:
    """Whether a word follows a determiner, as nouns and adjectives do, or has a capital; or a character is a digit."""
    if not place or loaded.source.kind == "characters":
        return loaded.source.piece(ids[place]).isdigit()
    before, word = (loaded.source.piece(ids[at]).strip(" ▁") for at in (place - 1, place))
    return word[:1].isupper() or before.lower() in determiners(loaded.source.lang)
