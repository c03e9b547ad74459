"""The effect of patches: layer × position, on a scale that is symmetric around 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.charts.plotly_charts import Plot, heatmap, labels, numbered
from explorer.locale.text import fixed, rounded
from explorer.probing.patching import Patched, Stack, point_names

_TITLES: dict[Stack, str] = {"encoder": "Source side", "decoder": "Target side"}


def patch_plot(found: Patched, stack: Stack) -> Plot:
    """One stack: how the log-probability of the predicted token changes with the vector at each place replaced."""
    change = found.change(stack)
    top = max(float(np.abs(found.change(each)).max()) for each in _TITLES) or 1e-9
    rows, columns = point_names(len(change)), found.columns(stack)
    figure = heatmap(
        change,
        x=labels(columns),
        y=rows,
        x_title="source token (← of the other sentence)" if stack == "encoder" else "decoder has read",
        y_title="output of layer",
        span=(-top, top),
        scale_title="nats",
        height=200 + 30 * len(rows),
    )
    words = [[fixed(float(value), 1, signed=True) for value in line] for line in change]
    figure.update_traces(text=words, texttemplate="%{text}", selector={"type": "heatmap"})
    table: dict[str, list[Any]] = {"position": numbered(columns)}
    for name, values, instead in zip(rows, change, found.instead[stack], strict=True):
        table[f"{name}: change (nats)"] = [rounded(float(value), 3) for value in values]
        table[f"{name}: likeliest"] = list(instead)
    return Plot(figure, found.caption(stack), _TITLES[stack], table)
