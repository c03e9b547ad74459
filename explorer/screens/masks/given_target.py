"""The tab Given target: the complete target read at once (teacher forcing), with and without the causal mask."""

from __future__ import annotations

import streamlit as st

from explorer.byte_cache import cached
from explorer.charts import masks as figures
from explorer.charts.plotly_charts import Columns, numbered
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import name_in_kind
from explorer.decoding.references import reference, references
from explorer.decoding.translator import InputError, Translation
from explorer.locale.glossary import explained
from explorer.locale.text import plain
from explorer.screens.masks.teacher_forced import padded, reading
from explorer.web import runtime
from explorer.web.choose_head import choose_head
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from model.analysis.mask_comparison import attention_to_future
from model.analysis.mask_effects import Switches

_SAME = 0.005  # probabilities that differ by less count as the same
REFERENCE = "given_reference"
_FOR = "given_reference_for"  # the sentence that the typed translation belongs to


def draw_target_tab(shown: Translation, model: ModelDescription) -> None:
    """One decoder head, and the probability of every token of the right translation, with the mask and without it."""
    shown, known = _with_target(shown)
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
        token = "right token" if known else "model's own token"
        st.markdown(f"##### Probability of the {token}")
        draw_table(columns, f"The probability of the {token} with the mask and without it")
        masked, bare = sentences.probability_of_target(closed, 0), sentences.probability_of_target(opened, 0)
        st.caption(explained(target_caption(masked, bare, causal=model.model_config.causal, token=token)))


def _with_target(shown: Translation) -> tuple[Translation, bool]:
    """The sentence with the target that is typed, else with the right one; and whether that is known to be right.

    Where neither is known, the model's own translation stands in.
    """
    text = shown.source.text
    if st.session_state.get(_FOR, text) != text:
        st.session_state[REFERENCE] = ""  # it was the translation of another sentence
    st.session_state[_FOR] = text
    known = reference(text, _references(shown.model, runtime.fingerprint(shown.model)))
    typed = st.text_input(
        "The right translation",
        key=REFERENCE,
        bind=URL,
        placeholder=known or "not known here: type it; until then the model's own stands in",
        help="The target that the decoder is given. Left empty, it is the one in the task's data, if that is known.",
    )
    target = (typed or known).strip()
    if not target:
        return shown, False
    try:
        return runtime.force(shown.model, text, target), True
    except InputError as refused:
        st.info(plain(str(refused)))
        return shown, False


@cached
def _references(name: str, version: str) -> dict[str, str]:
    del version  # part of the key only
    summary = runtime.models().get(name)
    return references(summary) if summary else {}


def target_caption(masked: float, bare: float, *, causal: bool, token: str) -> str:
    """The mean probability of the given tokens with and without the mask, and what it means.

    `causal` says whether the model was trained with the mask; `token` is "right token" or "model's own token".
    """
    first = f"The {token} gets {100 * masked:.1f} % on average with the mask and {100 * bare:.1f} % without it. "
    change = bare - masked
    if causal:
        trained = "This model was trained with the mask, so open cells show it rows in a state that it never met"
        effect = ": it does worse." if change < -_SAME else ": here they help." if change > _SAME else "; here that "
        ending = "" if abs(change) > _SAME else "hardly matters."
        return f"{first}{trained}{effect}{ending} For a model trained without the mask, see 'Trained without it'."
    if change > _SAME:
        why = "the next token stands one column to the right, and the model has learned to copy it."
    elif change < -_SAME:
        why = "yet open cells do not help with this target."
    else:
        why = "but for this target it makes hardly any difference."
    return f"{first}This model was trained without the mask: {why}"
