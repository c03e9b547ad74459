"""The maps on screen as a picture: all heads, one head, lines, or the shaded sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from explorer.charts import palette
from explorer.charts.palette import LIGHT
from explorer.decoding.labelled_map import LabelledMap
from explorer.decoding.names import KIND_TITLES, name_in_layer, row_label
from explorer.decoding.shown_maps import NUMBERS_UP_TO, ShownMaps
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
    ordered,
    shades,
    width_of,
)
from explorer.locale.text import cell_number, shortened, weight_percent
from model.trace import VISIBLE

FAINTEST = 1e-4  # lower end of the logarithmic scale, as on screen
DASHES: tuple[Dashes, ...] = ((), (5, 2), (1.5, 2), (7, 2, 2, 2), (9, 3), (3, 3), (1, 3), (6, 1, 1, 1))
LONGEST = 32  # characters of a label
_FOOT = "#43505c"


def picture_of(shown: ShownMaps) -> Picture:
    """The picture, with its title above and the caption and facts below."""
    views = {"heads": _all_heads, "head": _one_head, "lines": _lines, "text": _sentence}
    return views[shown.options.view](shown)


def _sheet(
    shown: ShownMaps, width: float, height: float, marks: list[Mark], *, above: float = 0.2, below: float = 0.15
) -> Picture:
    """Marks with the title `above` inches over them, and caption and facts `below` under."""
    letters = max(64, int(width * 18))
    foot = (ordered(line) for text in (shown.caption, *shown.facts) for line in wrap(text, letters) or [""])
    title = Text(0, -above, ordered(shown.title), 10, bold=True, down="bottom")
    caption = Text(0, height + below, "\n".join(foot), colour=_FOOT, down="top")
    return Picture(width, height, (title, *marks, caption))


def scale_of(shown: ShownMaps) -> tuple[str, ...]:
    """The colours of the scale that the view names."""
    if shown.maps[0].signed:
        return palette.DIFFERENCE_SCALE
    return palette.SCALES[shown.options.palette]


def levels(one: LabelledMap, scale: str) -> NDArray[np.float64]:
    """The position of each number on the colour scale, 0 to 1, NaN where masked; a difference of 0 is in the middle."""
    seen = one.seen()
    if one.signed:
        return np.clip(0.5 + seen / (2 * one.scale), 0, 1)
    if scale == "log":
        with np.errstate(divide="ignore"):
            return np.clip(1 - np.log10(seen) / math.log10(FAINTEST), 0, 1)
    return np.clip(seen / one.scale, 0, 1)


def _short(text: str) -> str:
    return ordered(shortened(text, LONGEST))


def _row_names(one: LabelledMap) -> list[str]:
    """The rows of a map: what they read and, in the decoder, what they predict."""
    if not one.predicted:
        return [_short(label) for label in one.row_labels]
    pairs = zip(one.row_labels, one.predicted, strict=True)
    return [_short(row_label(reads, predicts)) for reads, predicts in pairs]


def _hue(title: str) -> str:
    return LIGHT.target if title.startswith("decoder") else LIGHT.source


def _tile(one: LabelledMap, shown: ShownMaps, x: float, y: float, width: float, height: float) -> Iterator[Mark]:
    """The cells of a map in a frame."""
    colours = shades(scale_of(shown), levels(one, shown.options.scale))
    yield Cells(x, y, width, height, colours, one.mask != VISIBLE)
    yield Box(x, y, width, height, edge="#9aa5af")


def _every(count: int, room: float, size: float) -> int:
    """Every which label is written, so that labels of this size do not touch each other."""
    return max(1, math.ceil(count * size * 1.05 / 72 / room))


def _column_names(one: LabelledMap, x: float, y: float, width: float, size: float) -> Iterator[Text]:
    """Upright names above the columns."""
    n, hue = len(one.columns), _hue(one.column_title)
    for key in range(0, n, _every(n, width, size)):
        at = x + (key + 0.5) * width / n
        yield Text(at, y - 0.04, _short(one.column_labels[key]), size, hue, "center", "bottom", upright=True)


def _row_labels(one: LabelledMap, x: float, y: float, height: float, size: float) -> Iterator[Text]:
    """Names beside the rows, on their left."""
    names, hue = _row_names(one), _hue(one.row_title)
    for query in range(0, len(names), _every(len(names), height, size)):
        yield Text(x - 0.04, y + (query + 0.5) * height / len(names), names[query], size, hue, "right")


def _longest(names: list[str], size: float) -> float:
    return max(width_of(name, size) for name in names)


def _all_heads(shown: ShownMaps) -> Picture:
    """All heads: tiles of equal size, with as many in a line as the layers of their kind have heads.

    All maps of a kind have the same tokens: keys are named above the first line, queries beside the first tile of each.
    """
    blocks = [list(group) for _, group in groupby(range(len(shown.maps)), key=lambda i: shown.places[i].kind)]
    # Sorted by anything but their place in the model, the lines are not layers.
    per_line = [max(shown.places[i].head for i in block) for block in blocks]
    widest, most = max(per_line), max(max(one.values.shape) for one in shown.maps)
    tile = max(min(1.35, 7.0 / widest), min(0.055 * most, 2.4, 14 / widest))  # longer sentences get larger tiles
    label, gap, heading = 0.3, 0.1, 0.24 if len(blocks) > 1 else 0.0
    size = max(3.2, min(5.0, 60 * tile / most))
    name_size = 5 if tile > 0.8 else 4.5
    beside = 0.1 + max(_longest(_row_names(shown.maps[block[0]]), size) for block in blocks)
    marks: list[Mark] = []
    top = 0.0
    for block, n in zip(blocks, per_line, strict=True):
        first = shown.maps[block[0]]
        if heading:
            marks.append(Text(0, top + 0.16, KIND_TITLES[shown.places[block[0]].kind], 8, down="baseline"))
        rise = _longest([_short(name) for name in first.column_labels], size)
        top += heading + rise + 0.24
        for number, i in enumerate(block):
            x, y = beside + (number % n) * (tile + gap), top + (number // n) * (tile + label)
            marks += _tile(shown.maps[i], shown, x, y, tile, tile)
            # Below the tile, since the keys are named above it.
            name = shown.places[i].short_name + (f" \u00b7 {shown.notes[i]}" if tile > 0.8 and shown.notes[i] else "")
            marks.append(Text(x, y + tile + 0.09, name, name_size, down="baseline"))
            if number < n:
                marks += _column_names(first, x, y, tile, size)
                marks.append(Text(x, y - rise - 0.1, first.column_title, 5, down="baseline"))
            if number % n == 0:
                marks += _row_labels(first, x, y, tile, size)
                marks.append(Text(x - 0.03, y + tile + 0.09, first.row_title, 5, across="right", down="baseline"))
        top += math.ceil(len(block) / n) * (tile + label)
    width = max(beside + widest * (tile + gap), 2.2)
    return _sheet(shown, width, top, [*marks, *_scale(shown, width + 0.1, top)])


def _one_head(shown: ShownMaps) -> Picture:
    """One head with its labels and colour bar, and with numbers where there is room."""
    one = shown.maps[0]
    rows, columns = one.values.shape
    cell = min(0.34, 6.2 / max(columns, 1), 7.5 / max(rows, 1))
    width, height = max(columns * cell, 1.2), max(rows * cell, 0.6)
    size = max(3.0, min(7.0, cell * 40))
    rise = _longest([_short(name) for name in one.column_labels], size)
    marks: list[Mark] = [
        *_tile(one, shown, 0, 0, width, height),
        *_column_names(one, 0, 0, width, size),
        *_row_labels(one, 0, 0, height, size),
        Text(width / 2, -rise - 0.12, one.column_title, across="center", down="bottom"),
        Text(-_longest(_row_names(one), size) - 0.12, height / 2, one.row_title, across="right", upright=True),
    ]
    if one.values.size <= NUMBERS_UP_TO:
        depth = levels(one, shown.options.scale)
        depth = np.abs(2 * depth - 1) - 0.2 if one.signed else depth
        for (row, column), value in np.ndenumerate(one.seen()):
            if not np.isnan(value):
                ink = "#ffffff" if depth[row, column] > 0.5 else INK
                x, y = (column + 0.5) * width / columns, (row + 0.5) * height / rows
                marks.append(Text(x, y, cell_number(float(value), signed=one.signed), 5.5, ink, "center"))
    return _sheet(shown, width, height, [*marks, *_scale(shown, width + 0.15, height)], above=0.4 + rise)


def _scale(shown: ShownMaps, x: float, height: float) -> Iterator[Mark]:
    """The colour bar, with a note on masked cells if there are any."""
    one, tall, wide = shown.maps[0], min(1.6, height), 0.1
    ramp = shades(scale_of(shown), np.linspace(1, 0, 256)[:, None])
    yield Cells(x, 0, wide, tall, ramp, np.zeros((256, 1), bool))
    yield Box(x, 0, wide, tall, edge=INK)
    ticks = _log_ticks() if shown.options.scale == "log" else _ticks(-one.scale if one.signed else 0.0, one.scale, tall)
    for level, text in ticks:
        y = tall * (1 - level)
        yield Curve(((x + wide, y), (x + wide + 0.03, y)), INK, 0.6)
        yield Text(x + wide + 0.06, y, text, 6)
    beside = x + wide + 0.12 + max(width_of(text, 6) for _, text in ticks)
    yield Text(beside, tall / 2, one.unit, 6, upright=True)
    if any((each.mask != VISIBLE).any() for each in shown.maps):
        yield Text(x, tall + 0.12, "hatched:\nmasked", 5.5, down="top")


def _log_ticks() -> list[tuple[float, str]]:
    named = {FAINTEST: "≤ 0.0001", 1e-3: "0.001", 1e-2: "0.01", 0.1: "0.1", 1.0: "1"}
    return [(1 - math.log10(value) / math.log10(FAINTEST), text) for value, text in named.items()]


def _ticks(low: float, high: float, tall: float) -> list[tuple[float, str]]:
    """Round numbers between two ends, as levels from 0 to 1 with their texts; fewer on a low bar."""
    rough = (high - low) / max(2.0, min(8.0, 6 * tall))
    power = math.floor(math.log10(rough))
    step = next(n * 10.0**power for n in (1, 2, 2.5, 5, 10) if n * 10.0**power >= rough)
    decimals = max(0, -power + (step / 10.0**power == 2.5))
    numbers = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [((i * step - low) / (high - low), f"{i * step:.{decimals}f}".replace("-", "−")) for i in numbers]


def lines_of(values: NDArray[np.float64], mass: int) -> list[tuple[int, int, float]]:
    """Query, key and weight of the heaviest keys of each row that together hold `mass` percent of it."""
    lines = []
    for query, row in enumerate(values):
        held = 0.0
        seen = np.nan_to_num(row, nan=0.0)
        for key in np.argsort(-seen, kind="stable"):
            if held >= mass / 100 - 1e-6 or seen[key] <= 0:
                break
            held += float(seen[key])
            lines.append((query, int(key), float(seen[key])))
    return lines


def _stroke(head: int) -> tuple[str, Dashes]:
    """Colour and dashes of a head's lines, as on screen."""
    colour, dashes = palette.head_stroke(head)
    return INK if colour < 0 else palette.HEAD_COLOURS[colour], DASHES[dashes]


def _lines(shown: ShownMaps) -> Picture:
    """Queries on the left, keys on the right, weights as curves between them."""
    first, width = shown.maps[0], 4.2
    most = max(first.values.shape)
    step = min(0.2, 8.5 / most)
    height = most * step
    heads = shown.places if len(shown.maps) > 1 else ()
    strokes = [_stroke(place.head) for place in heads] or [_stroke(1)]
    marks: list[Mark] = []
    for one, (colour, dashes) in zip(shown.maps, strokes, strict=True):
        for query, key, weight in lines_of(one.seen(), shown.options.mass):
            start, end = (query + 0.5) * step, (key + 0.5) * step
            points = ((0.3 * width, start), (0.46 * width, start), (0.54 * width, end), (0.7 * width, end))
            marks.append(Curve(points, colour, 0.3 + 1.5 * weight, min(1.0, 0.15 + 0.85 * weight), dashes))
    size = max(3.0, min(7.0, step * 40))
    columns: tuple[tuple[float, Across, str, tuple[str, ...]], ...] = (
        (0.29 * width, "right", first.row_title, first.row_labels),
        (0.71 * width, "left", first.column_title, first.column_labels),
    )
    for x, across, title, labels in columns:
        marks.append(Text(x, -0.06, title, 6.5, across=across, down="bottom"))
        marks += [Text(x, (i + 0.5) * step, _short(label), size, _hue(title), across) for i, label in enumerate(labels)]
    for n, (place, (colour, dashes)) in enumerate(zip(heads, strokes, strict=False)):
        y = height + 0.1 + 0.16 * n
        marks.append(Text(0.45 * width, y, name_in_layer(place.head), 6, colour))
        marks.append(Curve(((0.3 * width, y), (0.42 * width, y)), colour, 1, dashes=dashes))
    return _sheet(shown, width, height, marks, above=0.4, below=0.2 + 0.16 * len(heads))


def _sentence(shown: ShownMaps) -> Picture:
    """The keys as running text, each shaded by its weight in the row in view; of several heads, by their mean."""
    one, width = shown.maps[0], 6.4
    row = min(shown.row, len(one.rows) - 1)
    weights = np.stack([each.seen()[row] for each in shown.maps])  # [head, key]
    seen = weights.mean(axis=0)
    mean = replace(one, values=seen[None].astype(np.float32), mask=one.mask[row : row + 1])
    (depths,) = levels(mean, shown.options.scale)
    fills = shades(scale_of(shown), depths)
    heads = shown.places if len(shown.maps) > 1 else ()
    marks: list[Mark] = []
    x = y = 0.0
    for key, token in enumerate(map(_short, one.columns)):
        wide = 0.14 + 0.085 * max(len(token), 3, len(shown.maps))
        if x + wide > width and x:
            x, y = 0.0, y + (0.72 if heads else 0.5)
        masked, middle = bool(np.isnan(seen[key])), x + wide / 2
        ink = "#ffffff" if depths[key] > 0.5 else INK
        marks.append(Box(x, y, wide, 0.26, tuple(fills[key]), "#c5ccd3", hatched=masked))
        marks.append(Text(middle, y + 0.13, token, 7.5, ink, "center"))
        share = "masked" if masked else weight_percent(float(seen[key])) if seen[key] >= 0.005 else ""
        marks.append(Text(middle, y + 0.34, share, 5.5, _FOOT, "center"))
        bar = min(0.07, wide / len(shown.maps))
        for n, place in enumerate(() if masked else heads):
            tall, left = 0.2 * float(weights[n, key]), middle + (n - len(heads) / 2) * bar
            marks.append(Box(left, y + 0.61 - tall, 0.8 * bar, tall, _stroke(place.head)[0]))
        x += wide + 0.06
    height = y + (0.67 if heads else 0.45)
    for n, place in enumerate(heads):
        marks.append(Text(n * 0.55, height + 0.08, name_in_layer(place.head), 6, _stroke(place.head)[0], down="top"))
    return _sheet(shown, width, height, marks, below=0.15 + 0.16 * bool(heads))
