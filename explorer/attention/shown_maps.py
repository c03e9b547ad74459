"""What is on screen as a value: the maps in view in their order, as the address says that they are shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.attention.coordinates import Place
from explorer.attention.description import head_caption
from explorer.attention.head_summary import HeadSummary, summarise
from explorer.attention.labelled_map import KINDS, SingleMap, head_map
from explorer.attention.whole_words import AttentionMaps, Form, attention_maps, has_subwords
from explorer.text import printable
from model.config import AttentionKind
from model.trace import AttentionTrace, kinds_of

VIEWS = ("heads", "head", "lines", "text")


@dataclass(frozen=True)
class ViewOptions:
    """A view's options, read from its text in the address ("lines.words.mass-60"); unknown words are left alone."""

    view: str = "heads"
    words: bool = False
    next: bool = False
    steps: bool = False
    beside: bool = False
    scale: str = "unit"
    palette: str = "theme"
    by: str = "place"
    role: str = ""
    most: float = 0.0
    mass: int = 80
    heads: tuple[int, ...] = ()

    def form(self, kind: AttentionKind) -> Form:
        """Tokens or words, and by which token decoder rows are put together."""
        if not self.words:
            return "tokens"
        return "words-next" if self.next and kind != "encoder" else "words"


def read_view(text: str) -> ViewOptions:
    """The options that a view's text in the address names."""
    found = ViewOptions()
    for part in text.split("."):
        name, _, value = part.partition("-")
        if part in VIEWS:
            found = replace(found, view=part)
        elif part in ("words", "next", "steps", "beside"):
            changes: dict[str, Any] = {part: True}
            found = replace(found, **changes)
        elif part in ("max", "log"):
            found = replace(found, scale=part)
        elif part in ("cividis", "grey"):
            found = replace(found, palette=part)
        elif name in ("by", "role") and value:
            changes = {name: value}
            found = replace(found, **changes)
        elif name in ("most", "mass") and value.isdecimal() and len(value) < 4:
            number = int(value)
            found = (
                replace(found, most=number / 10) if name == "most" else replace(found, mass=min(max(number, 10), 100))
            )
        elif name == "h":
            found = replace(found, heads=tuple(int(n) for n in value.split("-") if n.isdecimal() and len(n) < 4))
    return found


@dataclass(frozen=True, eq=False)
class Sheet:
    """The maps on screen, and what must be said with them.

    `places` has kind, layer and head (from 1, 0 = the mean) of each map; `notes` the numbers that stand under each
    thumbnail. `row` is the query in view, from 0. `facts` are lines about model and sentence for the foot of the page.
    """

    title: str
    caption: str
    maps: tuple[SingleMap, ...]
    places: tuple[tuple[AttentionKind, int, int], ...]
    notes: tuple[str, ...]
    options: ViewOptions
    row: int
    facts: tuple[str, ...] = ()


def sheet_of(trace: AttentionTrace, at: Place, view: str, *, facts: tuple[str, ...] = ()) -> Sheet:
    """What the views show of a trace at a place.

    Raises:
        ValueError: no head passes the filters, so there is nothing on screen.
    """
    options = read_view(view)
    if not has_subwords(trace):
        options = replace(options, words=False)
    kinds = kinds_of(trace) if options.beside and options.view == "heads" else (at.kind,)
    maps: list[SingleMap] = []
    places: list[tuple[AttentionKind, int, int]] = []
    notes: list[str] = []
    row = 0
    for kind in kinds:
        whole = _named(attention_maps(trace, kind, options.form(kind)))
        summary = summarise(whole)
        chosen = _chosen(kind, whole, summary, at, options)
        row_here = _row(whole, at)
        rows = row_here + 1 if options.steps and kind != "encoder" else len(whole.rows)
        if kind == at.kind:
            row = row_here
        for layer, head in chosen:
            maps.append(_scaled(_cut(head_map(whole, layer, head), rows, next_word=options.next), options))
            places.append((kind, layer, head))
            notes.append(describe(summary, layer, head) if head else "")
    if not maps:
        raise ValueError("No head passes the filters, so there is nothing on screen to take away.")
    if options.scale == "max":  # one scale for all
        top = max(one.scale for one in maps)
        maps = [replace(one, top=top) for one in maps]
    title, caption = _said(maps, places, kinds, options, row, trace)
    return Sheet(title, caption, tuple(maps), tuple(places), tuple(notes), options, row, facts)


def _chosen(
    kind: AttentionKind, maps: AttentionMaps, summary: HeadSummary, at: Place, options: ViewOptions
) -> list[tuple[int, int]]:
    """Layer and head (from 1) of the maps in view, sorted and filtered as the grid is."""
    layers, heads = maps.weights.shape[:2]
    if options.view == "lines" and options.heads:
        return [(at.layer, head) for head in options.heads if head <= heads]
    if options.view != "heads":
        return [(at.layer, at.head)]
    every = [(layer, head) for layer in range(1, layers + 1) for head in range(1, heads + 1)]

    def keys(place: tuple[int, int]) -> float:
        value = float(summary.effective[place[0] - 1, place[1] - 1])
        return np.inf if np.isnan(value) else value

    def share(place: tuple[int, int]) -> float:
        shares = summary.shares.get(options.by)
        value = -1.0 if shares is None else float(shares[place[0] - 1, place[1] - 1])
        return -1.0 if np.isnan(value) else value

    kept = [
        place
        for place in every
        if (not options.role or summary.role(place[0] - 1, place[1] - 1) == options.role)
        and (not options.most or keys(place) <= options.most)
    ]
    if options.by == "keys":
        return sorted(kept, key=keys)
    return kept if options.by == "place" else sorted(kept, key=lambda place: -share(place))


def describe(summary: HeadSummary, layer: int, head: int) -> str:
    """A head's two most telling numbers: how many keys it looks at, and its favourite or else largest place."""
    effective = float(summary.effective[layer - 1, head - 1])
    keys = "no choice" if np.isnan(effective) else f"{effective:.1f} keys"
    shares = {name: float(share[layer - 1, head - 1]) for name, share in summary.shares.items()}
    known = {name: share for name, share in shares.items() if not np.isnan(share)}
    if not known:
        return keys
    role = summary.role(layer - 1, head - 1)
    name = role if role in known else max(known, key=lambda one: known[one])
    return f"{keys}, {name} {100 * known[name]:.0f} %"


def _named(maps: AttentionMaps) -> AttentionMaps:
    """The same with control characters made visible: no printer knows what to do with them."""
    rows, predicted, columns = (
        tuple(printable(token) for token in tokens) for tokens in (maps.rows, maps.predicted, maps.columns)
    )
    return replace(maps, rows=rows, predicted=predicted, columns=columns)


def _row(maps: AttentionMaps, at: Place) -> int:
    """The row in view, from 0: the word of the token that the place names."""
    token = (at.row if maps.kind == "encoder" and at.kind == "encoder" else at.step) - 1
    return next((i for i, (start, end) in enumerate(maps.row_spans) if start <= token < end), len(maps.rows) - 1)


def _cut(one: SingleMap, rows: int, *, next_word: bool) -> SingleMap:
    """The first rows only; and rows named by what they predict, where the view is aligned to that."""
    changes: dict[str, Any] = {
        "values": one.values[:rows],
        "mask": one.mask[:rows],
        "rows": one.rows[:rows],
        "predicted": one.predicted[:rows],
    }
    if next_word and one.predicted:
        changes |= {"rows": one.predicted[:rows], "predicted": (), "row_title": "decoder predicts (query)"}
    return replace(one, **changes)


def _scaled(one: SingleMap, options: ViewOptions) -> SingleMap:
    return replace(one, top=None) if options.scale == "max" else one


def _said(
    maps: list[SingleMap],
    places: list[tuple[AttentionKind, int, int]],
    kinds: tuple[AttentionKind, ...],
    options: ViewOptions,
    row: int,
    trace: AttentionTrace,
) -> tuple[str, str]:
    edited = f" Edited: {'; '.join(trace.edits)}." if trace.edits else ""
    if options.view == "heads":
        title = ", ".join(KINDS[kind] for kind in kinds) + ": all heads"
        scale = {"unit": "0 to 1", "max": f"0 to {maps[0].scale:.3f}, the largest", "log": "logarithmic"}[options.scale]
        caption = f"{len(maps)} heads, rows are queries and columns are keys, one colour scale ({scale})."
        return title, f"{caption}{edited}"
    one = maps[0]
    if options.view == "text":
        return f"{one.title}: what {_asker(one, row)} looks at", f"{strip_words(one, row)}{edited}"
    title = one.title if len(maps) == 1 else f"{KINDS[places[0][0]]}, layer {places[0][1]}, {len(maps)} heads"
    caption = head_caption(one.values, one.rows, one.columns, causal=places[0][0] == "decoder")
    if options.view == "lines":
        caption = f"Each row's heaviest lines that hold {options.mass} % of it. {caption}"
    return title, f"{caption}{edited}"


def _asker(one: SingleMap, row: int) -> str:
    return one.row_labels[min(row, len(one.rows) - 1)]


def strip_words(one: SingleMap, row: int) -> str:
    """One row in a sentence: the keys that it looks at most."""
    seen = one.seen()[min(row, len(one.rows) - 1)]
    order = [int(key) for key in np.argsort(-np.nan_to_num(seen, nan=-1.0), kind="stable")[:3] if seen[int(key)] > 0]
    if not order:
        return f"{_asker(one, row)} sees nothing."
    looked = ", ".join(f"{one.column_labels[key]} ({100 * seen[key]:.0f} %)" for key in order)
    return f"{_asker(one, row)} looks at {looked}."
