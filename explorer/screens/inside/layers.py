"""The tab Layer by layer: a prediction after each layer, from the embedding to the last one."""

from __future__ import annotations

import streamlit as st

from explorer.charts import model_internals as figures
from explorer.charts.plotly_charts import Columns
from explorer.decoding.examples import opening_step
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import layer_name
from explorer.decoding.translator import Translation
from explorer.locale.messages import t
from explorer.locale.text import listed, plain, quoted
from explorer.web import runtime, session
from explorer.web.figures import draw_table
from explorer.web.page_parts import draw_caption, draw_plot
from model.analysis.predictions import LayerPredictions, predictions_by_layer
from model.text.tokenizer import Tokenizer


def draw_layers_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw the likeliest token after each stage for every row, and the last row stage by stage."""
    step = _choose_step(translation)
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


def _choose_step(translation: Translation) -> int:
    """Draw the step slider; return the step, from 1 and shared with other pages, initially an instructive one."""
    last = len(translation.path)
    if last < 2:
        return 1
    trace = translation.trace
    # The session holds the step: the widget shows it and reports changes to it.
    here, widget = session.selection().step, f"lens_step_{last}"
    summary = runtime.models().get(translation.model)
    st.session_state[widget] = min(here, last) if here else opening_step(summary, translation) if summary else last

    def label(step: int) -> str:
        reads, predicts = plain(trace.read_tokens[step - 1]), plain(trace.predicted_tokens[step - 1])
        if step <= translation.n_prompt:
            return t("{step}: reads {reads}, the prompt goes on: {next}", step=step, reads=reads, next=predicts)
        return t("{step}: reads {reads}, predicts {predicts}", step=step, reads=reads, predicts=predicts)

    options = range(1, last + 1)
    step = st.select_slider(t("Step"), options, format_func=label, key=widget, on_change=_stepped, args=(widget,))
    return int(step)


def _stepped(widget: str) -> None:
    session.move(step=st.session_state[widget])
