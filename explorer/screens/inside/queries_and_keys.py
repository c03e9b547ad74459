"""The tab Queries and keys: the vectors of one head in a plane, and the key that each query attends to most."""

from __future__ import annotations

import streamlit as st
import torch

from explorer.charts import model_internals as figures
from explorer.charts.plotly_charts import Columns, numbered
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import Translation
from explorer.locale.glossary import explained
from explorer.screens.inside.computation import key_tokens, rows_tokens, walked
from explorer.web.choose_head import choose_head
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from model.analysis.operations import flatten
from model.analysis.query_key_matches import Match, strongest_matches
from model.points import attention_scope

PICTURES = ("queries and keys", "values")


def draw_similarity_tab(shown: Translation, model: ModelDescription) -> None:
    """Draw the queries and keys of one head together in a plane, or its values."""
    kind, layer, head = choose_head(model.model_config, "similar", ("encoder", "decoder", "cross"))
    what = st.segmented_control("Picture", PICTURES, default=PICTURES[0], required=True, key="similar_what", bind=URL)
    run = walked(shown, len(shown.path), whole=True)
    at = attention_scope(kind, layer)
    rows, keys = rows_tokens(shown, run, f"{at}.query"), key_tokens(shown, run, f"{at}.key")
    query, key, value = (run[f"{at}.{name}"].value[0, head] for name in ("query", "key", "value"))
    weights = run[f"{at}.weights"].value[0, head]
    left, right = st.columns(2, gap="large")
    with left:
        if what == "values":
            plot = figures.projection_plot(flatten(value), [("value", keys)], "Values: what is handed on")
        else:
            both = flatten(torch.cat((query, key)))
            plot = figures.projection_plot(both, [("query", rows), ("key", keys)], "What is similar to what")
        draw_plot(plot, "similar_plot")
    with right:
        matches = match_columns(strongest_matches(query, key, weights), rows, keys)
        draw_table(matches, "The key that each query looks at most, and the similarity of the two vectors")
        st.caption(
            explained(
                "A query looks at the keys with the largest dot product, and those need not lie next to it: the "
                "product grows with the length of a key as well as with its direction, and it is taken in all "
                "dimensions of the head."
            )
        )


def match_columns(matches: list[Match], rows: tuple[str, ...], keys: tuple[str, ...]) -> Columns:
    """Each query with its strongest key, as table columns."""
    labels = numbered(keys)
    return {
        "query": numbered(rows),
        "looks most at": [labels[match.key] for match in matches],
        "weight (%)": [round(100 * match.weight, 1) for match in matches],
        "query · key": [round(match.product, 3) for match in matches],
        "cosine": [round(match.cosine, 3) for match in matches],
    }
