"""Pieces of text: reversible segmentation, and the display of a piece.

A piece is a stretch of text without whitespace. If exactly one space precedes it, or it begins the text or follows
other whitespace, it carries a *mark*: a leading space. Since no piece has a space inside, the mark needs no escaping.
Any other whitespace (doubled, trailing, tab, newline, no-break) is one piece per character. So "I  don't" is
``" I"``, ``" "``, ``" "``, ``" do"``, ``"n't"``; when pieces are joined, a mark adds no space after a whitespace piece.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from model.user_error import UserError

SPACES = (" ", "▁")
# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def word_groups(pieces: Iterable[str]) -> Iterator[int]:
    """The index of the word that each piece belongs to; a space in a piece is a space or "▁".

    A word begins at a space and at punctuation or a symbol, which is a word of its own; in scripts without spaces, at
    any character. An empty piece belongs to the word before it.
    """
    word, joins = -1, False
    for piece in pieces:
        if not piece:
            word = max(word, 0)
            yield word
            continue
        spaced = piece[0] in SPACES
        bare = piece[1:] if spaced else piece
        punctuation = bool(bare) and all(unicodedata.category(c)[0] in "PS" for c in bare)
        if word < 0 or not joins or spaced or punctuation or _UNSPACED.match(bare):
            word += 1
        joins = not punctuation  # so a lone space belongs to the word after it
        yield word


_SURROGATE = re.compile("[\ud800-\udfff]")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
MAX_PIECES = 1_000_000
MAX_MERGED = 1000  # characters; without a limit, each merge could double the longest piece
MAX_PIECE = 5000  # characters; as many as a sentence of your own data may have
_CHUNK = re.compile(r"\S+")
_VISIBLE = {" ": "␣", "\t": "⇥", "\n": "↵", "\r": "␍", "\u00a0": "⍽"}


Merge = tuple[str, str]
"""Two pieces that byte-pair encoding merges into one."""


class TokenizerError(UserError):
    """A tokenizer that cannot be built or read; the message says why and what to do."""


class Piece(NamedTuple):
    """A token before it gets an id: its vocabulary key, its span in the text, and the index of its word."""

    key: str
    start: int
    end: int
    word: int


def mark_spaces(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Piece]:
    """Pieces for the `spans` of `text` (its words, in order) and for whitespace that no mark can represent."""
    end = word = 0
    for start, stop in spans:
        gap = text[end:start]
        if gap and (gap != " " or not end):
            yield from _whitespace(gap, end, word)
            word += len(gap)
        mark = " " if gap or not end else ""
        yield Piece(mark + text[start:stop], start, stop, word)
        word += 1
        end = stop
    yield from _whitespace(text[end:], end, word)


def _whitespace(gap: str, start: int, word: int) -> Iterator[Piece]:
    for i, character in enumerate(gap):
        yield Piece(character, start + i, start + i + 1, word + i)


def is_marked(piece: str) -> bool:
    """Whether a piece begins with the mark for a preceding space (a lone space is whitespace, not a mark)."""
    return len(piece) > 1 and piece[0] == " "


def join(pieces: Iterable[str]) -> Iterator[str]:
    """The text of each piece: a mark becomes a space, except at the start of the text and after whitespace."""
    after_space = True
    for piece in pieces:
        text = piece[1:] if after_space and is_marked(piece) else piece
        yield text
        if text:
            after_space = text[-1].isspace()


def chunk_spans(text: str) -> Iterator[tuple[int, int]]:
    """The spans of `text` between whitespace."""
    return (match.span() for match in _CHUNK.finditer(text))


def word_spans(text: str, lang: str) -> Iterator[tuple[int, int]]:
    """The spans of spaCy's words in `text` (a word with whitespace inside counts as several).

    Raises:
        TokenizerError: spaCy has no rules for this language, or lacks a package that they need.
    """
    for token in _spacy(lang)(text):
        for start, end in chunk_spans(token.text):
            yield token.idx + start, token.idx + end


@functools.lru_cache(maxsize=16)
def _spacy(lang: str) -> Any:
    """The spaCy tokenizer of a language; spaCy takes a second to import, and most pages do not need it."""
    if not _LANGUAGE.fullmatch(lang):
        raise TokenizerError(
            "'{lang}' is not a language code; use two or three small letters, such as en or de.", lang=lang
        )
    import spacy

    try:
        # `spacy.blank` makes the same tokenizer, but first checks a configuration that does not concern it.
        return spacy.util.get_lang_class(lang)().tokenizer
    except ImportError as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise TokenizerError(
            "spaCy cannot split words of language '{lang}' here ({reason}); "
            "choose another language, or tokenizer=characters.",
            lang=lang,
            reason=reason,
        ) from error


def clean(text: str) -> str:
    """`text` with lone surrogates replaced by U+FFFD: neither spaCy nor UTF-8 accepts them."""
    return _SURROGATE.sub("\ufffd", text)


def lower(text: str) -> tuple[str, list[int] | None]:
    """The lower-cased text and, if its length has changed ("İ" becomes two), each character's original position."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered, None
    parts = [character.lower() for character in text]
    return "".join(parts), [i for i, part in enumerate(parts) for _ in part]


@functools.lru_cache(maxsize=2**16)
def show(piece: str) -> str:
    """A piece for display: without its mark, with whitespace, control and lone combining characters made visible."""
    if is_marked(piece):
        piece = piece[1:]
    if piece.isalnum():
        return piece
    return "".join(_show_character(c, alone=i == 0) for i, c in enumerate(piece))


def _show_character(character: str, *, alone: bool) -> str:
    if character in _VISIBLE:
        return _VISIBLE[character]
    if character < " ":
        return chr(0x2400 + ord(character))
    category = unicodedata.category(character)
    if category in ("Cc", "Zs", "Zl", "Zp") or (alone and category == "Cf"):
        return f"U+{ord(character):04X}"
    return "◌" + character if alone and category in ("Mn", "Mc", "Me") else character


def check_lang(lang: Any) -> None:
    """Refuse anything but a language code, since it becomes part of the name of a spaCy module."""
    if not isinstance(lang, str) or not _LANGUAGE.fullmatch(lang):
        raise TokenizerError(
            "the tokenizer's 'lang' is {lang}, but must be a language code such as 'en'.", lang=repr(lang)
        )


def check_merges(merges: Sequence[Merge], alphabet: Iterable[str]) -> None:
    """Refuse merges of pieces that no earlier merge makes, or into pieces that no word can hold."""
    if len(merges) > MAX_PIECES:
        raise TokenizerError(
            "the tokenizer has {merges} merges; at most {max_pieces} are read.",
            merges=len(merges),
            max_pieces=MAX_PIECES,
        )
    pieces = set(alphabet)
    for n, (left, right) in enumerate(merges, start=1):
        if left not in pieces or right not in pieces:
            raise TokenizerError(
                "merge {n} of the tokenizer is {value:.80}, not two earlier pieces.", n=n, value=repr((left, right))
            )
        if len(left) + len(right) > MAX_MERGED or " " in right:
            raise TokenizerError("merge {n} of the tokenizer makes a piece that no word can hold.", n=n)
        pieces.add(left + right)
