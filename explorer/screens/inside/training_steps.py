"""The slider of The machine that shows what training changed: the same place, with the weights of a snapshot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from explorer.decoding.decoding import NEXT_READ
from explorer.decoding.examples import opening_step
from explorer.decoding.translator import Translation
from explorer.locale.messages import t
from explorer.locale.text import quoted, weight_percent
from explorer.web import address, runtime, session
from explorer.web.page_parts import URL, draw_caption
from model.config import DecodeConfig


def after_training(translation: Translation) -> Translation:
    """Draw the slider if the model has snapshots; return the same target read by the weights of the chosen step.

    Those did not choose its tokens: they read it as a given target.

    A lesson shows the machine without the slider.
    """
    name = translation.model
    if address.page() != "inside":
        return translation
    steps = runtime.snapshot_steps(name)
    if len(steps) < 2:
        _link_models_with_steps(name)
        return translation
    # On a wide screen it is beside the page's heading (frame.css), so that the diagram is high up.
    line = st.container(horizontal=True, vertical_alignment="center", key="controls_training")
    chosen = line.select_slider(
        t("Steps of training"),
        steps,
        steps[-1],
        format_func=lambda n: f"{n:,}",
        key=f"trained_{steps[-1]}",
        bind=URL,
        width=300,
    )
    if chosen == steps[-1]:
        return translation
    if not session.selection().step:  # the place of the trained model, which an untrained one would not choose
        session.move(step=opening_step(runtime.summary(name), translation))
    then = runtime.translate(runtime.at_step(name, chosen), translation.source.text, DecodeConfig(), translation.path)
    with line:
        draw_caption(changed(translation, then, min(session.selection().step, len(translation.path))))
    return replace(then, chosen_by=NEXT_READ)


def _link_models_with_steps(name: str) -> None:
    """Say below the machine (frame.css) that no earlier weights were kept, with links to shipped models that have some.

    An imported model gets only those of its own languages.
    """
    models = runtime.models()
    others = [
        other
        for other, summary in models.items()
        if summary["bundled"]
        and name in models
        and (not models[name]["imported"] or _languages(summary) == _languages(models[name]))
        and len(runtime.snapshot_steps(other)) > 1
    ]
    if not others:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="foot_training"):
        draw_caption(t("This model kept no earlier weights. What training changed in other models:"))
        for other in others:
            at = {"model": other, "inside_tab": "The machine"}
            st.page_link("pages/inside.py", label=other, icon=":material/history:", query_params=at)


def _languages(summary: dict[str, Any]) -> tuple[str, str]:
    return summary["data"]["src_lang"], summary["data"]["tgt_lang"]


def changed(now: Translation, then: Translation, step: int) -> str:
    """The probability of the token that one step (from 1) of the same target must predict, then and now."""
    before, after = (weight_percent(float(each.trace.probabilities[step - 1])) for each in (then, now))
    return f"{quoted(now.trace.predicted_tokens[step - 1])}: {before} → {after}"
