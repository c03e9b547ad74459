"""The tab Longer than trained: what happens past the longest sentence of the training data."""

from __future__ import annotations

import streamlit as st

from explorer.charts import positions as figures
from explorer.charts.chart import Table
from explorer.charts.plotly_charts import numbered
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import InputError, Translation
from explorer.locale.glossary import explained
from explorer.locale.text import plain, plural
from explorer.web import runtime
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from model.analysis.word_order import Length, by_length, longest
from model.config import DecodeConfig
from model.data import TASKS, get_task
from model.data.task import DataError
from model.folder import CheckpointError

MAX_REPEATS = 24


def draw_longer_tab(shown: Translation, model: ModelDescription) -> None:
    """Exact answers by length where the task has long sentences, and the current sentence repeated."""
    name, version = shown.model, runtime.fingerprint(shown.model)
    trained, unknown = 0, "it was trained on data of its own."
    if model.data_config.task in TASKS:
        try:
            trained = _longest_trained(name, version)
        except DataError as error:
            unknown = str(error)
    if trained:
        st.markdown(f"In training the longest sentence had **{plural(trained, 'token')}** (without `<eos>`).")
    else:
        st.info(plain(f"The length of this model's training sentences is not known here: {unknown}"))
    lengths = _by_length(name, version) if trained else ()
    left, right = st.columns([3, 2], gap="large")
    with left:
        if any(length.tokens > trained for length in lengths):
            draw_plot(figures.length_plot(lengths, trained), "pe_lengths")
        else:
            st.caption("This model's task has no longer sentences with known answers. Try longer ones on the right.")
    with right:
        repeats = int(st.slider("Repeat the sentence … times", 1, MAX_REPEATS, 2, key="pe_times", bind=URL))
        _draw_repeated(shown, model, repeats, trained)
    st.caption(explained(beyond_the_table(model)))


def beyond_the_table(model: ModelDescription) -> str:
    """What this kind of positions has to offer past the trained length."""
    kind = model.model_config.positions
    if kind == "learned":
        return (
            f"This model learned a row for each of {model.max_source_tokens + 1} positions: there is no row for a "
            f"later one, and the rows beyond the trained length still have their random initial values."
        )
    if kind == "sinusoidal":
        return "The sinusoidal table has no end, but a model can only use the rows that it has practised with."
    if kind == "rope":
        return "A rotation has no end, but distances beyond the trained length turn queries and keys to new angles."
    if kind == "alibi":
        return "ALiBi only takes more off the score of a more distant key: no position is new to this model."
    return "This model has no positions, so no position is new to it; the length still is."


def _draw_repeated(shown: Translation, model: ModelDescription, repeats: int, trained: int) -> None:
    """The current sentence several times over, translated by the loaded model."""
    text = " ".join([shown.source.text] * repeats)
    if model.data_config.tokenizer == "characters":
        text = shown.source.text * repeats
    try:
        longer = runtime.translate(shown.model, text, DecodeConfig())
    except (InputError, CheckpointError) as error:
        st.info(plain(str(error)))
        return
    n_tokens = len(longer.source)
    beyond = f", {n_tokens - trained} more than any in training" if trained and n_tokens > trained else ""
    st.markdown(f"**{plural(n_tokens, 'token')}**{beyond}. The answer:")
    st.markdown(f"> {plain(longer.text) or '(nothing)'}")
    mean = 100 * float(longer.trace.probabilities.mean())
    about = f"{plural(len(longer.path), 'token')}, with a mean probability of {mean:.0f} %."
    st.caption(explained(" ".join([about, *longer.notes])))
    with st.expander("Step by step", key="pe_steps", on_change="rerun") as fold:
        if fold.open:
            columns: Table = {
                "reads": numbered(longer.trace.read_tokens),
                "predicts": list(longer.trace.predicted_tokens),
                "probability (%)": [round(100 * float(p), 1) for p in longer.trace.probabilities],
            }
            draw_table(columns, "What each step reads and predicts")


@st.cache_resource(max_entries=16, show_spinner="Looking for the longest training sentence …")
def _longest_trained(name: str, version: str) -> int:
    """Tokens of the longest training sentence; an error is not kept, so that the next look tries again."""
    del version  # part of the key only
    model = runtime.describe(name)
    return longest(get_task(model.data_config.task).splits["train"], model.source)


@st.cache_resource(max_entries=16, show_spinner="Translating sentences of every length …")
def _by_length(name: str, version: str) -> tuple[Length, ...]:
    del version  # part of the key only
    splits = get_task(runtime.describe(name).data_config.task).splits
    if "long" not in splits:
        return ()
    with runtime.model(name) as translator:
        loaded = translator.loaded
        return by_length(loaded.transformer, loaded.source, loaded.target, [*splits["test"], *splits["long"]])
