"""Cross-checks of attention, counted over a sample and compared on one sentence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.probing.quality import subsample
from explorer.probing.reporting import Report
from explorer.text import fixed, listed, percent, plural, rounded
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
    "Moradi, Kambhatla and Sarkar (2019) kept 68 % of function words and 21 % of content words (German–English)."
)


@dataclass(frozen=True, eq=False)
class KeptShares:
    """How often the predicted word stays under each counterfactual row, with intervals over sentences.

    `by_tag` has the same by part of speech of the predicted word ("content" and "function" words too), with the number
    of words; it is empty where sentences are not parsed.
    """

    shares: dict[Counterfactual, Estimate]
    by_tag: dict[str, tuple[int, dict[Counterfactual, float]]]
    sentences: int
    words: int

    def caption(self) -> str:
        """All shares in one sentence."""
        parts = [
            f"{percent(float(item.value))} ({percent(float(item.low))} to {percent(float(item.high))}) with its row "
            f"{name}"
            for name, item in self.shares.items()
        ]
        text = f"Of {plural(self.words, 'prediction')} in {plural(self.sentences, 'sentence')}, {listed(parts)} stay."
        if "content" in self.by_tag and "function" in self.by_tag:
            kept = [
                f"{percent(max(self.by_tag[name][1].values()))} of {name} words" for name in ("function", "content")
            ]
            text += f" At best, {listed(kept)}. {PUBLISHED}"
        return text

    def rows(self) -> list[dict[str, Any]]:
        """A row for all words, then one for each part of speech."""
        whole = {f"{name}": rounded(float(item.value), 3) for name, item in self.shares.items()}
        lines: list[dict[str, Any]] = [{"predicted word": "all", "words": self.words, **whole}]
        for tag, (count, shares) in sorted(self.by_tag.items(), key=lambda item: -item[1][0]):
            lines.append(
                {"predicted word": tag, "words": count, **{name: rounded(shares[name], 3) for name in COUNTERFACTUALS}}
            )
        return lines


def kept_shares(
    loaded: LoadedModel, sample: Sample, tags: Sequence[Sequence[str]] | None, report: Report
) -> KeptShares:
    """Count over the sample how often each prediction stays; tags [sentence][target token], where they are known.

    Only predictions of words count, not that of <eos>.
    """
    part = subsample(sample, SENTENCES)
    known = None if tags is None else [tags[i] for i in evenly_spaced(len(sample), SENTENCES)]
    kept = np.zeros((len(part), len(COUNTERFACTUALS)))
    words = np.zeros(len(part))
    by_tag: dict[str, list[NDArray[np.bool_]]] = defaultdict(list)
    for nth, (source, target) in enumerate(zip(part.sources, part.targets, strict=True)):
        report(nth / len(part), f"Putting other rows in place: {nth} of {plural(len(part), 'sentence')}")
        found = counterfactual_rows(loaded.transformer, (*source.ids, EOS), (SOS, *target))
        stays = np.stack([found.stays[name] for name in COUNTERFACTUALS], axis=1)[: len(target)]  # [tgt, kind]
        kept[nth], words[nth] = stays.sum(axis=0), len(stays)
        for tag, row in zip(known[nth] if known is not None else (), stays, strict=False):
            if tag:
                by_tag[tag].append(row)
                for name, group in (("content", CONTENT), ("function", FUNCTION)):
                    if tag in group:
                        by_tag[name].append(row)
    shares = {name: bootstrap.of_ratio(kept[:, i], words) for i, name in enumerate(COUNTERFACTUALS)}
    summed = {
        tag: (len(rows), dict(zip(COUNTERFACTUALS, np.mean(rows, axis=0).tolist(), strict=True)))
        for tag, rows in by_tag.items()
    }
    return KeptShares(shares, summed, len(part), int(words.sum()))


def agreement(one: NDArray[np.floating], two: NDArray[np.floating]) -> str:
    """In how many rows two maps [query, key] have their largest value at the same key."""
    same = int((one.argmax(axis=1) == two.argmax(axis=1)).sum())
    rows = [_correlation(a, b) for a, b in zip(one, two, strict=True)]
    known = [value for value in rows if value is not None]
    mean = f"; mean correlation of a row {fixed(float(np.mean(known)), 2, signed=True)}" if known else ""
    return f"the largest key is the same in {same} of {plural(len(one), 'row')}{mean}"


def _correlation(a: NDArray[np.floating], b: NDArray[np.floating]) -> float | None:
    return float(np.corrcoef(a, b)[0, 1]) if len(a) > 1 and a.std() > 0 and b.std() > 0 else None
