"""The tab While decoding: greedy decoding with the causal mask, and with the mask lifted."""

from __future__ import annotations

import streamlit as st

from explorer.charts.plotly_charts import Columns
from explorer.decoding.labelled_map import token_map
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import name_in_kind
from explorer.decoding.translator import Translation
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.web import runtime
from explorer.web.choose_head import choose_head
from explorer.web.figures import draw_map, draw_table
from explorer.web.page_parts import URL, draw_caption
from model.analysis.mask_effects import GreedyTranslation, decoder_attention, first_difference, translate_greedily
from model.config import EOS
from model.text.tokenizer import Tokenizer
from model.trace import prefix_mask


def draw_decoding_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw greedy decoding with the mask and without it, and what one step reads."""
    target, config, source = model.target, model.model_config, translation.source.ids
    ids = (*source, EOS)
    closed, opened = (
        runtime.computed(translation.model, translate_greedily, ids, causal=causal) for causal in (True, False)
    )
    lifted = st.toggle(t("Lift the causal mask"), False, key="decode_mask", bind=URL)
    decoding = opened if lifted else closed
    st.markdown(f"**{plain(target.decode(decoding.path)) or t('(nothing)')}**")
    draw_caption(
        t(
            "With cached keys and values a step has one query, the newest token, and all it can see is its past: "
            "there is no future to hide. With the causal mask lifted, each step runs the whole prefix again and "
            "lets earlier rows look at later ones."
        )
    )
    last = len(decoding.path)
    step = int(st.slider(t("Step"), 1, last, last, key=f"decode_step_{last}", bind=URL)) if last > 1 else 1
    _, layer, head = choose_head(model.model_config, "decode", ("decoder",))
    given = () if config.has_encoder else config.prompt(source)[1:]
    src, read = config.inputs(source, (*given, *decoding.path[:step]))
    weights = runtime.computed(translation.model, decoder_attention, src, read, causal=not lifted)[layer, head]
    tokens = tuple(target.label(i) for i in read)
    left, right = st.columns([2, 3], gap="large")
    with left:
        caption = t(
            "{head}: {n} token read, the last row predicts the next one.",
            "{head}: {n:,} tokens read, the last row predicts the next one.",
            head=name_in_kind(layer + 1, head + 1).capitalize(),
            n=len(read),
        )
        codes, title = prefix_mask(len(read), causal=not lifted), t("What step {step} reads", step=step)
        draw_map(token_map("decoder", weights, tokens, tokens, title, codes), key="decode_map", prefix=caption)
    with right:
        st.markdown(f"##### {t('Predicted token and its probability')}")
        draw_table(
            step_columns(closed, opened, target), t("Each step with the mask and with the mask lifted"), file="steps"
        )
        parts = first_difference(closed.path, opened.path)
        st.caption(
            t("Step 1 is always the same: one token, no future. Both predict the same tokens here.")
            if parts is None
            else t(
                "Step 1 is always the same: one token, no future. The two differ from step {step} on.", step=parts + 1
            )
        )


def step_columns(closed: GreedyTranslation, opened: GreedyTranslation, target: Tokenizer) -> Columns:
    """Tokens and probabilities of both decodings, one row per step; the shorter one ends in empty cells."""
    longest = max(len(closed.path), len(opened.path))
    columns: Columns = {"step": list(range(1, longest + 1))}
    for name, run in (("masked", closed), ("lifted", opened)):
        missing = longest - len(run.path)
        columns[name] = [*(target.label(i) for i in run.path), *[""] * missing]
        columns[f"{name} (%)"] = [*(round(100 * p, 2) for p in run.probabilities), *[None] * missing]
    return columns
