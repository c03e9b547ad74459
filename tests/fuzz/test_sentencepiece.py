"""Whatever bytes a .spm file holds: one sentence, or a model that cuts any text into pieces that cover it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.text.pieces import TokenizerError
from model.text.sentencepiece import Unigram, read_unigram_model


def varint(n: int) -> bytes:
    out = b""
    while n > 0x7F:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def number(field_number: int, value: int) -> bytes:
    return varint(field_number << 3) + varint(value)


def model(pieces: list[tuple[str, int]], charsmap: bytes, flags: int, extra: bytes) -> bytes:
    """A file with these pieces (and their types), normalisation and switches."""
    listed = b"".join(
        field(1, field(1, piece.encode()) + b"\x15\0\0\x80\xbf" + number(3, kind)) for piece, kind in pieces
    )
    switches = number(3, flags & 1) + number(4, flags >> 1 & 1)
    return listed + field(2, number(3, 1)) + field(3, field(2, charsmap) + switches) + extra


TEXT = st.text(max_size=40)
PIECES = st.lists(st.tuples(st.text(min_size=1, max_size=5), st.sampled_from([1, 1, 1, 1, 3, 5])), max_size=12)
UNITS = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=40)


def cut(content: bytes, text: str) -> tuple[list[tuple[str, int, int]], str]:
    """The pieces of a text, or none and the sentence that refuses the file."""
    try:
        return list(Unigram(read_unigram_model(content)).cut(text)), ""
    except TokenizerError as error:
        return [], str(error)


def check(content: bytes, text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    found, said = cut(content, text)
    assert "\n" not in said
    assert len(said) < 400
    ends = [0, *(end for _, _, end in found)]
    assert all(piece and 0 <= start <= end <= len(text) for piece, start, end in found)
    assert ends == sorted(ends)


@given(st.binary(max_size=300), TEXT)
def test_any_bytes(content: bytes, text: str) -> None:
    check(content, text)


@given(PIECES, UNITS, st.binary(max_size=30), st.integers(0, 3), st.binary(max_size=20), TEXT)
def test_anything_in_the_place_of_a_model(
    pieces: list[tuple[str, int]], units: list[int], replacements: bytes, flags: int, extra: bytes, text: str
) -> None:
    trie = b"".join(unit.to_bytes(4, "little") for unit in units)
    charsmap = len(trie).to_bytes(4, "little") + trie + replacements + b"\0"
    check(model([("<unk>", 2), *pieces], charsmap, flags, extra), text)


@given(PIECES, TEXT)
def test_a_model_without_normalisation(pieces: list[tuple[str, int]], text: str) -> None:
    check(model([("<unk>", 2), ("▁", 1), *dict(pieces).items()], b"", 3, b""), text)
