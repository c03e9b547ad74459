"""Byte-level BPE of imported models, as in GPT-2 and BART: it merges bytes, so that no text is unknown.

The `tokenizers` library splits and merges. Every byte is written as one printable letter (Radford et al. 2019, §2.2);
a piece of such letters may begin or end inside a character.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, processors

from model.config import SOS, SPECIALS, UNK
from model.text.pieces import Merge, Piece, TokenizerError, check_merges, word_groups
from model.text.tokenizer import Stored, Tokenizer

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]
LETTERS = {byte: chr(byte) for byte in _PRINTABLE} | {byte: chr(256 + n) for n, byte in enumerate(_OTHERS)}
"""The letter that each byte is written as."""
_BYTES = {letter: byte for byte, letter in LETTERS.items()}
Split = Literal["gpt2", "digits", "qwen2"]
"""How text is cut before merging: as in GPT-2; every digit alone, as in SmolLM2; as in Qwen2.5."""
QWEN_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_NEVER_IN_TEXT = (0xC0, 0xC1, *range(0xF5, 0x100))  # bytes that UTF-8 does not use
_SILENT = frozenset({"<s>", "<mask>"})  # vocabulary entries without text
_SYMBOL = "<"  # stands for pieces that no text contains: a symbol is a word of its own


def _byte_names(error: UnicodeError) -> tuple[str, int]:
    """Error handler of `decode` that writes undecodable bytes as ``<0xC3>``."""
    assert isinstance(error, UnicodeDecodeError)
    return "".join(f"<0x{byte:02X}>" for byte in error.object[error.start : error.end]), error.end


codecs.register_error("headlight-named-bytes", _byte_names)


class _Stored(Stored):
    merges: list[str]
    begin: str
    prefix_space: bool
    split: Split = "gpt2"


class ByteLevelTokenizer(Tokenizer):
    """Byte-level BPE, with entries that no text contains, such as ``<s>`` and ``<mask>``.

    `begin` is the entry put before every text, which may be ``<sos>``, or empty; `prefix_space` puts a space before a
    text that has none.
    `pieces` are spelt in letters for bytes; :meth:`piece` returns them as text.
    """

    kind = "bytelevel"
    stored = _Stored

    def __init__(
        self,
        pieces: Sequence[str],
        merges: Sequence[Merge],
        *,
        lang: str = "xx",
        begin: str = "",
        prefix_space: bool = False,
        split: Split = "gpt2",
    ) -> None:
        super().__init__(pieces, (0,) * len(pieces), lang=lang)
        self.merges = tuple(merges)
        self.begin = begin
        self.prefix_space = prefix_space
        self.split = split
        if begin == SPECIALS[SOS]:
            self._ids[begin] = SOS
        unused = {LETTERS[byte] for byte in _NEVER_IN_TEXT} - self._ids.keys()
        merged = tuple(piece for piece in merged_pieces(merges) if piece not in unused)
        missing = [piece for piece in merged if piece not in self._ids]
        if missing:
            raise TokenizerError(
                "the vocabulary lacks {missing:.60}, a result of its merges; copy the model folder again.",
                missing=repr(missing[0]),
            )
        if begin and (begin in merged or begin not in self._ids):
            raise TokenizerError(
                "texts cannot begin with {begin:.60}, which is no special entry of the vocabulary.", begin=repr(begin)
            )
        self._bytes = {self._ids[piece]: bytes(_BYTES[letter] for letter in piece) for piece in merged}
        self._splitter = tokenizers.Tokenizer(models.BPE({piece: self._ids[piece] for piece in merged}, list(merges)))
        by_bytes = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space, use_regex=split != "qwen2")
        if split == "digits":
            self._splitter.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), by_bytes])
        elif split == "qwen2":
            self._splitter.normalizer = normalizers.NFC()
            cut = pre_tokenizers.Split(tokenizers.Regex(QWEN_PATTERN), "isolated")
            self._splitter.pre_tokenizer = pre_tokenizers.Sequence([cut, by_bytes])
        else:
            self._splitter.pre_tokenizer = by_bytes
        self._splitter.post_processor = processors.ByteLevel(add_prefix_space=prefix_space, trim_offsets=True)

    def _cut(self, text: str) -> Iterator[Piece]:
        if not text:
            return
        encoding = self._splitter.encode(text)
        begin = [self._ids[self.begin]] if self.begin else []
        ids, spans = begin + encoding.ids, [(0, 0)] * len(begin) + encoding.offsets
        for i, (start, end), word in zip(ids, spans, word_groups(self._first_characters(ids)), strict=True):
            yield Piece(super().piece(i), start, end, word)

    def piece(self, i: int) -> str:
        """An entry as text, with the space before it; bytes of an incomplete character are written as ``<0xC3>``.

        Raises:
            TokenizerError: an id outside the vocabulary.
        """
        content = self._bytes.get(i)
        return super().piece(i) if content is None else content.decode("utf-8", "headlight-named-bytes")

    def _texts(self, ids: Iterable[int], unknown: str) -> Iterator[str]:
        """The text of each id; a byte adds nothing until its character is complete."""
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        has_begun = not self.prefix_space
        for i, following in pairwise([*ids, -1]):
            content = self._bytes.get(i)
            if content is not None:
                text = decoder.decode(content, final=following not in self._bytes)
            else:
                text = unknown if i == UNK else "" if i < UNK or super().piece(i) in _SILENT else super().piece(i)
            text = text if has_begun else text.removeprefix(" ")
            has_begun = has_begun or bool(text)
            yield text

    def words_of(self, ids: Sequence[int]) -> tuple[int, ...]:
        """See :meth:`Tokenizer.words_of`; for the limits of words see :func:`word_groups`."""
        words = word_groups(self._first_characters([i for i in ids if i >= UNK]))
        return tuple(-1 if i < UNK else next(words) for i in ids)

    def _first_characters(self, ids: Sequence[int]) -> Iterator[str]:
        """The characters that begin in each piece, including one that ends in a later piece."""
        contents = [self._bytes.get(i, _SYMBOL.encode()) for i in ids]
        whole = b"".join(contents)
        starts = [at for at, byte in enumerate(whole) if byte & 0xC0 != 0x80]  # not a continuation byte
        characters = {at: whole[at:end].decode("utf-8", "replace") for at, end in pairwise([*starts, len(whole)])}
        at = 0
        for content in contents:
            yield "".join(characters.get(at + n, "") for n in range(len(content)))
            at += len(content)

    def to_dict(self) -> dict[str, Any]:
        """JSON values from which :meth:`from_dict` builds an equal tokenizer."""
        merges = [" ".join(merge) for merge in self.merges]
        return super().to_dict() | {
            "counts": [],
            "merges": merges,
            "begin": self.begin,
            "prefix_space": self.prefix_space,
            **({} if self.split == "gpt2" else {"split": self.split}),
        }

    @classmethod
    def _restored(cls, stored: _Stored) -> ByteLevelTokenizer:
        merges = read_byte_merges(stored.merges)
        return cls(
            stored.pieces,
            merges,
            lang=stored.lang,
            begin=stored.begin,
            prefix_space=stored.prefix_space,
            split=stored.split,
        )


def merged_pieces(merges: Iterable[Merge]) -> tuple[str, ...]:
    """The letters of all bytes and the results of merges, each once."""
    return tuple(dict.fromkeys((*LETTERS.values(), *(left + right for left, right in merges))))


def read_byte_merges(lines: Iterable[str]) -> list[Merge]:
    """Read merges, one "left right" each.

    Raises:
        TokenizerError: a part is neither a byte nor the result of an earlier merge.
    """
    merges = [(left, right) for left, _, right in (line.partition(" ") for line in lines)]
    check_merges(merges, LETTERS.values())
    return merges
