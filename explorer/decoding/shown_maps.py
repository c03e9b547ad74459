"""The maps on screen as a value: the heads of the view in their order, with title and caption."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from explorer.decoding.attention_maps import AttentionMaps, attention_maps, has_subwords
from explorer.decoding.coordinates import Place
from explorer.decoding.head_change import edits_in_words
from explorer.decoding.labelled_map import (
    LabelledMap,
    head_caption,
    head_map,
    row_caption,
    row_in_view,
    summary_caption,
)
from explorer.decoding.names import KIND_TITLES, PREDICTED_ROW_TITLE, short_head
from explorer.decoding.view_options import ViewOptions, parse_view
from explorer.locale.messages import t, translated
from explorer.locale.text import printable, quoted
from model.config import AttentionKind
from model.trace import AttentionTrace, kinds_of


@dataclass(frozen=True, eq=False)
class ShownMaps:
    """The maps on screen with their title and caption.

    `places` are the kind, layer and head of each map; `notes` the numbers under each thumbnail. `row` is the query in
    view, from 0. `facts` are lines about model and sentence for the foot of an exported page.
    """

    title: str
    caption: str
    maps: tuple[LabelledMap, ...]
    places: tuple[Place, ...]
    notes: tuple[str, ...]
    options: ViewOptions
    row: int
    facts: tuple[str, ...] = ()


def shown_maps(
    trace: AttentionTrace, at: Place, view: str, *, facts: tuple[str, ...] = (), n_prompt: int = 0
) -> ShownMaps:
    """Select the maps that a view (its text in the address) shows of a trace at a place.

    The first `n_prompt` decoder rows have a next token that was given: they are not labelled with a prediction.
    """
    options = parse_view(view)
    if not has_subwords(trace):
        options = replace(options, words=False)
    kinds = kinds_of(trace) if options.beside and options.view == "heads" else (at.kind,)
    maps: list[LabelledMap] = []
    places: list[Place] = []
    notes: list[str] = []
    row = row_end = n_steps = 0
    for kind in kinds:
        all_heads = _printable(attention_maps(trace, kind, options.form(kind), n_prompt=n_prompt))
        row_here = _row_in_view(all_heads, at)
        n_rows = row_here + 1 if options.steps and kind != "encoder" else len(all_heads.rows)
        if kind == at.kind:
            row, row_end, n_steps = row_here, n_rows, len(all_heads.rows)
        for place in heads_in_view(all_heads, at, options):
            head = _first_rows(head_map(all_heads, place.layer, place.head), n_rows, by_predicted=options.next)
            top = None if options.scale == "max" else head.top
            maps.append(replace(head, top=top, direction=options.direction))
            places.append(place)
            notes.append(summary_caption(all_heads, place) if place.head else "")
    if options.scale == "max":  # one colour scale for all maps
        top = max(head.scale for head in maps)
        maps = [replace(head, top=top) for head in maps]
    title, caption = _title_and_caption(maps, places, kinds, options, row)
    if row_end < n_steps:
        caption += " " + t("The map ends at the step in view, {step} of {n}.", step=row_end, n=n_steps)
    if trace.edits:
        caption += " " + t("Edited: {edits}.", edits=edits_in_words(trace.edits))
    return ShownMaps(title, caption, tuple(maps), tuple(places), tuple(notes), options, row, facts)


def heads_in_view(maps: AttentionMaps, at: Place, options: ViewOptions) -> list[Place]:
    """The heads whose maps are in view."""
    kind = maps.kind
    layers, heads = maps.weights.shape[:2]
    if options.view in ("lines", "text") and options.heads:
        return [Place(kind, at.layer, head) for head in options.heads if head <= heads]
    if options.view != "heads":
        return [Place(kind, at.layer, at.head)]
    return [Place.at_index(kind, layer, head) for layer in range(layers) for head in range(heads)]


def _printable(maps: AttentionMaps) -> AttentionMaps:
    """Make control characters in the labels of maps visible, since they cannot be drawn."""
    rows, predicted, columns = (
        tuple(printable(token) for token in tokens) for tokens in (maps.rows, maps.predicted, maps.columns)
    )
    return replace(maps, rows=rows, predicted=predicted, columns=columns)


def _row_in_view(maps: AttentionMaps, at: Place) -> int:
    """The row in view, from 0: the one that contains the token of the place."""
    token = (at.row if maps.kind == "encoder" and at.kind == "encoder" else at.step) - 1
    return next((i for i, (start, end) in enumerate(maps.row_spans) if start <= token < end), len(maps.rows) - 1)


def _first_rows(map_: LabelledMap, n_rows: int, *, by_predicted: bool) -> LabelledMap:
    """The first rows of a map; `by_predicted` names decoder rows by the tokens that they predict, if they do."""
    changes: dict[str, Any] = {
        "values": map_.values[:n_rows],
        "mask": map_.mask[:n_rows],
        "rows": map_.rows[:n_rows],
        "predicted": map_.predicted[:n_rows],
    }
    if by_predicted and map_.predicted:
        names = tuple(predicted or read for predicted, read in zip(map_.predicted, map_.rows, strict=True))
        changes |= {"rows": names[:n_rows], "predicted": (), "row_title": PREDICTED_ROW_TITLE}
    return replace(map_, **changes)


def _title_and_caption(
    maps: list[LabelledMap], places: list[Place], kinds: tuple[AttentionKind, ...], options: ViewOptions, row: int
) -> tuple[str, str]:
    first_map, place = maps[0], places[0]
    if options.view == "heads":
        title = t("{kinds}: all heads", kinds=", ".join(translated(KIND_TITLES[kind]) for kind in kinds))
        scale = {
            "unit": t("0 to 1"),
            "max": t("0 to {largest:.3f}, the largest", largest=first_map.scale),
            "log": t("logarithmic"),
        }[options.scale]
        caption = t(
            "{n} head; rows are queries, columns are keys; one colour scale ({scale}).",
            "{n:,} heads; rows are queries, columns are keys; one colour scale ({scale}).",
            n=len(maps),
            scale=scale,
        )
        return title, caption
    layer = t("{kind}, layer {layer}", kind=translated(KIND_TITLES[place.kind]), layer=place.layer)
    if options.view == "text":
        query = quoted(row_in_view(first_map, row))
        heads = first_map.title if len(maps) == 1 else layer
        title = t("{heads}: what {query} looks at", heads=heads, query=query)
        if len(maps) == 1:
            return title, row_caption(first_map, row)
        each = [f"{short_head(at.head)}: {row_caption(map_, row)}" for map_, at in zip(maps, places, strict=True)]
        return title, " ".join([t("Shaded by the mean of the heads shown."), *each])
    caption = head_caption(first_map.values, first_map.rows, first_map.columns, causal=place.kind == "decoder")
    if options.view == "lines":
        lines = t("For each row, the heaviest lines that hold {mass} % of its weight.", mass=options.mass)
        caption = f"{lines} {caption}"
    if len(maps) == 1:
        return first_map.title, caption
    n_heads = sum(place.head > 0 for place in places)
    if n_heads < len(maps):
        title = t(
            "{layer}, {n} head and the mean over all heads",
            "{layer}, {n:,} heads and the mean over all heads",
            layer=layer,
            n=n_heads,
        )
    else:
        title = t("{layer}, {n} head", "{layer}, {n:,} heads", layer=layer, n=n_heads)
    return title, caption
