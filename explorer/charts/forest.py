"""Draw how each variant of an experiment differs from the first one: its runs, and a shift with its interval."""

from __future__ import annotations

from math import copysign, isfinite, log
from typing import Any

import altair as alt

from explorer.charts.chart import GREY, Figure, Table
from explorer.charts.vega_chart import specification
from explorer.locale.language import cached_by_language
from explorer.locale.messages import t
from explorer.runs.experiment_findings import axis_title, finding, named, row_text, shift_text, verdict_word
from explorer.runs.experiment_relations import Compared, beside_first

ROW = 36  # pixels: two lines of text beside an interval
_LINE, _LETTER = 14, 7  # pixels: the height of a line of the texts, and the width of a letter
_WIDEST = 215  # pixels of the texts
_AXIS = 56
_STEPS = (1.0, 2.0, 5.0)  # of the outermost tick, times powers of ten
_DECIDED = ("higher", "lower", "same")
_COLUMNS = ("text", "decided", "shift", "low", "high", "says", "run")


def forest_figure(what: Compared) -> Figure:
    """Draw the shift of each variant, and its runs as small dots; shaded is the margin within which it counts as none.

    The axis is linear within the margin and logarithmic outside it; that of a loss, of factors, is logarithmic.
    """
    loss = what.measure == "loss"
    none, low, high = (1.0, 1 / what.margin, what.margin) if loss else (0.0, -what.margin, what.margin)
    rows: list[tuple[Any, ...]] = [
        (f"{what.first.label}\n{row_text(what, what.first, what.mean)}", True, none, None, None, "", None)
    ]
    for row in what.rows:
        known = isfinite(row.low) and isfinite(row.high)
        mean, verdict = row_text(what, row.arm, row.mean), verdict_word(what, row.verdict)
        text = mean if row.verdict == "not compared" else t("{mean}, {verdict}", mean=mean, verdict=verdict)
        says = shift_text(what, row) if known else verdict
        interval = (row.shift, row.low, row.high) if known else (None, None, None)
        rows.append((f"{row.arm.label}\n{text}", row.verdict in _DECIDED, *interval, says, None))
    texts = tuple(row[0] for row in rows)
    for text, arm in zip(texts, (what.first, *(row.arm for row in what.rows)), strict=True):
        rows += [(text, None, None, None, None, "", run) for run in beside_first(what, arm)]
    ends = [low, high, *(value for row in rows for value in (*row[3:5], row[6]) if value is not None)]
    ticks = shift_ticks(min(ends), max(ends), what.margin, loss=loss)
    data: Table = {name: [row[nth] for row in rows] for nth, name in enumerate(_COLUMNS)}
    data |= {"from": [low] * len(rows), "to": [high] * len(rows)}
    if not loss:
        ticks = tuple(place(tick, what.margin) for tick in ticks)
        for name in ("shift", "low", "high", "run", "from", "to"):
            data[name] = [None if value is None else place(value, what.margin) for value in data[name]]
    return Figure(
        _spec(texts, what.margin, ticks, axis_title(what), loss=loss), data, finding(what, intervals=True), named(what)
    )


def place(shift: float, margin: float) -> float:
    """Where a shift is drawn: linear up to the margin, which is at 1, and by its logarithm from there."""
    size = abs(shift) / margin
    return copysign(size if size <= 1 else 1 + log(size), shift)


def shift_ticks(least: float, most: float, margin: float, *, loss: bool) -> tuple[float, ...]:
    """The ticks of shifts from `least` to `most`: none, the margin, powers of ten, and one at or beyond either end."""
    if loss:  # factors, of which those below 1 are reciprocals
        below, above = _sizes(1 / least, margin, 1.0), _sizes(most, margin, 1.0)
        return (*(1 / size for size in reversed(below)), 1.0, *above)
    below, above = _sizes(-least, margin, margin), _sizes(most, margin, margin)
    return (*(-size for size in reversed(below)), 0.0, *above)


def _sizes(end: float, margin: float, step: float) -> list[float]:
    """The margin, then `step` times powers of ten below `end`, and the first round size that is not."""
    powers = [step * 10**power for power in range(12)]
    last = next(power * size for power in powers for size in _STEPS if power * size >= max(end, margin) * (1 - 1e-9))
    return sorted({margin, *(power for power in powers if margin < power < last), last})


@cached_by_language(64)
def _spec(
    texts: tuple[str, ...], margin: float, ticks: tuple[float, ...], x_title: str, *, loss: bool
) -> dict[str, Any]:
    """Specify texts, the shaded margin, and in each row runs, an interval and a dot, grey where nothing is decided."""
    size = "abs(datum.value)"
    shift = f"{margin:g} * ({size} <= 1 ? datum.value : (datum.value < 0 ? -1 : 1) * exp({size} - 1))"  # see `place`
    number = f"format({'datum.value' if loss else shift}, ',.4~r')"
    axis = alt.Axis(
        values=list(ticks),
        labelExpr=number,
        labelFlush=False,
        labelColor="currentColor",
        title=x_title,
        titleColor="currentColor",
        titleFontSize=12,
        titlePadding=2,
    )
    scale = alt.Scale(domain=[ticks[0], ticks[-1]], nice=False, type="log" if loss else "linear")
    x: dict[str, Any] = {"scale": scale, "axis": axis}
    room = min(_WIDEST, _LETTER * max(len(line) for text in texts for line in text.split("\n")))
    names = alt.Axis(
        title=None,
        domain=False,
        ticks=False,
        grid=False,
        labelAlign="left",
        labelPadding=room,
        labelOffset=-_LINE // 2,
        labelExpr="split(datum.label, '\\n')",
        labelColor="currentColor",
        labelLimit=room,
        labelOverlap=False,
    )
    names_axis = alt.Y("text:N", axis=names, scale=alt.Scale(domain=list(texts), padding=0))
    base = alt.Chart().encode(
        y=names_axis,
        tooltip=[alt.Tooltip("text:N", title=" "), alt.Tooltip("says:N", title=x_title)],
    )
    layers: list[Any] = [
        alt.Chart().mark_rect(opacity=0.15, color=GREY).encode(x=alt.X("min(from):Q", **x), x2="max(to):Q")
    ]
    runs = alt.Chart().mark_point(filled=True, size=12, opacity=0.6, color=GREY, yOffset=8)
    layers.append(runs.encode(y=names_axis, x=alt.X("run:Q", **x)))
    for decided in (True, False):  # without names for screen readers: one of the two may have no rows
        colour = alt.value(GREY) if not decided else alt.Color("decided:N", legend=None, scale=alt.Scale(domain=[True]))
        some = base.transform_filter(alt.datum.decided == decided).encode(color=colour)
        layers.append(some.mark_bar(size=3, aria=False).encode(x=alt.X("low:Q", **x), x2="high:Q"))
        layers.append(some.mark_point(filled=True, size=70, opacity=1, aria=False).encode(x=alt.X("shift:Q", **x)))
    return specification(*layers, height=len(texts) * ROW + _AXIS) | {"padding": {"bottom": 2}}
