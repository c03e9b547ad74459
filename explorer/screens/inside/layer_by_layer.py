"""The tab Layer by layer: the output projection applied after every decoder layer (logit lens)."""

from __future__ import annotations

import streamlit as st

from explorer.charts import model_internals as figures
from explorer.charts.plotly_charts import Columns
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import layer_name
from explorer.decoding.translator import Translation
from explorer.locale.glossary import explained
from explorer.screens.inside.computation import choose_step, walked
from explorer.web import runtime
from explorer.web.figures import draw_table
from explorer.web.page_parts import draw_plot
from model.analysis.operations import layer_by_layer
from model.analysis.predictions import LayerPredictions, layer_predictions
from model.decoding.search import output_rules, target_log_probs
from model.text.tokenizer import Tokenizer


def draw_layers_tab(shown: Translation, model: ModelDescription) -> None:
    """Draw the likeliest token after each stage for every row, and the last row stage by stage."""
    step = choose_step(shown, "lens_step")
    run = walked(shown, step, whole=True)
    with runtime.model(shown.model) as translator:
        logits = layer_by_layer(translator.loaded.transformer, run)
    predictions = layer_predictions(target_log_probs(logits, output_rules(model.model_config)))
    stages = stage_names(model.model_config.n_decoder_layers)
    words = [[model.target.label(int(i)) for i in row] for row in predictions.likeliest]
    left, right = st.columns(2, gap="large")
    with left:
        rows = shown.trace.read_tokens[:step]
        draw_plot(figures.lens_plot(predictions.probabilities, words, rows, stages), "lens_plot")
    with right:
        st.markdown(f"##### Step {step}, stage by stage")
        draw_table(stage_columns(predictions, model.target), "The last row's prediction after each stage")
        norm = "the last layer norm and " if model.model_config.norm_first else ""
        st.caption(
            explained(
                f"Keep in mind: {norm}the output projection learned to read the last layer only. Earlier layers write "
                f"for the next layer and not for it, so a strange word there does not mean that the model 'thinks' it. "
                f"The last line is the real prediction."
            )
        )


def stage_names(n_layers: int) -> list[str]:
    """The names of the stages: the embedding and every decoder layer."""
    return ["embedding", *(layer_name(i) for i in range(1, n_layers + 1))]


def stage_columns(predictions: LayerPredictions, target: Tokenizer) -> Columns:
    """The last row after each stage, as the columns of a table."""
    return {
        "read off after": stage_names(len(predictions.ranks) - 1),
        "likeliest": [target.label(int(row[-1])) for row in predictions.likeliest],
        "its probability (%)": [round(100 * float(p[-1]), 2) for p in predictions.probabilities],
        f"{target.label(predictions.final)} (%)": [round(100 * float(p), 2) for p in predictions.final_probabilities],
        "its rank": [int(rank) for rank in predictions.ranks],
    }
