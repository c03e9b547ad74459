"""The surgery tools: switch heads off or flatten them, edit a row by hand, or patch in a part of another sentence."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.head_change import MOST_OTHER, MOST_ROW, WHOLE, WORDS, Change, Kind, thousandths
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import index_name
from explorer.decoding.translator import Translation
from explorer.locale.text import plain, plural
from explorer.probing.sample import Measured
from explorer.screens.probe.surgery_grid import choose_none, chosen_heads, draw_choice_of_heads
from explorer.web import changes_in_force, session
from model.config import ATTENTION_KINDS, AttentionKind, ModelConfig
from model.trace import VISIBLE

_OPS: dict[Kind, str] = {"zero": "switch off (zero)", "uniform": "make uniform", "mean": "replace by mean"}
_PROBLEM = "surgery_problem"


def draw_tools(described: ModelDescription, shown: Translation, measured: Measured | None) -> None:
    """Draw all tools; each one puts its changes in force."""
    config = described.model_config
    chosen = chosen_heads()
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    op = left.segmented_control(
        "What to do with the chosen heads",
        list(WHOLE),
        format_func=_OPS.__getitem__,
        default="zero",
        required=True,
        key="surgery_op",
        help="zero: the head adds nothing. uniform: it looks everywhere equally. mean: it always says what it says "
        "on average over the sample.",
    )
    right.button(
        f"Change {plural(len(chosen), 'head')}" if chosen else "Choose heads first",
        type="primary",
        key="surgery_do",
        disabled=not chosen,
        on_click=_put_heads,
        args=([Change(kind, layer + 1, head + 1, op) for kind, layer, head in chosen],),
    )
    draw_choice_of_heads(config, measured)
    problem = st.session_state.pop(_PROBLEM, None)
    if problem:
        st.warning(plain(problem))
    row, patch = st.columns(2)
    with row:
        fold = st.expander("Edit a row by hand", key="surgery_row_fold", on_change="rerun")
        if fold.open:
            with fold:
                _draw_row(config, shown, _kind("surgery_kind"))
    with patch:
        fold = st.expander("Put in a part of another sentence (patching)", key="surgery_patch_fold", on_change="rerun")
        if fold.open:
            with fold:
                _draw_patch(config, _kind("surgery_patch_kind"))


def _put_heads(new: list[Change]) -> None:
    """Put the changes in force, with no head left chosen."""
    changes_in_force.put(new)
    choose_none()


def _kind(key: str) -> AttentionKind:
    selection = session.selection()
    kind: AttentionKind = st.segmented_control(
        "Kind of attention", list(ATTENTION_KINDS), default=selection.kind, required=True, key=key
    )
    return kind


def _one_head(config: ModelConfig, kind: AttentionKind, key: str) -> tuple[int, int]:
    """Draw the head selector; return a head of this kind, counted from 0, initially the current one."""
    selection = session.selection()
    heads = [(layer, head) for layer in range(config.n_layers(kind)) for head in range(config.n_heads(kind))]
    at = (selection.layer - 1, selection.head - 1)
    chosen: tuple[int, int] = st.selectbox(
        "Head",
        heads,
        index=heads.index(at) if at in heads else 0,
        format_func=lambda head: index_name(*head),
        key=f"{key}_{kind}",
    )
    return chosen


def _draw_row(config: ModelConfig, shown: Translation, kind: AttentionKind) -> None:
    trace = shown.trace
    layer, head = _one_head(config, kind, "surgery_row_head")
    names = trace.src_tokens if kind == "encoder" else trace.read_tokens
    columns = trace.read_tokens if kind == "decoder" else trace.src_tokens
    row: int = st.selectbox(
        "Row (query)",
        range(len(names)),
        format_func=lambda i: (
            f"{i + 1} {names[i]}" + (f" (predicts {trace.predicted_tokens[i]})" if kind != "encoder" else "")
        ),
        key=f"surgery_row_{kind}_{shown.seq}",
    )
    seen = [j for j in range(len(columns)) if trace.mask(kind)[row, j] == VISIBLE][:MOST_ROW]
    weights = trace.weights(kind)[layer, head, row]
    key = f"surgery_weights_{kind}_{layer}_{head}_{row}_{shown.seq}"
    edited = st.data_editor(
        [{"key": f"{j + 1} {columns[j]}", "weight": round(float(weights[j]), 3)} for j in seen],
        hide_index=True,
        disabled=["key"],
        key=key,
        column_config={"weight": st.column_config.NumberColumn(min_value=0.0, step=0.001, format="%.3f")},
    )
    wanted: int | None = st.selectbox(
        "or look at one key only",
        seen,
        index=None,
        format_func=lambda j: f"{j + 1} {columns[j]}",
        key=f"{key}_only",
        placeholder="as in the table",
    )
    values = [entry["weight"] for entry in edited] if wanted is None else [float(j == wanted) for j in seen]
    st.caption("Weights are made to sum to 1; keys that the row may not see stay at 0.")
    st.button("Use this row", key="surgery_row_do", on_click=_put_row, args=(kind, layer, head, row, values))


def _put_row(kind: AttentionKind, layer: int, head: int, row: int, values: list[float | None]) -> None:
    try:
        weights = thousandths([float("nan") if value is None else value for value in values])
    except ValueError as problem:
        st.session_state[_PROBLEM] = str(problem)
        return
    changes_in_force.put([Change(kind, layer + 1, head + 1, "row", row=row + 1, weights=weights)])


def _draw_patch(config: ModelConfig, kind: AttentionKind) -> None:
    layer, head = _one_head(config, kind, "surgery_patch_head")
    other = st.text_input("The other sentence", key="surgery_other", max_chars=MOST_OTHER)
    op: Kind = st.segmented_control(
        "Take its",
        ["pattern", "output"],
        default="pattern",
        required=True,
        key="surgery_patch_op",
        help="pattern: where the head looks; it needs equally many tokens. output: what the head says.",
    )
    st.caption(plain(f"The head will be {WORDS[op]}, as the model reads that sentence unchanged."))
    st.button("Put it in", key="surgery_patch_do", on_click=_put_patch, args=(kind, layer, head, op, other))


def _put_patch(kind: AttentionKind, layer: int, head: int, op: Kind, other: str) -> None:
    if not other.strip():
        st.session_state[_PROBLEM] = "Type the sentence that the pattern or output is to be taken from."
        return
    changes_in_force.put([Change(kind, layer + 1, head + 1, op, other=other.strip())])
