"""Findings about a model's heads in a few sentences, checked by ablation, and what the cross-checks say of it."""

from __future__ import annotations

import numpy as np

from explorer.decoding.names import index_name, short_layer
from explorer.locale.text import fixed, percent, plural
from explorer.probing.cross_checks import kept_shares, map_agreement, source_counts
from explorer.probing.edit_effect import Quality, interval, quality_of
from explorer.probing.importance import SENTENCES, Importance, name_of
from explorer.probing.measured import Measured
from explorer.probing.measurement import Gold
from explorer.probing.reporting import Report, progress_check, unheard
from explorer.probing.sample import subsample
from explorer.probing.syntax import target_classes
from explorer.probing.tables import roles, summary
from model.analysis.importance import batches_of, without
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.points import Head

LEAST_IMPORTANT = 3  # heads that are switched off together


def findings(
    loaded: LoadedModel, measured: Measured, importance: Importance, report: Report = unheard
) -> tuple[str, ...]:
    """Roles, the best alignment, and what happens without the heads that matter most, least, or have a role."""
    part = subsample(measured.sample, SENTENCES)
    check = progress_check(report, 8 * len(batches_of(part.pairs)), "Checking the findings by ablation")
    order = importance.least_first()
    with_role = [head for head, role in roles(measured.probe).items() if role.clear]

    def score(heads: list[Head]) -> Quality:
        return quality_of(loaded, part, measured.task, without(heads) if heads else None, check)

    whole = score([])
    lines = [f"{summary(measured.probe)} (Over {plural(measured.probe.sentences, 'sentence')}.)"]
    lines += _alignment(measured)
    lines.append(
        f"The head that matters most is {name_of(order[-1])}: without it, {_change(whole, score(order[-1:]))}."
    )
    if len(order) > LEAST_IMPORTANT:
        named = ", ".join(name_of(head) for head in order[:LEAST_IMPORTANT])
        change = _change(whole, score(order[:LEAST_IMPORTANT]))
        lines.append(f"Without the {LEAST_IMPORTANT} that matter least ({named}) together, {change}.")
    if 0 < len(with_role) < len(order):
        noun = "the head that has a role" if len(with_role) == 1 else f"the {len(with_role)} heads that have a role"
        lines.append(f"Without {noun}, {_change(whole, score(with_role))}.")
    return tuple(lines)


_LINKS: dict[Gold, str] = {
    "words": "words, sure and possible links",
    "statistical": "words, statistical links",
    "tokens": "tokens",
}


def _alignment(measured: Measured) -> list[str]:
    """The cross-attention head with the lowest alignment error rate, where the right alignments are known."""
    cross = measured.probe.kinds["cross"]
    if not measured.probe.gold or "error_rate" not in cross.corpus:
        return []
    names = {"error_rate": ("accuracy", "predicts"), "error_rate_input": ("accuracy_input", "has just read")}
    known = [name for name in names if name in cross.corpus]
    best = min(known, key=lambda name: float(np.nanmin(cross.corpus[name].own)))
    rates = cross.corpus[best]
    layer, head = (int(i) for i in np.unravel_index(int(np.nanargmin(rates.own)), rates.own.shape))
    accuracy, row = names[best]
    right, chance = cross.scores[accuracy].mean[layer, head], cross.scores[accuracy].uniform
    value, low, high = (fixed(part, 2) for part in rates.estimate.at(layer, head))
    mean = int(np.nanargmin(rates.of_mean.value))
    links = _LINKS[measured.probe.gold]
    return [
        f"The head that aligns best is cross {index_name(layer, head)}: in {percent(float(right))} of the rows its "
        f"largest weight is on the right source token of what the row {row} (chance: {percent(float(chance))}); "
        f"alignment error rate {value} ({low} to {high}; {links}), of the mean over the heads of a layer at best "
        f"{fixed(float(rates.of_mean.value[mean]), 2)} ({short_layer(mean + 1)})."
    ]


def _change(before: Quality, after: Quality) -> str:
    text = f"the loss goes from {fixed(before.loss, 3)} to {fixed(after.loss, 3)}"
    if before.losses is not None and after.losses is not None:
        text += f", by {interval(before.losses.loss_change(after.losses), 3)}"
    if before.exact is not None and after.exact is not None:
        text += f", and exact match from {fixed(100 * before.exact, 0)} % to {fixed(100 * after.exact, 0)} %"
    return text


def check_lines(loaded: LoadedModel, sample: Sample, report: Report = unheard) -> tuple[str, ...]:
    """The captions of all three counts over a sample."""
    classes = target_classes(loaded.data_config, loaded.target, sample)
    return (
        kept_shares(loaded, sample, classes, report).caption(),
        map_agreement(loaded, sample, report).caption(),
        source_counts(loaded, sample, classes, report).caption(),
    )
