"""The panel of aggregates: means, maxima, rollout and norm-weighted attention, beside the raw weights."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.aggregate_maps import AGGREGATES, Needs, meaning
from explorer.decoding.aggregates import Floats
from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.coordinates import Place
from explorer.decoding.labelled_map import head_map
from explorer.decoding.selection import Selection
from explorer.decoding.translator import Translation
from explorer.locale.text import plain
from explorer.web import runtime
from explorer.web.maps import draw_map
from explorer.web.panel_choices import Choices
from model.config import AttentionKind

_ABOUT = "Several heads in one map. Look for where it disagrees with a single head: averaging hides that."


def draw(selection: Selection, shown: Translation, at: Place) -> None:
    """The chosen aggregate beside the head in view."""
    del selection
    st.markdown("##### All heads together")
    st.caption(plain(_ABOUT))
    choices = Choices("aggregates")
    choices.start("aggregates_which", "which", list(AGGREGATES), "mean-heads")
    name = st.selectbox(
        "Aggregate", list(AGGREGATES), format_func=lambda one: AGGREGATES[one].name, key="aggregates_which"
    )
    choices.keep()
    maps = attention_maps(shown.trace, at.kind)
    try:
        aggregate = AGGREGATES[name].build(_numbers(AGGREGATES[name].needs, shown, at.kind), maps, at)
    except ValueError as missing:  # the mean over heads is in view, or the model is gone: the message says which
        st.info(plain(str(missing)))
        return
    left, right = st.columns(2)
    with left:
        raw = head_map(maps, at.layer, at.head)
        draw_map(raw, key="aggregates_raw", prefix="The weights themselves.", away=shown.model)
    with right:
        draw_map(aggregate, key="aggregates_made", prefix=meaning(name, at.kind), away=shown.model)


def _numbers(needs: Needs, shown: Translation, kind: AttentionKind) -> Floats:
    """The numbers that an aggregate is made of; all but the weights need the model itself."""
    if needs == "weights":
        return shown.trace.weights(kind)
    if needs == "rollout":
        return runtime.rollout(shown, kind)
    each, together = runtime.norms(shown, kind)
    return each if needs == "head norms" else together
