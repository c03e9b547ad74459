"""Cross-checks of attention, counted over a sample and compared on one sentence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.locale.text import fixed, listed, percent, plural, rounded
from explorer.probing.quality import subsample
from explorer.probing.reporting import Report
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.cross_checks import COUNTERFACTUALS, Counterfactual, counterfactual_rows
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.config import EOS, SOS
from model.scoring import evenly_spaced

SENTENCES = 50  # of the sample, at most
CONTENT = ("NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM")  # coarse tags of words with a meaning of their own
FUNCTION = ("DET", "ADP", "PRON", "AUX", "CCONJ", "SCONJ", "PART")
PUBLISHED = (
    "Moradi, Kambhatla and Sarkar (2019) kept 68 % of function words and 21 % of content words (German–English), in a "
    "recurrent model with a single attention; here every head of every layer gets another row at once."
)


@dataclass(frozen=True, eq=False)
class KeptShares:
    """How often the predicted word stays under each counterfactual row, with intervals over sentences.

    `by_tag` has the same by part of speech of the predicted word, or by whether it is a function word, with the number
    of words; it is empty where neither is known.
    """

    shares: dict[Counterfactual, Estimate]
    by_tag: dict[str, tuple[int, dict[Counterfactual, Estimate]]]
    sentences: int
    words: int

    def caption(self) -> str:
        """All shares in one sentence."""
        parts = [f"{_in_percent(item)} with its row {name}" for name, item in self.shares.items()]
        text = f"Of {plural(self.words, 'prediction')} in {plural(self.sentences, 'sentence')}, {listed(parts)} stay."
        if "content" in self.by_tag and "function" in self.by_tag:
            kept = []
            for name in ("function", "content"):
                shares = self.by_tag[name][1]
                best = max(COUNTERFACTUALS, key=lambda one: float(shares[one].value))
                kept.append(f"{_in_percent(shares[best])} of {name} words with their row {best}")
            text += f" At best, {listed(kept)} stay. {PUBLISHED}"
        return f"{text} In brackets: 95 % intervals over sentences."

    def rows(self) -> list[dict[str, Any]]:
        """A row for all words, then one for each class or part of speech."""
        lines = [_row("all", self.words, self.shares)]
        for tag, (count, shares) in sorted(self.by_tag.items(), key=lambda item: -item[1][0]):
            lines.append(_row(tag, count, shares))
        return lines


def _in_percent(item: Estimate) -> str:
    value, low, high = (percent(float(part)) for part in (item.value, item.low, item.high))
    return f"{value} ({low} to {high})"


def _row(tag: str, count: int, shares: dict[Counterfactual, Estimate]) -> dict[str, Any]:
    line: dict[str, Any] = {"predicted word": tag, "words": count}
    for name in COUNTERFACTUALS:
        value, low, high = shares[name].at()
        line |= {name: rounded(value, 3), f"{name}: low": rounded(low, 3), f"{name}: high": rounded(high, 3)}
    return line


def kept_shares(
    loaded: LoadedModel, sample: Sample, tags: Sequence[Sequence[str]] | None, report: Report
) -> KeptShares:
    """Count over the sample how often each prediction stays; tags [sentence][target token], where they are known.

    Tags are parts of speech, or "function" and "content" themselves.

    Only predictions of words count, not that of <eos>.
    """
    part = subsample(sample, SENTENCES)
    known = None if tags is None else [tags[i] for i in evenly_spaced(len(sample), SENTENCES)]
    counted: dict[str, NDArray[np.float64]] = defaultdict(lambda: np.zeros((len(part), 1 + len(COUNTERFACTUALS))))
    for nth, (source, target) in enumerate(zip(part.sources, part.targets, strict=True)):
        report(nth / len(part), f"Putting other rows in place: {nth} of {plural(len(part), 'sentence')}")
        found = counterfactual_rows(loaded.transformer, (*source.ids, EOS), (SOS, *target))
        stays = np.stack([found.stays[name] for name in COUNTERFACTUALS], axis=1)[: len(target)]  # [tgt, kind]
        line = np.concatenate([np.ones((len(stays), 1)), stays], axis=1)
        counted["all"][nth] = line.sum(axis=0)
        for tag, row in zip(known[nth] if known is not None else (), line, strict=False):
            groups = {"content" if tag in CONTENT else "function" if tag in FUNCTION else tag, tag} - {""}
            for name in groups:
                counted[name][nth] += row
    by_tag = {name: (int(sums[:, 0].sum()), _shares(sums)) for name, sums in counted.items()}
    words, shares = by_tag.pop("all", (0, {}))
    return KeptShares(shares, by_tag, len(part), words)


def _shares(sums: NDArray[np.float64]) -> dict[Counterfactual, Estimate]:
    """The share that stays under each counterfactual, from [sentence, words and words that stay]."""
    return {name: bootstrap.of_ratio(sums[:, 1 + i], sums[:, 0]) for i, name in enumerate(COUNTERFACTUALS)}


def agreement(one: NDArray[np.floating], two: NDArray[np.floating]) -> str:
    """In how many rows two maps [query, key] have their largest value at the same key."""
    same = int((one.argmax(axis=1) == two.argmax(axis=1)).sum())
    rows = [_correlation(a, b) for a, b in zip(one, two, strict=True)]
    known = [value for value in rows if value is not None]
    mean = f"; mean correlation of a row {fixed(float(np.mean(known)), 2, signed=True)}" if known else ""
    return f"the largest key is the same in {same} of {plural(len(one), 'row')}{mean}"


def _correlation(a: NDArray[np.floating], b: NDArray[np.floating]) -> float | None:
    return float(np.corrcoef(a, b)[0, 1]) if len(a) > 1 and a.std() > 0 and b.std() > 0 else None
