"""The tab Given target: the complete target read at once (teacher forcing), with and without the causal mask."""

from __future__ import annotations

import streamlit as st

from explorer.attention.names import name_in_kind
from explorer.figures import masks as figures
from explorer.figures.plotly_charts import Columns, numbered
from explorer.screens.masks.teacher_forced import padded, reading
from explorer.translation.model_description import ModelDescription
from explorer.translation.translator import Translation
from explorer.web.choose_head import choose_head
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from model.analysis.mask_comparison import attention_to_future
from model.analysis.mask_effects import Switches


def draw_target_tab(shown: Translation, model: ModelDescription) -> None:
    """One decoder head, and the probability of every right token, with the mask and without it."""
    lifted = st.toggle("Lift the causal mask", False, key="lift_mask", bind=URL)
    _, layer, head = choose_head(model.model_config, "lift", ("decoder",))
    sentences = padded(shown)
    closed = reading(shown, sentences, Switches(), ("decoder", layer, head))
    opened = reading(shown, sentences, Switches(causal=False), ("decoder", layer, head))
    done, switches = (opened, Switches(causal=False)) if lifted else (closed, Switches())
    weights = done.recorder.weights("decoder")[layer, head]
    codes, tokens = sentences.codes("decoder", 0, switches), sentences.read_tokens[0]
    left, right = st.columns([2, 3], gap="large")
    with left:
        future = 100 * attention_to_future(weights)
        name = name_in_kind(layer + 1, head + 1).capitalize()
        caption = f"{name}: rows give {future:.0f} % of their attention to later positions."
        title = "Decoder self-attention, " + ("mask lifted" if lifted else "masked")
        draw_plot(figures.weight_plot(weights, codes, "decoder", tokens, tokens, title, caption), "lift_map")
    with right:
        columns: Columns = {
            "reads": numbered(tokens),
            "must predict": list(sentences.label_tokens[0]),
            "masked (%)": [round(100 * float(p), 2) for p in closed.probabilities[0]],
            "lifted (%)": [round(100 * float(p), 2) for p in opened.probabilities[0]],
            "likeliest, lifted": [model.target.label(int(i)) for i in opened.likeliest[0]],
        }
        st.markdown("##### Probability of the right token")
        draw_table(columns, "The probability of the right token with the mask and without it")
        masked, bare = sentences.probability_of_target(closed, 0), sentences.probability_of_target(opened, 0)
        st.caption(target_caption(masked, bare, causal=model.model_config.causal))


def target_caption(masked: float, bare: float, *, causal: bool) -> str:
    """The mean probability of the right token with and without the mask, and what it means.

    `causal` says whether the model was trained with the mask.
    """
    first = f"The right token gets {100 * masked:.1f} % on average with the mask and {100 * bare:.1f} % without it. "
    if causal:
        return first + (
            "This model was trained with the mask. Open cells show it rows in a state that it never met, which does "
            "not help. For a model trained without the mask, see 'Trained without it'."
        )
    return first + (
        "This model was trained without the mask: the next token stands one column to the right, and the model only "
        "has to copy it."
    )
