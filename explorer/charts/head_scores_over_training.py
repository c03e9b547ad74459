"""Draw how heads change during a run: one line per head over the snapshots, the chosen head emphasised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from explorer.charts.chart import GREY, Figure, Table
from explorer.charts.vega_chart import marker, specification, step_axis, value_axis
from explorer.decoding.names import index_name, short_name
from explorer.locale.language import cached_by_language
from explorer.locale.messages import t

CHOSEN, OTHER = "the chosen head", "another head"


def head_figure(scores: Mapping[int, NDArray[np.float64]], layer: int, head: int, step: int, title: str) -> Figure:
    """Draw one score of all heads of one kind against the step; layer and head count from 1, `step` is marked.

    Shapes:
        scores: by step, each [layer, head], from 0 to 1.
    """
    data: Table = {"step": [], "value": [], "head": [], "role": [], "mark": []}
    for at, values in scores.items():
        for (row, column), value in np.ndenumerate(values):
            chosen = (row + 1, column + 1) == (layer, head)
            data["step"].append(at)
            data["value"].append(100 * float(value))
            data["head"].append(index_name(row, column))
            data["role"].append(CHOSEN if chosen else OTHER)
            data["mark"].append(step)
    return Figure(_spec(title), data, head_words(scores, layer, head, step, title), t("{score}, in %", score=title))


def head_words(scores: Mapping[int, NDArray[np.float64]], layer: int, head: int, step: int, title: str) -> str:
    """State the chosen head's score at `step` and at the first snapshot (or else the last), and the highest head."""
    steps = sorted(scores)
    now, other = scores[step], steps[-1] if step == steps[0] else steps[0]
    best = np.unravel_index(int(now.argmax()), now.shape)
    return t(
        "{score}, {head}: {percent:.0f} % at step {step:,}, {before:.0f} % at step {other:,}. The highest head at step "
        "{step:,} is {best} with {most:.0f} %.",
        score=title,
        head=short_name(layer, head),
        percent=100 * float(now[layer - 1, head - 1]),
        step=step,
        before=100 * float(scores[other][layer - 1, head - 1]),
        other=other,
        best=index_name(int(best[0]), int(best[1])),
        most=100 * float(now.max()),
    )


def head_rows(scores: Mapping[int, NDArray[np.float64]]) -> list[dict[str, Any]]:
    """Tabulate the scores: one row per step, one column per head, in percent."""
    return [
        {t("step"): step}
        | {index_name(row, column): round(100 * float(value), 1) for (row, column), value in np.ndenumerate(values)}
        for step, values in sorted(scores.items())
    ]


@cached_by_language(8)
def _spec(title: str) -> dict[str, Any]:
    """Specify grey lines for all heads, a thick one for the chosen head, and a rule at the chosen step."""
    base = alt.Chart().encode(
        x=step_axis(),
        y=value_axis(top=100),
        detail="head:N",
        tooltip=[
            alt.Tooltip("head:N", title=t("head")),
            alt.Tooltip("step:Q", format=",d", title=t("step")),
            alt.Tooltip("value:Q", format=".1f", title=t("{score} (%)", score=title)),
        ],
    )
    thin = base.transform_filter(alt.datum.role == OTHER).mark_line(strokeWidth=1, opacity=0.6, color=GREY)
    accent = alt.Color("role:N", legend=None, scale=alt.Scale(domain=[CHOSEN]))
    chosen = base.transform_filter(alt.datum.role == CHOSEN).encode(color=accent)
    end = chosen.transform_joinaggregate(end="max(step)").transform_filter("datum.step == datum.end")
    name = end.mark_text(align="right", dx=-6, dy=-10, fontWeight=600, fontSize=12).encode(text="head:N")
    return specification(thin, chosen.mark_line(strokeWidth=3), chosen.mark_circle(size=26, opacity=1), name, marker())
