"""The panel of teacher forcing: a target sentence of one's own, how likely the model finds it, and its attention."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from explorer.attention.coordinates import Place
from explorer.figures.token_probabilities import probability_spec
from explorer.figures.vega_chart import Figure, Table
from explorer.text import plain
from explorer.translation.selection import Selection
from explorer.translation.translator import InputError, Translation
from explorer.web import runtime, session
from explorer.web.figures import draw_figure
from explorer.web.panel_choices import Choices
from model.folder import CheckpointError

_ABOUT = (
    "Type a translation of your own (it goes through the model's target tokenizer). The model reads it token by token, "
    "as in training (teacher forcing), and says how much of each it expected."
)


def draw(selection: Selection, shown: Translation, at: Place) -> None:
    """The field, and for a typed target its probabilities and a way to its attention."""
    del at
    st.markdown("##### And if it had said this?")
    st.caption(plain(_ABOUT))
    choices = Choices("forcing")
    choices.start_text("forcing_text")
    target = st.text_input(
        "Target sentence",
        key="forcing_text",
        placeholder=shown.text or "Type a target sentence and press Enter",
    )
    choices.keep(target)
    if not target:
        return
    try:
        forced = runtime.force(selection.model, selection.text, target)
    except (InputError, CheckpointError) as without:
        st.info(plain(str(without)))
        return
    draw_figure(probability_figure(forced))
    if forced.notes:
        st.caption(plain(" ".join(forced.notes)))
    st.dataframe(probability_table(forced), hide_index=True, alt="Probability of each token of the typed target")
    same = forced.path == shown.path
    if st.button("Its attention is in view" if same else "Show its attention", key="forcing_show", disabled=same):
        session.move(path=forced.path, step=len(forced.path), cell=None)
        st.rerun()


def probability_figure(forced: Translation) -> Figure:
    """A bar a token: how much of it the model expected, and the token that it would rather have said."""
    trace = forced.trace
    probabilities = [float(p) for p in trace.probabilities]
    data: Table = {
        "token": [f"{i} {token}" for i, token in enumerate(trace.predicted_tokens, start=1)],
        "probability": [100 * p for p in probabilities],
        "first": [f"{row[0]} ({100 * float(p[0]):.0f} %)" for row, p in _best(forced)],
    }
    total = sum(math.log(p) if p > 0 else -math.inf for p in probabilities)
    least = min(range(len(probabilities)), key=lambda i: probabilities[i])
    caption = (
        f"Log-probability {total:.3f} nats over {len(probabilities)} tokens, perplexity "
        f"{math.exp(min(-total / len(probabilities), 700)):.3g}. Least expected: {data['token'][least]} "
        f"({100 * probabilities[least]:.2g} %), where the model's first choice was {data['first'][least]}."
    )
    return Figure(probability_spec(), data, caption, "Probability of each token, in %")


def _best(forced: Translation) -> list[tuple[tuple[str, ...], Any]]:
    return list(zip(forced.trace.top_tokens, forced.trace.top_probabilities, strict=True))


def probability_table(forced: Translation) -> list[dict[str, Any]]:
    """A row a token: what was read, what it was to predict, how likely that was, its rank, and the first choice."""
    trace = forced.trace
    table = []
    for t, token in enumerate(trace.predicted_tokens):
        ids = [int(i) for i in trace.top_ids[t]]
        rank = str(ids.index(forced.path[t]) + 1) if forced.path[t] in ids else f"below {len(ids)}"
        table.append(
            {
                "step": t + 1,
                "reads": trace.read_tokens[t],
                "predicts": token,
                "probability (%)": round(100 * float(trace.probabilities[t]), 3),
                "rank": rank,
                "first choice": trace.top_tokens[t][0],
                "its probability (%)": round(100 * float(trace.top_probabilities[t][0]), 3),
            }
        )
    return table
