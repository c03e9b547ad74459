"""What all Altair charts share: the axis of steps, and the rule that marks one of them."""

from __future__ import annotations

import altair as alt

from explorer.charts.chart import GREY


def step_axis(max_steps: int = 0) -> alt.X:
    """The axis of steps, which ends at `max_steps` or, without it, at the last step of the data."""
    axis = alt.Axis(format=",d", tickCount=6, grid=False)
    scale = alt.Scale(domain=[0, max_steps]) if max_steps else alt.Scale(nice=False)
    return alt.X("step:Q", title="step", scale=scale, axis=axis)


def marker() -> alt.Chart:
    """A dashed rule at the step in the column `mark`, which is the same in every row."""
    return alt.Chart().mark_rule(strokeDash=[4, 3], color=GREY).encode(x="max(mark):Q")
