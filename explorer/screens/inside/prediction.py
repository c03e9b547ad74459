"""The tab The prediction: from logits to probabilities with a temperature, and the target of label smoothing."""

from __future__ import annotations

import streamlit as st
from torch import Tensor

from explorer.charts import model_internals as figures
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import Translation
from explorer.locale.glossary import explained
from explorer.locale.text import quoted
from explorer.screens.inside.computation import choose_step, walked
from explorer.web.page_parts import URL, draw_plot
from model.analysis.operations import least_loss, smoothed, smoothed_loss, tempered
from model.analysis.predictions import effective_choices, likeliest_with, shares

BARS = 8
TEMPERATURE = 1.5  # at first: high enough to be seen beside 1
EPSILONS = [round(0.01 * i, 2) for i in range(51)]


def draw_prediction_tab(shown: Translation, model: ModelDescription) -> None:
    """Draw softmax with temperature, label smoothing, and the cost of smoothing."""
    step = choose_step(shown, "chance_step")
    logits, right_id = walked(shown, step, whole=False).logits, shown.path[step - 1]
    left, right = st.columns(2, gap="large")
    temperature = float(left.slider("Temperature T", 0.1, 5.0, TEMPERATURE, 0.1, key="chance_temperature", bind=URL))
    epsilon = float(right.slider("Label smoothing ε", 0.0, 0.5, 0.1, 0.01, key="chance_epsilon", bind=URL))
    probabilities, warm = tempered(logits, 1.0), tempered(logits, temperature)
    ids = likeliest_with(probabilities, right_id, BARS)
    tokens = [model.target.label(i) for i in ids]
    left, right = st.columns(2, gap="large")
    with left:
        series = {"T = 1": shares(probabilities, ids)}
        if temperature != 1:
            series[f"T = {temperature:.1f}"] = shares(warm, ids)
        caption = temperature_caption(tokens[0], ids[0], probabilities, warm, temperature)
        draw_plot(figures.chances_plot(tokens, series, caption, "Softmax with temperature"), "chance_plot")
    with right:
        wanted = smoothed(len(probabilities), right_id, epsilon)
        series = {"the model": shares(probabilities, ids), "target": shares(wanted, ids)}
        caption = (
            f"If {quoted(model.target.label(right_id))} is the right token, label smoothing asks for "
            f"{100 * float(wanted[right_id]):.1f} % there and {100 * epsilon / len(wanted):.3f} % everywhere else: a "
            f"loss of {smoothed_loss(logits, right_id, epsilon):.3f} nats."
        )
        draw_plot(figures.chances_plot(tokens, series, caption, "Label smoothing"), "smooth_plot")
    losses = [smoothed_loss(logits, right_id, e) for e in EPSILONS]
    least = [least_loss(len(probabilities), e) for e in EPSILONS]
    draw_plot(figures.smoothing_plot(EPSILONS, losses, least, epsilon), "smooth_curve")
    st.caption(
        explained(
            f"This model was trained with label smoothing {model.train_config.label_smoothing:g}. Temperature is for "
            f"sampling; greedy search takes the likeliest token at any temperature."
        )
    )


def temperature_caption(token: str, token_id: int, probabilities: Tensor, warm: Tensor, temperature: float) -> str:
    """The likeliest token's probability at a temperature, and the effective number of choices there and at T = 1."""
    return (
        f"softmax(logits / T): at T = {temperature:.1f} {quoted(token)} gets {100 * float(warm[token_id]):.1f} % and "
        f"the choice is as wide as among {effective_choices(warm):.2f} equally likely tokens; at T = 1, among "
        f"{effective_choices(probabilities):.2f}."
    )
