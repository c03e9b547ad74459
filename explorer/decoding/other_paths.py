"""Other decodings of the sentence on screen: hypotheses of beam search and paths that the user chose, as lists to open.

Steps count from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.locale.text import percent, quoted

if TYPE_CHECKING:
    from explorer.decoding.translator import Translation


@dataclass(frozen=True)
class Fork:
    """A path chosen by hand: at row `step` (counted from 1), `chosen` in place of `instead`."""

    path: tuple[int, ...]
    step: int
    chosen: str
    instead: str
    probability: float
    text: str

    @property
    def detail(self) -> str:
        """Where it leaves the path before it, in words."""
        chosen, instead = quoted(self.chosen), quoted(self.instead)
        return f"step {self.step}: {chosen} ({percent(self.probability, 1)}) instead of {instead}"


@dataclass(frozen=True)
class OtherPath:
    """A decoding in the list: its text and what is known about it.

    `path` and `step` are the place that opens it, with None for the path that the model chooses itself.
    """

    text: str
    detail: str
    path: tuple[int, ...] | None
    step: int
    is_shown: bool


def fork_of(shown: Translation, forked: Translation, step: int, token: int) -> Fork:
    """The fork that leads from the translation `shown` to `forked` by another token at a step.

    Raises:
        ValueError: the token is not among the likeliest ones of that step.
    """
    row, trace = step - 1, shown.trace
    rank = [int(i) for i in trace.top_ids[row]].index(token)
    return Fork(
        path=forked.path,
        step=step,
        chosen=trace.top_tokens[row][rank],
        instead=trace.predicted_tokens[row],
        probability=float(trace.top_probabilities[row][rank]),
        text=forked.text,
    )


def hypotheses(own: Translation, shown: Translation) -> tuple[OtherPath, ...]:
    """The hypotheses of the beam search that made the model's `own` translation, best first; none without a search."""
    return tuple(
        OtherPath(
            text=f"{rank}. {candidate.text}",
            detail=f"score {candidate.score:.3f} · log-probability {candidate.log_prob:.3f} nats"
            + ("" if candidate.finished else " · cut off"),
            path=None if candidate.path == own.path else candidate.path,
            step=0,
            is_shown=candidate.path == shown.path,
        )
        for rank, candidate in enumerate(own.candidates, start=1)
    )


def chosen_paths(
    own: Translation, shown: Translation, forks: Sequence[Fork], *, on_own_path: bool
) -> tuple[OtherPath, ...]:
    """The model's `own` translation and the paths of all forks; none before the first fork.

    `on_own_path` says that no path is chosen at the moment.
    """
    if not forks:
        return ()
    return (
        OtherPath(own.text, "the model's own choice", None, 0, on_own_path),
        *(OtherPath(fork.text, fork.detail, fork.path, fork.step, fork.path == shown.path) for fork in forks),
    )
