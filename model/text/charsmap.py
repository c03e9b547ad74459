"""SentencePiece's compiled normalisation: each longest known prefix of the text is replaced, the rest stays.

A charsmap is the size of a double-array trie, the trie (Yata 2007, as Darts-clone stores it), and the replacements,
each ended by a zero byte. Unlike `tokenizers`' reader of the same bytes, which looks up grapheme by grapheme, this one
goes by longest prefix as SentencePiece does, so that combining characters come out the same.
"""

from __future__ import annotations

import struct
from array import array

from model.text.pieces import TokenizerError
from model.text.sentencepiece_file import SPACE


class Charsmap:
    """Replacements of byte sequences; without any, text stays as it is."""

    def __init__(self, content: bytes = b"") -> None:
        self.content = content
        self._units: list[int] = []
        self._replacements = b""
        if not content:
            return
        size = int.from_bytes(content[:4], "little")
        if len(content) < 8 or size % 4 or not 4 <= size <= len(content) - 4:
            raise TokenizerError("the SentencePiece model's normalisation is damaged.")
        self._units = list(struct.unpack_from(f"<{size // 4}I", content, 4))
        self._replacements = content[4 + size :]

    def prefix(self, text: bytes, at: int) -> tuple[str, int]:
        """What the text from `at` on begins with, normalised, and how many bytes of it that was.

        Raises:
            TokenizerError: the trie leads out of its own bounds.
        """
        length, found = self._longest(text, at) if self._units else (0, 0)
        if length:
            end = self._replacements.find(b"\0", found)
            if not 0 <= found < len(self._replacements) or end < 0:
                raise TokenizerError("the SentencePiece model's normalisation is damaged.")
            return self._replacements[found:end].decode("utf-8", "replace"), length
        first = text[at]
        size = 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        try:
            return text[at : at + size].decode(), size
        except UnicodeDecodeError:  # a replacement ended inside a character
            return "\ufffd", 1

    def _longest(self, text: bytes, at: int) -> tuple[int, int]:
        """Length in bytes and value of the longest key of the trie that the text has at `at`; (0, 0) if none."""
        units = self._units
        length = value = 0
        node = _offset(units[0])
        try:
            for i in range(at, len(text)):
                node ^= text[i]
                unit = units[node]
                if unit & 0x800000FF != text[i]:
                    break
                node ^= _offset(unit)
                if unit & 0x100:  # this node ends a key; its value is in the leaf
                    length, value = i + 1 - at, units[node] & 0x7FFFFFFF
        except IndexError:
            raise TokenizerError("the SentencePiece model's normalisation is damaged.") from None
        return length, value

    def normalize(self, text: str, *, dummy_prefix: bool, remove_extra: bool) -> tuple[str, array[int]]:
        """The text with replacements made and spaces written as "▁".

        `dummy_prefix` puts one before the text; `remove_extra` drops spaces at both ends and doubled ones. Returned
        with it: for each of its characters, and for its end, the position in `text` that it comes from.
        """
        content = text.encode()
        # The number of characters before each byte.
        starts = array("l", [0]) * (len(content) + 1)
        at = 0
        for n, character in enumerate(text):
            width = len(character.encode()) if character > "\x7f" else 1
            for i in range(at, at + width):
                starts[i] = n
            at += width
        starts[at] = len(text)

        out: list[str] = []
        origins = array("l")
        at, end = 0, len(content)
        if remove_extra:
            while at < end:
                replaced, size = self.prefix(content, at)
                if replaced != " ":
                    break
                at += size
        if at == end:
            return "", array("l", [starts[at]])
        if dummy_prefix:
            out.append(SPACE)
            origins.append(starts[at])
        after_space = remove_extra
        while at < end:
            replaced, size = self.prefix(content, at)
            if after_space:
                replaced = replaced.lstrip(" ")
            for character in replaced:
                out.append(SPACE if character == " " else character)
                origins.append(starts[at])
            if replaced:
                after_space = replaced.endswith(" ")
            at += size
            after_space = after_space and remove_extra
        origins.append(starts[at])  # of the text's end
        if remove_extra:
            while out and out[-1] == SPACE:
                out.pop()
                origins.pop()
        return "".join(out), origins


def _offset(unit: int) -> int:
    """Where the children of a node are, relative to it."""
    return (unit >> 10) << ((unit & 0x200) >> 6)
