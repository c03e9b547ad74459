"""Assign a role to a head, only if its scores are above both baselines by a stated margin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from explorer.locale.messages import message, t, translated
from explorer.locale.text import capitalised, fixed, percent
from explorer.probing.measurement import (
    ROLES_FROM,
    STATISTICS,
    WITHOUT_SINKS,
    HeadScores,
    KindScores,
    statistic_of,
)

MIN_SENTENCES = 50
MARGIN = 0.25  # of the weight, above uniform attention and above untrained heads
_ROUNDED = 0.005  # the most that two decimals change
LEAST_ELSEWHERE = 0.2  # share of the weight outside the sinks that a second role needs
NO_ROLE, TOO_FEW = message("no clear role"), message("too few sentences")

# The statistics that support a role, and its short label on maps of roles. Of two equally clear roles, the one listed
# first is assigned. A role has the title of its statistic unless another is given.
_SINKS = {"first": message("S1"), "end": message("Se")}
_PATTERNS = {
    "lexical": message("Lp"),
    "lexical_input": message("Lr"),
    "aligned": message("Ap"),
    "aligned_input": message("Ar"),
    "diagonal": message("Dg"),
    "mirror": message("Mi"),
    "previous": message("Pv"),
    "next": message("Nx"),
    "itself": message("It"),
    "induction": message("In"),
    "duplicate": message("Du"),
    "rare": message("Ra"),
    "punctuation": message("Pu"),
}
_NAMES = {name: STATISTICS[name].title for name in (*_SINKS, *_PATTERNS)} | {
    "first": message("sink: first token"),
    "end": message("sink: end of sentence"),
    "lexical": message("lexical (predicts)"),
    "aligned": message("alignment (predicts)"),
    "aligned_input": message("alignment (just read)"),
}
_STRICTER = {"aligned": "lexical", "aligned_input": "lexical_input"}
LETTERS = {_NAMES[name]: letters for name, letters in (_SINKS | _PATTERNS).items()}  # by the name of the role


def rule() -> str:
    """State what a head needs to get a role."""
    return t(
        "A head gets a role if its score is above that of uniform attention, and of untrained models of the same "
        "shape, by at least {margin:g}. Both differences are taken sentence by sentence, and the lower ends of their "
        "95 % intervals count (for untrained models, after one standard deviation between their heads is taken off), "
        "over at least {sentences} sentences. Weight on sinks (the first token and <eos>) is judged first; other roles "
        "on the remaining weight, if that is {percent:.0f} % or more. A head that aligns is called lexical where it "
        "also finds the very word better than words at the same distance: the narrower name says more, and includes "
        "the wider.",
        margin=MARGIN,
        sentences=MIN_SENTENCES,
        percent=100 * LEAST_ELSEWHERE,
    )


def needed_note(seeds: int) -> str:
    """Explain the numbers by which a role is tested, beside `seeds` untrained models."""
    return t(
        "In brackets: 95 % intervals (bootstrap over sentences). A head has a role if the lower ends of both "
        "differences reach +{margin:g}, a limit that Headlight chose. The untrained ones are {seeds} models of the "
        "same shape; less 1 SD: one standard deviation between their heads is taken off.",
        margin=MARGIN,
        seeds=seeds,
    )


@dataclass(frozen=True)
class Role:
    """A role: its English name, by which it is found, and the statistics behind it (the sink first).

    `judged`: the scores that were tested for it, or the one that came nearest to a role; `note` says why there is none.
    """

    name: str
    statistics: tuple[str, ...]
    judged: tuple[str, ...] = ()
    note: str = ""

    @property
    def clear(self) -> bool:
        """Whether the head has a role."""
        return bool(self.statistics)

    @property
    def parts(self) -> list[str]:
        """The English names of its one or two roles, the sink first; none if it is not clear."""
        return self.name.split(" + ") if self.clear else []

    @property
    def title(self) -> str:
        """The name of the role as a page shows it."""
        return role_title(self.name)

    @property
    def letters(self) -> str:
        """A short label of the role, empty without one."""
        return "+".join(translated(LETTERS[part]) for part in self.parts)


def role_title(name: str) -> str:
    """The name of a role as a page shows it; `name` is the one in English."""
    return " + ".join(translated(part) for part in name.split(" + "))


def role_of(measured: KindScores, layer: int, head: int, margin: float = MARGIN) -> Role:
    """Assign the role of one head (indices from 0), with its evidence."""
    sentences = max((item.sentences for item in measured.scores.values()), default=0)
    if sentences < MIN_SENTENCES:
        counted = t("{n} sentence", "{n:,} sentences", n=sentences)
        note = t("Measured on {sentences}; a role needs {needed}.", sentences=counted, needed=MIN_SENTENCES)
        return Role(TOO_FEW, (), note=note)
    sink = _best(measured, layer, head, {name: name for name in _SINKS if name in measured.scores}, margin)
    rest = None
    elsewhere = float(measured.scores["elsewhere"].mean[layer, head])
    if elsewhere >= LEAST_ELSEWHERE:
        # Lexical roles are stricter forms of alignment: they refine it below instead of competing by score.
        candidates = {
            name: name + WITHOUT_SINKS
            for name in _PATTERNS
            if name + WITHOUT_SINKS in measured.scores and name not in _STRICTER.values()
        }
        rest = _best(measured, layer, head, candidates, margin)
        stricter = _STRICTER.get(rest or "", "")
        if stricter + WITHOUT_SINKS in measured.scores and is_clear(
            measured.scores[stricter + WITHOUT_SINKS], layer, head, margin
        ):
            rest = stricter
    clear = [(name, name) for name in (sink,) if name] + [(name, name + WITHOUT_SINKS) for name in (rest,) if name]
    if not clear:
        return _without_role(measured, layer, head)
    return Role(
        " + ".join(_NAMES[name] for name, _ in clear),
        tuple(name for name, _ in clear),
        tuple(score for _, score in clear),
    )


def second_job(measured: KindScores, role: Role, layer: int, head: int) -> str | None:
    """The clear pattern, other than the head's role, that is furthest above uniform attention; None without one.

    It must be above both baselines by the margin, as a role must, and lie on other cells than the role: two shares that
    sum to more than 1 have cells in common.
    """
    related = {_STRICTER.get(name, "") for name in role.statistics}
    taken = {*role.statistics, *related, *(name for name, other in _STRICTER.items() if other in role.statistics)}
    own = max((measured.scores[name].estimate.low[layer, head] for name in role.statistics), default=0.0)
    others = {
        name: float(item.over_uniform.low[layer, head])
        for name in (*_SINKS, *_PATTERNS)
        if name not in taken and (item := measured.scores.get(name)) is not None
        if is_clear(item, layer, head) and own + item.estimate.low[layer, head] <= 1
    }
    return max(others, key=others.__getitem__, default=None)


def shortfall(item: HeadScores, layer: int, head: int, margin: float = MARGIN) -> float:
    """How far a score is below what a role needs; negative if above it, infinite if a baseline is unknown."""
    uniform = float(item.over_uniform.low[layer, head])
    untrained = float(item.over_untrained.low[layer, head] - item.untrained_std[layer])
    least = min(uniform, untrained)
    return margin - least if np.isfinite(least) and np.isfinite(uniform + untrained) else float("inf")


def is_clear(item: HeadScores, layer: int, head: int, margin: float = MARGIN) -> bool:
    """Whether one score of a head is above both baselines by the margin, over enough sentences."""
    return item.sentences >= MIN_SENTENCES and shortfall(item, layer, head, margin) <= 0


def _best(measured: KindScores, layer: int, head: int, candidates: dict[str, str], margin: float) -> str | None:
    """The candidate (name: statistic) with the highest score among those that are clear."""
    best: tuple[float, str] | None = None
    for name, statistic in candidates.items():
        item = measured.scores[statistic]
        score = float(item.mean[layer, head])
        # Patterns that cover the same cells have scores that differ only by rounding; the first one wins.
        if is_clear(item, layer, head, margin) and (best is None or score > best[0] + 1e-6):
            best = (score, name)
    return best[1] if best else None


def statistic_title(statistic: str) -> str:
    """Title of a statistic, on screen and in files."""
    title = translated(statistic_of(statistic).title)
    return t("{score}, sinks left out", score=title) if statistic.endswith(WITHOUT_SINKS) else title


def with_interval(value: float, low: float, high: float, *, signed: bool = False, decimals: int = 2) -> str:
    """Write a number with the ends of its interval in brackets."""
    number, least, most = (fixed(each, decimals, signed=signed) for each in (value, low, high))
    return t("{number} ({low} to {high})", number=number, low=least, high=most)


def evidence_row(measured: KindScores, statistic: str, layer: int, head: int) -> dict[str, str]:
    """One score of a head beside both baselines, as a row of a table: a role needs `MARGIN` in both differences.

    They have a third decimal where two would round an end that is below the margin up to it.
    """
    item = measured.scores[statistic]
    deviation = float(item.untrained_std[layer])
    untrained = tuple(value - deviation for value in item.over_untrained.at(layer, head))
    uniform = item.over_uniform.at(layer, head)
    near = any(-_ROUNDED < low - MARGIN < 0 for _, low, _ in (uniform, untrained))
    write = partial(with_interval, signed=True, decimals=3 if near else 2)
    return {
        t("judged by"): statistic_title(statistic),
        t("mean"): with_interval(*item.estimate.at(layer, head)),
        t("above uniform"): write(*uniform),
        t("above untrained, less 1 SD"): write(*untrained),
        t("sentences"): f"{item.sentences}",
    }


def evidence(measured: KindScores, role: Role, layer: int, head: int) -> tuple[list[dict[str, str]], str, str]:
    """The scores behind a role and a second job as rows, what they measure in words, and what they show."""
    second = second_job(measured, role, layer, head) if role.clear else None
    meanings, said = [role.note] if role.note else [], []
    names = [*role.judged, *([second] if second else [])]
    for name in names:
        meaning = translated(statistic_of(name).full)
        meanings.append(t("{score}: {meaning}.", score=capitalised(statistic_title(name)), meaning=meaning))
    if any(name.endswith(WITHOUT_SINKS) for name in role.judged):
        said.append(
            t(
                "Sinks are the first token (a word or a letter as well) and <eos>. {share} of this head's weight goes "
                "to other tokens, and the score is a share of that weight. Rows whose right token is a sink do not "
                "count.",
                share=percent(float(measured.scores["elsewhere"].mean[layer, head])),
            )
        )
    if any(name.removesuffix(WITHOUT_SINKS) in _STRICTER.values() for name in names):
        said.append(
            t(
                "What is taken off is the weight at the distances at which other rows of the sentence have their "
                "partners, so the score of a sentence can be below 0."
            )
        )
    if second is not None:
        said.append(t("The last row is a second job: it passes the same test on other cells."))
    return [evidence_row(measured, name, layer, head) for name in names], " ".join(meanings), " ".join(said)


def _without_role(measured: KindScores, layer: int, head: int) -> Role:
    """The role of a head of which no score is clear, with the score that came nearest of those that give a role."""
    scores = measured.scores
    patterns = (f"{name}{WITHOUT_SINKS}" for name in ROLES_FROM if name not in _STRICTER.values())
    names = [name for name in (*_SINKS, *patterns) if name in scores]
    missing = {name: shortfall(scores[name], layer, head) for name in names}
    judged = {name: value for name, value in missing.items() if np.isfinite(value)}
    if not judged:
        return Role(NO_ROLE, (), note=t("None of its scores can be judged on this sample."))
    nearest = min(judged, key=judged.__getitem__)
    return Role(NO_ROLE, (), (nearest,), t("No score is clear enough; the nearest one is shown."))
