"""Panels that compare the head in view with a step, all heads, or another run, or that force a typed target."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from explorer.browser.labelled_map import in_row
from explorer.charts.bars import probability_figure
from explorer.decoding.aggregates import AGGREGATES, aggregate, meaning
from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.comparison import (
    Comparison,
    NothingToCompare,
    compare,
    compare_rows,
    counterpart,
    pair_in_words,
    with_edit,
)
from explorer.decoding.coordinates import NoSingleHead, Place
from explorer.decoding.head_change import edits_in_words
from explorer.decoding.labelled_map import LabelledMap, head_map
from explorer.decoding.names import KIND_TITLES, numbered
from explorer.decoding.pair_marks import own_words
from explorer.decoding.selection import Selection
from explorer.decoding.target_probabilities import probability_table
from explorer.decoding.translator import InputError, Translation
from explorer.locale.messages import t, translated
from explorer.locale.text import plain, quoted
from explorer.web import runtime, session
from explorer.web.downloads import download_button
from explorer.web.figures import draw_figure, draw_map, draw_missing, draw_numbers, draw_table, in_direction
from explorer.web.panel_choices import Choices, arrive_at_panel
from explorer.web.runtime import NotTheModels
from model.config import DecodeConfig
from model.edits import EditError, HeadEdits, Operation
from model.folder import CheckpointError
from model.trace import kinds_of

# The message says what is missing.
_REFUSED = (NothingToCompare, NoSingleHead, NotTheModels, InputError, EditError, CheckpointError)


def draw_comparison(selection: Selection, translation: Translation, at: Place) -> None:
    """Draw the head in view beside another step, all heads together, another sentence or model, or an edited run."""
    choices = Choices("compare")
    counterparts = {
        "step": t("another row of it"),
        "heads": t("all heads together"),
        "text": t("another sentence"),
        "model": t("another model"),
        "edit": t("a changed head"),
    }
    choices.start("compare_way", "way", list(counterparts), "step")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"##### {t('What is different?')}", width="content")
        chosen = st.segmented_control(
            t("Compare the map in view with"),
            list(counterparts),
            required=True,
            format_func=counterparts.__getitem__,
            key="compare_way",
            label_visibility="collapsed",
            on_change=arrive_at_panel,
        )
    others = {"text": _sentence, "model": _model, "edit": _edited}
    other, words = None, ""
    try:
        if chosen == "step":
            both, minus = _steps(choices, translation, at)
            draw_map(both, key="compare_one", away=translation.model, minus=minus)
            return
        if chosen == "heads":
            comparison = _heads_together(choices, translation, at)
        else:
            other, name = others[chosen or "text"](choices, selection, translation, at)
            titles = t("A: what is on screen"), t("B: {name}", name=name)
            maps = (
                counterpart(each.trace, at, model=each.model, title=title, n_prompt=each.n_prompt)
                for each, title in zip((translation, other), titles, strict=True)
            )
            comparison = compare(*maps)
            words = pair_in_words(comparison)
    except _REFUSED as missing:
        st.info(plain(str(missing)))
        return
    if other:
        _write_pair(translation, other)
    first, second, difference = comparison.first, comparison.second, comparison.difference
    if words:
        st.markdown(plain(words))
    if about := f"{comparison.legend} {comparison.caption}".strip():
        st.caption(plain(about))
    if other:
        whole = first.title, second.title
        heads = at.title if all(title.endswith(at.title) for title in whole) else ". ".join(whole)
        row = {"A": first, "B": second} | ({"B − A": difference} if difference else {})
        grid = list(row.values())
        st.markdown(f"##### {plain(heads)}")
        with st.container(key="compare_maps"):
            columns = st.columns([labels[-1] for labels in in_row(grid)], gap="xsmall")
        for column, (name, each), key in zip(columns, row.items(), ("one", "other", "difference"), strict=False):
            with column:
                shown = f"compare_{key}"
                draw_map(each, key=shown, title=name, away=translation.model, grid=grid, group="compare")
        draw_numbers(row, key="compare", away=translation.model)
        _draw_picture(comparison, f"{words} {about} {heads}.", translation, other)
        return
    for column, each, key in zip(st.columns(2), (first, second), ("one", "other"), strict=True):
        with column:
            draw_map(each, key=f"compare_{key}", away=translation.model)


def _write_pair(a: Translation, b: Translation) -> None:
    """Write both sentences with their translations; words that only one has are bold."""
    sources, targets = own_words(a.source.text, b.source.text), own_words(a.text, b.text)
    (source, other_source), (target, other_target) = (tuple(map(_bold, both)) for both in (sources, targets))
    first = t("A: {source} → {target}", source=source, target=target)
    st.markdown(f"{first}  \n{t('B: {source} → {target}', source=other_source, target=other_target)}")


def _bold(words: Sequence[tuple[str, bool]]) -> str:
    """The words with those in bold that are marked, without the space after them, where Markdown allows none."""
    texts = [(word.rstrip(), word[len(word.rstrip()) :], is_own) for word, is_own in words]
    return "".join((_marked(text) if is_own else plain(text)) + space for text, space, is_own in texts)


def _marked(word: str) -> str:
    """The word in bold; punctuation on grey ground as well, since bold is hardly to be seen in a full stop."""
    bold = f"**{plain(word)}**"
    return bold if any(map(str.isalnum, word)) else f":gray-background[{bold}]"


def _draw_picture(comparison: Comparison, words: str, a: Translation, b: Translation) -> None:
    """Draw a button for both maps as one picture, with the words below them."""
    from explorer.files.map_files import KINDS, picture_file, stem  # imports a drawing library

    pair = in_direction(comparison.first), in_direction(comparison.second)
    facts = t("Model {model}. A: {text} B: {other}", model=a.model, text=a.source.text, other=b.source.text)
    make = partial(picture_file, "png", t("What is different?"), pair, f"{words} {facts}")
    name = f"{stem(a.model)}-compared.png"
    download_button(t("Both as one picture"), make, name, KINDS["png"].mime, key="compare_pair")
    draw_missing(*pair)


def _steps(choices: Choices, translation: Translation, at: Place) -> tuple[LabelledMap, LabelledMap]:
    """Compare two rows of the map in view: two steps of decoding, or two positions of the source."""
    rows = numbered(translation.trace.tokens(at.kind)[0])
    if len(rows) < 2:
        choices.keep()
        raise NothingToCompare(t("There is only one row here."))
    others = [row for row in range(1, len(rows) + 1) if row != at.row]
    choices.start("compare_row", "row", others, others[min(at.row - 1, len(rows) - 2)])
    other = st.selectbox(
        t("The other row"), others, format_func=lambda row: rows[row - 1], key="compare_row", width=300
    )
    choices.keep()
    return compare_rows(translation.trace, at, int(other or 1), n_prompt=translation.n_prompt)


def _heads_together(choices: Choices, translation: Translation, at: Place) -> Comparison:
    """Put an aggregate of all heads beside the head in view; their numbers differ in kind, so none are subtracted."""
    choices.start("compare_which", "which", list(AGGREGATES), "mean-heads")
    name = st.selectbox(
        t("Aggregate"), list(AGGREGATES), format_func=lambda key: translated(AGGREGATES[key][0]), key="compare_which"
    )
    choices.keep()
    maps = attention_maps(translation.trace, at.kind, n_prompt=translation.n_prompt)
    numbers = {  # these need the model itself
        "head norms": lambda: runtime.norms(translation, at.kind)[0],
        "layer norms": lambda: runtime.norms(translation, at.kind)[1],
    }
    pooled = aggregate(name, maps, at, lambda source: numbers[source]())
    return Comparison(head_map(maps, at.layer, at.head), pooled, None, meaning(name))


def _sentence(choices: Choices, selection: Selection, translation: Translation, at: Place) -> tuple[Translation, str]:
    choices.start_text("compare_text", given=choices.asked("way") == "text")
    st.session_state["compare_text"] = st.session_state["compare_text"] or runtime.other_to_compare(translation, at)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown("B:", width="content")
        text = st.text_input(t("The other sentence"), key="compare_text", label_visibility="collapsed")
    choices.keep("" if text == selection.text else text)
    if text in ("", selection.text):
        raise NothingToCompare(
            t("Change one word of the sentence, or type another one. With as many tokens, the maps can be subtracted.")
        )
    return runtime.translate(selection.model, text, session.decode_config()), t("the other sentence")


def _model(choices: Choices, selection: Selection, translation: Translation, at: Place) -> tuple[Translation, str]:
    del at
    names = [name for name in sorted(runtime.models()) if name != translation.model]
    if not names:
        choices.keep()
        raise NothingToCompare(t("This is the only model here. Train another one, or import one on the Runs page."))
    choices.start_name("compare_model", names)
    name = str(st.selectbox(t("The other model"), names, key="compare_model"))
    choices.keep(name)
    return runtime.translate(name, selection.text, session.decode_config()), name


def _edited(choices: Choices, selection: Selection, translation: Translation, at: Place) -> tuple[Translation, str]:
    """Draw the choice of an edit; return the run under it, along the same path unless the model may choose its own."""
    operations: dict[Operation, str] = {
        "zero": t("switched off (zero)"),
        "uniform": t("looking everywhere equally (uniform)"),
    }
    kinds = kinds_of(translation.trace)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choices.start("compare_kind", "kind", kinds, at.kind)
        kind = (
            st.selectbox(
                t("Attention"), kinds, format_func=lambda each: translated(KIND_TITLES[each]), key="compare_kind"
            )
            or at.kind
        )
        layers, heads = (range(1, n + 1) for n in translation.trace.weights(kind).shape[:2])
        choices.start("compare_layer", "layer", layers, 1)
        layer = st.selectbox(t("Layer"), layers, key="compare_layer")
        choices.start("compare_head", "head", heads, 1)
        head = st.selectbox(t("Head"), heads, key="compare_head")
        choices.start("compare_operation", "is", list(operations), "zero")
        operation = st.selectbox(
            t("is"), list(operations), format_func=operations.__getitem__, key="compare_operation", width=300
        )
        choices.start("compare_along", "along", (True, False), True)
        along = st.toggle(t("along the same target"), key="compare_along")
    choices.keep()
    # Earlier edits stay in force, except for this head.
    edits = with_edit(translation.edit, Place(kind, int(layer or 1), int(head or 1)), operation or "zero")
    free = _run(selection, (), edits)
    edited = _run(selection, translation.path, edits) if along else free
    applied = edits_in_words(edited.trace.edits)
    if free.path == translation.path:
        caption = t("Edited: {edits}. On its own, the edited model says the same.", edits=applied)
    else:
        caption = t("Edited: {edits}. On its own, the edited model says {text}.", edits=applied, text=quoted(free.text))
    st.caption(plain(caption))
    return edited, t("edited")


def _run(selection: Selection, path: tuple[int, ...], edits: HeadEdits) -> Translation:
    # With the path's length as the limit, a path that was cut off is not continued.
    return runtime.translate(selection.model, selection.text, DecodeConfig(max_length=len(path)), path, edits)


def draw_forced(selection: Selection, translation: Translation, at: Place) -> None:
    """Draw a field for a target, and for a typed one its probabilities and a button that shows its attention."""
    del at
    st.markdown(f"##### {t('What if the translation were this?')}")
    st.caption(
        plain(
            t(
                "Type a translation of your own. The model's target tokenizer splits it, and the model reads it token "
                "by token, as in training (teacher forcing). The bars show the probability that it gave to each token."
            )
        )
    )
    choices = Choices("forcing")
    choices.start_text("forcing_text")
    hint = translation.text or t("Type a target sentence and press Enter")
    target = st.text_input(t("Target sentence"), key="forcing_text", placeholder=hint)
    choices.keep(target)
    if not target:
        return
    try:
        forced = runtime.force(selection.model, selection.text, target, translation.edit)
    except _REFUSED as missing:
        st.info(plain(str(missing)))
        return
    draw_figure(probability_figure(forced.trace))
    if forced.notes:
        st.caption(plain(" ".join(map(str, forced.notes))))
    draw_table(probability_table(forced), t("Probability of each token of the typed target"), file="probabilities")
    same = forced.path == translation.path
    label = t("Its attention is on screen") if same else t("Show its attention")
    if st.button(label, key="forcing_show", disabled=same):
        session.move(path=forced.path, step=len(forced.path), cell=None)
        st.rerun()
