"""The planned learning rate of a run against the step."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import altair as alt

from explorer.charts.chart import Figure, Table
from explorer.charts.vega_chart import step_axis

_AFTER = {
    "inverse_sqrt": "then falls with 1/√step",
    "constant": "then stays",
    "cosine": "then falls along half a cosine",
}


def schedule_figure(points: Sequence[tuple[int, float]], schedule: str) -> Figure:
    """The planned learning rate; `points` are (step, rate) pairs that include its peak and both ends."""
    data: Table = {"step": [step for step, _ in points], "rate": [rate for _, rate in points]}
    return Figure(_spec(), data, schedule_caption(points, schedule), "The learning rate")


def schedule_caption(points: Sequence[tuple[int, float]], schedule: str) -> str:
    """What the schedule does, in a sentence."""
    if not points:
        return "The schedule is not known yet."
    step, peak = max(points, key=lambda point: point[1])
    last_step, last = points[-1]
    rises = f"rises linearly to {peak:.3g} at step {step:,}" if step > 1 else f"begins at {peak:.3g}"
    after = _AFTER.get(schedule, "then changes")
    return f"The learning rate {rises}, {after}, and ends with {last:.2g} at step {last_step:,}."


@lru_cache(maxsize=1)
def _spec() -> dict[str, Any]:
    chart = (
        alt.Chart()
        .mark_line(strokeWidth=2)
        .encode(
            x=step_axis(),
            y=alt.Y("rate:Q", title=None, axis=alt.Axis(tickCount=4, format="~g")),
            tooltip=[alt.Tooltip("step:Q", format=",d"), alt.Tooltip("rate:Q", format=".3~g", title="learning rate")],
        )
        .properties(height=160)
    )
    made: dict[str, Any] = chart.to_dict()
    made.pop("config", None)
    return made
