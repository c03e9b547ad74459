"""The tabs Layer by layer and The prediction: a prediction from the embedding to the loss."""

from __future__ import annotations

import streamlit as st

from explorer.charts import model_internals as figures
from explorer.charts.plotly_charts import Columns
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import layer_name
from explorer.decoding.translator import Translation
from explorer.locale.messages import t
from explorer.locale.text import listed, quoted
from explorer.screens.inside.steps import choose_step, recorded_run
from explorer.web import runtime
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, controls, draw_caption, draw_plot
from model.analysis.predictions import LayerPredictions, predictions_by_layer, smoothing_at
from model.text.tokenizer import Tokenizer

BARS = 8


def draw_layers_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw the likeliest token after each stage for every row, and the last row stage by stage."""
    step = choose_step(translation, "lens_step")
    predictions: LayerPredictions = runtime.computed(
        translation.model, predictions_by_layer, translation.source.ids, translation.path, step
    )
    stages = ["embedding", *(layer_name(i) for i in range(1, len(predictions.ranks)))]
    words = [[model.target.label(int(i)) for i in row] for row in predictions.likeliest]
    left, right = st.columns(2, gap="large")
    with left:
        rows = translation.trace.read_tokens[:step]
        draw_plot(figures.lens_plot(predictions.probabilities, words, rows, stages), "lens_plot")
    with right:
        st.markdown(f"##### {t('Step {step}, stage by stage', step=step)}")
        columns = stage_columns(predictions, stages, model.target)
        draw_table(columns, t("The last row's prediction after each stage"), file="stages")
        caution = (
            t("Keep in mind: the last layer norm and the output projection learned to read the last layer only.")
            if model.model_config.norm_first
            else t("Keep in mind: the output projection learned to read the last layer only.")
        )
        meaning = t(
            "Earlier layers write for the next layer, not for the projection, so a strange word there does not mean "
            "that the model “thinks” it. The last line is what the model puts out. All tokens count here; those that "
            "are never chosen when it translates, such as <sos>, are left out only then."
        )
        draw_caption(" ".join([caution, meaning, *_never_chosen(predictions, model.target)]))


def _never_chosen(predictions: LayerPredictions, target: Tokenizer) -> list[str]:
    """A sentence on tokens in view that are never chosen when the model translates; none if there are none."""
    tokens = [quoted(target.label(i)) for i in predictions.never]
    if not tokens:
        return []
    return [t("In view but never chosen when the model translates: {tokens}.", tokens=listed(tokens))]


def stage_columns(predictions: LayerPredictions, stages: list[str], target: Tokenizer) -> Columns:
    """The last row after each stage, as the columns of a table."""
    return {
        t("read off after"): stages,
        t("likeliest"): [target.label(int(row[-1])) for row in predictions.likeliest],
        t("its probability (%)"): [round(100 * float(p[-1]), 2) for p in predictions.probabilities],
        f"{target.label(predictions.final)} (%)": [round(100 * float(p), 2) for p in predictions.final_probabilities],
        t("its rank"): [int(rank) for rank in predictions.ranks],
    }


def draw_prediction_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw what label smoothing asks of a prediction, and its effect on the loss."""
    step = choose_step(translation, "chance_step")
    logits, right_id = recorded_run(translation, step).logits, translation.path[step - 1]
    with controls("chance"):
        epsilon = float(st.slider(t("Label smoothing ε"), 0.0, 0.5, 0.1, 0.01, key="chance_epsilon", bind=URL))
    smoothing = smoothing_at(logits, right_id, epsilon, BARS)
    tokens = [model.target.label(i) for i in smoothing.ids]
    series = {t("the model"): smoothing.shares, t("target"): smoothing.targets}
    caption = t(
        "If {token} is the right token, label smoothing asks for {right:.1f} % there and {other:.3f} % everywhere "
        "else: a loss of {loss:.3f} nats, where no prediction could have less than {least:.3f}. The more confident "
        "the model, the more smoothing costs it.",
        token=quoted(model.target.label(right_id)),
        right=100 * smoothing.right,
        other=100 * smoothing.other,
        loss=smoothing.loss,
        least=smoothing.least,
    )
    draw_plot(figures.chances_plot(tokens, series, caption, t("Label smoothing")), "smooth_plot")
    trained = model.train_config.label_smoothing
    draw_caption(t("This model was trained with label smoothing {trained:g}.", trained=trained))
