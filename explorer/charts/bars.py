"""A bar chart: the probability of each token of a given target."""

from __future__ import annotations

from typing import Any

from explorer.charts.chart import Figure
from explorer.decoding.attention_maps import is_leftwards_in
from explorer.decoding.target_probabilities import probability_caption, probability_columns
from explorer.locale.messages import t
from explorer.locale.scripts import direction, places
from model.trace import AttentionTrace


def probability_figure(trace: AttentionTrace) -> Figure:
    """Draw how likely the model found each token of a given target."""
    names = probability_columns(trace)["token"]
    at = places(trace.predicted_tokens, is_leftwards_in(trace, "target"), direction())
    order = sorted(range(len(at)), key=at.__getitem__)
    axis = {"labelAngle": -30, "labelOverlap": False, "labelLimit": 140}
    encoding = {
        "x": _field("token", "nominal", sort=[names[i] for i in order] or None, title=t("predicted token"), axis=axis),
        "y": _field("probability", title=t("probability (%)"), scale={"domain": [0, 100]}),
        "tooltip": [
            _field("token", "nominal", title=t("token")),
            _field("probability", format=".2f", title=t("probability")),
            _field("first", "nominal", title=t("first choice")),
        ],
    }
    title = t("Probability of each token, in %")
    spec = {"mark": {"type": "bar"}, "height": 220, "encoding": encoding}
    return Figure(spec, probability_columns(trace), probability_caption(trace), title)


def _field(name: str, kind: str = "quantitative", **options: Any) -> dict[str, Any]:
    return {"field": name, "type": kind, **options}
