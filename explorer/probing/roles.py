"""The role of a head: only what its scores support, beyond both baselines by a stated margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.probing.measurement import ROLES_FROM, STATISTICS, WITHOUT_SINKS, HeadScores, KindScores
from explorer.text import plural

MIN_SENTENCES = 50
MARGIN = 0.25  # of the weight, above mean plus standard deviation of uniform attention and of untrained heads
LEAST_ELSEWHERE = 0.2  # of the weight: a head with less outside the sinks has no second role
NO_ROLE, TOO_FEW = "no clear role", "too few sentences"
RULE = (
    f"A head gets a role if its score is at least {MARGIN:g} above the mean plus one standard deviation of both "
    f"uniform attention and untrained models of the same shape, over at least {MIN_SENTENCES} sentences. Weight on "
    f"sinks (the first token and <eos>) is judged first; other roles on the remaining weight, if that is "
    f"{100 * LEAST_ELSEWHERE:.0f} % or more."
)

_SINKS = {"first": "first token", "end": "end of sentence"}
_NAMES = {
    "aligned": "alignment (predicts)",
    "aligned_input": "alignment (just read)",
    "diagonal": "diagonal",
    "mirror": "mirror",
    "previous": "previous token",
    "next": "next token",
    "itself": "itself",
    "duplicate": "duplicate token",
    "rare": "rarest token",
    "punctuation": "punctuation",
}  # if two are equally clear, the one listed first names the head


@dataclass(frozen=True)
class Role:
    """The name of a role, the statistics behind it (the sink first), and the sentence that gives the evidence."""

    name: str
    statistics: tuple[str, ...]
    evidence: str

    @property
    def clear(self) -> bool:
        """Whether the head has a role."""
        return bool(self.statistics)


def role_of(measured: KindScores, layer: int, head: int) -> Role:
    """The role of one head (indices from 0) with its evidence."""
    sentences = max((item.sentences for item in measured.scores.values()), default=0)
    if sentences < MIN_SENTENCES:
        return Role(TOO_FEW, (), f"Measured on {plural(sentences, 'sentence')}; a role needs {MIN_SENTENCES}.")
    sink = _best(measured, layer, head, {name: name for name in _SINKS if name in measured.scores})
    rest = None
    elsewhere = float(measured.scores["elsewhere"].mean[layer, head])
    if elsewhere >= LEAST_ELSEWHERE:
        candidates = {name: name + WITHOUT_SINKS for name in _NAMES if name + WITHOUT_SINKS in measured.scores}
        rest = _best(measured, layer, head, candidates)
    names, statistics, evidence = [], [], []
    if sink is not None:
        names.append(f"sink: {_SINKS[sink]}")
        statistics.append(sink)
        evidence.append(_evidence(STATISTICS[sink].title, measured.scores[sink], layer, head))
    if rest is not None:
        names.append(_NAMES[rest])
        statistics.append(rest)
        title = STATISTICS[rest].title + (", of the weight outside the sinks" if elsewhere < 0.995 else "")
        evidence.append(_evidence(title, measured.scores[rest + WITHOUT_SINKS], layer, head))
    if not names:
        return Role(NO_ROLE, (), _nearest(measured, layer, head))
    return Role(" + ".join(names), tuple(statistics), " ".join(evidence))


def threshold(item: HeadScores, layer: int) -> float:
    """The score that a head of this layer needs for a role; infinite where a baseline is not known."""
    least = max(item.uniform + item.uniform_std, float(item.untrained[layer] + item.untrained_std[layer]))
    return least + MARGIN if np.isfinite(least) else float("inf")


def _best(measured: KindScores, layer: int, head: int, candidates: dict[str, str]) -> str | None:
    """The candidate (name: statistic) with the highest score among those above the threshold."""
    best: tuple[float, str] | None = None
    for name, statistic in candidates.items():
        item = measured.scores[statistic]
        score = float(item.mean[layer, head])
        clear = item.sentences >= MIN_SENTENCES and score >= threshold(item, layer)
        # Two patterns may cover the same cells, with scores that differ only in the last digits; the first name stays.
        if clear and (best is None or score > best[0] + 1e-6):
            best = (score, name)
    return best[1] if best else None


def _evidence(title: str, item: HeadScores, layer: int, head: int) -> str:
    return (
        f"{title[0].upper()}{title[1:]}: {item.mean[layer, head]:.2f} ± {item.std[layer, head]:.2f} over "
        f"{plural(item.sentences, 'sentence')}; uniform attention {item.uniform:.2f} ± {item.uniform_std:.2f}, "
        f"untrained {item.untrained[layer]:.2f} ± {item.untrained_std[layer]:.2f}; needed {threshold(item, layer):.2f}."
    )


def _nearest(measured: KindScores, layer: int, head: int) -> str:
    """The score that came nearest to its threshold."""
    scores = measured.scores
    names = [name for name in (*_SINKS, *(f"{name}{WITHOUT_SINKS}" for name in ROLES_FROM)) if name in scores]
    missing = {name: threshold(scores[name], layer) - float(scores[name].mean[layer, head]) for name in names}
    known = {name: value for name, value in missing.items() if np.isfinite(value)}
    if not known:
        return "None of its scores can be judged on this sample."
    name = min(known, key=known.__getitem__)
    title = STATISTICS[name.removesuffix(WITHOUT_SINKS)].title
    return f"No score is clear enough. Nearest: {_evidence(title, scores[name], layer, head)}"
