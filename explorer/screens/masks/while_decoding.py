"""The tab While decoding: with the mask there is nothing to hide; without it, the whole prefix is run again."""

from __future__ import annotations

import numpy as np
import streamlit as st

from explorer.byte_cache import cached
from explorer.charts import masks as figures
from explorer.charts.plotly_charts import Columns
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import name_in_kind
from explorer.decoding.translator import Translation
from explorer.locale.glossary import explained
from explorer.locale.text import plain, plural
from explorer.web import runtime
from explorer.web.choose_head import choose_head
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from model.analysis.mask_comparison import first_difference
from model.analysis.mask_effects import Spoken, last_look, say
from model.config import EOS, SOS
from model.text.tokenizer import Tokenizer
from model.trace import VISIBLE, future_mask


def draw_decoding_tab(shown: Translation, model: ModelDescription) -> None:
    """Greedy decoding with the mask and without it, and what one step reads."""
    target, ids = model.target, (*shown.source.ids, EOS)
    version = runtime.fingerprint(shown.model)
    closed, opened = (_say(shown.model, version, ids, causal) for causal in (True, False))
    lifted = st.toggle("Lift the causal mask", False, key="decode_mask", bind=URL)
    spoken = opened if lifted else closed
    st.markdown(f"**{plain(target.decode(spoken.path)) or '(nothing)'}**")
    st.caption(
        explained(
            "With cached keys and values a step has one query, the newest token, and all it can see is its past: there "
            "is no future to hide. With the causal mask lifted, each step runs the whole prefix again and lets earlier "
            "rows look at later ones."
        )
    )
    last = len(spoken.path)
    step = int(st.slider("Step", 1, last, last, key=f"decode_step_{last}", bind=URL)) if last > 1 else 1
    _, layer, head = choose_head(model.model_config, "decode", ("decoder",))
    read = (SOS, *spoken.path[: step - 1])
    with runtime.model(shown.model) as translator:
        weights = last_look(translator.loaded.transformer, ids, read, causal=not lifted)[layer, head]
    tokens = tuple(target.label(i) for i in read)
    codes = np.full(weights.shape, VISIBLE, dtype=np.uint8) if lifted else future_mask(len(read))
    left, right = st.columns([2, 3], gap="large")
    with left:
        title = f"What step {step} reads"
        n_read = plural(len(read), "token")
        caption = (
            f"{name_in_kind(layer + 1, head + 1).capitalize()}: {n_read} read, the last row predicts the next one."
        )
        draw_plot(figures.weight_plot(weights, codes, "decoder", tokens, tokens, title, caption), "decode_map")
    with right:
        st.markdown("##### Predicted token and its probability")
        draw_table(step_columns(closed, opened, target), "Each step with the mask and with the mask lifted")
        parts = first_difference(closed.path, opened.path)
        st.caption(
            "Step 1 is always the same: one token, no future. "
            + ("Both predict the same tokens here." if parts is None else f"The two differ from step {parts + 1} on.")
        )


def step_columns(closed: Spoken, opened: Spoken, target: Tokenizer) -> Columns:
    """Tokens and probabilities of both decodings, a row per step; the shorter one ends in empty cells."""
    longest = max(len(closed.path), len(opened.path))
    columns: Columns = {"step": list(range(1, longest + 1))}
    for name, run in (("masked", closed), ("lifted", opened)):
        missing = longest - len(run.path)
        columns[name] = [*(target.label(i) for i in run.path), *[""] * missing]
        columns[f"{name} (%)"] = [*(round(100 * p, 2) for p in run.probabilities), *[None] * missing]
    return columns


@cached
def _say(name: str, version: str, ids: tuple[int, ...], causal: bool) -> Spoken:
    del version  # part of the key only
    with runtime.model(name) as translator:
        return say(translator.loaded.transformer, ids, causal=causal)
