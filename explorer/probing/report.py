"""Export measured heads: JSON, and a one-page HTML report that needs no network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from explorer.locale.language import ENGLISH, current, written_in
from explorer.locale.messages import t
from explorer.locale.text import fixed
from explorer.probing.measurement import Probe
from explorer.probing.roles import MARGIN, MIN_SENTENCES, evidence, rule
from explorer.probing.tables import gold_note, head_rows, number_rows, roles, sensitivity, summary


def as_json(probe: Probe, model: str, about: str) -> str:
    """Write all results as JSON: roles with their evidence, and every number with its baselines."""
    with written_in(ENGLISH):  # programs read it
        return _json(probe, model, about)


def _json(probe: Probe, model: str, about: str) -> str:
    head_roles = roles(probe)
    return json.dumps(
        {
            "model": model,
            "sample": about,
            "sentences": probe.sentences,
            "alignment": gold_note(probe),
            "interval": "95 %, percentile bootstrap over sentences, 1,000 resamples, seed 0",
            "untrained_models": probe.seeds,
            "rule": {"text": rule(), "margin": MARGIN, "least_sentences": MIN_SENTENCES},
            "heads": [
                {
                    "kind": kind,
                    "layer": layer + 1,
                    "head": head + 1,
                    "role": role.name,
                    "evidence": rows,
                    "reading": f"{meaning} {reading}".strip(),
                }
                for (kind, layer, head), role in head_roles.items()
                for rows, meaning, reading in (evidence(probe.kinds[kind], role, layer, head),)
            ],
            "numbers": number_rows(probe),
        },
        ensure_ascii=False,
        indent=1,
    )


@dataclass(frozen=True)
class Section:
    """A further measurement in the report: its title, its table, its caption, and the name of its own file."""

    title: str
    rows: list[dict[str, Any]]
    caption: str
    file: str


def as_report(
    probe: Probe, model: str, about: str, sections: Sequence[Section] = (), facts: tuple[str, ...] = ()
) -> str:
    """Write an HTML page about a model's heads: sample, every score with its interval, evidence, rule.

    `sections` are other measurements of the same model on the same sample. The page loads no other files, and all names
    in it are escaped.
    """
    title = t("The heads of {model}", model=model)
    measured = t(
        "Measured on {sample}. Baselines: uniform attention and {seeds} untrained models of the same shape.",
        sample=about,
        seeds=probe.seeds,
    )
    means = t("Means over sentences, with 95 % intervals in brackets.")
    reading = t(
        "Scores are means over sentences. In brackets: 95 % intervals, by a bootstrap over sentences. A pattern does "
        "not prove a purpose: how important a head is shows when it is switched off."
    )
    parts = [
        f"<h1>{escape(title)}</h1>",
        *(f"<p>{escape(line)}</p>" for line in facts if line),
        f"<p>{escape(measured)}</p>",
        f"<p><strong>{escape(summary(probe))}</strong> {escape(sensitivity(probe))}</p>",
        f"<p>{escape(gold_note(probe))}</p>",
        f"<h2>{escape(t('All heads'))}</h2>",
        f"<p>{escape(means)}</p>",
        *(_table(head_rows(probe, [kind])) for kind in probe.kinds),
        *(f"<h2>{escape(item.title)}</h2>{_table(item.rows)}<p>{escape(item.caption)}</p>" for item in sections),
        f"<h2>{escape(t('How to read this'))}</h2><p>{escape(rule())}</p><p>{escape(reading)}</p>",
    ]
    return (
        f'<!doctype html><html lang="{current()}"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>"
    )


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#1d2733;"
    "background:#fff}table{border-collapse:collapse;margin:.5rem 0 1.5rem;font-size:13px;"
    "font-variant-numeric:tabular-nums}th,td{border:1px solid #d7dde3;padding:.25rem .5rem;text-align:left}"
    "th{background:#f3f5f7}td.n{text-align:right}"
    "@media print{body{margin:0}}"
)


def _table(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    header = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    lines, words = [], {t("kind"), t("head"), t("role"), t("statistic"), t("unit")}
    for row in rows:
        cells = "".join(
            f"<td>{escape(str(value))}</td>" if name in words else f'<td class="n">{_number(value)}</td>'
            for name, value in row.items()
        )
        lines.append(f"<tr>{cells}</tr>")
    return f"<table><tr>{header}</tr>{''.join(lines)}</table>"


def _number(value: Any) -> str:
    """Format a table cell: floats with three decimals, other values as text."""
    if value is None:
        return ""
    return fixed(value, 3) if isinstance(value, float) else escape(str(value))
