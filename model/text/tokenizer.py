"""Convert text to token ids and back: words (spaCy), characters, whitespace; other kinds have modules of their own."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from msgspec import Meta, Struct

from model.config import SPECIALS, UNK, UNTRAINED_TOKENIZERS
from model.file_formats import FormatError, checked
from model.text.pieces import (
    MAX_PIECE,
    MAX_PIECES,
    Piece,
    TokenizerError,
    check_lang,
    chunk_spans,
    clean,
    join,
    lower,
    mark_spaces,
    show,
    word_spans,
)


@dataclass(frozen=True)
class Encoding:
    """One text as tokens. All tuples have one entry per token; offsets are character positions in `text`."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    words: tuple[int, ...]
    text: str

    @property
    def unknown(self) -> tuple[bool, ...]:
        """Whether the model reads each token as ``<unk>``; `tokens` has the original text of such a token."""
        return tuple(i == UNK for i in self.ids)

    def __len__(self) -> int:
        return len(self.ids)


class Stored(Struct, forbid_unknown_fields=True):
    """A tokenizer in tokenizer.json; most kinds add fields."""

    kind: str
    lang: str
    lowercase: bool
    pieces: Annotated[list[Annotated[str, Meta(min_length=1, max_length=MAX_PIECE)]], Meta(max_length=MAX_PIECES)]
    counts: list[Annotated[int, Meta(ge=0)]]


class Tokenizer(ABC):
    """A vocabulary and a segmentation. Ids 0–3 are `SPECIALS`, which no input text can produce.

    Immutable. `pieces` are the spellings of ids 4 and up, `counts` their frequencies in the training text.
    """

    kind: ClassVar[str]
    stored: ClassVar[type[Stored]] = Stored

    def __init__(
        self, pieces: Sequence[str], counts: Sequence[int], *, lang: str = "xx", lowercase: bool = False
    ) -> None:
        self.pieces = tuple(pieces)
        self.counts = tuple(counts)
        if len(self.counts) != len(self.pieces):
            raise TokenizerError(
                "the tokenizer has {counts} 'counts' for {pieces} pieces.",
                counts=len(self.counts),
                pieces=len(self.pieces),
            )
        self.lang = lang
        self.lowercase = lowercase
        self._ids = {piece: i for i, piece in enumerate(self.pieces, start=len(SPECIALS))}

    @classmethod
    def train(
        cls, texts: Iterable[str], *, lang: str = "xx", lowercase: bool = False, min_frequency: int = 1
    ) -> Tokenizer:
        """Count the pieces of `texts` and keep those seen at least `min_frequency` times.

        Raises:
            TokenizerError: tokenizers of this kind are only imported.
        """
        if cls.kind in UNTRAINED_TOKENIZERS:
            raise TokenizerError("tokenizer={kind} comes only with imported models; choose subwords.", kind=cls.kind)
        cutter = cls((), (), lang=lang, lowercase=lowercase)
        counts = Counter(piece.key for text in texts for piece in cutter.cut(text))
        return cls._with(counts, min_frequency, lang=lang, lowercase=lowercase)

    @classmethod
    def _with(cls, counts: Mapping[str, int], min_frequency: int, *, lang: str, lowercase: bool) -> Tokenizer:
        """A tokenizer of the pieces that were counted often enough."""
        entries = sorted(((key, n) for key, n in counts.items() if n >= min_frequency), key=cls._rank)
        return cls([key for key, _ in entries], [n for _, n in entries], lang=lang, lowercase=lowercase)

    @classmethod
    def joined(cls, source: Tokenizer, target: Tokenizer, *, min_frequency: int) -> tuple[Tokenizer, Tokenizer]:
        """The two with one vocabulary, of the pieces that both sides together have at least `min_frequency` times."""
        counts = Counter(dict(zip(source.pieces, source.counts, strict=True)))
        counts.update(dict(zip(target.pieces, target.counts, strict=True)))
        joint = cls._with(counts, min_frequency, lang=source.lang, lowercase=source.lowercase)
        return joint, joint if source.lang == target.lang else joint.with_lang(target.lang)

    @staticmethod
    def _rank(entry: tuple[str, int]) -> tuple[int, str]:
        """Sort key of (piece, count) that decides the order of ids: frequent pieces first."""
        return (-entry[1], entry[0])

    def cut(self, text: str) -> Iterator[Piece]:
        """The pieces of `text`, with offsets into the original (even where lower-casing makes it longer)."""
        text = clean(text)
        if not self.lowercase:
            yield from self._cut(text)
            return
        lowered, origin = lower(text)
        for p in self._cut(lowered):
            yield p if origin is None else p._replace(start=origin[p.start], end=origin[p.end - 1] + 1)

    @abstractmethod
    def _cut(self, text: str) -> Iterator[Piece]:
        """The pieces of a text that has been cleaned and lower-cased."""

    def encode(self, text: str) -> Encoding:
        """Tokens of one text without ``<sos>`` and ``<eos>``; a lone surrogate is read as U+FFFD."""
        text = clean(text)
        pieces = list(self.cut(text))
        ids = tuple(self._ids.get(piece.key, UNK) for piece in pieces)
        return Encoding(
            ids=ids,
            tokens=tuple(
                show(text[p.start : p.end] or p.key) if i == UNK else self.label(i)
                for p, i in zip(pieces, ids, strict=True)
            ),
            offsets=tuple((p.start, p.end) for p in pieces),
            words=tuple(p.word for p in pieces),
            text=text,
        )

    def decode(self, ids: Iterable[int], *, unknown: str = SPECIALS[UNK]) -> str:
        """Ordinary text of `ids`: ``<pad> <sos> <eos>`` are skipped, ``<unk>`` reads as `unknown`."""
        return "".join(self._texts(ids, unknown))

    def _texts(self, ids: Iterable[int], unknown: str) -> Iterator[str]:
        """The text of each id; empty for the skipped specials."""
        return join(self._spelling(i, unknown) for i in ids)

    def _spelling(self, i: int, unknown: str) -> str:
        """The piece that `decode` writes for an id; an unknown word gets a space before it."""
        if i == UNK:
            return " " + unknown if unknown else ""
        return "" if 0 <= i < len(SPECIALS) else self.piece(i)

    def words_of(self, ids: Sequence[int]) -> tuple[int, ...]:
        """The index (from 0) of the word that each id belongs to in the decoded text; -1 for ``<pad> <sos> <eos>``."""
        words = iter(range(len(ids)))
        return tuple(-1 if i < UNK else next(words) for i in ids)

    def piece(self, i: int) -> str:
        """The spelling of an id in the vocabulary, mark included.

        Raises:
            TokenizerError: an id outside the vocabulary.
        """
        if not 0 <= i < len(self):
            raise TokenizerError("token id {i} is outside this vocabulary of {size} ids.", i=i, size=len(self))
        return SPECIALS[i] if i < len(SPECIALS) else self.pieces[i - len(SPECIALS)]

    def label(self, i: int) -> str:
        """An id's spelling for display: without its mark, with whitespace and control characters made visible."""
        return show(self.piece(i))

    @property
    def labels(self) -> tuple[str, ...]:
        """The target labels that a text may begin with, such as ``>>fra<<``; most models have none."""
        return ()

    def with_lang(self, lang: str) -> Self:
        """The same vocabulary with the word rules of another language."""
        other = copy.copy(self)
        other.lang = lang
        return other

    def __len__(self) -> int:
        return len(SPECIALS) + len(self.pieces)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.kind, self.lang, self.lowercase, self.pieces))

    def to_dict(self) -> dict[str, Any]:
        """JSON values from which :func:`model.text.tokenizer_kinds.tokenizer_from_dict` builds an equal tokenizer."""
        settings = {"kind": self.kind, "lang": self.lang, "lowercase": self.lowercase}
        return {**settings, "pieces": list(self.pieces), "counts": list(self.counts)}

    @classmethod
    def from_dict(cls, values: Any) -> Tokenizer:
        """Read what :meth:`to_dict` wrote.

        Raises:
            TokenizerError: anything else.
        """
        try:
            stored, _ = checked(values, cls.stored)
        except FormatError as error:
            raise TokenizerError("the tokenizer {error}", error=error) from None
        check_lang(stored.lang)
        if stored.lowercase and cls.kind in UNTRAINED_TOKENIZERS:
            raise TokenizerError(
                "the tokenizer's 'lowercase' must be false, since {kind} keeps capitals.", kind=cls.kind
            )
        if len(set(stored.pieces)) < len(stored.pieces):
            repeated = next(piece for piece, n in Counter(stored.pieces).items() if n > 1)
            raise TokenizerError("the tokenizer lists {repeated} twice among its pieces.", repeated=repr(repeated))
        return cls._restored(stored)

    @classmethod
    def _restored(cls, stored: Any) -> Tokenizer:
        """A tokenizer of this kind from an object of :attr:`stored`."""
        return cls(stored.pieces, stored.counts, lang=stored.lang, lowercase=stored.lowercase)


class CharacterTokenizer(Tokenizer):
    """One token per code point; a word is a stretch between whitespace."""

    kind = "characters"

    @staticmethod
    def _rank(entry: tuple[str, int]) -> tuple[int, str]:
        """By code point, so that an alphabet is in its usual order."""
        return (0, entry[0])

    def _cut(self, text: str) -> Iterator[Piece]:
        word = -1
        was_space: bool | None = None
        for position, character in enumerate(text):
            if character.isspace() or was_space is not False:
                word += 1
            was_space = character.isspace()
            yield Piece(character, position, position + 1, word)

    def _spelling(self, i: int, unknown: str) -> str:
        return unknown if i == UNK else super()._spelling(i, unknown)

    def words_of(self, ids: Sequence[int]) -> tuple[int, ...]:
        """See :meth:`Tokenizer.words_of`; a word is a stretch between whitespace of the text that the ids spell."""
        words = iter(piece.word for piece in self._cut("".join(self._texts(ids, "\ufffd"))))
        return tuple(-1 if i < UNK else next(words) for i in ids)


class WhitespaceTokenizer(Tokenizer):
    """One token per stretch between whitespace."""

    kind = "whitespace"

    def _cut(self, text: str) -> Iterator[Piece]:
        return mark_spaces(text, chunk_spans(text))


class WordTokenizer(Tokenizer):
    """One token per spaCy word: punctuation and clitics stand apart ("do" "n't", "j'" "aime")."""

    kind = "words"

    def _cut(self, text: str) -> Iterator[Piece]:
        return mark_spaces(text, word_spans(text, self.lang))
