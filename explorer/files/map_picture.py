"""Draw the maps on screen as a picture: all heads, one head, lines, or the shaded sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from explorer.charts import palette
from explorer.charts.palette import LIGHT
from explorer.decoding.labelled_map import LabelledMap
from explorer.decoding.names import KIND_TITLES, name_in_layer
from explorer.decoding.shown_maps import ShownMaps
from explorer.files.picture import (
    INK,
    Across,
    Box,
    Cells,
    Curve,
    Dashes,
    Mark,
    Picture,
    Text,
    in_lines,
    shades,
    width_of,
)
from explorer.locale.messages import t, translated
from explorer.locale.scripts import columns_of, ordered
from explorer.locale.text import cell_number, fixed, shortened, weight_percent
from model.trace import VISIBLE

NUMBERS_UP_TO = 400  # cells; beside a larger map, and in it, cells have no numbers
FAINTEST = 1e-4  # lower end of the logarithmic scale, as on screen
DASHES: tuple[Dashes, ...] = ((), (5, 2), (1.5, 2), (7, 2, 2, 2), (9, 3), (3, 3), (1, 3), (6, 1, 1, 1))
LONGEST = 32  # characters of a label
_FOOT = "#43505c"
_TALLEST = 1.6  # of the colour bar, in inches
_NARROW = 0.25  # width of a cell below which a number has no zero before its decimal comma, in inches


def picture_of(view: ShownMaps) -> Picture:
    """Draw the picture, with its title above and caption and facts below."""
    views = {"heads": _all_heads, "head": _one_head, "lines": _lines, "text": _sentence}
    return views[view.options.view](view)


def _sheet(
    view: ShownMaps, width: float, height: float, marks: list[Mark], *, above: float = 0.2, below: float = 0.15
) -> Picture:
    """Add the title `above` inches over the marks, and caption and facts `below` inches under them."""
    n_characters = max(64, int(width * 18))
    below_map = view.caption
    if _has_unwritten(view):
        below_map += " " + t("Cells without a number are below {least}.", least=fixed(0.005, 3))
    foot = (ordered(line) for text in (below_map, *view.facts) for line in wrap(text, n_characters) or [""])
    title = Text(0, -above, ordered(view.title), 10, bold=True, down="bottom")
    caption = Text(0, height + below, "\n".join(foot), colour=_FOOT, down="top")
    return Picture(width, height, (title, *marks, caption))


def _has_unwritten(view: ShownMaps) -> bool:
    """Whether some cell of a map with numbers has none because its weight is too small for two decimals."""
    numbered = (map_.seen() for map_ in view.maps if not map_.signed) if _has_numbers(view) else ()
    return view.options.view == "head" and any(((seen > 0) & (seen < 0.005)).any() for seen in numbered)


def _has_numbers(view: ShownMaps) -> bool:
    """Whether cells of a head have numbers: in all maps of the view, or in none."""
    return all(map_.values.size <= NUMBERS_UP_TO for map_ in view.maps)


def scale_of(view: ShownMaps) -> tuple[str, ...]:
    """The colours of the scale that the view uses."""
    if view.maps[0].signed:
        return palette.DIFFERENCE_SCALE
    return palette.ATTENTION_SCALE


def levels(map_: LabelledMap, scale: str) -> NDArray[np.float64]:
    """The level of each value on the colour scale, 0 to 1, NaN where masked; a difference of 0 is in the middle."""
    seen = map_.seen()
    if map_.signed:
        return np.clip(0.5 + seen / (2 * map_.scale), 0, 1)
    if scale == "log":
        with np.errstate(divide="ignore"):
            return np.clip(1 - np.log10(seen) / math.log10(FAINTEST), 0, 1)
    return np.clip(seen / map_.scale, 0, 1)


def _short(text: str) -> str:
    return ordered(shortened(text, LONGEST))


def _row_names(map_: LabelledMap) -> list[str]:
    """Names of the rows of a map: what they read and, in the decoder, what they predict."""
    if not map_.predicted:
        return [_short(label) for label in map_.marked_labels[0]]
    pairs = zip(map_.marked_labels[0], map_.marked_ends, strict=True)
    return [_short(f"{reads} → {predicts}" if predicts else reads) for reads, predicts in pairs]


def _hue(title: str) -> str:
    return LIGHT.target if title.startswith("decoder") else LIGHT.source


def _tile(map_: LabelledMap, view: ShownMaps, x: float, y: float, width: float, height: float) -> Iterator[Mark]:
    """Draw the cells of a map in a frame."""
    colours, masked = shades(scale_of(view), levels(map_, view.options.scale)), map_.mask != VISIBLE
    if map_.places:
        order = np.argsort(map_.places)
        colours, masked = colours[:, order], masked[:, order]
    yield Cells(x, y, width, height, colours, masked)
    yield Box(x, y, width, height, edge="#9aa5af")


def _places(map_: LabelledMap) -> Sequence[int]:
    """Where the columns are drawn, from 0 on the left."""
    return map_.places or range(len(map_.columns))


def _every(count: int, room: float, size: float) -> int:
    """The interval at which labels of this size are written, so that they do not touch."""
    return max(1, math.ceil(count * size * 1.05 / 72 / room))


def _column_names(map_: LabelledMap, x: float, y: float, width: float, size: float) -> Iterator[Text]:
    """Draw upright names above the columns."""
    n, hue = len(map_.columns), _hue(map_.column_title)
    places = _places(map_)
    for key in range(0, n, _every(n, width, size)):
        at = x + (places[key] + 0.5) * width / n
        yield Text(at, y - 0.04, _short(map_.marked_labels[1][key]), size, hue, "center", "bottom", upright=True)


def _row_labels(map_: LabelledMap, x: float, y: float, height: float, size: float) -> Iterator[Text]:
    """Draw names to the left of the rows."""
    names, hue = _row_names(map_), _hue(map_.row_title)
    for query in range(0, len(names), _every(len(names), height, size)):
        yield Text(x - 0.04, y + (query + 0.5) * height / len(names), names[query], size, hue, "right")


def _longest(names: list[str], size: float) -> float:
    return max(width_of(name, size) for name in names)


def _all_heads(view: ShownMaps) -> Picture:
    """Draw all heads as tiles of equal size; a line has as many tiles as the layers of that kind have heads.

    All maps of a kind have the same tokens: keys are named above the first line, queries beside each line's first tile.
    """
    blocks = [list(group) for _, group in groupby(range(len(view.maps)), key=lambda i: view.places[i].kind)]
    per_line = [max(view.places[i].head for i in block) for block in blocks]
    widest, most = max(per_line), max(max(map_.values.shape) for map_ in view.maps)
    tile = max(min(1.35, 7.0 / widest), min(0.055 * most, 2.4, 14 / widest))  # larger for longer sentences
    label, gap, heading = 0.3, 0.1, 0.24 if len(blocks) > 1 else 0.0
    size = max(3.2, min(5.0, 60 * tile / most))
    name_size = 5 if tile > 0.8 else 4.5
    beside = 0.1 + max(_longest(_row_names(view.maps[block[0]]), size) for block in blocks)
    marks: list[Mark] = []
    top = 0.0
    for block, n in zip(blocks, per_line, strict=True):
        first = view.maps[block[0]]
        if heading:
            marks.append(Text(0, top + 0.16, translated(KIND_TITLES[view.places[block[0]].kind]), 8, down="baseline"))
        rise = _longest([_short(name) for name in first.column_labels], size)
        top += heading + rise + 0.24
        for number, i in enumerate(block):
            x, y = beside + (number % n) * (tile + gap), top + (number // n) * (tile + label)
            marks += _tile(view.maps[i], view, x, y, tile, tile)
            # The name is below the tile, since the keys are above it.
            name = view.places[i].short_name + (f" \u00b7 {view.notes[i]}" if tile > 0.8 and view.notes[i] else "")
            marks.append(Text(x, y + tile + 0.09, name, name_size, down="baseline"))
            if number < n:
                marks += _column_names(first, x, y, tile, size)
                marks.append(Text(x, y - rise - 0.1, translated(first.column_title), 5, down="baseline"))
            if number % n == 0:
                marks += _row_labels(first, x, y, tile, size)
                marks.append(
                    Text(x - 0.03, y + tile + 0.09, translated(first.row_title), 5, across="right", down="baseline")
                )
        top += math.ceil(len(block) / n) * (tile + label)
    width = max(beside + widest * (tile + gap), 2.2)
    return _sheet(view, width, top, [*marks, *_scale(view, width + 0.1, top)], below=_below_scale(view, top))


def _one_head(view: ShownMaps) -> Picture:
    """Draw one head, or two beside each other, with labels and colour bar, and with numbers if there is room."""
    rows, columns = (max(1, *(map_.values.shape[axis] for map_ in view.maps)) for axis in (0, 1))
    cell = min(0.34, 6.2 / columns, 7.5 / rows)
    size = max(3.0, min(7.0, cell * 40))
    rise = max(_longest([_short(name) for name in map_.marked_labels[1]], size) for map_ in view.maps)
    marks: list[Mark] = []
    right = height = 0.0
    for map_ in view.maps:
        left = right + 0.5 + _longest(_row_names(map_), size) if marks else 0.0
        wide, tall = max(map_.values.shape[1] * cell, 1.2), max(map_.values.shape[0] * cell, 0.6)
        marks += _labelled_tile(map_, view, left, wide, tall, size, rise)
        if len(view.maps) > 1:
            marks.append(Text(left, -rise - 0.3, ordered(shortened(map_.title, 70)), 7, bold=True, down="bottom"))
        right, height = left + wide, max(height, tall)
    above = 0.4 + rise + (0.25 if len(view.maps) > 1 else 0.0)
    return _sheet(
        view,
        right,
        height,
        [*marks, *_scale(view, right + 0.15, height)],
        above=above,
        below=_below_scale(view, height),
    )


def _labelled_tile(
    map_: LabelledMap, view: ShownMaps, left: float, width: float, height: float, size: float, rise: float
) -> Iterator[Mark]:
    """Draw a map at x = `left` with labels of this size, axis titles, frames and, if there is room, numbers."""
    rows, columns = map_.values.shape
    places = _places(map_)
    yield from _tile(map_, view, left, 0, width, height)
    yield from _column_names(map_, left, 0, width, size)
    yield from _row_labels(map_, left, 0, height, size)
    yield Text(left + width / 2, -rise - 0.12, translated(map_.column_title), across="center", down="bottom")
    beside = left - _longest(_row_names(map_), size) - 0.12
    yield Text(beside, height / 2, translated(map_.row_title), across="right", upright=True)
    if _has_numbers(view):
        depth = levels(map_, view.options.scale)
        depth = np.abs(2 * depth - 1) - 0.2 if map_.signed else depth
        for (row, column), value in np.ndenumerate(map_.seen()):
            if not np.isnan(value):
                ink = "#ffffff" if depth[row, column] > 0.5 else INK
                x, y = left + (places[column] + 0.5) * width / columns, (row + 0.5) * height / rows
                number = cell_number(float(value), signed=map_.signed, narrow=width / columns < _NARROW)
                yield Text(x, y, number, 5.5, ink, "center")
    for row, column in map_.marks.cells:
        corner = left + places[column] * width / columns, row * height / rows
        yield Box(*corner, width / columns, height / rows, edge=LIGHT.frame, line=1.2)


def _has_masked(view: ShownMaps) -> bool:
    return any((map_.mask != VISIBLE).any() for map_ in view.maps)


def _below_scale(view: ShownMaps, height: float) -> float:
    """How far below the maps the caption begins: also below the note on masked cells."""
    return max(0.15, min(_TALLEST, height) + 0.4 - height) if _has_masked(view) else 0.15


def _scale(view: ShownMaps, x: float, height: float) -> Iterator[Mark]:
    """Draw the colour bar, with a note on masked cells if there are any."""
    map_, tall, wide = view.maps[0], min(_TALLEST, height), 0.1
    ramp = shades(scale_of(view), np.linspace(1, 0, 256)[:, None])
    yield Cells(x, 0, wide, tall, ramp, np.zeros((256, 1), bool))
    yield Box(x, 0, wide, tall, edge=INK)
    ticks = (
        _log_ticks() if view.options.scale == "log" else _ticks(-map_.scale if map_.signed else 0.0, map_.scale, tall)
    )
    for level, text in ticks:
        y = tall * (1 - level)
        yield Curve(((x + wide, y), (x + wide + 0.03, y)), INK, 0.6)
        yield Text(x + wide + 0.06, y, text, 6)
    beside = x + wide + 0.12 + max(width_of(text, 6) for _, text in ticks)
    yield Text(beside, tall / 2, map_.quantity, 6, upright=True)
    if _has_masked(view):
        yield Text(x, tall + 0.12, t("hatched:\nmasked"), 5.5, down="top")


def _log_ticks() -> list[tuple[float, str]]:
    named = {FAINTEST: "≤ 0.0001", 1e-3: "0.001", 1e-2: "0.01", 0.1: "0.1", 1.0: "1"}
    return [(1 - math.log10(value) / math.log10(FAINTEST), text) for value, text in named.items()]


def _ticks(low: float, high: float, height: float) -> list[tuple[float, str]]:
    """Choose round numbers between two ends, as levels from 0 to 1 with their texts; fewer on a short bar."""
    rough = (high - low) / max(2.0, min(8.0, 6 * height))
    power = math.floor(math.log10(rough))
    step = next(n * 10.0**power for n in (1, 2, 2.5, 5, 10) if n * 10.0**power >= rough)
    decimals = max(0, -power + (step / 10.0**power == 2.5))
    numbers = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [((i * step - low) / (high - low), f"{i * step:.{decimals}f}".replace("-", "−")) for i in numbers]


def lines_of(values: NDArray[np.float64], mass: int) -> list[tuple[int, int, float]]:
    """Query, key and weight of the largest weights of each row that add up to `mass` percent."""
    lines = []
    for query, row in enumerate(values):
        total = 0.0
        visible = np.nan_to_num(row, nan=0.0)
        for key in np.argsort(-visible, kind="stable"):
            if total >= mass / 100 - 1e-6 or visible[key] <= 0:
                break
            total += float(visible[key])
            lines.append((query, int(key), float(visible[key])))
    return lines


def _stroke(head: int) -> tuple[str, Dashes]:
    """Colour and dashes of a head's lines, as on screen."""
    colour, dashes = palette.head_stroke(head)
    return INK if colour < 0 else palette.HEAD_COLOURS[colour], DASHES[dashes]


def _lines(view: ShownMaps) -> Picture:
    """Draw queries on the left, keys on the right, and weights as curves between them."""
    first, width = view.maps[0], 4.2
    most = max(first.values.shape)
    step = min(0.2, 8.5 / most)
    height = most * step
    heads = view.places if len(view.maps) > 1 else ()
    strokes = [_stroke(place.head) for place in heads] or [_stroke(1)]
    marks: list[Mark] = []
    for map_, (colour, dashes) in zip(view.maps, strokes, strict=True):
        for query, key, weight in lines_of(map_.seen(), view.options.mass):
            start, end = (query + 0.5) * step, (key + 0.5) * step
            points = ((0.3 * width, start), (0.46 * width, start), (0.54 * width, end), (0.7 * width, end))
            marks.append(Curve(points, colour, 0.3 + 1.5 * weight, min(1.0, 0.15 + 0.85 * weight), dashes))
    size = max(3.0, min(7.0, step * 40))
    columns: tuple[tuple[float, Across, str, tuple[str, ...]], ...] = (
        (0.29 * width, "right", first.row_title, first.row_labels),
        (0.71 * width, "left", first.column_title, first.column_labels),
    )
    for x, across, title, labels in columns:
        marks.append(Text(x, -0.06, translated(title), 6.5, across=across, down="bottom"))
        marks += [Text(x, (i + 0.5) * step, _short(label), size, _hue(title), across) for i, label in enumerate(labels)]
    for n, (place, (colour, dashes)) in enumerate(zip(heads, strokes, strict=False)):
        y = height + 0.1 + 0.16 * n
        marks.append(Text(0.45 * width, y, name_in_layer(place.head), 6, colour))
        marks.append(Curve(((0.3 * width, y), (0.42 * width, y)), colour, 1, dashes=dashes))
    return _sheet(view, width, height, marks, above=0.4, below=0.2 + 0.16 * len(heads))


def _sentence(view: ShownMaps) -> Picture:
    """Draw the keys as running text, shaded by their weights in the row in view (by the mean of several heads)."""
    first_map, width = view.maps[0], 6.4
    row = min(view.row, len(first_map.rows) - 1)
    weights = np.stack([each.seen()[row] for each in view.maps])  # [head, key]
    seen = weights.mean(axis=0)
    mean = replace(first_map, values=seen[None].astype(np.float32), mask=first_map.mask[row : row + 1])
    (depths,) = levels(mean, view.options.scale)
    fills = shades(scale_of(view), depths)
    heads = view.places if len(view.maps) > 1 else ()
    marks: list[Mark] = []
    tokens = [*map(_short, first_map.columns)]
    widths = [0.14 + 0.085 * max(columns_of(token), 3, len(view.maps)) for token in tokens]
    places = _places(first_map)
    y = 0.0
    for key, (token, wide, (line, corner)) in enumerate(
        zip(tokens, widths, in_lines(widths, width, places, view.options.leftwards(first_map.leftwards)), strict=True)
    ):
        y = line * (0.72 if heads else 0.5)
        masked, middle = bool(np.isnan(seen[key])), corner + wide / 2
        ink = "#ffffff" if depths[key] > 0.5 else INK
        marks.append(Box(corner, y, wide, 0.26, tuple(fills[key]), "#c5ccd3", hatched=masked))
        marks.append(Text(middle, y + 0.13, token, 7.5, ink, "center"))
        share = t("masked") if masked else weight_percent(float(seen[key])) if seen[key] >= 0.005 else ""
        marks.append(Text(middle, y + 0.34, share, 5.5, _FOOT, "center"))
        bar = min(0.07, wide / len(view.maps))
        for n, place in enumerate(() if masked else heads):
            bar_height, left = 0.2 * float(weights[n, key]), middle + (n - len(heads) / 2) * bar
            marks.append(Box(left, y + 0.61 - bar_height, 0.8 * bar, bar_height, _stroke(place.head)[0]))
    height = y + (0.67 if heads else 0.45)
    for n, place in enumerate(heads):
        marks.append(Text(n * 0.55, height + 0.08, name_in_layer(place.head), 6, _stroke(place.head)[0], down="top"))
    return _sheet(view, width, height, marks, below=0.15 + 0.16 * bool(heads))
