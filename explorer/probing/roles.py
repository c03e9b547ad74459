"""What to call a head: only what its scores can carry, beyond both baselines by a stated margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.probing.measurement import ROLES_FROM, STATISTICS, WITHOUT_SINKS, HeadScores, KindScores

MIN_SENTENCES = 50
MARGIN = 0.25  # of the weight, above the mean plus spread of uniform attention and of untrained heads
LEAST_ELSEWHERE = 0.2  # of the weight: a head that spends less outside sinks has no second role
NO_ROLE, TOO_FEW = "no clear role", "too few sentences"
RULE = (
    f"A head gets a role where its score lies {MARGIN:g} above the mean plus one spread of both uniform attention and "
    f"untrained models of the same shape, over at least {MIN_SENTENCES} sentences. Weight on sinks (the first token "
    f"and <eos>) is judged first; other roles then on the rest, if that is {100 * LEAST_ELSEWHERE:.0f} % or more."
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
}  # where two are equally clear, the one that stands first here names the head


@dataclass(frozen=True)
class Role:
    """What a head is called, by which statistics (the sink first), and the sentence that says why."""

    name: str
    statistics: tuple[str, ...]
    evidence: str

    @property
    def clear(self) -> bool:
        """Whether it is a role at all."""
        return bool(self.statistics)


def role_of(found: KindScores, layer: int, head: int) -> Role:
    """The role of one head (indices from 0) with its evidence."""
    measured = max((item.sentences for item in found.scores.values()), default=0)
    if measured < MIN_SENTENCES:
        return Role(TOO_FEW, (), f"Measured on {measured} sentences; a role needs {MIN_SENTENCES}.")
    sink = _best(found, layer, head, {name: name for name in _SINKS if name in found.scores})
    rest = None
    elsewhere = float(found.scores["elsewhere"].mean[layer, head])
    if elsewhere >= LEAST_ELSEWHERE:
        offered = {name: name + WITHOUT_SINKS for name in _NAMES if name + WITHOUT_SINKS in found.scores}
        rest = _best(found, layer, head, offered)
    names, statistics, evidence = [], [], []
    if sink is not None:
        names.append(f"sink: {_SINKS[sink]}")
        statistics.append(sink)
        evidence.append(_words(STATISTICS[sink].title, found.scores[sink], layer, head))
    if rest is not None:
        names.append(_NAMES[rest])
        statistics.append(rest)
        title = STATISTICS[rest].title + (", of what does not go to sinks" if elsewhere < 0.995 else "")
        evidence.append(_words(title, found.scores[rest + WITHOUT_SINKS], layer, head))
    if not names:
        return Role(NO_ROLE, (), _nearest(found, layer, head))
    return Role(" + ".join(names), tuple(statistics), " ".join(evidence))


def threshold(item: HeadScores, layer: int) -> float:
    """What a score has to reach to name a head of this layer; infinite where a baseline is not known."""
    least = max(item.uniform + item.uniform_spread, float(item.untrained[layer] + item.untrained_spread[layer]))
    return least + MARGIN if np.isfinite(least) else float("inf")


def _best(found: KindScores, layer: int, head: int, offered: dict[str, str]) -> str | None:
    """The name whose score is highest among those that are clear."""
    best: tuple[float, str] | None = None
    for name, statistic in offered.items():
        item = found.scores[statistic]
        score = float(item.mean[layer, head])
        clear = item.sentences >= MIN_SENTENCES and score >= threshold(item, layer)
        # Scores of one and the same place differ in the last digits only; the earlier name then stays.
        if clear and (best is None or score > best[0] + 1e-6):
            best = (score, name)
    return best[1] if best else None


def _words(title: str, item: HeadScores, layer: int, head: int) -> str:
    return (
        f"{title[0].upper()}{title[1:]}: {item.mean[layer, head]:.2f} ± {item.spread[layer, head]:.2f} over "
        f"{item.sentences} sentences; uniform attention {item.uniform:.2f} ± {item.uniform_spread:.2f}, untrained "
        f"{item.untrained[layer]:.2f} ± {item.untrained_spread[layer]:.2f}; needed {threshold(item, layer):.2f}."
    )


def _nearest(found: KindScores, layer: int, head: int) -> str:
    """Which score came nearest to being enough."""
    names = [name for name in (*_SINKS, *(f"{name}{WITHOUT_SINKS}" for name in ROLES_FROM)) if name in found.scores]
    short = {name: threshold(found.scores[name], layer) - float(found.scores[name].mean[layer, head]) for name in names}
    known = {name: value for name, value in short.items() if np.isfinite(value)}
    if not known:
        return "None of its scores can be judged on this sample."
    name = min(known, key=known.__getitem__)
    title = STATISTICS[name.removesuffix(WITHOUT_SINKS)].title
    return f"Nothing is clear enough. Nearest: {_words(title, found.scores[name], layer, head)}"
