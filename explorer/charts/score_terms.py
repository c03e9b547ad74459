"""Draw the terms of a score as a heatmap: parts of the query by parts of the key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.charts.plotly_charts import Plot, heatmap
from explorer.decoding.score_parts import part_label, term_rows
from explorer.locale.messages import t
from explorer.locale.text import fixed
from model.analysis.score_terms import Part

Floats = NDArray[np.float64]

_MOST_NUMBERS = 12  # rows and columns up to which cells contain their numbers


def terms_plot(table: Floats, query_parts: Sequence[Part], key_parts: Sequence[Part], caption: str) -> Plot:
    """Draw the terms, [query part, key part], on a scale that is symmetric around 0."""
    top = float(np.nanmax(np.abs(table), initial=0.0)) or 1e-9
    rows, columns = [part_label(part) for part in query_parts], [part_label(part) for part in key_parts]
    figure = heatmap(
        table,
        x=columns,
        y=rows,
        x_title=t("part of the key"),
        y_title=t("part of the query"),
        span=(-top, top),
        scale_title=t("term"),
        height=190 + 26 * len(rows),
        width=680,
    )
    if max(table.shape) <= _MOST_NUMBERS:
        words = [[fixed(float(value), 2, signed=True) for value in line] for line in table]
        figure.update_traces(text=words, texttemplate="%{text}", selector={"type": "heatmap"})
    listed = term_rows(table, query_parts, key_parts)
    return Plot(figure, caption, "", {name: [row[name] for row in listed] for name in listed[0]})
