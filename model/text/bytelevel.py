"""Byte-level BPE of imported models, as in GPT-2 and BART: it merges bytes, so that no text is unknown.

The `tokenizers` library splits and merges. Every byte is written as one printable letter (Radford et al. 2019, §2.2);
a piece of such letters may begin or end inside a character.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

import tokenizers
from tokenizers import models

from model.config import SOS, SPECIALS, UNK
from model.text.imported import ImportedTokenizer
from model.text.pieces import Piece, TokenizerError, check_merges, word_groups
from model.text.tokenizer import Stored

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
BY_BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
_QWEN = {"type": "Split", "pattern": {"Regex": QWEN_PATTERN}, "behavior": "Isolated", "invert": False}
SPLITS: dict[Split, tuple[dict[str, Any] | None, list[dict[str, Any]]]] = {
    "gpt2": (None, [BY_BYTES]),
    "digits": (None, [{"type": "Digits", "individual_digits": True}, BY_BYTES]),
    "qwen2": ({"type": "NFC"}, [_QWEN, {**BY_BYTES, "use_regex": False}]),
}
"""The normaliser and the pre-tokenizers of each way of cutting text, as the library writes them."""
_NEVER_IN_TEXT = (0xC0, 0xC1, *range(0xF5, 0x100))  # bytes that UTF-8 does not use
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


class ByteLevelTokenizer(ImportedTokenizer):
    """Byte-level BPE, with entries that no text contains, such as ``<s>`` and ``<mask>``.

    `merges` are in order, one "left right" each. `begin` is the entry put before every text, which may be ``<sos>``, or
    empty; `prefix_space` puts a space before a text that has none.
    `pieces` are spelt in letters for bytes; :meth:`piece` returns them as text.
    """

    kind = "bytelevel"
    stored = _Stored
    silent = ("<s>", "<mask>")

    def __init__(
        self,
        pieces: Sequence[str],
        merges: Sequence[str],
        *,
        lang: str = "xx",
        begin: str = "",
        prefix_space: bool = False,
        split: Split = "gpt2",
    ) -> None:
        super().__init__(pieces, lang=lang)
        self.merges = tuple(merges)
        self.begin = begin
        self.prefix_space = prefix_space
        self.split = split
        if begin == SPECIALS[SOS]:
            self._ids[begin] = SOS
        pairs = [(left, right) for left, _, right in (merge.partition(" ") for merge in merges)]
        check_merges(pairs, LETTERS.values())
        unused = {LETTERS[byte] for byte in _NEVER_IN_TEXT} - self._ids.keys()
        letters = (*LETTERS.values(), *(left + right for left, right in pairs))
        merged = {piece: self._ids.get(piece, -1) for piece in letters if piece not in unused}
        if missing := [piece for piece, i in merged.items() if i < 0]:
            raise TokenizerError(
                "the vocabulary lacks {missing:.60}, a result of its merges; copy the model folder again.",
                missing=repr(missing[0]),
            )
        if begin and (begin in merged or begin not in self._ids):
            raise TokenizerError(
                "texts cannot begin with {begin:.60}, which is no special entry of the vocabulary.", begin=repr(begin)
            )
        self._bytes = {i: bytes(_BYTES[letter] for letter in piece) for piece, i in merged.items()}
        normalizer, (*parts, last) = SPLITS[split]
        last = {**last, "add_prefix_space": prefix_space}
        description = {
            "version": "1.0",
            "normalizer": normalizer,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*parts, last]},
            "post_processor": last,
            "model": {"type": "BPE", "vocab": {}, "merges": []},
        }
        self._splitter = tokenizers.Tokenizer.from_str(json.dumps(description))
        self._splitter.model = models.BPE(merged, pairs)

    def _cut(self, text: str) -> Iterator[Piece]:
        if not text:
            return
        encoding = self._splitter.encode(text)
        begin = [self._ids[self.begin]] if self.begin else []
        ids, spans = begin + encoding.ids, [(0, 0)] * len(begin) + encoding.offsets
        for i, (start, end), word in zip(ids, spans, word_groups(self._starts(ids)), strict=True):
            yield Piece(super().piece(i), start, end, word)

    def piece(self, i: int) -> str:
        """An entry as text, with the space before it; bytes of an incomplete character are written as ``<0xC3>``.

        Raises:
            TokenizerError: an id outside the vocabulary.
        """
        content = self._bytes.get(i)
        return super().piece(i) if content is None else content.decode("utf-8", "headlight-named-bytes")

    def _byte(self, i: int) -> bytes:
        return self._bytes.get(i, b"")

    def _spelling(self, i: int, unknown: str) -> str:
        return unknown if i == UNK else super()._spelling(i, unknown)

    def _starts(self, ids: Sequence[int]) -> Iterator[str]:
        """The characters that begin in each piece, including one that ends in a later piece."""
        contents = [self._bytes.get(i, _SYMBOL.encode()) for i in ids]
        whole = b"".join(contents)
        starts = [at for at, byte in enumerate(whole) if byte & 0xC0 != 0x80]  # not a continuation byte
        characters = {at: whole[at:end].decode("utf-8", "replace") for at, end in pairwise([*starts, len(whole)])}
        at = 0
        for content in contents:
            yield "".join(characters.get(at + n, "") for n in range(len(content)))
            at += len(content)
