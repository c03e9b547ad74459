"""The slider of The machine that shows what training changed: the same place, with the weights of a snapshot."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.examples import opening_step
from explorer.decoding.translator import Translation
from explorer.locale.messages import t
from explorer.locale.text import quoted, weight_percent
from explorer.web import address, runtime, session
from explorer.web.page_parts import URL, draw_caption
from model.config import DecodeConfig


def after_training(translation: Translation) -> Translation:
    """Draw the slider if the model has snapshots; return the same target read by the weights of the chosen step.

    A lesson shows the machine without the slider.
    """
    name = translation.model
    steps = runtime.snapshot_steps(name)
    if len(steps) < 2 or address.page() != "inside":
        return translation
    line = st.container(horizontal=True, vertical_alignment="center")  # one line, so that the diagram stays in sight
    chosen = line.select_slider(
        t("Steps of training"),
        steps,
        steps[-1],
        format_func=lambda n: f"{n:,}",
        key=f"trained_{steps[-1]}",
        bind=URL,
        label_visibility="collapsed",
        width=300,
    )
    if chosen == steps[-1]:
        with line:
            draw_caption(t("Trained for {n:,} steps. Move the slider to see this place earlier.", n=chosen))
        return translation
    if not session.selection().step:  # the place of the trained model, which an untrained one would not choose
        session.move(step=opening_step(runtime.summary(name), translation))
    then = runtime.translate(runtime.at_step(name, chosen), translation.source.text, DecodeConfig(), translation.path)
    with line:
        draw_caption(changed(translation, then, chosen, min(session.selection().step, len(translation.path))))
    return then


def changed(now: Translation, then: Translation, trained: int, step: int) -> str:
    """A sentence on the token of one step (from 1) of the same target, then and now."""
    return t(
        "After {trained:,} steps of training the model gave {token} a probability of {before} at step {step}; at the "
        "end of training, {after}. All numbers below are those of that time.",
        trained=trained,
        token=quoted(now.trace.predicted_tokens[step - 1]),
        before=weight_percent(float(then.trace.probabilities[step - 1])),
        step=step,
        after=weight_percent(float(now.trace.probabilities[step - 1])),
    )
