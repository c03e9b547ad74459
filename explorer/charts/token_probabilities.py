"""Bars of per-token probability, as a specification that does not depend on the data."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt


@lru_cache(maxsize=1)
def probability_spec() -> dict[str, Any]:
    """Columns of the data: token (with its position), probability in percent, first (the model's first choice)."""
    axis = alt.Axis(labelAngle=-30, labelOverlap=False, labelLimit=140)
    made: dict[str, Any] = (
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X("token:N", sort=None, title="predicted token", axis=axis),
            y=alt.Y("probability:Q", title="probability (%)", scale=alt.Scale(domain=[0, 100])),
            tooltip=[
                "token:N",
                alt.Tooltip("probability:Q", format=".2f"),
                alt.Tooltip("first:N", title="first choice"),
            ],
        )
        .properties(height=220)
        .to_dict()
    )
    made.pop("config", None)
    return made
