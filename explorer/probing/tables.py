"""Tables of measured heads: one with a row per head, one with a row per number and its baselines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from explorer.decoding.names import index_name
from explorer.locale.messages import message, t, translated
from explorer.locale.text import fixed, rounded
from explorer.probing.corpus_scores import NAMES as CORPUS
from explorer.probing.corpus_scores import CorpusScores
from explorer.probing.importance import name_of
from explorer.probing.measurement import STATISTICS, WITHOUT_SINKS, HeadScores, Probe, statistic_of
from explorer.probing.roles import (
    MARGIN,
    Role,
    evidence_row,
    role_of,
    shortfall,
    statistic_title,
    with_interval,
)
from model.analysis.bootstrap import Estimate
from model.config import ATTENTION_KINDS, AttentionKind
from model.points import Head

FIRST = (
    *("key_share", "previous", "itself", "next", "first", "end", "punctuation", "diagonal"),
    *("accuracy", "error_rate"),
)  # the ten that are shown first
SHORT = (
    *("effective_keys", "key_share", "normalised_entropy", "confidence", "mean_distance"),
    *("previous", "itself", "next", "first", "end", "punctuation", "duplicate", "induction", "rare"),
    *("diagonal", "mirror", "lexical", "lexical_input"),
    *("accuracy", "error_rate", "accuracy_input", "coverage_spread"),
)  # columns of the table of heads; the table of numbers has all statistics


_READ = "_input"  # ends the name of a statistic about the word just read
# Of the columns of a role's evidence, those that fit beside all heads.
TEST = message("judged by"), message("above uniform"), message("above untrained, less 1 SD")


def whole_title(statistic: str) -> str:
    """The title of a corpus-level statistic."""
    if statistic.startswith("error_rate"):
        return t("{score}, whole sample (Och & Ney 2003)", score=statistic_title(statistic))
    return t("{score}, whole sample", score=statistic_title(statistic))


def heads(probe: Probe) -> list[Head]:
    """Every measured head, with indices from 0."""
    return [
        (kind, layer, head)
        for kind, item in probe.kinds.items()
        for layer, head in np.ndindex(item.n_layers, item.n_heads)
    ]


def roles(probe: Probe) -> dict[Head, Role]:
    """The role of every head."""
    return {(kind, layer, head): role_of(probe.kinds[kind], layer, head) for kind, layer, head in heads(probe)}


def head_rows(
    probe: Probe,
    kinds: Iterable[AttentionKind] = ATTENTION_KINDS,
    statistics: Sequence[str] = SHORT,
) -> list[dict[str, Any]]:
    """Make a row per head: its role, the test of it, and its scores of these statistics, without empty columns.

    Each score is text: the mean, and the ends of its interval in brackets.
    """
    wanted = set(kinds)
    rows = []
    for (kind, layer, head), role in roles(probe).items():
        if kind not in wanted:
            continue
        item = probe.kinds[kind]
        row: dict[str, Any] = {
            t("kind"): translated(kind),
            t("head"): index_name(layer, head),
            t("role"): role.title,
        }
        test = evidence_row(item, role.judged[-1], layer, head) if role.judged else {}
        row |= {name: test.get(name) for name in map(translated, TEST)}
        for statistic in statistics:
            score = item.scores.get(statistic)
            row[statistic_title(statistic)] = _cell(score.estimate if score else None, layer, head)
            if statistic in CORPUS and statistics is SHORT:
                whole = item.corpus.get(statistic)
                row[whole_title(statistic)] = _cell(whole.estimate if whole else None, layer, head)
        rows.append(row)
    columns = [name for name in rows[0] if any(row[name] is not None for row in rows)] if rows else []
    return [{name: row[name] for name in columns} for row in rows]


def clearest_first(
    probe: Probe, kinds: Iterable[AttentionKind], names: Sequence[str], statistics: Sequence[str] = ()
) -> dict[Head, dict[str, Any]]:
    """The rows of :func:`head_rows` with the heads of these kinds and, if any are given, these roles, by clarity.

    Heads with a role come first; among them, and among the others, those furthest above what a role needs, by the
    score in their row: of two, that of the role beside the sink. A head without a role has the score by which it was
    judged in place of it.
    """
    kinds = [kind for kind in probe.kinds if kind in set(kinds)]
    head_roles = roles(probe)
    places = [place for place in head_roles if place[0] in kinds]
    rows = dict(zip(places, head_rows(probe, kinds, statistics), strict=True))

    def unclear(place: Head) -> tuple[bool, float]:
        role, item = head_roles[place], probe.kinds[place[0]]
        return not role.clear, shortfall(item.scores[role.judged[-1]], *place[1:]) if role.judged else math.inf

    def titled(place: Head) -> dict[str, Any]:
        role, row = head_roles[place], rows[place]
        judged = row.get(t("judged by"))
        name = role.title if role.clear or not judged else t("none; nearest: {score}", score=judged)
        numbers = {key: row[key] for key in row if key not in (t("kind"), t("head"), t("role"), t("judged by"))}
        return {t("head"): name_of(place), t("role"): name, **numbers}

    return {
        place: titled(place) for place in sorted(places, key=unclear) if not names or head_roles[place].name in names
    }


def _cell(item: Estimate | None, layer: int, head: int) -> str | None:
    value, low, high = (math.nan,) * 3 if item is None else item.at(layer, head)
    return with_interval(value, low, high) if math.isfinite(value) else None


def brief_rows(
    rows: Iterable[Mapping[str, Any]], judged: Sequence[str] = (), *, every: bool = False
) -> list[dict[str, Any]]:
    """The rows of :func:`head_numbers` for the screen, numbers as text: those that judge the role, then ten, or all.

    `judged`: the scores by which the head was judged; `every`: all statistics. Each number has two
    decimals and its interval in brackets; baselines and standard deviations are in the tables to take away.
    """
    # A head that follows the word just read is compared with the alignment of that word.
    read = any(name.removesuffix(WITHOUT_SINKS).endswith(_READ) for name in judged)
    first = [f"{name}{_READ}" if read and f"{name}{_READ}" in STATISTICS else name for name in FIRST]
    judging = [statistic_title(name) for name in judged]
    wanted = {*judging, *map(statistic_title, first)}

    def titled(row: Mapping[str, Any]) -> str:
        title, unit = row[t("statistic")], row[t("unit")]
        return t("{statistic} ({unit})", statistic=title, unit=unit) if unit not in ("", t("share")) else title

    def text(row: Mapping[str, Any], name: str) -> str:
        value, low, high = (row.get(column) for column in _ends(name))
        if value is None:
            return ""
        signed = name != t("mean")
        if low is None or high is None:
            return fixed(value, 2, signed=signed)
        return with_interval(value, low, high, signed=signed)

    columns = (t("mean"), t("above uniform"), t("above untrained"))
    shown = [row for row in rows if every or row[t("statistic")] in wanted]
    return [
        {t("statistic"): titled(row)}
        | {name: text(row, name) for name in columns}
        | {t("sentences"): row[t("sentences")]}
        for row in sorted(shown, key=lambda row: row[t("statistic")] not in judging)
    ]


def kinds_with(probe: Probe, statistic: str) -> list[AttentionKind]:
    """The kinds of attention to which a statistic applies on this sample."""
    return [
        kind for kind in probe.kinds if (item := probe.kinds[kind].scores.get(statistic)) is not None and item.sentences
    ]


def colour_range(probe: Probe, statistic: str) -> tuple[float, float]:
    """The common colour scale of all maps of a statistic: 0 to 1 for shares, otherwise up to the largest score."""
    largest = max(float(np.nanmax(probe.kinds[kind].scores[statistic].mean)) for kind in kinds_with(probe, statistic))
    bounded = statistic_of(statistic).unit in ("share", "") and largest <= 1
    return 0.0, 1.0 if bounded else largest or 1.0


def number_rows(probe: Probe) -> list[dict[str, Any]]:
    """Make a row per score and head, with standard deviation, both baselines and number of sentences."""
    return [row for kind, layer, head in heads(probe) for row in head_numbers(probe, kind, layer, head)]


def head_numbers(probe: Probe, kind: AttentionKind, layer: int, head: int) -> list[dict[str, Any]]:
    """The rows of one head (from 0), without scores that apply to no sentence of the sample.

    A corpus-level statistic has no standard deviation over sentences.
    """
    measured = probe.kinds[kind]
    rows = [
        _numbers_row(statistic_title(name), name, item, (layer, head))
        for name, item in measured.scores.items()
        if item.sentences
    ]
    rows += [_numbers_row(whole_title(name), name, whole, (layer, head)) for name, whole in measured.corpus.items()]
    place = {t("kind"): translated(kind), t("layer"): layer + 1, t("head"): head + 1}
    return [place | row | {t("untrained models"): probe.seeds} for row in rows]


def _numbers_row(title: str, statistic: str, item: HeadScores | CorpusScores, place: tuple[int, int]) -> dict[str, Any]:
    """The row of one statistic; columns that a statistic of the whole sample does not have are empty."""
    single = item if isinstance(item, HeadScores) else None
    numbers = {
        **_interval(t("mean"), item.estimate, place),
        t("standard deviation"): single.std[place] if single else math.nan,
        t("uniform"): item.uniform,
        t("uniform standard deviation"): single.uniform_std if single else math.nan,
        **_interval(t("above uniform"), item.over_uniform, place),
        t("untrained"): item.untrained[place[0]],
        t("untrained standard deviation"): item.untrained_std[place[0]],
        **_interval(t("above untrained"), single.over_untrained if single else None, place),
    }
    return {
        t("statistic"): title,
        t("unit"): translated(statistic_of(statistic).unit),
        **{name: rounded(value, 4) for name, value in numbers.items()},
        t("sentences"): item.sentences,
    }


def _interval(name: str, item: Estimate | None, place: tuple[int, int]) -> dict[str, float]:
    values = (math.nan,) * 3 if item is None else item.at(*place)
    return dict(zip(_ends(name), values, strict=True))


def _ends(name: str) -> tuple[str, str, str]:
    """The columns of a number and of the ends of its interval."""
    return name, t("{name}, low", name=name), t("{name}, high", name=name)


def gold_note(probe: Probe) -> str:
    """Explain which links the alignment error rate counts, or that alignment cannot be tested here."""
    if "cross" not in probe.kinds:
        if "aligned" in probe.kinds["decoder"].scores:
            return t("Aligned: on the right token of the prompt, in the rows of the continuation alone.")
        return t("Without cross-attention or a known alignment, there is no alignment to test.")
    if probe.gold in ("words", "scenes"):
        note = t(
            "The alignment error rate (lower is better) compares words, by the sure and possible links of the "
            "annotation (Och & Ney 2003); two words count as linked if any of their tokens are."
        )
        written = t(
            "A language model wrote these sentences and made both of their annotations, so the rate is not "
            "comparable with those on sets that people annotated."
        )
        return f"{note} {written}" if probe.gold == "scenes" else note
    if probe.gold == "tokens":
        return t(
            "Alignment error rate: 0 if the largest weight of every row is on a right token of the source and every "
            "source token with a right row is found, 1 if none is. Where several tokens are right, one is enough."
        )
    return t(
        "Alignment is not testable here: the right alignment of these sentences is not known, so no head can be called "
        "an aligning or a lexical one."
    )


def counted(probe: Probe) -> str:
    """State how many heads have a role."""
    parts = [len(role.parts) for role in roles(probe).values()]
    clear, two = len(parts) - parts.count(0), parts.count(2)
    if not clear:
        return t("None of the {heads} heads has a clear role.", heads=len(parts))
    said = t("{n} of {all} heads has a clear role.", "{n} of {all} heads have a clear role.", n=clear, all=len(parts))
    return f"{said} {t('{n} of them has two.', '{n} of them have two.', n=two)}" if two else said


def summary(probe: Probe) -> str:
    """State how many heads have each role, for reports and cards."""
    head_roles = roles(probe)
    counts: dict[str, int] = {}
    for role in head_roles.values():
        if role.clear:
            counts[role.title] = counts.get(role.title, 0) + 1
    if not counts:
        return counted(probe)
    named = ", ".join(f"{n} × {name}" for name, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    clear = sum(counts.values())
    return t(
        "{n} of {all} heads has a clear role: {roles}.",
        "{n} of {all} heads have a clear role: {roles}.",
        n=clear,
        all=len(head_roles),
        roles=named,
    )


def sensitivity(probe: Probe) -> str:
    """State how many heads would have a role with a lower and a higher margin."""
    lower, higher = (
        sum(role_of(probe.kinds[kind], layer, head, margin).clear for kind, layer, head in heads(probe))
        for margin in (MARGIN - 0.05, MARGIN + 0.05)
    )
    return t(
        "With +{low:g} in place of +{margin:g}, {lower} heads would have a role; with +{high:g}, {higher}.",
        low=MARGIN - 0.05,
        margin=MARGIN,
        high=MARGIN + 0.05,
        lower=lower,
        higher=higher,
    )
