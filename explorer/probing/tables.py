"""Measured heads as tables: a row for each head, and a row for every number with its baselines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from explorer.attention.names import index_name
from explorer.probing.corpus_scores import NAMES as CORPUS
from explorer.probing.measurement import STATISTICS, WITHOUT_SINKS, Probe
from explorer.probing.roles import Role, role_of
from explorer.text import plural
from model.config import ATTENTION_KINDS, AttentionKind

SHORT = (
    *("effective_keys", "normalised_entropy", "confidence", "mean_distance", "previous", "itself", "next", "first"),
    *("end", "punctuation", "duplicate", "rare", "diagonal", "mirror", "accuracy", "error_rate", "accuracy_input"),
    "coverage_spread",
)  # columns of the table of heads; the table of numbers has all statistics


def title_of(statistic: str) -> str:
    """The title of a statistic, on screen and in files."""
    title = STATISTICS[statistic.removesuffix(WITHOUT_SINKS)].title
    return f"{title}, sinks left out" if statistic.endswith(WITHOUT_SINKS) else title


def whole_title(statistic: str) -> str:
    """The title of a corpus-level statistic."""
    by = " (Och & Ney 2003)" if statistic.startswith("error_rate") else ""
    return f"{title_of(statistic)}, whole sample{by}"


def heads(probe: Probe) -> Iterable[tuple[AttentionKind, int, int]]:
    """Every measured head, with indices from 0."""
    for kind in ATTENTION_KINDS:
        measured = probe.kinds[kind]
        for layer in range(measured.n_layers):
            for head in range(measured.n_heads):
                yield kind, layer, head


def roles(probe: Probe) -> dict[tuple[AttentionKind, int, int], Role]:
    """The role of every head."""
    return {(kind, layer, head): role_of(probe.kinds[kind], layer, head) for kind, layer, head in heads(probe)}


def head_rows(probe: Probe, kinds: Iterable[AttentionKind] = ATTENTION_KINDS) -> list[dict[str, Any]]:
    """A row for each head: its role and the means of its main scores, without empty columns."""
    wanted = set(kinds)
    known = roles(probe)
    rows = []
    for kind, layer, head in heads(probe):
        if kind not in wanted:
            continue
        row: dict[str, Any] = {"kind": kind, "head": index_name(layer, head), "role": known[kind, layer, head].name}
        for statistic in SHORT:
            item = probe.kinds[kind].scores.get(statistic)
            value = float(item.mean[layer, head]) if item is not None else float("nan")
            row[title_of(statistic)] = round(value, 3) if np.isfinite(value) else None
            if statistic in CORPUS:
                whole = probe.kinds[kind].corpus.get(statistic)
                row[whole_title(statistic)] = round(float(whole.own[layer, head]), 3) if whole is not None else None
        rows.append(row)
    full = [name for name in rows[0] if any(row[name] is not None for row in rows)] if rows else []
    return [{name: row[name] for name in full} for row in rows]


def kinds_with(probe: Probe, statistic: str) -> list[AttentionKind]:
    """The kinds of attention to which a statistic applies on this sample."""
    return [
        kind
        for kind in ATTENTION_KINDS
        if (item := probe.kinds[kind].scores.get(statistic)) is not None and item.sentences
    ]


def colour_range(probe: Probe, statistic: str) -> tuple[float, float]:
    """The colour scale that maps of a statistic share: 0 to 1 for shares, otherwise up to the largest score."""
    largest = max(float(np.nanmax(probe.kinds[kind].scores[statistic].mean)) for kind in kinds_with(probe, statistic))
    bounded = STATISTICS[statistic].unit in ("share", "") and largest <= 1
    return 0.0, 1.0 if bounded else largest or 1.0


def number_rows(probe: Probe) -> list[dict[str, Any]]:
    """A row for every score of every head, with standard deviation, both baselines and number of sentences."""
    return [row for kind, layer, head in heads(probe) for row in head_numbers(probe, kind, layer, head)]


def head_numbers(probe: Probe, kind: AttentionKind, layer: int, head: int) -> list[dict[str, Any]]:
    """The rows of one head (from 0), without scores that apply to no sentence of the sample.

    A corpus-level statistic has no standard deviation over sentences.
    """
    rows = []
    place = {"kind": kind, "layer": layer + 1, "head": head + 1}
    for statistic, item in probe.kinds[kind].scores.items():
        if not item.sentences:
            continue
        numbers = {
            "mean": item.mean[layer, head],
            "standard deviation": item.std[layer, head],
            "uniform": item.uniform,
            "uniform standard deviation": item.uniform_std,
            "untrained": item.untrained[layer],
            "untrained standard deviation": item.untrained_std[layer],
        }
        rows.append(
            {
                **place,
                "statistic": title_of(statistic),
                "unit": STATISTICS[statistic.removesuffix(WITHOUT_SINKS)].unit,
                **{name: round(float(value), 4) if np.isfinite(value) else None for name, value in numbers.items()},
                "sentences": item.sentences,
                "untrained models": probe.seeds,
            }
        )
    for statistic, whole in probe.kinds[kind].corpus.items():
        rows.append(
            {
                **place,
                "statistic": whole_title(statistic),
                "unit": STATISTICS[statistic].unit,
                "mean": round(float(whole.own[layer, head]), 4),
                "standard deviation": None,
                "uniform": round(whole.uniform, 4),
                "uniform standard deviation": None,
                "untrained": round(float(whole.untrained[layer]), 4),
                "untrained standard deviation": round(float(whole.untrained_std[layer]), 4),
                "sentences": whole.sentences,
                "untrained models": probe.seeds,
            }
        )
    return rows


def summary(probe: Probe) -> str:
    """How many heads have each role."""
    known = roles(probe)
    counts: dict[str, int] = {}
    for role in known.values():
        if role.clear:
            counts[role.name] = counts.get(role.name, 0) + 1
    if not counts:
        return f"None of the {len(known)} heads has a clear role."
    named = ", ".join(f"{name} ({n})" for name, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    clear = sum(counts.values())
    return f"{clear} of {plural(len(known), 'head')} {'has' if clear == 1 else 'have'} a clear role: {named}."
