"""Figures of the Probe page: layer × head maps, pruning and patches."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from explorer.charts.plotly_charts import (
    NO_BAR,
    Plot,
    above,
    curves,
    heatmap,
    labels,
    width_of,
)
from explorer.decoding.names import index_name, numbered, short_head, short_layer
from explorer.locale.messages import t, translated
from explorer.locale.text import capitalised, fixed, listed, percent, rounded, two_digits
from explorer.probing.edit_effect import with_interval
from explorer.probing.importance import PruningCurve
from explorer.probing.patching import MeanPatches, Patched, point_names
from model.analysis.bootstrap import Estimate
from model.analysis.patching import Stack

Scores = NDArray[np.float64]
Marks = NDArray[np.bool_]
_BUTTONS = ["toImage", "zoom", "pan", "zoomIn", "zoomOut", "resetScale"]  # they would cover the title of the heads


def layer_head_map(
    values: Scores,
    kind: str,
    title: str = "",
    *,
    span: tuple[float, float],
    baseline: float | None = None,
    decimals: int = 2,
    clear: Marks | None = None,
    interval: Estimate | None = None,
    named: Collection[tuple[int, int]] = (),
    bar: bool = True,
) -> Plot:
    """Draw one score of all heads of one kind, [layer, head], with the number in each cell.

    With `clear` [layer, head], numbers are in brackets if they cannot be told from zero. `interval`: no head is called
    the highest or lowest whose interval overlaps that of another. `named`: heads
    that have their role by this score, in bold. Of maps side by side on one scale, one has its `bar`.
    """
    n_layers, n_heads = values.shape
    # Labels begin with a letter, since Plotly would read a number as the position of a tick.
    rows, columns = [short_layer(i + 1) for i in range(n_layers)], [short_head(i + 1) for i in range(n_heads)]
    figure = heatmap(
        values,
        x=columns,
        y=rows,
        x_title=t("head"),
        y_title=t("layer"),
        span=span,
        height=140 + 40 * n_layers,
    )
    marks = np.full(values.shape, None) if clear is None else clear
    words = [
        [_word(value, decimals, clear) for value, clear in zip(*line, strict=True)]
        for line in zip(values, marks.tolist(), strict=True)
    ]
    figure.update_layout(modebar_remove=_BUTTONS)
    _with_bar(figure, bar)
    for layer, head in named:
        words[layer][head] = f"<b>{words[layer][head]}</b>"
    figure.update_traces(text=words, texttemplate="%{text}", selector={"type": "heatmap"})
    if clear is not None:
        _spread(figure, values, span)
    captions = [_extremes(values, kind, title, decimals, interval)]
    if clear is not None and not clear.all():
        captions.append(t("In brackets: cannot be told from zero."))
    if named:
        captions.append(t("Bold: heads that have their role by this score."))
    if baseline is not None and np.isfinite(baseline):
        captions.append(t("Uniform attention: {number}.", number=fixed(float(baseline), decimals)))
    table: dict[str, list[Any]] = {t("layer"): [i + 1 for i in range(n_layers)]}
    table |= {short_head(j + 1): [rounded(float(value), decimals) for value in values[:, j]] for j in range(n_heads)}
    return Plot(figure, " ".join(captions), capitalised(translated(kind)), table)


def _with_bar(figure: go.Figure, bar: bool) -> None:
    """Leave the colour bar out unless it is wanted: of maps side by side on one scale, one has it."""
    if bar:
        return
    figure.update_traces(showscale=False)
    slanted = figure.layout.xaxis.tickangle == -45
    last = width_of(unescape(figure.layout.xaxis.ticktext[-1])) if slanted else 0
    figure.update_layout(margin_r=max(NO_BAR, round(0.72 * last)))  # the last name leans out to the right


def _spread(figure: go.Figure, values: Scores, span: tuple[float, float]) -> None:
    """Colour values by the square root of their size, so that a head matters less than the largest, but not nothing."""
    ends = (span[0], 0.0, max(map(abs, span)) / 10, span[1])
    at, *marks = (np.sign(each) * np.sqrt(np.abs(each)) for each in (values, *ends))
    ticks = {"tickvals": marks, "ticktext": [two_digits(end) if end else "0" for end in ends]}
    hover = "%{y}, %{x}: %{customdata:.3~g}<extra></extra>"
    figure.update_traces(z=at, customdata=values, zmin=marks[0], zmax=marks[-1], colorbar=ticks, hovertemplate=hover)


def _word(value: float, decimals: int, clear: bool | None) -> str:
    if not np.isfinite(value):
        return ""
    least = 10.0**-decimals
    number = f"< {fixed(least, decimals)}" if clear and 0 < value < least / 2 else fixed(value, decimals)
    return f"({number})" if clear is False else number


def _extremes(values: Scores, kind: str, title: str, decimals: int, interval: Estimate | None) -> str:
    """Name the heads that are highest and lowest, together with those that cannot be told from them."""
    score = capitalised(title)
    if not np.isfinite(values).any():
        return t("{score} is not known for {kind} heads on this sample.", score=score, kind=translated(kind))
    low, high = (values, values) if interval is None else (interval.low, interval.high)
    most, least = (fixed(float(extreme(values)), decimals) for extreme in (np.nanmax, np.nanmin))
    if most == least:
        return t("{score}: {value} in every head.", score=score, value=most)
    top = high >= low.flat[np.nanargmax(values)]
    bottom = low <= high.flat[np.nanargmin(values)]
    if (top & bottom).any():
        return t("{score}: {least} to {most}; the intervals of all heads overlap.", score=score, least=least, most=most)
    highest, lowest = (
        listed(index_name(int(layer), int(head)) for layer, head in np.argwhere(group)) for group in (top, bottom)
    )
    return t(
        "{score}: highest in {highest} ({most}), lowest in {lowest} ({least}).",
        score=score,
        highest=highest,
        most=_range(values[top], decimals),
        lowest=lowest,
        least=_range(values[bottom], decimals),
    )


def _range(values: Scores, decimals: int) -> str:
    low, high = (fixed(float(value), decimals) for value in (values.min(), values.max()))
    return low if low == high else t("{low} to {high}", low=low, high=high)


def pruning_plot(curve: PruningCurve) -> Plot:
    """Plot the remaining quality, in percent of the whole model's, against the number of heads switched off."""
    by_chance, own = curve.random_quality(), t("probability per token")
    random_orders = t("probability per token, {n} random orders", n=len(by_chance))
    drawn = {own: curve.remaining_quality(), random_orders: by_chance.mean(axis=0).tolist()}
    figure = curves(
        {name: (np.array(curve.counts), np.array(values)) for name, values in drawn.items()},
        x_title=t("heads switched off"),
        y_title=t("remaining quality (%)"),
        dots=True,
    )
    figure.update_yaxes(rangemode="tozero")
    low, high = curve.interval()
    for line, (least, most) in zip(
        figure.data, ((low, high), (by_chance.min(axis=0), by_chance.max(axis=0))), strict=True
    ):
        above, below = np.subtract(most, line.y), np.subtract(line.y, least)
        line.error_y = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
    table: dict[str, list[Any]] = {t("heads switched off"): list(curve.counts)}
    columns = {t("{measure}, low", measure=own): low, t("{measure}, high", measure=own): high, **drawn}
    columns |= {
        t("random orders, lowest"): by_chance.min(axis=0),
        t("random orders, highest"): by_chance.max(axis=0),
    }
    table |= {t("{name} (%)", name=name): [rounded(value, 1) for value in column] for name, column in columns.items()}
    return Plot(figure, curve.summary(), "", table)


def _patch_titles(stack: Stack, stacks: Collection[Stack]) -> tuple[str, str]:
    """The title of a map of patches and of its columns, for a model with these stacks."""
    if len(stacks) == 1:
        return t("Prompt and continuation"), t("token (← other sentence)")
    if stack == "encoder":
        return t("Source side"), t("source token (← other sentence)")
    return t("Target side"), t("decoder has read")


def patch_plot(patched: Patched, stack: Stack, *, bar: bool = True) -> Plot:
    """Draw how replacing the vector at each place of a stack changes the log-probability of the predicted token."""
    change, columns = patched.change(stack), patched.columns[stack]
    rows, titles = point_names(len(change)), _patch_titles(stack, patched.columns)
    beside = [labels(others) for others in patched.columns.values()]
    figure = _patch_map(change, rows, labels(columns), titles[1], patched.top, beside=beside)
    _with_bar(figure, bar)
    table: dict[str, list[Any]] = {t("position"): list(numbered(columns))}
    for name, values, instead in zip(rows, change, patched.instead[stack], strict=True):
        table[t("{place}: change (nats)", place=name)] = [rounded(float(value), 3) for value in values]
        table[t("{place}: likeliest", place=name)] = list(instead)
    return Plot(figure, patched.caption(stack), titles[0], table)


def mean_patch_plot(means: MeanPatches, stack: Stack, *, bar: bool = True) -> Plot:
    """Draw the mean effect of the vectors at each kind of place of a stack, over pairs of sentences."""
    places = {place: item for (where, place), item in means.places.items() if where == stack}
    shares = np.stack([item.value for item in places.values()], axis=1)
    rows = point_names(len(shares))
    titles = _patch_titles(stack, means.mean_place)
    figure = _patch_map(shares, rows, [translated(place) for place in places], titles[1], means.top, scale=t("share"))
    _with_bar(figure, bar)
    point, nth = (int(i) for i in np.unravel_index(int(np.abs(shares).argmax()), shares.shape))
    name, item = list(places.items())[nth]
    caption = t(
        "Largest: {place}, {point}: {share} of the difference.",
        place=translated(name),
        point=rows[point],
        share=with_interval(item, percent, point),
    )
    return Plot(figure, caption, titles[0], {})


def _patch_map(
    change: Scores,
    rows: Sequence[str],
    columns: Sequence[str],
    x_title: str,
    top: float,
    scale: str = "",
    beside: Sequence[Sequence[str]] = (),
) -> go.Figure:
    figure = heatmap(
        change,
        x=columns,
        y=rows,
        x_title=x_title,
        y_title=t("output of layer"),
        span=(-top, top),
        scale_title=scale or t("nats"),
        height=above(columns, *beside)[1] + 10 + 36 * len(rows),  # cells of one height under names of any length
        beside=beside,
    )
    # An empty cell is NaN, or rounds to 0.
    words = [[fixed(float(value), 1, signed=True) if abs(value) >= 0.05 else "" for value in line] for line in change]
    figure.update_traces(text=words, texttemplate="%{text}", selector={"type": "heatmap"})
    return figure
