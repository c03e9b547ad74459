"""What was found about a model's heads, in a few sentences that surgery has checked: for its page and its card."""

from __future__ import annotations

import numpy as np

from explorer.probing.edit_effect import Check, Quality, part_of, quality
from explorer.probing.sample import Measured
from explorer.probing.tables import name_of, roles, summary
from explorer.screens.probe.importance import SENTENCES, Importance
from model.analysis.importance import least_first, without
from model.checkpoint import LoadedModel
from model.recorder import Head

SPARED = 3  # heads, the least important ones, that are switched off together


def findings(
    loaded: LoadedModel, found: Measured, importance: Importance, check: Check = lambda: None
) -> tuple[str, ...]:
    """Roles, the best alignment, and what happens without the heads that matter most, least, or have a role.

    `check` is called before each batch and may raise.
    """
    part = part_of(found.sample, SENTENCES)
    order = least_first(importance.ablation.loss_change)
    clear = [head for head, role in roles(found.probe).items() if role.clear]

    def score(heads: list[Head]) -> Quality:
        return quality(loaded, part, found.task, without(heads) if heads else None, check)

    whole = score([])
    lines = [f"{summary(found.probe)} (Over {found.probe.sentences} sentences.)"]
    lines += _alignment(found)
    lines.append(f"The head that matters most is {_name(order[-1])}: without it, {_quality(whole, score(order[-1:]))}.")
    if len(order) > SPARED:
        named = ", ".join(_name(head) for head in order[:SPARED])
        left = _quality(whole, score(order[:SPARED]))
        lines.append(f"Without the {SPARED} that matter least ({named}) together, {left}.")
    if 0 < len(clear) < len(order):
        noun = "the head that has a role" if len(clear) == 1 else f"the {len(clear)} heads that have a role"
        lines.append(f"Without {noun}, {_quality(whole, score(clear))}.")
    return tuple(lines)


def _alignment(found: Measured) -> list[str]:
    """The cross-attention head with the lowest alignment error rate, where the right alignment is known."""
    scores = found.probe.kinds["cross"].scores
    if "error_rate" not in scores or not scores["error_rate"].sentences:
        return []
    rates = scores["error_rate"].mean
    layer, head = np.unravel_index(int(np.nanargmin(rates)), rates.shape)
    right, chance = scores["accuracy"].mean[layer, head], scores["accuracy"].uniform
    return [
        f"The head that aligns best is cross {name_of(int(layer), int(head))}: in {100 * right:.0f} % of the rows its "
        f"largest weight is on the right source token (chance: {100 * chance:.0f} %); alignment error rate "
        f"{rates[layer, head]:.2f}."
    ]


def _name(head: Head) -> str:
    kind, layer, number = head
    return f"{kind} {name_of(layer, number)}"


def _quality(before: Quality, after: Quality) -> str:
    words = f"the loss goes from {before.loss:.3f} to {after.loss:.3f}"
    if before.exact is not None and after.exact is not None:
        words += f" and exact match from {100 * before.exact:.0f} % to {100 * after.exact:.0f} %"
    return words
