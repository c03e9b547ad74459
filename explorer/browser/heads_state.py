"""The position in the views of attention: where a page wants them to start, and what the browser reports afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from explorer.browser.heads_payload import Head
from explorer.decoding.attention_maps import Form, has_subwords
from explorer.decoding.coordinates import Place
from explorer.decoding.model_diagram import ModelDiagram
from explorer.decoding.view_text import is_view, parse_view
from explorer.locale.text import printable
from model.config import AttentionKind
from model.trace import AttentionTrace, kinds_of

DEFAULT_VIEW = "heads"


@dataclass(frozen=True)
class HeadsView:
    """Attention, and the position at which the views start.

    Args:
        trace: the recorded attention; kinds without weights are left out.
        seq: names this decoding, for instance a hash of model, sentence and path.
        model: the model's name, shown in titles.
        kind, layer, head, step: where to start, counted from 1; head 0 is the mean over the heads. Values out of
            range are replaced by valid ones; 0 becomes the last layer or the last step.
        cell: the chosen (query, key) from 1; key 0 where only a row is chosen.
        view: the view and its options as in the address, "lines.words.log"; empty = all heads.
        trained: False puts an "untrained" badge on the view.
        explains: whether the page can explain a cell; the views then offer a button for it.
        diagram: the model as a small diagram, in which each place of attention can be chosen.
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
    diagram: ModelDiagram | None = None

    def start(self) -> dict[str, Any]:
        """The start as sent to the browser: step, source row and column count from 0, layer and head from 1."""
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
    """The position, the view with its options ("" = all heads), and whether to explain a cell.

    `explain` is true only in the run in which the user asked for it.
    """

    place: Place
    view: str
    explain: bool = False


def header(view: HeadsView, start: dict[str, Any], *, turn: int, name: str) -> dict[str, Any]:
    """What the views need before any weights: tokens, sizes, and where to start in which `turn` of the server's."""
    trace = view.trace
    return {
        "seq": view.seq,
        "turn": turn,
        "name": name,
        "model": printable(view.model),
        "trained": view.trained,
        "explains": view.explains,
        "edits": [printable(edit) for edit in trace.edits],
        "subwords": has_subwords(trace),
        "diagram": view.diagram.payload() if view.diagram else None,
        "order": list(kinds_of(trace)),
        "kinds": {
            kind: dict(zip(("layers", "heads"), trace.weights(kind).shape[:2], strict=True)) for kind in kinds_of(trace)
        },
        "source": {
            "tokens": [printable(token) for token in trace.src_tokens],
            "words": list(map(int, trace.src_words)),
        },
        "target": {
            "tokens": [printable(token) for token in trace.read_tokens],
            "words": list(map(int, trace.tgt_words)),
            "predicted": [printable(token) for token in trace.predicted_tokens],
        },
        "start": start,
    }


def cell_of(place: Place) -> tuple[int, int] | None:
    """The chosen cell as encoded in the address: key 0 where an encoder row, but no key, is chosen."""
    if place.col is not None:
        return place.row, place.col
    return (place.row, 0) if place.kind == "encoder" and place.row > 1 else None


def form_of(view: str, kind: AttentionKind) -> Form:
    """Tokens or words, according to the view's options."""
    return parse_view(view).form(kind)


def remember(memory: dict[str, Any], view: HeadsView, state: Any) -> None:
    """Adopt the view's start if it is new: another decoding, or a position that the page has not asked for before.

    Most callers pass in the position returned last time, and some always pass the same start. Neither is a request to
    move, except after the user returns from another page, when the browser has lost the position.
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
    begun = asked_of(result_of(view, start))
    memory.update(seq=view.seq, asked=asked, start=start, begun=begun, turn=memory["turn"] + 1, opened=opened)


def report_of(state: Any, view: HeadsView, memory: dict[str, Any]) -> dict[str, Any]:
    """The position that the browser last reported, or the start. Reports are not trusted: each value is checked."""
    start = memory["start"]
    clean = {**start, "picks": {start["kind"]: (start["layer"], start["head"])}, "heads": [], "wanted": [start["kind"]]}
    options = parse_view(start["view"])
    if options.beside:
        clean["wanted"] = list(kinds_of(view.trace))
    clean["heads"] = list(options.heads)
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
        "view": at["view"] if is_view(at.get("view")) else start["view"],
        "picks": {name: _pick(pick) for name, pick in picks.items() if isinstance(pick, dict)} | {kind: (layer, head)},
        "heads": [one for one in lists["heads"] if type(one) is int and 0 <= one <= heads],
        "wanted": [one for one in lists["wanted"] if one in kinds_of(view.trace)],
    }


def _is_of(state: Any, view: HeadsView, memory: dict[str, Any]) -> bool:
    """Whether the browser has reported on this decoding since the server last moved it."""
    at = state.get("at") if state else None
    return isinstance(at, dict) and at.get("seq") == view.seq and at.get("turn") == memory["turn"]


def _pick(pick: dict[str, Any]) -> Head:
    return _whole(pick.get("layer"), 1, 999, 1), _whole(pick.get("head"), 0, 999, 0)


def _whole(value: Any, low: int, high: int, otherwise: int) -> int:
    return min(max(value, low), high) if type(value) is int else otherwise


def result_of(view: HeadsView, at: dict[str, Any], *, explain: bool = False) -> HeadsResult:
    """A report as the page reads it: token positions count from 1, and all heads at once is the empty view."""
    row = at["source"] if at["kind"] == "encoder" else at["step"]
    col = None if at["col"] is None else at["col"] + 1
    place = Place(at["kind"], at["layer"], at["head"], row + 1, col, at["step"] + 1)
    return HeadsResult(place, "" if at["view"] == DEFAULT_VIEW else at["view"], explain)


def asked_of(result: HeadsResult) -> tuple[Any, ...]:
    """The start that corresponds to this result: what the page passes in next time if nothing moves."""
    place = result.place
    return place.kind, place.layer, place.head, place.step, cell_of(place), result.view


def _asked(view: HeadsView) -> tuple[Any, ...]:
    return view.kind, view.layer, view.head, view.step, view.cell, view.view
