"""Figures of the Inside page: activations, queries and keys, the prediction layer by layer, parameters and FLOPs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.charts.plotly_charts import (
    Columns,
    Plot,
    bars,
    heatmap,
    label,
    labels,
    lying,
)
from explorer.decoding.names import numbered
from explorer.locale.messages import t
from explorer.locale.text import count, quoted, weight_percent
from model.analysis.size import Part

Floats = NDArray[np.float32]
MAX_COLUMNS = 32


def lens_plot(
    probabilities: Floats, words: Sequence[Sequence[str]], rows: Sequence[str], stages: Sequence[str]
) -> Plot:
    """Draw the likeliest token after each stage, [stage, row], with its probability as the colour."""
    figure = heatmap(
        probabilities.T,
        x=[label(stage) for stage in stages],
        y=labels(rows),
        x_title=t("read off after"),
        y_title=t("decoder reads"),
        height=150 + 30 * min(len(rows), 16),
    )
    cell_tokens = np.array([[label(words[s][r]) for s in range(len(stages))] for r in range(len(rows))])
    figure.data[0].update(
        text=cell_tokens,
        texttemplate="%{text}",
        customdata=cell_tokens,
        hovertemplate=t("%{{y}}, after %{{x}}: %{{customdata}}, %{{z:.1%}}") + "<extra></extra>",
    )
    last, final = len(rows) - 1, words[-1][-1]
    first_final = next(s for s in range(len(stages)) if all(words[i][last] == final for i in range(s, len(stages))))
    caption = t(
        "After {read} the prediction is {token} ({share}); it is first from “{stage}” on.",
        read=quoted(rows[last]),
        token=quoted(final),
        share=weight_percent(float(probabilities[-1, last])),
        stage=stages[first_final],
    )
    table: Columns = {t("decoder reads"): list(numbered(rows))}
    for s, stage in enumerate(stages):
        table[stage] = [
            t("{token} ({percent:.1f} %)", token=words[s][r], percent=100 * probabilities[s, r])
            for r in range(len(rows))
        ]
    return Plot(figure, caption, t("How the prediction forms"), table)


def budget_plot(parts: Sequence[Part]) -> Plot:
    """Draw the share of each part in the parameters and in the FLOPs of one pass."""
    counts = {
        t("parameters"): [part.parameters for part in parts],
        t("FLOPs of one pass"): [part.flops for part in parts],
    }
    shares = {unit: [100 * value / (sum(values) or 1) for value in values] for unit, values in counts.items()}
    names = [part.name for part in parts]
    figure = lying(bars(shares, (), y_title=t("share (%)"), height=100 + 34 * len(names), also=names))
    table: Columns = {t("part"): names}
    sentences = []
    for unit, values in counts.items():
        table |= {unit: values, t("{unit} (%)", unit=unit): [round(share, 2) for share in shares[unit]]}
        most = max(range(len(parts)), key=lambda i: values[i])
        sentences.append(
            t(
                "{total} {unit}; the largest part is the {part} ({share:.0f} %).",
                total=count(sum(values)),
                unit=unit,
                part=names[most],
                share=shares[unit][most],
            )
        )
    return Plot(figure, " ".join(sentences), t("Where the parameters and the FLOPs are"), table)
