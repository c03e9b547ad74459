"""The tab Shuffle the words: whether encoder attention follows the words when their order changes."""

from __future__ import annotations

import streamlit as st

from explorer.byte_cache import cached
from explorer.charts import positions as figures
from explorer.charts.chart import Table
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import Translation
from explorer.locale.glossary import explained
from explorer.locale.text import plain
from explorer.web import runtime
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from explorer.web.session import choose_example
from model.analysis.word_order import Answer, Shuffle, answer, shuffled_order, side_by_side
from model.config import EOS
from model.data import TASKS, get_task

ROUNDING = 1e-5  # weights that differ by less than this are the same up to rounding


def draw_shuffle_tab(shown: Translation, model: ModelDescription) -> None:
    """One encoder head for the sentence, for its shuffled words, and for these without positions."""
    config, tokens = model.model_config, shown.trace.src_tokens
    if len(tokens) < 3:
        st.info("A single token has no order. Type a longer sentence.")
        return
    left, middle, right = st.columns([2, 2, 3], gap="large", vertical_alignment="bottom")
    seed = left.slider(
        "Shuffle number", 1, 50, 1, key="pe_seed", bind=URL, help="Each number is another order of the words."
    )
    layer = middle.selectbox("Layer", range(1, config.n_encoder_layers + 1), key="pe_layer", bind=URL) or 1
    head = right.selectbox("Head", range(1, config.n_encoder_heads + 1), key="pe_head", bind=URL) or 1
    order = shuffled_order(len(tokens), int(seed))
    ids = (*shown.source.ids, EOS)
    # Rotations and distances are part of the attention itself: there is nothing added that could be left out.
    has_positions = config.positions in ("sinusoidal", "learned")
    with_positions = _shuffle(shown.model, ids, order, positions=True)
    without = _shuffle(shown.model, ids, order, positions=False) if has_positions else with_positions
    words = " ".join(tokens[i] for i in order)
    st.markdown(f"The sentence is now: **{plain(words)}**")
    at = (layer - 1, head - 1)
    maps = [
        ("pe_before", with_positions.before, "Original order", "The attention of the sentence as it was typed."),
        (
            "pe_after",
            with_positions.after,
            "Shuffled, words put back" + (": no positions" if config.positions == "none" else ""),
            effect(with_positions),
        ),
    ]
    if has_positions:
        maps.append(("pe_bare", without.after, "Shuffled, positions left out", effect(without)))
    for column, (key, weights, title, caption) in zip(st.columns(len(maps)), maps, strict=True):
        with column:
            draw_plot(figures.shuffle_plot(weights[at], tokens, title, caption), key)
    if has_positions:
        _suggest(shown, with_positions, without, model)
    draw_table(_translations(with_positions, without, model), "Translations of the sentence and of its shuffled words")
    st.caption(
        explained(
            "Attention by itself has no order: without positions, the weights between two words are the same wherever "
            "the words stand, and so is what the decoder reads. All maps are runs of the loaded model. It was trained "
            "as it is, so what it says without positions only shows how the mechanism works."
        )
    )


def _suggest(shown: Translation, with_positions: Shuffle, without: Shuffle, model: ModelDescription) -> None:
    """Where the translation stays the same without positions, offer a sentence in which the order decides."""
    task = model.data_config.task
    sentence = get_task(task).order_matters if task in TASKS else ""
    if not sentence or sentence == shown.source.text or with_positions.path != without.path:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("This sentence is translated alike with and without positions.")
        st.button(f"Try “{sentence}”", key="pe_order_matters", on_click=choose_example, args=(sentence,))


def effect(shuffle: Shuffle) -> str:
    """How much the attention changed when the words were shuffled, in a sentence."""
    if shuffle.difference < ROUNDING:
        return (
            f"Attention follows the words exactly: over all heads no weight changed by more than "
            f"{shuffle.difference:.0e}. The model cannot know the order."
        )
    return (
        f"Attention does more than follow the words: over all heads a weight changed by up to {shuffle.difference:.2f}."
    )


def _translations(with_positions: Shuffle, without: Shuffle, model: ModelDescription) -> Table:
    """Both translations of each run, as the columns of a table."""
    kind = model.model_config.positions
    if kind not in ("sinusoidal", "learned"):
        rows = [("no positions" if kind == "none" else f"with positions ({kind})", with_positions)]
    else:
        rows = [("with positions", with_positions), ("positions left out in the encoder", without)]
    decode = model.target.decode
    return {
        "encoder": [name for name, _ in rows],
        "original sentence gives": [decode(run.path) for _, run in rows],
        "shuffled sentence gives": [decode(run.shuffled_path) for _, run in rows],
        "largest difference of a weight": [f"{run.difference:.2g}" for _, run in rows],
    }


def _shuffle(name: str, ids: tuple[int, ...], order: tuple[int, ...], *, positions: bool) -> Shuffle:
    version, shuffled = runtime.fingerprint(name), tuple(ids[i] for i in order)
    return side_by_side(_answer(name, version, ids, positions), _answer(name, version, shuffled, positions), order)


@cached
def _answer(name: str, version: str, ids: tuple[int, ...], positions: bool) -> Answer:
    """The model's answer to these tokens, computed once: the original sentence is asked for with every shuffle."""
    del version  # part of the key only
    with runtime.model(name) as translator:
        return answer(translator.loaded.transformer, ids, positions=positions)
