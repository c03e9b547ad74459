"""SentencePiece tokens of a model made elsewhere: a Unigram segmentation, and a vocabulary of its own beside it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from model.config import UNK
from model.text.pieces import Piece, TokenizerError, check_fields, check_pieces
from model.text.punctuation import normalize_punctuation
from model.text.sentencepiece_file import SPACE, UnigramModel
from model.text.tokenizer import Tokenizer
from model.text.unigram import Unigram
from model.text.word_groups import word_groups

_LABEL = re.compile(r">>[^<>\s]{1,32}<<")
_FLAGS = ("add_dummy_prefix", "remove_extra_whitespaces")
_SEGMENTATION = {"pieces", "scores", "charsmap", *_FLAGS}
_LANGUAGE = re.compile(r"[A-Za-z_]{2,16}")


class SentencePieceTokenizer(Tokenizer):
    """Pieces of a Unigram model, looked up in a vocabulary that may contain fewer or more of them.

    A text may begin with a target label such as ``>>fra<<``, which is one token (see :attr:`labels`). `punctuation` is
    the language whose punctuation is normalised first, or None. There is no training: such a model comes from elsewhere
    (:mod:`model.importing`).
    """

    kind = "sentencepiece"

    def __init__(
        self, pieces: Sequence[str], unigram: UnigramModel, *, lang: str = "xx", punctuation: str | None = None
    ) -> None:
        super().__init__(pieces, (0,) * len(pieces), lang=lang)
        self.unigram = unigram
        self.punctuation = punctuation
        self._segmentation = Unigram(unigram)
        self._labels = tuple(sorted(piece for piece in self.pieces if piece[0] == ">" and _LABEL.fullmatch(piece)))

    @classmethod
    def train(cls, texts: Iterable[str], **settings: Any) -> Tokenizer:
        """Not for this kind.

        Raises:
            TokenizerError: always.
        """
        del texts, settings
        raise TokenizerError(
            "tokenizer=sentencepiece is of models from elsewhere and not trained here; choose subwords."
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The target labels of the vocabulary, such as ``>>fra<<``, sorted; a text begins with one of them."""
        return self._labels

    def _cut(self, text: str) -> Iterator[Piece]:
        at = word = 0
        label = leading_label(text)
        if label:
            yield Piece(label, 0, len(label), 0)
            at, word = len(label), 1
        spoken, origins = text[at:], None
        if self.punctuation is not None:
            spoken, origins = normalize_punctuation(spoken, self.punctuation)
        found = list(self._segmentation.cut(spoken))
        words = word_groups(piece for piece, _, _ in found)
        for (piece, start, end), own in zip(found, words, strict=True):
            if origins is not None:
                start, end = origins[start], origins[end]
            covered = text[at + start : at + end]
            start += len(covered) - len(covered.lstrip())
            yield Piece(piece.replace(SPACE, " "), at + start, at + end, word + own)

    def _texts(self, ids: Iterable[int], unknown: str) -> Iterator[str]:
        begun = False
        for i in ids:
            text = self._spelling(i, unknown)
            text = text if begun else text.removeprefix(" ")
            begun = begun or bool(text)
            yield text

    def words_of(self, ids: Sequence[int]) -> tuple[int, ...]:
        """As for every tokenizer; a word ends at a space, at punctuation, and, in scripts without spaces, anywhere."""
        words = word_groups(" \ufffd" if i == UNK else self.piece(i) for i in ids if i >= UNK)
        return tuple(-1 if i < UNK else next(words) for i in ids)

    def to_dict(self) -> dict[str, Any]:
        """JSON values from which :meth:`from_dict` builds an equal tokenizer."""
        return {
            "kind": self.kind,
            "lang": self.lang,
            "lowercase": self.lowercase,
            "pieces": list(self.pieces),
            "counts": [],
            "punctuation": self.punctuation,
            "unigram": {
                "pieces": list(self.unigram.pieces),
                "scores": list(self.unigram.scores),
                "charsmap": base64.b64encode(self.unigram.charsmap).decode(),
                **{flag: getattr(self.unigram, flag) for flag in _FLAGS},
            },
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> SentencePieceTokenizer:
        """Read what :meth:`to_dict` wrote.

        Raises:
            TokenizerError: anything else.
        """
        check_fields(values, {"kind", "lang", "lowercase", "pieces", "counts", "punctuation", "unigram"})
        check_pieces(values["pieces"])
        punctuation, unigram = values["punctuation"], values["unigram"]
        if punctuation is not None and not (isinstance(punctuation, str) and _LANGUAGE.fullmatch(punctuation)):
            raise TokenizerError("the tokenizer's 'punctuation' must be a language code or null.")
        if values["lowercase"] or not isinstance(unigram, dict) or set(unigram) != _SEGMENTATION:
            raise TokenizerError(
                "the tokenizer's 'unigram' does not describe a segmentation; copy the model folder again."
            )
        check_pieces(unigram["pieces"], "unigram pieces")
        scores = unigram["scores"]
        if not isinstance(scores, list) or not all(type(score) in (int, float) for score in scores):
            raise TokenizerError("the tokenizer's 'scores' must be a list of numbers.")
        if not all(isinstance(unigram[flag], bool) for flag in _FLAGS) or not isinstance(unigram["charsmap"], str):
            raise TokenizerError(
                "the tokenizer's 'unigram' has a field of the wrong type; copy the model folder again."
            )
        try:
            charsmap = base64.b64decode(unigram["charsmap"], validate=True)
        except (binascii.Error, ValueError):
            raise TokenizerError("the tokenizer's 'charsmap' is damaged; copy the model folder again.") from None
        flags = {flag: unigram[flag] for flag in _FLAGS}
        model = UnigramModel(tuple(unigram["pieces"]), tuple(map(float, scores)), charsmap, **flags)
        return cls(values["pieces"], model, lang=values["lang"], punctuation=punctuation)


def leading_label(text: str) -> str:
    """The target label that a text begins with, or an empty string."""
    match = _LABEL.match(text)
    return match.group() if match else ""
