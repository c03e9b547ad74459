"""Segmentation by a Unigram language model: the most probable sequence of pieces (Kudo 2018, §3.2).

This follows SentencePiece's own search to the bit: scores add up in single precision, and of two segmentations that
tie, the one found first wins. The `tokenizers` library adds in double precision and breaks some ties otherwise.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from model.text.charsmap import Charsmap
from model.text.sentencepiece_file import UnigramModel

_UNKNOWN_PENALTY = 10.0
_FLOAT = struct.Struct("<f")


def _single(number: float) -> float:
    """The nearest number of single precision."""
    return float(_FLOAT.unpack(_FLOAT.pack(number))[0])


class Unigram:
    """A Unigram model ready to cut text; immutable."""

    def __init__(self, model: UnigramModel) -> None:
        self.model = model
        self._charsmap = Charsmap(model.charsmap)
        self._scores = {piece: _single(score) for piece, score in zip(model.pieces, model.scores, strict=True)}
        self._unknown_score = _single(min(self._scores.values()) - _UNKNOWN_PENALTY)
        self._longest: dict[str, int] = {}  # of the pieces that begin with a character
        for piece in model.pieces:
            self._longest[piece[0]] = max(len(piece), self._longest.get(piece[0], 0))

    def cut(self, text: str) -> Iterator[tuple[str, int, int]]:
        """The pieces of `text`, "▁" for a space, with start and end in `text`; these spans leave nothing out.

        A stretch of unknown characters is one piece, spelt as it is.
        """
        model = self.model
        normal, origins = self._charsmap.normalize(
            text, dummy_prefix=model.add_dummy_prefix, remove_extra=model.remove_extra_whitespaces
        )
        start = end = 0
        was_unknown = False
        for begin, stop in self._best(normal):
            unknown = normal[begin:stop] not in self._scores
            if not (unknown and was_unknown):
                if end > start:
                    yield normal[start:end], origins[start], origins[end]
                start = begin
            end, was_unknown = stop, unknown
        if end > start:
            yield normal[start:end], origins[start], origins[end]

    def _best(self, text: str) -> list[tuple[int, int]]:
        """The spans of the best segmentation; an unknown character is a span of its own."""
        n = len(text)
        best = [0.0] * (n + 1)  # the score of the best segmentation that ends here
        came = [-1] * (n + 1)  # where its last piece begins
        scores, longest = self._scores, self._longest
        for start in range(n):
            so_far = best[start]
            single = False
            for end in range(start + 1, min(n, start + longest.get(text[start], 0)) + 1):
                score = scores.get(text[start:end])
                if score is None:
                    continue
                single = single or end == start + 1
                candidate = so_far + score
                if came[end] < 0 or candidate > best[end]:
                    best[end], came[end] = _single(candidate), start
            if not single:
                candidate = _single(so_far + self._unknown_score)
                if came[start + 1] < 0 or candidate > best[start + 1]:
                    best[start + 1], came[start + 1] = candidate, start
        spans = []
        end = n
        while end:
            spans.append((came[end], end))
            end = came[end]
        return spans[::-1]
