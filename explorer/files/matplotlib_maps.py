"""The maps on screen drawn with matplotlib: all heads, one head, lines, or the shaded sentence."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.charts.palette import ATTENTION_SCALE, DIFFERENCE_SCALE, HEAD_COLOURS, LIGHT, head_stroke
from explorer.decoding.labelled_map import LabelledMap
from explorer.decoding.names import KIND_TITLES, name_in_layer, row_label
from explorer.decoding.shown_maps import NUMBERS_UP_TO, ShownMaps
from explorer.locale.text import cell_number, shortened, weight_percent
from model.trace import VISIBLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

FAINTEST = 1e-4  # lower end of the logarithmic scale, as on screen
INK = "#1d2733"
DASHES = ("-", (0, (5, 2)), (0, (1.5, 2)), (0, (7, 2, 2, 2)), (0, (9, 3)), (0, (3, 3)), (0, (1, 3)), (0, (6, 1, 1, 1)))


def texts_of(shown: ShownMaps) -> Iterator[str]:
    """Every text of the figure; the fonts are chosen by them."""
    yield from (shown.title, shown.caption, *shown.facts, *shown.notes)
    for one in shown.maps:
        yield from (one.title, *one.rows, *one.columns, *one.predicted)


def figure_of(shown: ShownMaps) -> Figure:
    """The figure, with its title above and the caption and facts below."""
    drawers = {"heads": _grid, "head": _head, "lines": _lines, "text": _strip}
    return drawers[shown.options.view](shown)


def _figure(
    shown: ShownMaps, width: float, height: float, *, above: float = 0.2, below: float = 0.15
) -> tuple[Figure, Axes]:
    """A figure of some inches filled by its axes; the title is `above` inches over them, the caption `below` under."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    figure.text(0, 1 + above / height, _isolated(shown.title), fontsize=10, fontweight="bold", color=INK, va="bottom")
    lines = [line for text in (shown.caption, *shown.facts) for line in _wrapped(text, max(64, int(width * 18)))]
    text = "\n".join(map(_isolated, lines))
    figure.text(0, -below / height, text, fontsize=7, color="#43505c", va="top", linespacing=1.35)
    return figure, axes


def _isolated(text: str) -> str:
    """Text that keeps its left-to-right order, position before token, even with words of right-to-left scripts."""
    return f"\u200e{text}" if any(unicodedata.bidirectional(c) in ("R", "AL") for c in text) else text


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width` characters; longer words, as in scripts without spaces, are cut."""
    lines = [""]
    for word in text.split(" "):
        pieces = [word[i : i + width] for i in range(0, len(word), width)] or [""]
        for piece in pieces:
            if lines[-1] and len(lines[-1]) + 1 + len(piece) > width:
                lines.append(piece)
            else:
                lines[-1] = f"{lines[-1]} {piece}".strip()
    return lines


def colours(shown: ShownMaps) -> Colormap:
    """The colour scale that the view names."""
    import matplotlib as mpl
    from matplotlib.colors import LinearSegmentedColormap

    if shown.maps[0].signed:
        return LinearSegmentedColormap.from_list("difference", list(DIFFERENCE_SCALE))
    if shown.options.palette == "cividis":
        return mpl.colormaps["cividis"].reversed()
    if shown.options.palette == "grey":
        return LinearSegmentedColormap.from_list("grey", ["#ffffff", "#000000"])
    return LinearSegmentedColormap.from_list("attention", list(ATTENTION_SCALE))


def levels(one: LabelledMap, scale: str) -> NDArray[np.float64]:
    """The position of each number on the colour scale, 0 to 1, NaN where masked; a difference of 0 is in the middle."""
    seen = one.seen()
    if one.signed:
        return np.clip(0.5 + seen / (2 * one.scale), 0, 1)
    if scale == "log":
        with np.errstate(divide="ignore"):
            return np.clip(1 - np.log10(seen) / math.log10(FAINTEST), 0, 1)
    return np.clip(seen / one.scale, 0, 1)


def _picture(axes: Axes, one: LabelledMap, shown: ShownMaps, x: float, y: float) -> None:
    """One map with its upper left corner at (x, y) and cells of size 1; masked cells are hatched."""
    from matplotlib.patches import Rectangle

    rows, columns = one.values.shape
    rgba = colours(shown)(np.ma.masked_invalid(levels(one, shown.options.scale)))
    rgba[one.mask != VISIBLE] = (0.925, 0.925, 0.925, 1.0)
    axes.imshow(rgba, extent=(x, x + columns, y + rows, y), interpolation="none", aspect="auto")
    for row, start, end in masked_runs(one.mask):
        axes.add_patch(
            Rectangle((x + start, y + row), end - start, 1, fill=False, hatch="/////", ec=LIGHT.hatch, lw=0, zorder=2)
        )
    axes.add_patch(Rectangle((x, y), columns, rows, fill=False, ec="#9aa5af", lw=0.4, zorder=3))


def masked_runs(mask: NDArray[np.uint8]) -> Iterator[tuple[int, int, int]]:
    """Row, first column and end of each stretch of masked cells."""
    for row, codes in enumerate(mask):
        start = 0
        for masked, run in groupby(bool(code != VISIBLE) for code in codes):
            end = start + sum(1 for _ in run)
            if masked:
                yield row, start, end
            start = end


def _grid(shown: ShownMaps) -> Figure:
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
    firsts = [shown.maps[block[0]] for block in blocks]
    letters = size * 0.62 / 72  # inches
    beside = letters * max(len(text) for one in firsts for text in _row_names(one)) + 0.1
    above = [letters * max(len(_short(text)) for text in one.column_labels) + 0.24 for one in firsts]
    heights = [
        math.ceil(len(block) / n) * (tile + label) + heading + over
        for block, n, over in zip(blocks, per_line, above, strict=True)
    ]
    width, height = max(beside + widest * (tile + gap), 2.2), sum(heights)
    figure, axes = _figure(shown, width, height)
    _off(axes, width, height)
    top = 0.0
    for block, n, tall, over in zip(blocks, per_line, heights, above, strict=True):
        if heading:
            axes.text(0, top + 0.16, KIND_TITLES[shown.places[block[0]].kind], fontsize=8, color=INK)
        for number, i in enumerate(block):
            x = beside + (number % n) * (tile + gap)
            y = top + heading + over + (number // n) * (tile + label)
            inset = axes.inset_axes((x, y, tile, tile), transform=axes.transData)
            rows, columns = shown.maps[i].values.shape
            _off(inset, columns, rows)
            _picture(inset, shown.maps[i], shown, 0, 0)
            # Below the tile, since the keys are named above it.
            name = shown.places[i].short_name + (f" \u00b7 {shown.notes[i]}" if tile > 0.8 and shown.notes[i] else "")
            axes.text(x, y + tile + 0.09, name, fontsize=5 if tile > 0.8 else 4.5, color=INK)
            if number < n:
                _name_columns(axes, shown.maps[i], x, y, tile, size)
            if number % n == 0:
                _name_rows(axes, shown.maps[i], x, y, tile, size)
        top += tall
    _bar(figure, shown, 1 + 0.1 / width, width, height)
    return figure


def _row_names(one: LabelledMap) -> list[str]:
    """The rows of a map: what they read and, in the decoder, what they predict."""
    rows = list(one.row_labels)
    if one.predicted:
        rows = [row_label(reads, predicts) for reads, predicts in zip(rows, one.predicted, strict=True)]
    return list(map(_short, rows))


def _hue(title: str) -> str:
    return LIGHT.target if title.startswith("decoder") else LIGHT.source


def _every(count: int, tile: float, size: float) -> int:
    """Every which label is written, so that labels of this size do not touch each other."""
    return max(1, math.ceil(count * size * 1.05 / 72 / tile))


def _name_columns(axes: Axes, one: LabelledMap, x: float, y: float, tile: float, size: float) -> None:
    n = len(one.columns)
    for key in range(0, n, _every(n, tile, size)):
        at = x + (key + 0.5) * tile / n
        text = _short(one.column_labels[key])
        axes.text(
            at, y - 0.03, text, fontsize=size, rotation=90, ha="center", va="bottom", color=_hue(one.column_title)
        )
    longest = size * 0.62 / 72 * max(len(_short(label)) for label in one.column_labels)
    axes.text(x, y - longest - 0.1, one.column_title, fontsize=5, color=INK)


def _name_rows(axes: Axes, one: LabelledMap, x: float, y: float, tile: float, size: float) -> None:
    names = _row_names(one)
    for query in range(0, len(names), _every(len(names), tile, size)):
        at = y + (query + 0.5) * tile / len(names)
        axes.text(x - 0.03, at, names[query], fontsize=size, ha="right", va="center", color=_hue(one.row_title))
    axes.text(x - 0.03, y + tile + 0.09, one.row_title, fontsize=5, ha="right", color=INK)


def _off(axes: Axes, width: float, height: float) -> None:
    """No frame, and coordinates with the origin at the upper left."""
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)


def _head(shown: ShownMaps) -> Figure:
    """One head with its labels and colour bar, and with numbers where there is room."""
    one = shown.maps[0]
    rows, columns = one.values.shape
    cell = min(0.34, 6.2 / max(columns, 1), 7.5 / max(rows, 1))
    width, height = columns * cell, rows * cell
    size = max(3.0, min(7.0, cell * 40))
    # Key labels stand upright between map and title; their length is estimated from the number of letters.
    longest = max(len(_short(label)) for label in one.column_labels)
    figure, axes = _figure(shown, max(width, 1.2), max(height, 0.6), above=0.4 + longest * size * 0.62 / 72)
    _picture(axes, one, shown, 0, 0)
    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)
    _labels(axes, one, size)
    if one.values.size <= NUMBERS_UP_TO:
        shades = levels(one, shown.options.scale)
        for (row, column), value in np.ndenumerate(one.seen()):
            if not np.isnan(value):
                text = cell_number(float(value), signed=one.signed)
                shade = abs(2 * shades[row, column] - 1) - 0.2 if one.signed else shades[row, column]
                ink = "#ffffff" if shade > 0.5 else INK
                axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=5.5, color=ink)
    _bar(figure, shown, 1 + 0.15 / max(width, 1.2), max(width, 1.2), max(height, 0.6))
    return figure


def _labels(axes: Axes, one: LabelledMap, size: float) -> None:
    rows = _row_names(one)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xticks([i + 0.5 for i in range(len(one.columns))], list(map(_short, one.column_labels)), rotation=90)
    axes.set_yticks([i + 0.5 for i in range(len(rows))], rows)
    axes.tick_params(labelsize=size, colors=INK)
    for labels, colour in (
        (axes.get_xticklabels(), _hue(one.column_title)),
        (axes.get_yticklabels(), _hue(one.row_title)),
    ):
        for label in labels:
            label.set_color(colour)
    axes.set_xlabel(one.column_title, fontsize=7, color=INK)
    axes.set_ylabel(one.row_title, fontsize=7, color=INK)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _short(text: str) -> str:
    return _isolated(shortened(text, 32))


def _bar(figure: Figure, shown: ShownMaps, left: float, width: float, height: float) -> None:
    """The colour bar, with a note on masked cells if there are any."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm, Normalize

    one = shown.maps[0]
    log = shown.options.scale == "log"
    tall = min(1.6, height) / height
    axes = figure.add_axes((left, 1 - tall, 0.1 / width, tall))
    norm = LogNorm(FAINTEST, 1) if log else Normalize(-one.scale if one.signed else 0, one.scale)
    bar = figure.colorbar(ScalarMappable(norm, colours(shown)), cax=axes)
    bar.ax.tick_params(labelsize=6, colors=INK)
    if log:
        bar.ax.set_yticks([FAINTEST, 1e-3, 1e-2, 0.1, 1], ["≤ 0.0001", "0.001", "0.01", "0.1", "1"])
        bar.ax.minorticks_off()
    bar.set_label(one.unit, fontsize=6, color=INK)
    bar.outline.set_linewidth(0.4)
    if any((one.mask != VISIBLE).any() for one in shown.maps):
        bar.ax.text(0, -0.12, "hatched:\nmasked", transform=bar.ax.transAxes, fontsize=5.5, color=INK, va="top")


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


def _lines(shown: ShownMaps) -> Figure:
    """Queries on the left, keys on the right, weights as curves between them."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    first = shown.maps[0]
    most = max(first.values.shape)
    step = min(0.2, 8.5 / most)
    several = len(shown.maps) > 1
    figure, axes = _figure(shown, 4.2, most * step, above=0.4, below=0.2 + 0.16 * len(shown.maps) * several)
    _off(axes, 1, most)
    strokes = [_stroke(place.head if several else 1) for place in shown.places] or [_stroke(1)]
    for one, (colour, dashes) in zip(shown.maps, strokes, strict=True):
        for query, key, weight in lines_of(one.seen(), shown.options.mass):
            ends = [(0.3, query + 0.5), (0.46, query + 0.5), (0.54, key + 0.5), (0.7, key + 0.5)]
            curve = Path(ends, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
            look: dict[str, Any] = {"ec": colour, "ls": dashes, "lw": 0.3 + 1.5 * weight}
            axes.add_patch(PathPatch(curve, fc="none", alpha=min(1.0, 0.15 + 0.85 * weight), **look))
    size = max(3.0, min(7.0, step * 40))
    _column(axes, first.row_labels, 0.29, "right", first.row_title, size)
    _column(axes, first.column_labels, 0.71, "left", first.column_title, size)
    for n, (place, (colour, dashes)) in enumerate(zip(shown.places if several else (), strokes, strict=False)):
        y = most + (0.1 + 0.16 * n) / step  # below the tokens, in inches
        axes.text(0.45, y, name_in_layer(place.head), fontsize=6, va="center", color=colour)
        axes.plot((0.3, 0.42), (y, y), color=colour, ls=dashes, lw=1, clip_on=False)
    return figure


def _stroke(head: int) -> tuple[str, Any]:
    """Colour and dashes of a head's lines, as on screen."""
    colour, dashes = head_stroke(head)
    return INK if colour < 0 else HEAD_COLOURS[colour], DASHES[dashes]


def _column(axes: Axes, labels: Sequence[str], x: float, align: Any, title: str, size: float) -> None:
    colour = _hue(title)
    axes.text(x, -0.3, title, ha=align, va="bottom", fontsize=6.5, color=INK)
    for at, label in enumerate(labels):
        axes.text(x, at + 0.5, _short(label), ha=align, va="center", fontsize=size, color=colour)


def _strip(shown: ShownMaps) -> Figure:
    """The keys as running text, each shaded by its weight in the row in view; of several heads, by their mean."""
    from matplotlib.patches import Rectangle

    one = shown.maps[0]
    row = min(shown.row, len(one.rows) - 1)
    weights = np.stack([each.seen()[row] for each in shown.maps])  # [head, key]
    seen = weights.mean(axis=0)
    shades = levels(
        replace(one, values=seen[None].astype(np.float32), mask=one.mask[row : row + 1]), shown.options.scale
    )
    several = len(shown.maps) > 1
    places, x, y = [], 0.0, 0.0
    for key, token in enumerate(one.columns):
        wide = 0.14 + 0.085 * max(len(_short(token)), 3, len(shown.maps))
        if x + wide > 6.4 and x:
            x, y = 0.0, y + (0.72 if several else 0.5)
        places.append((key, x, y, wide))
        x += wide + 0.06
    high = y + (0.67 if several else 0.45)
    figure, axes = _figure(shown, 6.4, high, below=0.15 + 0.16 * several)
    _off(axes, 6.4, high)
    scale = colours(shown)
    for key, left, top, wide in places:
        masked = np.isnan(seen[key])
        shade = 0.0 if masked else float(shades[0, key])
        fill = LIGHT.masked if masked else scale(shade)
        axes.add_patch(
            Rectangle((left, top), wide, 0.26, fc=fill, ec="#c5ccd3", lw=0.4, hatch="////" if masked else None)
        )
        ink = "#ffffff" if not masked and shade > 0.5 else INK
        axes.text(
            left + wide / 2, top + 0.13, _short(one.columns[key]), fontsize=7.5, ha="center", va="center", color=ink
        )
        weight = "masked" if masked else weight_percent(float(seen[key])) if seen[key] >= 0.005 else ""
        axes.text(left + wide / 2, top + 0.34, weight, fontsize=5.5, ha="center", va="center", color="#43505c")
        for n, place in enumerate(shown.places if several and not masked else ()):
            tall, bar = 0.2 * float(weights[n, key]), min(0.07, wide / len(shown.maps))
            x = left + wide / 2 + (n - len(shown.maps) / 2) * bar
            axes.add_patch(Rectangle((x, top + 0.61 - tall), 0.8 * bar, tall, fc=_stroke(place.head)[0], lw=0))
    for n, place in enumerate(shown.places if several else ()):
        axes.text(n * 0.55, high + 0.08, name_in_layer(place.head), fontsize=6, color=_stroke(place.head)[0], va="top")
    return figure
