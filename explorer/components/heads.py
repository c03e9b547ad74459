"""The views of attention: all heads, one head, lines and the sentence, linked, and switched without the server.

The page mounts them with a :class:`HeadsView` and reads back a :class:`HeadsResult`. What is drawn travels apart from
what draws it: one small component holds the views, and each kind of attention that has been opened is brought by a
carrier of its own (see blocks.py), so that another kind or another head costs its numbers and nothing else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from explorer.components.blocks import MOST_EXACT, Head, encode_kind, encode_numbers
from explorer.components.palette import palettes
from explorer.components.payload import visible
from explorer.components.script import slim
from explorer.place import Place
from explorer.words import AttentionMaps, Form, attention_maps, has_subwords
from model.config import AttentionKind
from model.trace import AttentionTrace, kinds_of

_HERE = Path(__file__).parent
_SCRIPTS = (
    "trace.js",
    "colours.js",
    "tokens.js",
    "heatmap.js",
    "blocks.js",
    "scale.js",
    "grid.js",
    "map.js",
    "lines.js",
    "strip.js",
    "readout.js",
    "player.js",
    "heads.js",
)
DEFAULT_VIEW = "heads"


@dataclass(frozen=True)
class HeadsView:
    """Attention and the place where looking at it starts.

    Args:
        trace: the recorded attention; kinds without weights are left out.
        seq: names this decoding, for instance a hash of model, sentence and path.
        model: the model's name, shown in titles.
        kind, layer, head, step: where to start, counted from 1; head 0 is the mean over the heads. What is 0 or out of
            range is moved to what exists: the last layer, the last step.
        cell: the chosen (query, key) from 1; key 0 where only a row is chosen.
        view: the view and its options as in the address, "lines.words.log"; empty = all heads.
        trained: False puts an "untrained" badge on the view.
        explains: whether a cell can be taken apart elsewhere on the page; it then has a button that asks for it.
    """

    trace: AttentionTrace
    seq: str
    model: str
    kind: str = "cross"
    layer: int = 0
    head: int = 0
    step: int = 0
    cell: tuple[int, int] | None = None
    view: str = ""
    trained: bool = True
    explains: bool = False

    def start(self) -> dict[str, Any]:
        """Where to start, as the browser is told: step, source row and column from 0, layer and head from 1."""
        kinds = kinds_of(self.trace)
        kind: AttentionKind = next((known for known in kinds if known == self.kind), kinds[-1])
        layers, heads, queries, keys = self.trace.weights(kind).shape
        row, column = self.cell or (0, 0)
        encoder = kind == "encoder"
        steps = len(self.trace.read_tokens)
        step = steps if not self.step or self.step > steps else self.step
        if row and not encoder:
            step = min(row, queries)
        return {
            "kind": kind,
            "layer": self.layer if 1 <= self.layer <= layers else layers,
            "head": min(max(self.head, 0), heads),
            "step": max(step, 1) - 1,
            "source": min(max(row, 1), queries) - 1 if encoder else 0,
            "col": min(column, keys) - 1 if column > 0 else None,
            "view": self.view or DEFAULT_VIEW,
        }


@dataclass(frozen=True)
class HeadsResult:
    """Where the person is looking, the view with its options ("" = all heads), and whether a cell shall be explained.

    `explain` is true in the one run in which the person asked for it.
    """

    place: Place
    view: str
    explain: bool = False


def script() -> str:
    """The component's JavaScript module: the palettes and the files in one text, without comments and spare spaces."""
    return f"const PALETTES={json.dumps(palettes(), separators=(',', ':'))};\n{slim(_HERE, _SCRIPTS)}\n"


def markup() -> str:
    """The component's static HTML."""
    return (_HERE / "heads.html").read_text(encoding="utf-8")


def style() -> str:
    """The component's style sheet."""
    return (_HERE / "heads.css").read_text(encoding="utf-8")


_views = st.components.v2.component("headlight_heads", html=markup(), css=style(), js=script())
_carrier = st.components.v2.component("headlight_carrier", js=slim(_HERE, ("carrier.js",)) + "\n")


def heads_view(view: HeadsView, *, key: str) -> HeadsResult:
    """Draw the views and return where the person is; the browser reports 250 ms after the last move.

    A start that differs from what was returned last time moves the browser there; the same start disturbs nobody.

    Raises:
        ValueError: the trace has no attention, or a weight is not a number.
    """
    kinds = kinds_of(view.trace)
    if not kinds:
        raise ValueError("There is no attention in this trace.")
    memory = st.session_state.setdefault(f"_{key}_memory", {"turn": 0})
    state = st.session_state.get(key)
    _remember(memory, view, state)
    at = _report(state, view, memory)
    memory["opened"] |= {at["kind"], *at["wanted"]} & set(kinds)
    with st.container(gap=None):
        result = _views(
            key=key,
            data=header(view, memory["start"], turn=memory["turn"], name=key),
            on_at_change=_nothing,
            on_open_change=_nothing,
            width="stretch",
            height="content",
        )
        for kind in kinds:
            if kind in memory["opened"]:
                _carry(view, kind, at, key)
    found = _result(view, at, explain=result.get("open") == "cell")
    memory["returned"] = _asked_of(found)
    return found


def header(view: HeadsView, start: dict[str, Any], *, turn: int, name: str) -> dict[str, Any]:
    """What the views need before any weights: tokens, sizes, and where to start in which `turn` of the server's."""
    trace = view.trace
    return {
        "seq": view.seq,
        "turn": turn,
        "name": name,
        "model": visible(view.model),
        "trained": view.trained,
        "explains": view.explains,
        "edits": [visible(edit) for edit in trace.edits],
        "subwords": has_subwords(trace),
        "order": list(kinds_of(trace)),
        "kinds": {
            kind: dict(zip(("layers", "heads"), trace.weights(kind).shape[:2], strict=True)) for kind in kinds_of(trace)
        },
        "source": {"tokens": [visible(token) for token in trace.src_tokens], "words": list(map(int, trace.src_words))},
        "target": {
            "tokens": [visible(token) for token in trace.read_tokens],
            "words": list(map(int, trace.tgt_words)),
            "predicted": [visible(token) for token in trace.predicted_tokens],
        },
        "start": start,
    }


def form_of(view: str, kind: AttentionKind) -> Form:
    """Tokens or words, as the view's options say; only decoder rows differ by what they predict."""
    options = view.split(".")
    if "words" not in options:
        return "tokens"
    return "words-next" if "next" in options and kind != "encoder" else "words"


def _remember(memory: dict[str, Any], view: HeadsView, state: Any) -> None:
    """Take the view's start over if it is news: another decoding, or a place where nobody has been led before.

    Most callers hand in what they got back last time; some always the same start. Neither is a wish to go there, except
    after a switch of pages, which makes the browser forget where it was.
    """
    asked = _asked(view)
    if memory.get("seq") == view.seq:
        follows = asked == memory["returned"]
        memory["following"] |= follows and asked != memory["asked"]
        forgotten = follows and asked != memory["begun"] and not _is_of(state, view, memory)
        if not forgotten and (follows or (asked == memory["asked"] and not memory["following"])):
            return
        opened = memory["opened"]
    else:
        opened = set()
        memory["following"] = False
    start = view.start()
    begun = _asked_of(_result(view, start))
    memory.update(seq=view.seq, asked=asked, start=start, begun=begun, turn=memory["turn"] + 1, opened=opened)


def _carry(view: HeadsView, kind: AttentionKind, at: dict[str, Any], key: str) -> None:
    """Bring one kind to the browser, and where its block is too coarse for numbers, those of the heads in view."""
    form: Form = form_of(at["view"], kind) if has_subwords(view.trace) else "tokens"
    _carrier(key=f"{key}-{kind}", data=_kind_block(view.seq, kind, form, key, view.trace), height="content")
    maps = _maps(view.seq, kind, form, view.trace)
    if 4 * maps.weights.size <= MOST_EXACT:
        return
    layers, heads = maps.weights.shape[:2]
    layer, head = at["picks"].get(kind, (layers, 0))
    wanted: set[Head] = {(layer, head)}
    if kind == at["kind"]:
        wanted |= {(layer, other) for other in at["heads"]}
    given = sorted(one for one in wanted if 1 <= one[0] <= layers and 0 <= one[1] <= heads)
    block = encode_numbers(maps, given, name=f"{key}/{kind}/numbers", seq=view.seq)
    _carrier(key=f"{key}-{kind}-numbers", data=block, height="content")


# The key of both: seq names the decoding. Arguments with an underscore are not part of it.
@st.cache_resource(max_entries=24, show_spinner=False)
def _kind_block(seq: str, kind: AttentionKind, form: Form, key: str, _trace: AttentionTrace) -> bytes:
    return encode_kind(_maps(seq, kind, form, _trace), name=f"{key}/{kind}", seq=seq)


@st.cache_resource(max_entries=24, show_spinner=False)
def _maps(seq: str, kind: AttentionKind, form: Form, _trace: AttentionTrace) -> AttentionMaps:
    del seq
    return attention_maps(_trace, kind, form)


def _report(state: Any, view: HeadsView, memory: dict[str, Any]) -> dict[str, Any]:
    """Where the browser last said that the person is, or the start: what a browser says may be anything."""
    start = memory["start"]
    clean = {**start, "picks": {start["kind"]: (start["layer"], start["head"])}, "heads": [], "wanted": [start["kind"]]}
    if "beside" in start["view"].split("."):
        clean["wanted"] = list(kinds_of(view.trace))
    clean["heads"] = _lined(start["view"])
    if not _is_of(state, view, memory):
        return clean
    at = state["at"]
    kind: AttentionKind = next((known for known in kinds_of(view.trace) if known == at.get("kind")), start["kind"])
    layers, heads, _, keys = view.trace.weights(kind).shape
    steps, sources = len(view.trace.read_tokens), len(view.trace.src_tokens)
    layer, head = _whole(at.get("layer"), 1, layers, layers), _whole(at.get("head"), 0, heads, 0)
    picks: Any = at.get("picks")
    picks = picks if isinstance(picks, dict) else {}
    lists = {name: at[name] if isinstance(at.get(name), list) else [] for name in ("heads", "wanted")}
    return {
        "kind": kind,
        "layer": layer,
        "head": head,
        "step": _whole(at.get("step"), 0, max(steps - 1, 0), start["step"]),
        "source": _whole(at.get("source"), 0, max(sources - 1, 0), 0),
        "col": None if at.get("col") is None else _whole(at["col"], 0, keys - 1, 0),
        "view": at["view"] if isinstance(at.get("view"), str) else start["view"],
        "picks": {name: _pick(pick) for name, pick in picks.items() if isinstance(pick, dict)} | {kind: (layer, head)},
        "heads": [one for one in lists["heads"] if type(one) is int and 0 <= one <= heads],
        "wanted": [one for one in lists["wanted"] if one in kinds_of(view.trace)],
    }


def _is_of(state: Any, view: HeadsView, memory: dict[str, Any]) -> bool:
    """Whether the browser has reported from this very decoding, after the server's last word on where to be."""
    at = state.get("at") if state else None
    return isinstance(at, dict) and at.get("seq") == view.seq and at.get("turn") == memory["turn"]


def _pick(pick: dict[str, Any]) -> Head:
    return _whole(pick.get("layer"), 1, 999, 1), _whole(pick.get("head"), 0, 999, 0)


def _lined(view: str) -> list[int]:
    """The heads that the option `h-1-3` of a view names."""
    parts = [part.split("-")[1:] for part in view.split(".") if part.startswith("h-")]
    return [int(number) for part in parts for number in part if number.isdecimal() and len(number) < 4]


def _whole(value: Any, low: int, high: int, otherwise: int) -> int:
    return min(max(value, low), high) if type(value) is int else otherwise


def _result(view: HeadsView, at: dict[str, Any], *, explain: bool = False) -> HeadsResult:
    row = at["source"] if at["kind"] == "encoder" else at["step"]
    col = None if at["col"] is None else at["col"] + 1
    place = Place(at["kind"], at["layer"], at["head"], row + 1, col, at["step"] + 1)
    return HeadsResult(place, "" if at["view"] == DEFAULT_VIEW else at["view"], explain)


def _asked_of(found: HeadsResult) -> tuple[Any, ...]:
    """The start that says the same as this result: what the page will hand in next time if nobody moves."""
    place = found.place
    return place.kind, place.layer, place.head, place.step, cell_of(place), found.view


def _asked(view: HeadsView) -> tuple[Any, ...]:
    return view.kind, view.layer, view.head, view.step, view.cell, view.view


def cell_of(place: Place) -> tuple[int, int] | None:
    """The chosen cell as it stands in the address: key 0 where an encoder row, but no key, is chosen."""
    if place.col is not None:
        return place.row, place.col
    return (place.row, 0) if place.kind == "encoder" and place.row > 1 else None


def _nothing() -> None:
    """Registers a value with Streamlit, which then always exists in the result."""
