"""What the tokenizers of models from elsewhere share: they come with their vocabulary, and some pieces are bytes."""

from __future__ import annotations

import codecs
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Self

import msgspec

from model.config import UNK
from model.text.pieces import word_groups
from model.text.tokenizer import Stored, Tokenizer


class ImportedTokenizer(Tokenizer):
    """A tokenizer that cannot be trained, only imported (:mod:`model.importing`).

    What `stored` adds to :class:`Stored` are its attributes and the arguments that it is built from.
    `silent` are entries without text; with `prefix_space`, a space is put before a text and not written again.
    """

    silent: tuple[str, ...] = ()
    prefix_space = True

    def __init__(self, pieces: Sequence[str], *, lang: str = "xx") -> None:
        super().__init__(pieces, (0,) * len(pieces), lang=lang)

    @abstractmethod
    def _byte(self, i: int) -> bytes:
        """The bytes that an id stands for, which may be a part of a character; empty for other entries."""

    @abstractmethod
    def _starts(self, ids: Sequence[int]) -> Iterator[str]:
        """The text of each piece, by which :func:`word_groups` finds words."""

    def _texts(self, ids: Iterable[int], unknown: str) -> Iterator[str]:
        """The text of each id; a byte adds nothing until its character is complete."""
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        has_begun = not self.prefix_space
        for i, following in pairwise([*ids, -1]):
            if content := self._byte(i):
                text = decoder.decode(content, final=not self._byte(following))
            else:
                text = self._spelling(i, unknown)
                text = "" if text in self.silent else text
            text = text if has_begun else text.removeprefix(" ")
            has_begun = has_begun or bool(text)
            yield text

    def words_of(self, ids: Sequence[int]) -> tuple[int, ...]:
        """See :meth:`Tokenizer.words_of`; for the limits of words see :func:`word_groups`."""
        words = word_groups(self._starts([i for i in ids if i >= UNK]))
        return tuple(-1 if i < UNK else next(words) for i in ids)

    @classmethod
    def _own(cls) -> list[str]:
        """The names of the fields that `stored` adds."""
        return [name for name in cls.stored.__struct_fields__ if name not in Stored.__struct_fields__]

    def to_dict(self) -> dict[str, Any]:
        """JSON values from which :meth:`from_dict` builds an equal tokenizer."""
        own = {name: getattr(self, name) for name in self._own()}
        return super().to_dict() | {"counts": []} | msgspec.to_builtins(own)

    @classmethod
    def _restored(cls, stored: Any) -> Self:
        return cls(stored.pieces, lang=stored.lang, **{name: getattr(stored, name) for name in cls._own()})
