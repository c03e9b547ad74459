"""Assign a role to a head, only if its scores are above both baselines by a stated margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.locale.messages import message, t, translated
from explorer.locale.text import capitalised, fixed
from explorer.probing.measurement import ROLES_FROM, STATISTICS, WITHOUT_SINKS, HeadScores, KindScores

MIN_SENTENCES = 50
MARGIN = 0.25  # of the weight, above uniform attention and above untrained heads
LEAST_ELSEWHERE = 0.2  # share of the weight outside the sinks that a second role needs
NO_ROLE, TOO_FEW = message("no clear role"), message("too few sentences")

# The statistics that support a role, and its short label on maps of roles. Of two equally clear roles, the one listed
# first is assigned. A role has the title of its statistic unless another is given.
_SINKS = {"first": "S1", "end": "Se"}
_PATTERNS = {
    "lexical": "Lp",
    "lexical_input": "Lr",
    "aligned": "Ap",
    "aligned_input": "Ar",
    "diagonal": "Dg",
    "mirror": "Mi",
    "previous": "Pv",
    "next": "Nx",
    "itself": "It",
    "induction": "In",
    "duplicate": "Du",
    "rare": "Ra",
    "punctuation": "Pu",
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


@dataclass(frozen=True)
class Role:
    """A role: its English name, by which it is found, the statistics behind it (the sink first), and its evidence."""

    name: str
    statistics: tuple[str, ...]
    evidence: str

    @property
    def clear(self) -> bool:
        """Whether the head has a role."""
        return bool(self.statistics)

    @property
    def title(self) -> str:
        """The name of the role as a page shows it."""
        return role_title(self.name)

    @property
    def letters(self) -> str:
        """A short label of the role, empty without one."""
        return "+".join(LETTERS[part] for part in self.name.split(" + ")) if self.clear else ""


def role_title(name: str) -> str:
    """The name of a role as a page shows it; `name` is the one in English."""
    return " + ".join(translated(part) for part in name.split(" + "))


def role_of(measured: KindScores, layer: int, head: int) -> Role:
    """Assign the role of one head (indices from 0), with its evidence."""
    sentences = max((item.sentences for item in measured.scores.values()), default=0)
    if sentences < MIN_SENTENCES:
        return Role(
            TOO_FEW,
            (),
            t(
                "Measured on {sentences}; a role needs {needed}.",
                sentences=t("{n} sentence", "{n:,} sentences", n=sentences),
                needed=MIN_SENTENCES,
            ),
        )
    sink = _best(measured, layer, head, {name: name for name in _SINKS if name in measured.scores})
    rest = None
    elsewhere = float(measured.scores["elsewhere"].mean[layer, head])
    if elsewhere >= LEAST_ELSEWHERE:
        # Lexical roles are stricter forms of alignment: they refine it below instead of competing by score.
        candidates = {
            name: name + WITHOUT_SINKS
            for name in _PATTERNS
            if name + WITHOUT_SINKS in measured.scores and name not in _STRICTER.values()
        }
        rest = _best(measured, layer, head, candidates)
        stricter = _STRICTER.get(rest or "", "")
        if stricter + WITHOUT_SINKS in measured.scores and is_clear(
            measured.scores[stricter + WITHOUT_SINKS], layer, head
        ):
            rest = stricter
    names, statistics, evidence = [], [], []
    if sink is not None:
        names.append(_NAMES[sink])
        statistics.append(sink)
        evidence.append(_evidence(translated(STATISTICS[sink].title), measured.scores[sink], layer, head))
    if rest is not None:
        names.append(_NAMES[rest])
        statistics.append(rest)
        title = translated(STATISTICS[rest].title)
        if elsewhere < 0.995:
            title = t("{score}, of the weight outside the sinks", score=title)
        evidence.append(_evidence(title, measured.scores[rest + WITHOUT_SINKS], layer, head))
    if not names:
        return Role(NO_ROLE, (), _nearest(measured, layer, head))
    return Role(" + ".join(names), tuple(statistics), " ".join(evidence))


def second_job(measured: KindScores, role: Role, layer: int, head: int) -> str:
    """Describe the pattern, other than the head's role, on which it is furthest above uniform attention."""
    taken = {*role.statistics, *(name for name, other in _STRICTER.items() if other in role.statistics)}
    taken |= {_STRICTER[name] for name in role.statistics if name in _STRICTER}
    best: tuple[float, str] | None = None
    for name in (*_SINKS, *_PATTERNS):
        item = measured.scores.get(name)
        if item is None or name in taken or item.sentences < MIN_SENTENCES:
            continue
        low = float(item.over_uniform.low[layer, head])
        if low > 0 and (best is None or low > best[0]):
            best = (low, name)
    if best is None:
        return t("It has no second job: on no other pattern is its weight above that of uniform attention.")
    item = measured.scores[best[1]]
    title = translated(STATISTICS[best[1]].title)
    return t("Its second job: {evidence}", evidence=_evidence(title, item, layer, head, needed=False))


def shortfall(item: HeadScores, layer: int, head: int) -> float:
    """How far a score is below what a role needs; negative if above it, infinite if a baseline is unknown."""
    uniform = float(item.over_uniform.low[layer, head])
    untrained = float(item.over_untrained.low[layer, head] - item.untrained_std[layer])
    least = min(uniform, untrained)
    return MARGIN - least if np.isfinite(least) and np.isfinite(uniform + untrained) else float("inf")


def is_clear(item: HeadScores, layer: int, head: int) -> bool:
    """Whether one score of a head is above both baselines by the margin, over enough sentences."""
    return item.sentences >= MIN_SENTENCES and shortfall(item, layer, head) <= 0


def _best(measured: KindScores, layer: int, head: int, candidates: dict[str, str]) -> str | None:
    """The candidate (name: statistic) with the highest score among those that are clear."""
    best: tuple[float, str] | None = None
    for name, statistic in candidates.items():
        item = measured.scores[statistic]
        score = float(item.mean[layer, head])
        # Patterns that cover the same cells have scores that differ only by rounding; the first one wins.
        if is_clear(item, layer, head) and (best is None or score > best[0] + 1e-6):
            best = (score, name)
    return best[1] if best else None


def _evidence(title: str, item: HeadScores, layer: int, head: int, *, needed: bool = True) -> str:
    value, low, high = item.estimate.at(layer, head)
    uniform, untrained = (
        t(
            "{number} ({low} to {high})",
            number=fixed(difference, 2, signed=True),
            low=fixed(least, 2, signed=True),
            high=fixed(most, 2, signed=True),
        )
        for difference, least, most in (item.over_uniform.at(layer, head), item.over_untrained.at(layer, head))
    )
    text = t(
        "{score}: {value} ({low} to {high}) over {sentences}; beside uniform attention {uniform}, above it in {above} "
        "of {n}; beside untrained models {untrained}, whose heads have a standard deviation of {deviation}",
        score=capitalised(title),
        value=fixed(value, 2),
        low=fixed(low, 2),
        high=fixed(high, 2),
        sentences=t("{n} sentence", "{n:,} sentences", n=item.sentences),
        uniform=uniform,
        above=item.above_uniform[layer, head],
        n=item.sentences,
        untrained=untrained,
        deviation=fixed(float(item.untrained_std[layer]), 2),
    )
    return (
        t("{evidence}; needed {margin}.", evidence=text, margin=fixed(MARGIN, 2, signed=True)) if needed else f"{text}."
    )


def _nearest(measured: KindScores, layer: int, head: int) -> str:
    """Describe the score that came nearest to a role."""
    scores = measured.scores
    names = [name for name in (*_SINKS, *(f"{name}{WITHOUT_SINKS}" for name in ROLES_FROM)) if name in scores]
    missing = {name: shortfall(scores[name], layer, head) for name in names}
    judged = {name: value for name, value in missing.items() if np.isfinite(value)}
    if not judged:
        return t("None of its scores can be judged on this sample.")
    name = min(judged, key=judged.__getitem__)
    title = translated(STATISTICS[name.removesuffix(WITHOUT_SINKS)].title)
    return t("No score is clear enough. Nearest: {evidence}", evidence=_evidence(title, scores[name], layer, head))
