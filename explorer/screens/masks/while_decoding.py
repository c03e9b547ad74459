"""The tab While decoding: greedy decoding with the causal mask, and with the mask lifted."""

from __future__ import annotations

import streamlit as st

from explorer.charts.plotly_charts import Columns
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import Translation
from explorer.locale.messages import t
from explorer.web import runtime
from explorer.web.figures import draw_table
from explorer.web.page_parts import draw_caption
from model.analysis.mask_effects import GreedyTranslation, first_difference, translate_greedily
from model.config import EOS
from model.text.tokenizer import Tokenizer


def draw_decoding_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw greedy decoding with the mask and without it, step by step."""
    target, ids = model.target, (*translation.source.ids, EOS)
    closed, opened = (
        runtime.computed(translation.model, translate_greedily, ids, causal=causal) for causal in (True, False)
    )
    parts = first_difference(closed.path, opened.path)
    st.markdown(f"##### {t('Predicted token and its probability')}")
    draw_table(
        step_columns(closed, opened, target), t("Each step with the mask and with the mask lifted"), file="steps"
    )
    draw_caption(
        t("Step 1 is always the same: one token, no future. Both predict the same tokens here.")
        if parts is None
        else t("Step 1 is always the same: one token, no future. The two differ from step {step} on.", step=parts + 1)
    )
    draw_caption(
        t(
            "With cached keys and values a step has one query, the newest token, and all it can see is its past: "
            "there is no future to hide. With the causal mask lifted, each step runs the whole prefix again and "
            "lets earlier rows look at later ones."
        )
    )
    if model.model_config.has_encoder:
        draw_caption(t("The weights with the mask lifted are in the tab “Given target”."))


def step_columns(closed: GreedyTranslation, opened: GreedyTranslation, target: Tokenizer) -> Columns:
    """Tokens and probabilities of both decodings, one row per step; the shorter one ends in empty cells."""
    longest = max(len(closed.path), len(opened.path))
    columns: Columns = {t("step"): list(range(1, longest + 1))}
    for name, run in ((t("masked"), closed), (t("lifted"), opened)):
        missing = longest - len(run.path)
        columns[name] = [*(target.label(i) for i in run.path), *[""] * missing]
        columns[f"{name} (%)"] = [*(round(100 * p, 2) for p in run.probabilities), *[None] * missing]
    return columns
