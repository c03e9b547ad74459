"""The tabs Shuffle the words and Longer than trained: the model on other word orders and other lengths."""

from __future__ import annotations

import streamlit as st

from explorer.charts import positions as figures
from explorer.charts.plotly_charts import Columns
from explorer.decoding.examples import examples_of
from explorer.decoding.labelled_map import token_map
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.position_values import exact_by_length, longest_trained
from explorer.decoding.repeated import different, first_lost, repeated, verdict
from explorer.decoding.translator import InputError, Translation
from explorer.locale.messages import t
from explorer.locale.text import plain, quoted
from explorer.web import runtime
from explorer.web.figures import draw_map, draw_table
from explorer.web.page_parts import URL, controls, draw_caption, draw_plot
from explorer.web.session import choose_example
from model.analysis.word_order import Length, Shuffle, answer, shuffled_order, side_by_side
from model.config import EOS, DecodeConfig
from model.data import TASKS, get_task
from model.data.task import DataError
from model.folder import CheckpointError

ROUNDING = 1e-5  # weights that differ by less than this are the same up to rounding


def draw_shuffle_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw one encoder head for the sentence, for its shuffled words, and for these without positions."""
    config, tokens = model.model_config, translation.trace.src_tokens
    if len(tokens) < 3:
        st.info(t("A single token has no order. Type a longer sentence."))
        return
    with controls("shuffle"):
        left, middle, right = st.columns([2, 2, 3], gap="large", vertical_alignment="bottom")
    hint = t("Each number is another order of the words.")
    seed = left.slider(t("Shuffle number"), 1, 50, 1, key="pe_seed", bind=URL, help=hint)
    layer = middle.selectbox(t("Layer"), range(1, config.n_encoder_layers + 1), key="pe_layer", bind=URL) or 1
    head = right.selectbox(t("Head"), range(1, config.n_encoder_heads + 1), key="pe_head", bind=URL) or 1
    order = shuffled_order(len(tokens), int(seed))
    ids = (*translation.source.ids, EOS)
    # Rotations and distances are part of the attention itself; only positions that are added can be left out.
    has_positions = config.positions in ("sinusoidal", "learned")
    with_positions = _shuffle(translation.model, ids, order, positions=True)
    without = _shuffle(translation.model, ids, order, positions=False) if has_positions else with_positions
    words = " ".join(tokens[i] for i in order)
    st.markdown(t("The sentence is now: **{words}**", words=plain(words)))
    put_back = (
        t("Shuffled, words put back: no positions") if config.positions == "none" else t("Shuffled, words put back")
    )
    typed = t("The attention of the sentence as it was typed.")
    maps = [
        ("pe_before", with_positions.before, t("Original order"), typed),
        ("pe_after", with_positions.after, put_back, effect(with_positions)),
    ]
    if has_positions:
        maps.append(("pe_bare", without.after, t("Shuffled, positions left out"), effect(without)))
    for column, (key, weights, title, caption) in zip(st.columns(len(maps)), maps, strict=True):
        with column:
            single = token_map("encoder", weights[layer - 1, head - 1], tokens, tokens, title)
            draw_map(single, key=key, prefix=caption, numbers=False)
    if has_positions:
        _suggest(translation, with_positions, without, model)
    columns = _translations(with_positions, without, model)
    draw_table(columns, t("Translations of the sentence and of its shuffled words"), file="shuffled")
    draw_caption(
        t(
            "Attention by itself has no order: without positions, the weights between two words are the same "
            "wherever the words stand, and so is what the decoder reads. All maps are runs of the loaded model. It "
            "was trained as it is, so what it says without positions only shows how the mechanism works."
        )
    )


def _suggest(translation: Translation, with_positions: Shuffle, without: Shuffle, model: ModelDescription) -> None:
    """If the translation stays the same without positions, offer a sentence whose translation depends on the order."""
    task = model.data_config.task
    sentence = get_task(task).order_matters if task in TASKS else ""
    if not sentence or sentence == translation.source.text or with_positions.path != without.path:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(t("Unshuffled, this sentence is translated alike with and without positions."))
        label = t("Try “{sentence}”", sentence=sentence)
        st.button(label, key="pe_order_matters", on_click=choose_example, args=(sentence,))


def effect(shuffle: Shuffle) -> str:
    """A sentence on how much the attention changed when the words were shuffled."""
    if shuffle.difference < ROUNDING:
        return t(
            "Attention follows the words: over all heads no weight changed by more than rounding does ({change:.2g}). "
            "The model cannot know the order.",
            change=shuffle.difference,
        )
    return t(
        "Attention does more than follow the words: over all heads a weight changed by up to {change:.2f}.",
        change=shuffle.difference,
    )


def _translations(with_positions: Shuffle, without: Shuffle, model: ModelDescription) -> Columns:
    """Both translations of each run, as the columns of a table."""
    kind = model.model_config.positions
    if kind in ("sinusoidal", "learned"):
        runs = {t("with positions"): with_positions, t("positions left out in the encoder"): without}
    elif kind == "none":
        runs = {t("no positions"): with_positions}
    else:
        runs = {t("with positions ({kind})", kind=kind): with_positions}
    decode = model.target.decode
    return {
        t("encoder"): list(runs),
        t("original sentence gives"): [decode(run.path) for run in runs.values()],
        t("shuffled sentence gives"): [decode(run.shuffled_path) for run in runs.values()],
    }


def _shuffle(name: str, ids: tuple[int, ...], order: tuple[int, ...], *, positions: bool) -> Shuffle:
    """Both runs, side by side; that of the original sentence is computed once for all shuffles."""
    orders = (ids, tuple(ids[i] for i in order))
    straight, shuffled = (runtime.computed(name, answer, each, positions=positions) for each in orders)
    return side_by_side(straight, shuffled, order)


def draw_longer_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw exact match by length, if the task has long sentences, and the current sentence repeated."""
    trained, unknown = 0, t("it was trained on data of its own.")
    lengths: tuple[Length, ...] = ()
    try:
        with st.spinner(t("Translating sentences of every length …")):
            trained = runtime.computed_by(translation.model, longest_trained)
            lengths = runtime.computed_by(translation.model, exact_by_length)
    except DataError as error:
        unknown = str(error)
    longest = t(
        "In training the longest sentence had **{n} token** (without `<eos>`).",
        "In training the longest sentence had **{n:,} tokens** (without `<eos>`).",
        n=trained,
    )
    if not trained:
        why = t("The length of this model's training sentences is not known here: {reason}", reason=unknown)
        st.info(plain(why))
    st.markdown(f"{longest} {beyond_the_table(model)}" if trained else beyond_the_table(model))
    if any(length.tokens > trained for length in lengths):
        draw_plot(figures.length_plot(lengths, trained), "pe_lengths")
    if not translation.n_prompt:
        _draw_repeated(translation, model, trained)


def beyond_the_table(model: ModelDescription) -> str:
    """A sentence on how this kind of positions behaves beyond the trained length."""
    kind = model.model_config.positions
    if kind == "learned":
        return t(
            "This model learned a row for each of {n} positions: there is no row for a later one, and the rows beyond "
            "the trained length still have their random initial values.",
            n=model.max_source_tokens + 1,
        )
    if kind == "sinusoidal":
        return t("The sinusoidal table has no end, but rows beyond the trained length were never used in training.")
    if kind == "rope":
        return t("A rotation has no end, but distances beyond the trained length turn queries and keys to new angles.")
    if kind == "alibi":
        return t("ALiBi only takes more off the score of a more distant key: no position is new to this model.")
    if kind == "relative":
        return t(
            "The bias has no end: from {distance} positions of distance on, all keys get the same learned number.",
            distance=model.model_config.relative_distance,
        )
    return t("This model has no positions, so no position is new to it; the length still is.")


def _draw_repeated(translation: Translation, model: ModelDescription, trained: int) -> None:
    """Draw what the model makes of the current sentence several times over, and of as many different ones."""
    between = "" if model.data_config.tokenizer == "characters" else " "

    def translate(text: str) -> Translation:
        return runtime.translate(translation.model, text, DecodeConfig())

    try:
        rows = repeated(translation, translate, trained, between)
        lost, summary = first_lost(rows), runtime.models().get(translation.model)
        examples = [example.source for example in examples_of(summary)] if summary and lost else []
        others = different(translation, translate, examples, lost.sentences, between) if lost else None
    except (InputError, CheckpointError) as error:
        st.info(plain(str(error)))
        return
    st.markdown(plain(verdict(rows, trained, others)))
    inputs = [
        t("{n} × (beyond {trained})", n=row.sentences, trained=trained)
        if 0 < trained < row.tokens
        else t("{n} ×", n=row.sentences)
        for row in rows
    ]
    shown = list(rows)
    if others is not None:
        inputs.append(t("{n} different", n=others.sentences))
        shown.append(others)
    columns: Columns = {
        t("input"): inputs,
        t("tokens"): [row.tokens for row in shown],
        t("came through"): [t("{found} of {n}", found=row.found, n=row.sentences) for row in shown],
        t("answer"): [row.answer for row in shown],
    }
    widths = {name: st.column_config.Column(width=w) for name, w in zip(columns, (130, 65, 110, 680), strict=True)}
    draw_table(columns, t("The sentence several times over"), file="repeated", column_config=widths)
    if others is not None:
        draw_caption(t("The different sentences: {sentences}", sentences=" ".join(map(quoted, others.texts))))
    draw_caption(
        t(
            "Each answer is the loaded model's. A translation counts if it stands in the answer word for word, with a "
            "mark at its end if it has one; capitals do not matter."
        )
    )
