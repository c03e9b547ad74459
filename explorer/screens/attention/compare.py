"""The panel of comparison: two sentences, two steps, two models, or an edited and an unedited run."""

from __future__ import annotations

from typing import get_args

import streamlit as st

from explorer.decoding.comparison import Comparison, NothingToCompare, compare, compare_rows, counterpart
from explorer.decoding.coordinates import Place
from explorer.decoding.names import KIND_TITLES, numbered
from explorer.decoding.selection import Selection
from explorer.decoding.translator import InputError, Translation
from explorer.locale.text import plain, quoted
from explorer.web import runtime, session
from explorer.web.changes_in_force import NoMeans, edit_shown
from explorer.web.maps import draw_map
from explorer.web.panel_choices import Choices
from model.config import AttentionKind, DecodeConfig
from model.edits import EditError, HeadEdit, HeadEdits, Operation
from model.folder import CheckpointError

WAYS = {"step": "another step", "text": "another sentence", "model": "another model", "edit": "an edited run"}
OPERATIONS: dict[Operation, str] = {"zero": "switched off (zero)", "uniform": "looking everywhere equally (uniform)"}


def draw(selection: Selection, shown: Translation, at: Place) -> None:
    """The head in view, and its counterpart elsewhere."""
    st.markdown("##### What changes?")
    choices = Choices("compare")
    choices.start("compare_way", "way", list(WAYS), "step")
    way = st.segmented_control(
        "Compare with", list(WAYS), required=True, format_func=WAYS.__getitem__, key="compare_way"
    )
    choose = {"text": _sentence, "model": _model, "edit": _edited}
    try:
        if way == "step":
            comparison = _steps(choices, shown, at)
        else:
            other, name = choose[way or "text"](choices, selection, shown, at)
            comparison = compare(
                counterpart(shown.trace, at, model=shown.model, title="A: what is on screen"),
                counterpart(other.trace, at, model=other.model, title=f"B: {name}"),
            )
    except (NothingToCompare, InputError, EditError, NoMeans, CheckpointError) as missing:
        st.info(plain(str(missing)))
        return
    _draw(comparison, shown.model)


def _draw(comparison: Comparison, model: str) -> None:
    for column, one, key in zip(st.columns(2), (comparison.one, comparison.other), ("one", "other"), strict=True):
        with column:
            draw_map(one, key=f"compare_{key}", away=model)
    if comparison.difference is not None:
        draw_map(comparison.difference, key="compare_difference", prefix=comparison.caption, away=model, wide=True)
    else:
        st.caption(plain(comparison.caption))


def _steps(choices: Choices, shown: Translation, at: Place) -> Comparison:
    """Two rows of the map in view: two steps of decoding, or two positions of the source."""
    rows = numbered(shown.trace.src_tokens if at.kind == "encoder" else shown.trace.read_tokens)
    if len(rows) < 2:
        choices.keep()
        raise NothingToCompare("There is only one row here.")
    others = [row for row in range(1, len(rows) + 1) if row != at.row]
    choices.start("compare_row", "row", others, others[min(at.row - 1, len(rows) - 2)])
    other = st.selectbox("The other row", others, format_func=lambda row: rows[row - 1], key="compare_row")
    choices.keep()
    return compare_rows(shown.trace, at, int(other or 1))


def _sentence(choices: Choices, selection: Selection, shown: Translation, at: Place) -> tuple[Translation, str]:
    del shown, at
    choices.start_text("compare_text", given=choices.asked("way") == "text")
    text = st.text_input("The other sentence", key="compare_text", placeholder="Type another sentence")
    choices.keep(text)
    if not text:
        raise NothingToCompare("Type another sentence. If it has as many tokens, the maps can be subtracted.")
    return runtime.translate(selection.model, text, session.decode_config()), text


def _model(choices: Choices, selection: Selection, shown: Translation, at: Place) -> tuple[Translation, str]:
    del at
    names = [name for name in sorted(runtime.models()) if name != shown.model]
    if not names:
        choices.keep()
        raise NothingToCompare("This is the only model here. Train another one, or import one on the Runs page.")
    choices.start_name("compare_model", names)
    name = st.selectbox("The other model", names, key="compare_model")
    choices.keep(str(name))
    return runtime.translate(str(name), selection.text, session.decode_config()), str(name)


def _edited(choices: Choices, selection: Selection, shown: Translation, at: Place) -> tuple[Translation, str]:
    """The same run with one head edited, along the same path unless the visitor lets the model choose its own."""
    trace = shown.trace
    kinds: list[AttentionKind] = [kind for kind in get_args(AttentionKind) if trace.weights(kind).size]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choices.start("compare_kind", "kind", kinds, at.kind)
        kind = st.selectbox("Attention", kinds, format_func=KIND_TITLES.__getitem__, key="compare_kind")
        layers, heads = trace.weights(kind or at.kind).shape[:2]
        choices.start("compare_layer", "layer", range(1, layers + 1), 1)
        layer = st.selectbox("Layer", range(1, layers + 1), key="compare_layer")
        choices.start("compare_head", "head", range(1, heads + 1), 1)
        head = st.selectbox("Head", range(1, heads + 1), key="compare_head")
        choices.start("compare_operation", "is", list(OPERATIONS), "zero")
        operation = st.selectbox(
            "is", list(OPERATIONS), format_func=OPERATIONS.__getitem__, key="compare_operation", width=300
        )
        choices.start("compare_along", "along", (True, False), True)
        along = st.toggle("along the same target", key="compare_along")
    choices.keep()
    edit = (kind or at.kind, int(layer or 1), int(head or 1), operation or "zero")
    path = shown.path if along else ()
    edited = _edit(selection, shown, path, edit)
    free = edited if not along else _edit(selection, shown, (), edit)
    answer = "the same" if free.path == shown.path else quoted(free.text)
    st.caption(plain(f"Edited: {'; '.join(edited.trace.edits)}. On its own, the edited model says {answer}."))
    return edited, "edited"


def _edit(
    selection: Selection,
    shown: Translation,
    path: tuple[int, ...],
    edit: tuple[AttentionKind, int, int, Operation],
) -> Translation:
    kind, layer, head, operation = edit
    change = HeadEdit(kind, layer - 1, head - 1, operation)
    others = edit_shown(selection, shown) or HeadEdits()  # what is edited already stays edited, but for this head
    elsewhere = tuple(
        edit for edit in others.edits if (edit.kind, edit.layer, edit.head) != (kind, layer - 1, head - 1)
    )
    edits = HeadEdits((*elsewhere, change))
    # A path that was cut off stays cut off there: with its own length as the limit, nothing is searched beyond it.
    config = DecodeConfig(max_length=len(path))
    return runtime.translate(selection.model, selection.text, config, path, edits)
