"""The panel of teacher forcing: a target typed by the visitor, its probabilities, and its attention."""

from __future__ import annotations

import streamlit as st

from explorer.charts.chart import Figure
from explorer.charts.token_probabilities import probability_spec
from explorer.decoding.coordinates import Place
from explorer.decoding.selection import Selection
from explorer.decoding.target_probabilities import probability_caption, probability_columns, probability_table
from explorer.decoding.translator import InputError, Translation
from explorer.locale.text import plain
from explorer.web import runtime, session
from explorer.web.changes_in_force import NoMeans, edit_shown
from explorer.web.figures import draw_figure, draw_table
from explorer.web.panel_choices import Choices
from model.edits import EditError
from model.folder import CheckpointError

_ABOUT = (
    "Type a translation of your own. The model's target tokenizer splits it, and the model reads it token by token, as "
    "in training (teacher forcing). The bars show the probability that it gave to each token."
)


def draw(selection: Selection, shown: Translation, at: Place) -> None:
    """The text field, and for a typed target its probabilities and a button that shows its attention."""
    del at
    st.markdown("##### What if the translation were this?")
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
        forced = runtime.force(selection.model, selection.text, target, edit_shown(selection, shown))
    except (InputError, EditError, NoMeans, CheckpointError) as missing:
        st.info(plain(str(missing)))
        return
    columns, caption = probability_columns(forced.trace), probability_caption(forced.trace)
    draw_figure(Figure(probability_spec(), columns, caption, "Probability of each token, in %"))
    if forced.notes:
        st.caption(plain(" ".join(forced.notes)))
    draw_table(probability_table(forced), "Probability of each token of the typed target", file="probabilities")
    same = forced.path == shown.path
    if st.button("Its attention is on screen" if same else "Show its attention", key="forcing_show", disabled=same):
        session.move(path=forced.path, step=len(forced.path), cell=None)
        st.rerun()
