"""Propose sentences that differ from another one in a single word of the same kind, as a minimal pair does."""

from __future__ import annotations

from collections.abc import Container
from itertools import pairwise

from explorer.decoding.translator import Translation
from explorer.probing.sample import task_of
from explorer.probing.syntax import determiners, function_words, word_class
from model.analysis.patching import changed_rows, neighbours
from model.checkpoint import LoadedModel
from model.config import EOS, SOS
from model.scoring import evenly_spaced

NEIGHBOURS = 6  # replacements that are tried for each token
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


def _contexts(loaded: LoadedModel) -> Container[tuple[int, ...]]:
    """All neighbouring tokens in the data of a task of few words; empty for others, and for data to be downloaded."""
    task = task_of(loaded) if loaded.source.kind == "words" else None
    if task is None or task.from_folder:
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
    """A sentence that differs in one word and changes one word of the answer; the sentence itself if none is found.

    Of several, the one whose answer is surest and whose word is most similar, nouns and adjectives first. If there is
    one, the answer changes after its first row: the decoder has then more rows that carry it.
    """
    ids = tuple(translation.source.ids)
    others = others_of(loaded, ids)
    if not others:
        return translation.source.text
    read = (SOS, *translation.path[translation.n_prompt : -1])
    rows = changed_rows(loaded.transformer, (*ids, EOS), [(*other, EOS) for other in others], read)
    changes = rows.answer_changes
    if not changes.any():
        return translation.source.text
    nearest, likeness = neighbours(loaded.transformer, ids, _NEAREST)
    scores = []
    for nth, other in enumerate(others):
        place = next(i for i, (own, new) in enumerate(zip(ids, other, strict=True)) if own != new)
        row = int(changes[nth].argmax())
        alike = float(likeness[place][nearest[place] == other[place]][0])
        sure = float(rows.chance[nth, row]) * (1 + 2 * alike) * (_NOMINAL if _is_nominal(loaded, ids, place) else 1)
        cases = {loaded.target.label(int(i))[:1].isupper() for i in (rows.token[row], rows.instead[nth, row])}
        scores.append((changes[nth].any(), changes[nth].sum() == 1 and len(cases) == 1, row > 0, sure))
    return loaded.source.decode(others[max(range(len(others)), key=scores.__getitem__)])


def _is_nominal(loaded: LoadedModel, ids: tuple[int, ...], place: int) -> bool:
    """Whether a word follows a determiner, as nouns and adjectives do, or has a capital; or a character is a digit."""
    if not place or loaded.source.kind == "characters":
        return loaded.source.piece(ids[place]).isdigit()
    before, word = (loaded.source.piece(ids[at]).strip(" ▁") for at in (place - 1, place))
    return word[:1].isupper() or before.lower() in determiners(loaded.source.lang)
