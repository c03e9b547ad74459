"""The views of attention (all heads, one head, lines, sentence), linked and switched in the browser.

The page mounts them with a :class:`HeadsView` and reads back a :class:`HeadsResult`. Code and data are sent separately:
one component holds the views and is sent once per browser tab, and each kind of attention that has been opened is sent
by a carrier component (see heads_payload.py). Opening another kind or head therefore costs only its numbers.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from explorer.browser.heads_payload import MOST_EXACT, Head, encode_kind, encode_numbers
from explorer.browser.heads_state import (
    DEFAULT_VIEW,
    HeadsResult,
    HeadsView,
    asked_of,
    cell_of,
    form_of,
    header,
    remember,
    report_of,
    result_of,
)
from explorer.browser.registration import component
from explorer.byte_cache import cached
from explorer.decoding.attention_maps import AttentionMaps, Form, attention_maps, has_subwords
from model.config import AttentionKind
from model.trace import AttentionTrace, kinds_of

__all__ = ["HeadsResult", "HeadsView", "cell_of", "form_of", "header", "heads_view"]

_views = component("heads", "heads")
# Shows nothing, so it needs no styles of its own; without them the browser mounts it in one go instead of two.
_carrier = component("carrier", "carrier")


def heads_view(view: HeadsView, *, key: str) -> HeadsResult:
    """Draw the views and return the position in them, which the browser reports 250 ms after the last move.

    A start that differs from what was returned last time moves the views there; the same start changes nothing.

    Raises:
        ValueError: the trace has no attention, or a weight is not a number.
    """
    kinds = kinds_of(view.trace)
    if not kinds:
        raise ValueError("There is no attention in this trace.")
    memory = st.session_state.setdefault(f"_{key}_memory", {"turn": 0})
    state = st.session_state.get(key)
    remember(memory, view, state)
    at = report_of(state, view, memory)
    memory["opened"] |= {at["kind"], *at["wanted"]} & set(kinds)
    current = header(view, memory["start"], turn=memory["turn"], name=key)
    if state is None:  # the browser makes the views anew, on the first run and after a switch of pages
        memory.update(first=current, led=False)
    memory["led"] |= current != memory["first"]
    with st.container(gap=None):
        result = _views(
            key=key,
            # Never anything else: all of the code would be sent along again. What comes later is carried.
            data={"name": key, "header": memory["first"]},
            on_at_change=_nothing,
            on_open_change=_nothing,
            width="stretch",
            height="content",
        )
        if memory["led"]:
            _carrier(key=f"{key}-start", data=current, height="content")
        for kind in kinds:
            if kind in memory["opened"]:
                _carry(view, kind, at, key)
    position = result_of(view, at, explain=result.get("open") == "cell")
    memory["returned"] = asked_of(position)
    return position


def _carry(view: HeadsView, kind: AttentionKind, at: dict[str, Any], key: str) -> None:
    """Bring one kind to the browser, and where its block is too coarse for numbers, those of the heads in view."""
    form: Form = form_of(at["view"], kind) if has_subwords(view.trace) else "tokens"
    _carrier(key=f"{key}-{kind}", data=_kind_block(view.seq, kind, form, key, view.trace), height="content")
    maps = _maps_of(view.seq, kind, form, view.trace)
    if 4 * maps.weights.size <= MOST_EXACT or DEFAULT_VIEW in at["view"].split("."):
        return  # all heads at once show colours only
    layers, heads = maps.weights.shape[:2]
    layer, head = at["picks"].get(kind, (layers, 0))
    wanted: set[Head] = {(layer, head)}
    if kind == at["kind"]:
        wanted |= {(layer, other) for other in at["heads"]}
    given = sorted(one for one in wanted if 1 <= one[0] <= layers and 0 <= one[1] <= heads)
    block = encode_numbers(maps, given, name=f"{key}/{kind}/numbers", seq=view.seq)
    _carrier(key=f"{key}-{kind}-numbers", data=block, height="content")


# The key of both: seq names the decoding. Arguments with an underscore are not part of it.
@cached
def _kind_block(seq: str, kind: AttentionKind, form: Form, key: str, _trace: AttentionTrace) -> bytes:
    return encode_kind(_maps_of(seq, kind, form, _trace), name=f"{key}/{kind}", seq=seq)


def _maps_of(seq: str, kind: AttentionKind, form: Form, trace: AttentionTrace) -> AttentionMaps:
    """The maps of a kind; those of tokens are the trace's own arrays, which another cache holds already."""
    return attention_maps(trace, kind, form) if form == "tokens" else _maps(seq, kind, form, trace)


@cached
def _maps(seq: str, kind: AttentionKind, form: Form, _trace: AttentionTrace) -> AttentionMaps:
    del seq
    return attention_maps(_trace, kind, form)


def _nothing() -> None:
    """Registers a value with Streamlit, which then always exists in the result."""
