"""Which pieces form a word, for tokenizers that do not split text into words first."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

SPACES = (" ", "▁")
# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def word_groups(pieces: Iterable[str]) -> Iterator[int]:
    """The index of the word that each piece belongs to; pieces write a space as a space or as "▁".

    A word begins at a space, at punctuation or a symbol, which is a word of its own, and, in scripts without spaces,
    anywhere. An empty piece belongs to the word before it.
    """
    word, joins = -1, False
    for piece in pieces:
        if not piece:
            word = max(word, 0)
            yield word
            continue
        spaced = piece[0] in SPACES
        bare = piece[1:] if spaced else piece
        marks = bool(bare) and all(unicodedata.category(c)[0] in "PS" for c in bare)
        if word < 0 or not joins or spaced or marks or _UNSPACED.match(bare):
            word += 1
        # A lone space belongs to what comes after it.
        joins = not marks
        yield word
