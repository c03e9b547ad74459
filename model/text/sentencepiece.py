"""SentencePiece tokenizers of imported models: a segmentation (Unigram or BPE) and a separate vocabulary.

The library `sentencepiece` reads the file and segments (Kudo and Richardson 2018). Files are not
trusted: one that is damaged, or that the library would segment in a way that is not supported here, is refused.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from model.config import UNK
from model.file_formats import FormatError, checked
from model.text.imported import ImportedTokenizer
from model.text.pieces import MAX_PIECES, Piece, TokenizerError, word_groups
from model.text.punctuation import normalize_punctuation
from model.text.tokenizer import Stored

MAX_BYTES = 64 * 1024**2
SPACE = "▁"  # how a piece writes a space

# SentencePiece's own limit is 16 characters unless asked otherwise.
_Piece = Annotated[str, Meta(min_length=1, max_length=256, pattern=r"\A[^\0]*\Z")]
_MODEL_TYPES = {1: "unigram", 2: "bpe"}
_OTHER_TYPES = {3: "word", 4: "character"}
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


class PieceModel(Struct, frozen=True, forbid_unknown_fields=True):
    """The parts of a SentencePiece model that segmentation needs.

    `pieces` are those that text can be cut into, with their `scores`: log-probabilities, or in BPE the order of merges.
    Control symbols, unused pieces and the unknown piece are left out. `symbols` are cut out of the text first. With
    `byte_fallback`, unknown characters are written as pieces of one byte. `charsmap` is the normalisation compiled by
    SentencePiece, or empty.
    """

    pieces: Annotated[tuple[_Piece, ...], Meta(min_length=1, max_length=MAX_PIECES)]
    scores: tuple[Annotated[float, Meta(ge=-1e6, le=1e6)], ...]
    charsmap: bytes
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    type: Literal["unigram", "bpe"] = "unigram"
    symbols: tuple[_Piece, ...] = ()
    byte_fallback: bool = False


def read_piece_model(content: bytes, name: str = "the file") -> PieceModel:
    """Read the bytes of a .spm file; messages call it `name`.

    Raises:
        TokenizerError: it is damaged, neither Unigram nor BPE, or uses a feature that is not supported here.
    """
    model = _proto(content, name)
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    kinds = type(model).SentencePiece
    if trainer.model_type not in _MODEL_TYPES:
        raise TokenizerError(
            "{name} is a SentencePiece model of type {model_type}; only Unigram and BPE models can be opened here.",
            name=name,
            model_type=_OTHER_TYPES.get(trainer.model_type, trainer.model_type),
        )
    if trainer.treat_whitespace_as_suffix or not normalizer.escape_whitespaces:
        raise TokenizerError(
            "{name} does not mark spaces at the beginning of pieces, so it cannot be read here.", name=name
        )
    if sum(piece.type == kinds.UNKNOWN for piece in model.pieces) != 1:
        raise TokenizerError("{name} must have exactly one unknown piece.", name=name)
    usable = [piece for piece in model.pieces if piece.type in (kinds.NORMAL, kinds.USER_DEFINED, kinds.BYTE)]
    values = {
        "pieces": [piece.piece for piece in usable],
        "scores": [piece.score for piece in usable],
        "charsmap": normalizer.precompiled_charsmap,
        "add_dummy_prefix": normalizer.add_dummy_prefix,
        "remove_extra_whitespaces": normalizer.remove_extra_whitespaces,
        "type": _MODEL_TYPES[trainer.model_type],
        "symbols": [piece.piece for piece in model.pieces if piece.type == kinds.USER_DEFINED],
        "byte_fallback": trainer.byte_fallback,
    }
    try:
        return checked(values, PieceModel)[0]
    except FormatError as error:
        raise TokenizerError("{name} {error}", name=name, error=error) from None


def read_piece_names(content: bytes, name: str = "the file") -> tuple[str, ...]:
    """The spelling of every piece of a .spm file in the order of its ids, control symbols included.

    Raises:
        TokenizerError: it is damaged.
    """
    return tuple(piece.piece for piece in _proto(content, name).pieces)


def _proto(content: bytes, name: str) -> Any:
    from google.protobuf.message import DecodeError
    from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

    if len(content) > MAX_BYTES:
        raise TokenizerError(
            "{name} is larger than {max_bytes} MB, which no vocabulary is.", name=name, max_bytes=MAX_BYTES >> 20
        )
    try:
        model = ModelProto.FromString(content)
    except DecodeError:
        model = None
    if model is None or not all(isinstance(piece.piece, str) for piece in model.pieces):  # bytes where not UTF-8
        raise TokenizerError("{name} is not a whole SentencePiece model; it is damaged or was cut off.", name=name)
    return model


class Segmenter:
    """A SentencePiece model ready to cut text; immutable.

    Raises:
        TokenizerError: a piece is listed twice or has no score, or the library refuses the model.
    """

    def __init__(self, model: PieceModel) -> None:
        from sentencepiece import SentencePieceProcessor
        from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

        if not len(set(model.pieces)) == len(model.pieces) == len(model.scores):
            raise TokenizerError("the SentencePiece model must list each piece once, and a score for each.")
        unknown = "<unk>"
        while unknown in model.pieces:  # an ordinary piece may be spelt like it
            unknown = f"<{unknown}>"
        content = ModelProto()
        content.trainer_spec.unk_piece = unknown
        content.pieces.add(piece=unknown, type=ModelProto.SentencePiece.UNKNOWN)
        kinds, symbols = ModelProto.SentencePiece, frozenset(model.symbols)
        for piece, score in zip(model.pieces, model.scores, strict=True):
            is_byte = model.byte_fallback and _BYTE.fullmatch(piece)
            kind = kinds.BYTE if is_byte else kinds.USER_DEFINED if piece in symbols else kinds.NORMAL
            content.pieces.add(piece=piece, score=score, type=kind)
        content.trainer_spec.model_type = {name: number for number, name in _MODEL_TYPES.items()}[model.type]
        content.trainer_spec.byte_fallback = model.byte_fallback
        content.normalizer_spec.precompiled_charsmap = model.charsmap
        content.normalizer_spec.add_dummy_prefix = model.add_dummy_prefix
        content.normalizer_spec.remove_extra_whitespaces = model.remove_extra_whitespaces
        try:
            self._library = SentencePieceProcessor(model_proto=content.SerializeToString())
        except (RuntimeError, ValueError) as error:
            raise TokenizerError("the SentencePiece model is damaged: {error}.", error=error) from None

    def cut(self, text: str) -> Iterator[tuple[str, int, int]]:
        """The pieces of `text`, with "▁" for a space, and the start and end of each; together they cover the text.

        A stretch of unknown characters is one piece, spelt unchanged.
        """
        characters = array("l")  # the character of each byte
        for n, character in enumerate(text):
            characters.extend([n] * len(character.encode()))
        characters.append(len(text))
        for piece in self._library.encode(text, return_type="proto").pieces:
            yield piece.piece, characters[piece.begin], characters[piece.end]


_LABEL = re.compile(r">>[^<>\s]{1,32}<<")


class _Stored(Stored):
    punctuation: Annotated[str, Meta(max_length=16)] | None
    unigram: PieceModel
    begin: str = ""
    end: str = ""
    silent: tuple[str, ...] = ()


class SentencePieceTokenizer(ImportedTokenizer):
    """Pieces of a SentencePiece model, looked up in a vocabulary that may contain fewer or more of them.

    A text may begin with a target label such as ``>>fra<<``, which is one token (see :attr:`labels`). `punctuation` is
    the language whose punctuation is normalised first, or None. `begin` and `end` are entries put before and after
    every text, such as its language, or empty; `silent` are entries without text; `segmenter` may be that of another
    tokenizer with the same model.
    """

    kind = "sentencepiece"
    stored = _Stored

    def __init__(
        self,
        pieces: Sequence[str],
        unigram: PieceModel,
        *,
        lang: str = "xx",
        punctuation: str | None = None,
        begin: str = "",
        end: str = "",
        silent: Sequence[str] = (),
        segmenter: Segmenter | None = None,
    ) -> None:
        super().__init__(pieces, lang=lang)
        self.unigram = unigram
        self.punctuation = punctuation
        self.begin, self.end, self.silent = begin, end, tuple(silent)
        if missing := [entry for entry in (begin, end) if entry and entry not in self._ids]:
            raise TokenizerError(
                "the vocabulary lacks {missing:.60}, which is put around every text.", missing=repr(missing[0])
            )
        self.segmenter = segmenter or Segmenter(unigram)
        self._labels = tuple(sorted(piece for piece in self.pieces if piece[0] == ">" and _LABEL.fullmatch(piece)))

    @property
    def labels(self) -> tuple[str, ...]:
        """The target labels of the vocabulary, such as ``>>fra<<``, sorted; see :attr:`Tokenizer.labels`."""
        return self._labels

    def _cut(self, text: str) -> Iterator[Piece]:
        at = word = 0
        if self.begin and text:
            yield Piece(self.begin, 0, 0, 0)
            word = 1
        label = leading_label(text)
        if label:
            yield Piece(label, 0, len(label), 0)
            at, word = len(label), word + 1
        sentence, origins = text[at:], None
        if self.punctuation is not None:
            sentence, origins = normalize_punctuation(sentence, self.punctuation)
        pieces = list(self.segmenter.cut(sentence))
        words = list(word_groups(piece for piece, _, _ in pieces))
        for (piece, start, end), group in zip(pieces, words, strict=True):
            if origins is not None:
                start, end = origins[start], origins[end]
            covered = text[at + start : at + end]
            start += len(covered) - len(covered.lstrip())
            yield Piece(piece.replace(SPACE, " "), at + start, at + end, word + group)
        if self.end and text:
            yield Piece(self.end, len(text), len(text), word + (max(words, default=-1) + 1))

    def _byte(self, i: int) -> bytes:
        """The byte that an id stands for; empty if it is an ordinary piece."""
        match = _BYTE.fullmatch(self.piece(i)) if self.unigram.byte_fallback and i > UNK else None
        return bytes.fromhex(match[1]) if match else b""

    def _starts(self, ids: Sequence[int]) -> Iterator[str]:
        return (" \ufffd" if i == UNK else self.piece(i) for i in ids)


def leading_label(text: str) -> str:
    """The target label that a text begins with, or an empty string."""
    match = _LABEL.match(text)
    return match.group() if match else ""
