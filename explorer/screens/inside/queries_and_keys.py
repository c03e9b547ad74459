"""The tab Queries and keys: the vectors of one head in a plane, and the key that each query attends to most."""

from __future__ import annotations

import streamlit as st

from explorer.charts import model_internals as figures
from explorer.charts.plotly_charts import Columns, numbered
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import Translation
from explorer.locale.messages import message, t, translated
from explorer.screens.inside.steps import recorded_run
from explorer.web import bound
from explorer.web.choose_head import choose_head
from explorer.web.figures import draw_table
from explorer.web.page_parts import draw_caption, draw_plot
from model.analysis.operations import Match, matches_of, plane_of
from model.points import attention_scope

PICTURES = (message("queries and keys"), message("values"))


def draw_similarity_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw the queries and keys of one head together in a plane, or its values."""
    kind, layer, head = choose_head(model.model_config, "similar", ("encoder", "decoder", "cross"))
    label = t("Picture")
    what = bound.segmented(label, PICTURES, default=PICTURES[0], key="similar_what")
    run, scope = recorded_run(translation, len(translation.path)), attention_scope(kind, layer)
    trace = translation.trace
    rows = trace.src_tokens if kind == "encoder" else trace.read_tokens
    keys = trace.read_tokens if kind == "decoder" else trace.src_tokens
    left, right = st.columns(2, gap="large")
    with left:
        groups, title = {message("query"): rows, message("key"): keys}, t("What is similar to what")
        if what == "values":
            groups, title = {message("value"): keys}, t("Values: what each token passes on")
        plane = plane_of(run, scope, head, tuple(groups))
        draw_plot(
            figures.projection_plot(plane, [(translated(name), tokens) for name, tokens in groups.items()], title),
            "similar_plot",
        )
    with right:
        matches = match_columns(matches_of(run, scope, head), rows, keys)
        draw_table(
            matches,
            t("The key that each query looks at most, and the similarity of the two vectors"),
            file="matches",
        )
        draw_caption(
            t(
                "A query looks at the keys with the largest dot product, and those need not lie next to it: the "
                "product grows with the length of a key as well as with its direction, and it is taken in all "
                "dimensions of the head."
            )
        )


def match_columns(matches: list[Match], rows: tuple[str, ...], keys: tuple[str, ...]) -> Columns:
    """Each query with its strongest key, as table columns."""
    labels = numbered(keys)
    return {
        t("query"): numbered(rows),
        t("looks most at"): [labels[match.key] for match in matches],
        t("weight (%)"): [round(100 * match.weight, 1) for match in matches],
        t("query · key"): [round(match.product, 3) for match in matches],
        t("cosine"): [round(match.cosine, 3) for match in matches],
    }
