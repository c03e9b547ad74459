"""The tab Trained without it: two models that differ in the causal mask and in nothing else."""

from __future__ import annotations

import streamlit as st

from explorer.charts import masks as figures
from explorer.charts.plotly_charts import Columns
from explorer.decoding.examples import examples_of
from explorer.decoding.names import name_in_kind
from explorer.decoding.translator import InputError
from explorer.locale.text import plain
from explorer.runs.lifecycle import Runs
from explorer.screens.masks.teacher_forced import padded, reading
from explorer.web import runtime
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from explorer.web.run_metrics import metrics_of
from model.analysis.mask_comparison import most_ahead
from model.analysis.mask_effects import Switches
from model.config import DecodeConfig
from model.folder import METRICS, CheckpointError
from model.points import Head

WITH, WITHOUT = "adjective-swap", "adjective-swap-unmasked"
_FIRST_HEAD: Head = ("decoder", 0, 0)


def draw_pair_tab() -> None:
    """The losses of both models, their translations, and the head that looks ahead."""
    summaries = runtime.models()
    missing = [name for name in (WITH, WITHOUT) if name not in summaries]
    if missing:
        st.info(plain(f"The models trained with and without the mask come with the app, but {missing[0]} is not here."))
        return
    runs = Runs(runtime.CHECKPOINTS)
    read = {
        "with the mask": metrics_of(runs, WITH) if (runs.folder(WITH) / METRICS).is_file() else None,
        "without it": metrics_of(runs, WITHOUT) if (runs.folder(WITHOUT) / METRICS).is_file() else None,
    }
    metrics = {name: each for name, each in read.items() if each is not None}
    left, right = st.columns(2, gap="large")
    with left:
        draw_plot(figures.loss_plot(metrics), "pair_loss")
    with right:
        draw_plot(figures.right_plot(metrics), "pair_right")
    examples = [example.source for example in examples_of(summaries[WITH])]
    text = st.selectbox("Sentence", examples, key="pair_text", bind=URL, accept_new_options=True) if examples else None
    if not text:
        st.caption("Choose or type a sentence.")
        return
    _draw_pair(text)


def _draw_pair(text: str) -> None:
    try:
        good, bad = (runtime.translate(name, text, DecodeConfig()) for name in (WITH, WITHOUT))
    except (InputError, CheckpointError) as error:
        st.info(plain(str(error)))
        return
    # Both read the right translation (that of the model with the mask), each with the masks that it was trained with.
    given = runtime.translate(WITHOUT, text, DecodeConfig(), good.path)
    target, masked_target = padded(given), padded(good)
    cheat = reading(given, target, Switches(causal=False), _FIRST_HEAD)
    honest = reading(good, masked_target, Switches(), _FIRST_HEAD)
    columns: Columns = {
        "trained": ["with the mask", "without it"],
        "target given: right token (%)": [
            round(100 * masked_target.probability_of_target(honest, 0), 2),
            round(100 * target.probability_of_target(cheat, 0), 2),
        ],
        "on its own it says": [good.text, bad.text],
    }
    draw_table(columns, "Both models with a given target, and their own translations")
    weights = cheat.recorder.weights("decoder")  # [layer, head, query, key]
    layer, head, share = most_ahead(weights)
    left, right = st.columns([2, 3], gap="large")
    tokens = target.read_tokens[0]
    codes = target.codes("decoder", 0, Switches(causal=False))
    with left:
        caption = (
            f"Trained without the mask, {name_in_kind(layer + 1, head + 1)} looks one token ahead with "
            f"{100 * share:.0f} % of its attention: at the very token that it must predict."
        )
        plot = figures.weight_plot(weights[layer, head], codes, "decoder", tokens, tokens, "How it cheats", caption)
        draw_plot(plot, "pair_map")
    with right:
        st.markdown("##### Why a low loss is not enough")
        st.markdown(
            "In training the decoder reads the whole target at once. Without the mask, row *t* can look at token "
            "*t* + 1, which is the token that it must predict: it copies, and the loss falls as low as that of an "
            "honest model. When it translates, token *t* + 1 does not exist yet, and it has learned nothing else."
        )
