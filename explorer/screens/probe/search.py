"""The Probe page's Search tab: sentences in which a head looks from one word to another."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from explorer.locale.text import plain
from explorer.probing.sample import Measured
from explorer.probing.search import RowLabel, best_hit_sentence, hit_rows, no_hit_sentence, search, tag_hint
from explorer.probing.syntax import Tags
from explorer.screens.probe.head_card import choose_head
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL
from model.analysis.recorded_batches import Observed


def draw_search(
    measured: Measured, observed: Sequence[Observed], tags: Sequence[Tags] = (), *, whole_words: bool = True
) -> None:
    """Draw the search fields and the results."""
    st.caption(
        "Where in the sample does a head look from one word to another? Leave a field empty for any word. "
        + tag_hint(tags)
    )
    kind, layer, head = choose_head(measured.probe, "search")
    left, middle, right = st.columns(3)
    query = left.text_input("From (query)", key="search_query", bind=URL)
    key = middle.text_input("To (key)", key="search_key", bind=URL)
    rows: RowLabel = "read"
    if kind != "encoder":
        with right:
            rows = st.segmented_control(
                "The query is the word that a row",
                ["read", "predicted"],
                format_func={"read": "reads", "predicted": "predicts"}.__getitem__,
                default="read",
                required=True,
                key="search_rows",
                bind=URL,
            )
    hits = search(observed, kind, layer, head, query, key, rows=rows, tags=tags, whole_words=whole_words)
    if not hits:
        st.info(plain(no_hit_sentence(query, key)))
        return
    alt = "Sentences in which the head looks from one word to the other"
    draw_table(hit_rows(hits, observed, whole_words=whole_words), alt, file="hits")
    said = best_hit_sentence(hits, observed, (kind, layer, head), whole_words=whole_words)
    st.caption(plain(said))
