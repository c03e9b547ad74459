"""What would happen without positions: the words shuffled, and sentences longer than any in training."""

from __future__ import annotations

import random

import streamlit as st

from explorer.figures import positions as figures
from explorer.figures.plotly_charts import numbered
from explorer.figures.vega_chart import Table
from explorer.text import plain
from explorer.translation.model_description import ModelDescription
from explorer.translation.translator import InputError, Translation
from explorer.web import runtime
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from model.analysis.word_order import Answer, Length, Shuffle, answer, by_length, longest, side_by_side
from model.config import EOS, DecodeConfig
from model.data import TASKS, get_task
from model.data.task import DataError
from model.folder import CheckpointError

MAX_TIMES = 24


def new_order(length: int, seed: int) -> tuple[int, ...]:
    """The tokens of a sentence in another order, `<eos>` still last; never the order that it had, if there is another.

    `length` counts <eos>.
    """
    words = list(range(length - 1))
    rng = random.Random(f"shuffle {seed}")
    shuffled = words[:]
    while len(words) > 1 and shuffled == words:
        rng.shuffle(shuffled)
    return (*shuffled, length - 1)


def draw_shuffle_tab(described: ModelDescription, shown: Translation) -> None:
    """Shuffle the words and see whether encoder attention follows them."""
    config = described.model_config
    tokens = shown.trace.src_tokens
    if len(tokens) < 3:
        st.info("One token has no order. Type a longer sentence.")
        return
    left, middle, right = st.columns([2, 2, 3], gap="large", vertical_alignment="bottom")
    seed = left.slider(
        "Shuffle number", 1, 50, 1, key="pe_seed", bind=URL, help="Each number is another order of the words."
    )
    layer = middle.selectbox("Layer", range(1, config.n_encoder_layers + 1), key="pe_layer", bind=URL) or 1
    head = right.selectbox("Head", range(1, config.n_encoder_heads + 1), key="pe_head", bind=URL) or 1
    order = new_order(len(tokens), int(seed))
    ids = (*shown.source.ids, EOS)
    has_positions = config.positions != "none"
    placed = _shuffled(shown.model, runtime.fingerprint(shown.model), ids, order, True)
    bare = _shuffled(shown.model, runtime.fingerprint(shown.model), ids, order, False) if has_positions else placed
    words = " ".join(tokens[i] for i in order)
    st.markdown(f"The sentence is now: **{plain(words)}**")
    at = (layer - 1, head - 1)
    columns = st.columns(3 if has_positions else 2)
    with columns[0]:
        draw_plot(
            figures.shuffle_plot(placed.before[at], tokens, "As it stands", "The attention of the real sentence."),
            "pe_before",
        )
    with columns[1]:
        name = "Shuffled, words put back" if has_positions else "Shuffled, words put back: no positions"
        draw_plot(figures.shuffle_plot(placed.after[at], tokens, name, _follows(placed)), "pe_after")
    if has_positions:
        with columns[2]:
            draw_plot(
                figures.shuffle_plot(bare.after[at], tokens, "Shuffled, positions left out", _follows(bare)), "pe_bare"
            )
    target = described.target
    rows = [("with positions" if has_positions else "no positions", placed)]
    rows += [("positions left out in the encoder", bare)] if has_positions else []
    table: Table = {
        "encoder": [name for name, _ in rows],
        "the sentence gives": [target.decode(found.path) for _, found in rows],
        "shuffled gives": [target.decode(found.shuffled_path) for _, found in rows],
        "largest difference of a weight": [f"{found.difference:.2g}" for _, found in rows],
    }
    draw_table(table, "Translations of the sentence and of its shuffled words")
    st.caption(
        "Attention by itself has no order: without positions the weights between two words are the same wherever the "
        "words stand, and so is what the decoder gets to read. All maps are runs of the loaded model. "
        "The model was trained as it is, so what it says without positions is only a look at the machinery."
    )


def _follows(found: Shuffle) -> str:
    if found.difference < 1e-5:
        return (
            f"Attention follows the words exactly: over all heads no weight changed by more than "
            f"{found.difference:.0e}. The model cannot know the order."
        )
    return f"Attention does not just follow the words: over all heads a weight changed by up to {found.difference:.2f}."


def _shuffled(name: str, version: str, ids: tuple[int, ...], order: tuple[int, ...], positions: bool) -> Shuffle:
    there = tuple(ids[i] for i in order)
    return side_by_side(_answer(name, version, ids, positions), _answer(name, version, there, positions), order)


@st.cache_resource(max_entries=128, show_spinner=False)
def _answer(name: str, version: str, ids: tuple[int, ...], positions: bool) -> Answer:
    """What the model makes of these tokens: computed once, also for the sentence whose words are shuffled often."""
    del version  # part of the key only
    with runtime.model(name) as translator:
        return answer(translator.loaded.transformer, ids, positions=positions)


def draw_length_tab(described: ModelDescription, shown: Translation) -> None:
    """Run the model past the longest length that it was trained on."""
    name, version = shown.model, runtime.fingerprint(shown.model)
    trained, why = _trained(name, version)
    limit = described.max_source_tokens
    if trained:
        st.markdown(f"In training the longest sentence had **{trained} tokens** (without `<eos>`).")
    else:
        st.info(plain(f"How long its training sentences were is not known here: {why}"))
    found = _by_length(name, version) if trained else ()
    left, right = st.columns([3, 2], gap="large")
    with left:
        if any(length.tokens > trained for length in found):
            draw_plot(figures.length_plot(found, trained), "pe_lengths")
        else:
            st.caption("This model's task has no longer sentences with known answers; try longer ones on the right.")
    with right:
        times = int(st.slider("Say the sentence … times", 1, MAX_TIMES, 2, key="pe_times", bind=URL))
        _say(described, shown, times, trained)
    learned = described.model_config.positions == "learned"
    st.caption(
        f"This model learned a row for each of {limit + 1} positions: there is no row for a later one, and the rows "
        f"beyond the trained length are still as they were drawn at random."
        if learned
        else "The sinusoidal table goes on for ever, but a model only knows what to do with the rows it has practised."
        if described.model_config.positions == "sinusoidal"
        else "This model has no positions, so no position is new to it; the length still is."
    )


def _say(described: ModelDescription, shown: Translation, times: int, trained: int) -> None:
    """The current sentence said several times over, translated by the real model."""
    text = " ".join([shown.source.text] * times)
    if described.data_config.tokenizer == "characters":
        text = shown.source.text * times
    try:
        longer = runtime.translate(shown.model, text, DecodeConfig())
    except (InputError, CheckpointError) as refused:
        st.info(plain(str(refused)))
        return
    n_tokens = len(longer.source)
    beyond = f", {n_tokens - trained} more than any in training" if trained and n_tokens > trained else ""
    st.markdown(f"**{n_tokens} tokens**{beyond}. It answers:")
    st.markdown(f"> {plain(longer.text) or '(nothing)'}")
    probabilities = longer.trace.probabilities
    mean = 100 * float(probabilities.mean())
    st.caption(
        plain(
            " ".join([f"It gives its own choices {mean:.0f} % on average, {len(longer.path)} tokens.", *longer.notes])
        )
    )
    with st.expander("Step by step", key="pe_steps", on_change="rerun") as fold:
        if fold.open:
            columns: Table = {
                "reads": numbered(longer.trace.read_tokens),
                "predicts": list(longer.trace.predicted_tokens),
                "probability (%)": [round(100 * float(p), 1) for p in probabilities],
            }
            draw_table(columns, "What each step reads and predicts")


@st.cache_resource(max_entries=16, show_spinner="Looking for the longest training sentence …")
def _trained(name: str, version: str) -> tuple[int, str]:
    """Tokens of the longest training sentence, or 0 and why it is not known."""
    del version  # part of the key only
    described = runtime.describe(name)
    task = described.data_config.task
    if task not in TASKS:
        return 0, "it was trained on somebody's own data."
    try:
        return longest(get_task(task).splits["train"], described.source), ""
    except DataError as missing:
        return 0, str(missing)


@st.cache_resource(max_entries=16, show_spinner="Translating sentences of every length …")
def _by_length(name: str, version: str) -> tuple[Length, ...]:
    del version  # part of the key only
    described = runtime.describe(name)
    splits = get_task(described.data_config.task).splits
    if "long" not in splits:
        return ()
    examples = [*splits["test"], *splits["long"]]
    with runtime.model(name) as translator:
        return by_length(translator.loaded.transformer, described.source, described.target, examples)
