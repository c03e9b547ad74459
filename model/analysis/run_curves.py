"""The curves of a run, and how exactly its scores are known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from model.wording import t

Curve = Sequence[tuple[float, float]]

NORMAL = 1.96  # standard errors of a 95 % interval
NARROW = (5.0, 0.1)  # an interval of fewer percent or points is written with one decimal, or with two
BLEU_WIDTH = 45.0  # BLEU ± this / √sentences is about a 95 % interval: ± 2.6 with 300 sentences, ± 1.4 with 1,000


@dataclass(frozen=True)
class Curves:
    """The curves of a run as pairs of step and value, oldest first.

    `train` and `valid` are losses in nats per target token; `score` is `score_name` on validation: the share of exactly
    right sentences (0 to 1), or BLEU (0 to 100), of `sentences` sentences (0 if that is unknown). At most the share
    `reachable` can be right: a source with several answers gets one of them. `known`: the sentences of validation are
    those of training. `continued`: training began with the weights of another run.
    """

    train: Curve = ()
    valid: Curve = ()
    rate: Curve = ()
    score: Curve = ()
    score_name: Literal["exact_match", "bleu"] = "exact_match"
    sentences: int = 0
    reachable: float = 1.0
    known: bool = False
    continued: bool = False

    @classmethod
    def of(cls, train: Sequence[Mapping[str, float]], evals: Sequence[Mapping[str, float]]) -> Curves:
        """Read the curves from the lines of a metrics.jsonl, with the plain training loss if it was logged.

        The loss of the first update is left out where the next line is about several: it is that of random weights.
        The score is BLEU if it was measured, unless all answers are right at the end.
        """
        if len(train) > 1 and train[0]["step"] == 1 and train[1]["step"] > 2:
            train = train[1:]
        has_bleu = any("bleu" in line for line in evals) and evals[-1].get("exact_match") != 1
        return cls(
            [(line["step"], line.get("nll", line["loss"])) for line in train if "loss" in line],
            _pairs(evals, "loss"),
            _pairs(train, "lr"),
            _pairs(evals, "bleu" if has_bleu else "exact_match"),
            "bleu" if has_bleu else "exact_match",
            int(evals[-1].get("sentences", 0)) if evals else 0,
            min(max(evals[-1].get("reachable", 1.0), 0.01), 1.0) if evals else 1.0,
        )


def loss_text(loss: float) -> str:
    """A loss with about two digits, of which the last is a ten-thousandth or more: "1.23", "0.057", "< 0.0001"."""
    if 0 < loss < 0.0001:
        return t("< {number:.4f}", number=0.0001)
    if loss >= 100:
        return t("{loss:,.0f}", loss=loss)
    if 0 < loss < 0.01:
        return t("{loss:.4f}", loss=loss)
    return t("{loss:.2f}", loss=loss) if loss >= 0.1 or not loss else t("{loss:.3f}", loss=loss)


def _pairs(lines: Sequence[Mapping[str, float]], name: str) -> list[tuple[float, float]]:
    return [(line["step"], line[name]) for line in lines if name in line]


def interval(share: float, sentences: int) -> tuple[float, float]:
    """The 95 % interval of a share of right sentences (Wilson 1927, score interval); 0 to 1 without sentences."""
    if not sentences:
        return 0.0, 1.0
    z = NORMAL**2 / sentences
    middle, half = share + z / 2, math.sqrt(z * (share * (1 - share) + z / 4))
    return max((middle - half) / (1 + z), 0.0), min((middle + half) / (1 + z), 1.0)


def is_perfect(name: Literal["exact_match", "bleu"], score: float) -> bool:
    """Whether a score is a BLEU of 100: all answers are right, and only their share has an interval."""
    return name == "bleu" and score >= 100


def bounds(name: Literal["exact_match", "bleu"], score: float, sentences: int) -> tuple[float, float]:
    """The 95 % interval of a score in percent or points of BLEU, rounded, within 0 to 100.

    Whole numbers, or with decimals where whole ones would make neighbouring scores look alike.
    """
    if name == "bleu":  # of which no sentence need be right
        apart = BLEU_WIDTH / math.sqrt(sentences)
        low, high = score - apart, score + apart
    else:
        low, high = (100 * end for end in interval(score, sentences))
    decimals = sum(high - low < width for width in NARROW)
    return max(round(low, decimals), 0.0), min(round(high, decimals), 100.0)


def score_text(curves: Curves, value: float) -> str:
    """Write a score of a run's validation sentences with its interval."""
    if curves.score_name == "bleu":
        if not curves.sentences:
            return t("BLEU {score:.1f}", score=value)
        low, high = bounds("bleu", value, curves.sentences)
        return t(
            "BLEU {score:.1f} of {n} sentence (95 % interval {low:g} to {high:g})",
            "BLEU {score:.1f} of {n:,} sentences (95 % interval {low:g} to {high:g})",
            score=value,
            n=curves.sentences,
            low=low,
            high=high,
        )
    if not curves.sentences:
        return t("{percent:.1f} % exactly right", percent=100 * value)
    low, high = bounds("exact_match", value, curves.sentences)
    right, most = (round(share * curves.sentences) for share in (value, curves.reachable))
    if curves.reachable < 1:
        return t(
            "{right:,} of {n:,} held-out pairs exactly right ({percent:.1f} %, 95 % interval {low:g} to {high:g} %; at "
            "most {most:,} can be, since some sources have several answers)",
            right=right,
            n=curves.sentences,
            percent=100 * value,
            low=low,
            high=high,
            most=most,
        )
    return t(
        "{right:,} of {n:,} held-out pairs exactly right ({percent:.1f} %, 95 % interval {low:g} to {high:g} %)",
        right=right,
        n=curves.sentences,
        percent=100 * value,
        low=low,
        high=high,
    )
