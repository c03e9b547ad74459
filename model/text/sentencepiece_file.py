"""SentencePiece model files (.spm): a reader of their protobuf wire format that trusts nothing in the file.

Only Unigram models are read (Kudo 2018), without the protobuf library: a field is a number, a wire type and a value
(https://protobuf.dev/programming-guides/encoding). Field numbers are those of sentencepiece_model.proto.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from model.text.pieces import MAX_PIECES, TokenizerError

MAX_BYTES = 64 * 1024**2
MAX_PIECE_LENGTH = 256  # characters; SentencePiece's own limit is 16 unless asked otherwise
SPACE = "▁"  # how a piece writes a space

_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
_MODEL_TYPES = {2: "BPE", 3: "word", 4: "character"}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

Value = int | float | bytes


@dataclass(frozen=True)
class UnigramModel:
    """What a Unigram model says about segmentation.

    `pieces` are those that text can be cut into, each with its log-probability in `scores`; control symbols, unused
    pieces and the unknown piece are left out. `charsmap` is the compiled normalisation (:mod:`model.text.charsmap`),
    empty where there is none.
    """

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    charsmap: bytes
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool

    def __post_init__(self) -> None:
        if len(self.pieces) != len(self.scores) or not self.pieces:
            raise TokenizerError("a SentencePiece model needs pieces, and a score for each.")
        if len(self.pieces) > MAX_PIECES:
            raise TokenizerError(
                f"the SentencePiece model has {len(self.pieces)} pieces; at most {MAX_PIECES} are read."
            )
        if len(set(self.pieces)) != len(self.pieces):
            raise TokenizerError("the SentencePiece model lists a piece twice.")
        if not all(0 < len(piece) <= MAX_PIECE_LENGTH for piece in self.pieces):
            raise TokenizerError(f"the SentencePiece model has a piece without 1 to {MAX_PIECE_LENGTH} characters.")
        if not all(math.isfinite(score) and abs(score) < 1e6 for score in self.scores):
            raise TokenizerError("the SentencePiece model has a score that is not a number of usual size.")


def read_unigram_model(content: bytes, name: str = "the file") -> UnigramModel:
    """Read the bytes of a .spm file; `name` is how messages call it.

    Raises:
        TokenizerError: it is torn or something else, not a Unigram model, or uses what is not supported here.
    """
    if len(content) > MAX_BYTES:
        raise TokenizerError(f"{name} is larger than {MAX_BYTES >> 20} MB, which no vocabulary is.")
    try:
        return _model(content, name)
    except _Torn:
        raise TokenizerError(f"{name} is not a whole SentencePiece model; it is damaged or was cut off.") from None


class _Torn(ValueError):
    """Bytes that are not a protobuf message."""


def _model(content: bytes, name: str) -> UnigramModel:
    pieces: list[tuple[str, float, int]] = []
    trainer: dict[int, Value] = {}
    normalizer: dict[int, Value] = {}
    for field, value in _fields(content):
        if field == 1:
            if len(pieces) >= MAX_PIECES:
                raise TokenizerError(f"{name} has more than {MAX_PIECES} pieces.")
            pieces.append(_piece(_bytes(value)))
        elif field == 2:
            trainer |= dict(_fields(_bytes(value)))
        elif field == 3:
            normalizer |= dict(_fields(_bytes(value)))
    model_type = _number(trainer, 3, 1)
    if model_type != 1:
        kind = _MODEL_TYPES.get(model_type, f"type {model_type}")
        raise TokenizerError(
            f"{name} is a SentencePiece model of type {kind}; only Unigram models, as OPUS-MT has, can be opened here."
        )
    types = {kind for _, _, kind in pieces}
    if not types <= {_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE}:
        raise _Torn
    if _number(trainer, 35, 0) or _BYTE in types:
        raise TokenizerError(
            f"{name} writes unknown characters as bytes, which this program cannot do for Unigram models."
        )
    if _USER_DEFINED in types:
        symbol = next(piece for piece, _, kind in pieces if kind == _USER_DEFINED)
        raise TokenizerError(
            f"{name} has a user-defined symbol ({symbol!r}), which this program cannot cut out of text."
        )
    if _number(trainer, 24, 0) or not _number(normalizer, 5, 1):
        raise TokenizerError(f"{name} does not mark spaces at the beginning of pieces, so it cannot be read here.")
    if sum(kind == _UNKNOWN for _, _, kind in pieces) != 1:
        raise TokenizerError(f"{name} must have exactly one unknown piece.")
    usable = [(piece, score) for piece, score, kind in pieces if kind == _NORMAL]
    return UnigramModel(
        pieces=tuple(piece for piece, _ in usable),
        scores=tuple(score for _, score in usable),
        charsmap=_bytes(normalizer.get(2, b"")),
        add_dummy_prefix=bool(_number(normalizer, 3, 1)),
        remove_extra_whitespaces=bool(_number(normalizer, 4, 1)),
    )


def _piece(content: bytes) -> tuple[str, float, int]:
    """Text, score and type of one piece."""
    fields = dict(_fields(content))
    score = fields.get(2, 0.0)
    if not isinstance(score, float):
        raise _Torn
    try:
        return _bytes(fields.get(1, b"")).decode(), score, _number(fields, 3, _NORMAL)
    except UnicodeDecodeError:
        raise _Torn from None


def _fields(content: bytes) -> Iterator[tuple[int, Value]]:
    """The number and value of each field of a message; a number's meaning is left to the caller."""
    at, end = 0, len(content)
    while at < end:
        key, at = _varint(content, at)
        field, wire = key >> 3, key & 7
        value: Value
        if wire == _VARINT:
            value, at = _varint(content, at)
        elif wire == _BYTES:
            size, at = _varint(content, at)
            value, at = content[at : at + size], at + size
        elif wire in (_FIXED32, _FIXED64):
            size = 4 if wire == _FIXED32 else 8
            if at + size > end:
                raise _Torn
            (value,) = struct.unpack_from("<f" if wire == _FIXED32 else "<d", content, at)
            at += size
        else:
            raise _Torn
        if at > end or field == 0:
            raise _Torn
        yield field, value


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """An integer of seven bits a byte, least significant first, and where the next field begins."""
    value = shift = 0
    while shift < 70:
        if at >= len(content):
            raise _Torn
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise _Torn


def _bytes(value: Value) -> bytes:
    if not isinstance(value, bytes):
        raise _Torn
    return value


def _number(fields: dict[int, Value], field: int, default: int) -> int:
    value = fields.get(field, default)
    if not isinstance(value, int):
        raise _Torn
    return value
