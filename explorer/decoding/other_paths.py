"""Other decodings of the sentence on screen, as lists to open: hypotheses of beam search and paths that the user chose.

Steps count from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.locale.messages import t
from explorer.locale.text import percent, quoted

if TYPE_CHECKING:
    from explorer.decoding.translator import Translation


@dataclass(frozen=True)
class OtherPath:
    """A decoding in a list: its text and what is known about it.

    `path` and `step` (from 1, 0 = any) open it; the path of the model's own choice is None.
    """

    text: str
    detail: str
    path: tuple[int, ...] | None
    step: int = 0


def fork_of(translation: Translation, forked: Translation, step: int, token: int) -> OtherPath:
    """Describe how `forked` leaves `translation`: at which step, with which token instead of which.

    Raises:
        ValueError: the token is not among the likeliest ones of that step.
    """
    row, trace = step - 1, translation.trace
    rank = [int(i) for i in trace.top_ids[row]].index(token)
    chosen, instead = quoted(trace.top_tokens[row][rank]), quoted(trace.predicted_tokens[row])
    probability = percent(float(trace.top_probabilities[row][rank]), 1)
    detail = t(
        "step {step}: {chosen} ({probability}) instead of {instead}",
        step=step,
        chosen=chosen,
        probability=probability,
        instead=instead,
    )
    return OtherPath(forked.text, detail, forked.path, step)


def hypotheses(own: Translation) -> tuple[OtherPath, ...]:
    """The hypotheses of the beam search that made the model's `own` translation, best first; none without a search."""
    return tuple(
        OtherPath(
            text=f"{rank}. {text}",
            detail=t("score {score:.3f}", score=hypothesis.score)
            if hypothesis.finished
            else t("score {score:.3f} · cut off", score=hypothesis.score),
            path=None if hypothesis.path == own.path else hypothesis.path,
        )
        for rank, (text, hypothesis) in enumerate(own.hypotheses, start=1)
    )


def chosen_paths(own: Translation, forks: Sequence[OtherPath]) -> tuple[OtherPath, ...]:
    """The model's `own` translation and all forks; empty while there is no fork."""
    return (OtherPath(own.text, t("the model's own choice"), None), *forks) if forks else ()
