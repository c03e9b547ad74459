"""What is on screen as a value: the maps in view in their order, as the address says that they are shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.attention.attention_maps import AttentionMaps, attention_maps, has_subwords
from explorer.attention.captions import head_caption, row_caption, row_in_view, summary_caption
from explorer.attention.coordinates import Place
from explorer.attention.head_summary import HeadSummary, summarise
from explorer.attention.labelled_map import LabelledMap, head_map
from explorer.attention.names import KIND_TITLES
from explorer.attention.view_text import ViewOptions, parse_view
from explorer.text import printable
from model.config import AttentionKind
from model.trace import AttentionTrace, kinds_of


@dataclass(frozen=True, eq=False)
class ShownMaps:
    """The maps on screen, and what must be said with them.

    `places` has kind, layer and head (from 1, 0 = the mean) of each map; `notes` the numbers that stand under each
    thumbnail. `row` is the query in view, from 0. `facts` are lines about model and sentence for the foot of the page.
    """

    title: str
    caption: str
    maps: tuple[LabelledMap, ...]
    places: tuple[tuple[AttentionKind, int, int], ...]
    notes: tuple[str, ...]
    options: ViewOptions
    row: int
    facts: tuple[str, ...] = ()


def shown_maps(trace: AttentionTrace, at: Place, view: str, *, facts: tuple[str, ...] = ()) -> ShownMaps:
    """What the views show of a trace at a place.

    Raises:
        ValueError: no head passes the filters, so there is nothing on screen.
    """
    options = parse_view(view)
    if not has_subwords(trace):
        options = replace(options, words=False)
    kinds = kinds_of(trace) if options.beside and options.view == "heads" else (at.kind,)
    maps: list[LabelledMap] = []
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
            notes.append(summary_caption(summary, layer, head) if head else "")
    if not maps:
        raise ValueError("No head passes the filters, so there is nothing on screen to take away.")
    if options.scale == "max":  # one scale for all
        top = max(one.scale for one in maps)
        maps = [replace(one, top=top) for one in maps]
    title, caption = _said(maps, places, kinds, options, row, trace)
    return ShownMaps(title, caption, tuple(maps), tuple(places), tuple(notes), options, row, facts)


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


def _cut(one: LabelledMap, rows: int, *, next_word: bool) -> LabelledMap:
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


def _scaled(one: LabelledMap, options: ViewOptions) -> LabelledMap:
    return replace(one, top=None) if options.scale == "max" else one


def _said(
    maps: list[LabelledMap],
    places: list[tuple[AttentionKind, int, int]],
    kinds: tuple[AttentionKind, ...],
    options: ViewOptions,
    row: int,
    trace: AttentionTrace,
) -> tuple[str, str]:
    edited = f" Edited: {'; '.join(trace.edits)}." if trace.edits else ""
    if options.view == "heads":
        title = ", ".join(KIND_TITLES[kind] for kind in kinds) + ": all heads"
        scale = {"unit": "0 to 1", "max": f"0 to {maps[0].scale:.3f}, the largest", "log": "logarithmic"}[options.scale]
        caption = f"{len(maps)} heads, rows are queries and columns are keys, one colour scale ({scale})."
        return title, f"{caption}{edited}"
    one = maps[0]
    if options.view == "text":
        return f"{one.title}: what {row_in_view(one, row)} looks at", f"{row_caption(one, row)}{edited}"
    title = one.title if len(maps) == 1 else f"{KIND_TITLES[places[0][0]]}, layer {places[0][1]}, {len(maps)} heads"
    caption = head_caption(one.values, one.rows, one.columns, causal=places[0][0] == "decoder")
    if options.view == "lines":
        caption = f"Each row's heaviest lines that hold {options.mass} % of it. {caption}"
    return title, f"{caption}{edited}"
