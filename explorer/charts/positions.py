"""Figures of the Positions page: the table, its curves and wavelengths, dot products, one word, a rotation, scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.charts.plotly_charts import Columns, Plot, curves, heatmap, rule
from explorer.decoding.position_values import lead_of_neighbours
from explorer.locale.messages import t
from explorer.locale.text import capitalised, fixed, percent, quoted
from model.analysis.position_scores import ByDistance
from model.analysis.sinusoidal_checks import RotationCheck
from model.analysis.word_order import Length

Floats = NDArray[np.float64]
MAX_COLUMNS = 32  # of a table under a figure


def _columns(first: str, rows: Sequence[Any], values: NDArray[Any]) -> Columns:
    """Table columns: the names of the rows, and the values [row, dimension], at most `MAX_COLUMNS` columns."""
    columns = range(min(values.shape[1], MAX_COLUMNS))
    return {first: list(rows)} | {t("dim {i}", i=i): values[:, i].round(4).tolist() for i in columns}


def _span(values: NDArray[Any]) -> tuple[float, float]:
    """The ends of the colour scale: from 0 if no value is negative, otherwise symmetric around 0."""
    top = float(np.abs(values).max()) or 1.0
    return (0.0, top) if values.min() >= 0 else (-top, top)


def table_plot(table: Floats, wavelengths: Floats) -> Plot:
    """Draw the table [pos, d_model] of the formula as a heatmap; wavelengths [pair] in positions."""
    length, d_model = table.shape
    complete = int((wavelengths <= length).sum())
    incomplete = len(wavelengths) - complete
    caption = t(
        "Each row is the vector of one position, {d_model} numbers between −1 and 1. On the left the numbers "
        "change from row to row (a full turn in {first:.1f} positions), on the right they hardly change "
        "({last:,.0f} positions): {complete} of {pairs} sine–cosine pairs complete a turn within these "
        "{positions}, {incomplete} do not.",
        d_model=d_model,
        first=wavelengths[0],
        last=wavelengths[-1],
        complete=complete,
        pairs=len(wavelengths),
        positions=t("{n} position", "{n:,} positions", n=length),
        incomplete=incomplete,
    )
    figure = heatmap(table, x_title=t("dimension"), y_title=t("position (from 0)"), span=(-1.0, 1.0), height=340)
    return Plot(figure, caption, t("The table"), _columns(t("position"), range(length), table))


def curves_plot(table: Floats, wavelengths: Floats, dimensions: Sequence[int]) -> Plot:
    """Draw chosen dimensions against position."""
    positions = np.arange(table.shape[0])
    names = {i: t("dim {i} ({function})", i=i, function="cos" if i % 2 else "sin") for i in dimensions}
    figure = curves(
        {names[i]: (positions, table[:, i]) for i in dimensions}, x_title=t("position (from 0)"), y_title=t("value")
    )
    periods = [
        t("dimension {i} repeats every {positions:,.1f} positions", i=i, positions=wavelengths[i // 2])
        for i in dimensions
    ]
    caption = capitalised("; ".join(periods)) + "." if periods else t("Choose one or more dimensions.")
    columns: Columns = {t("position"): positions.tolist()}
    columns |= {names[i]: table[:, i].round(4).tolist() for i in dimensions}
    return Plot(figure, caption, t("Curves of chosen dimensions"), columns)


def wavelength_plot(wavelengths: Floats, length: int) -> Plot:
    """Draw the wavelength of each sine–cosine pair on a logarithmic axis."""
    pairs = np.arange(len(wavelengths))
    figure = curves(
        {
            t("wavelength"): (2 * pairs, wavelengths),
            t("{length} positions", length=length): (2 * pairs, np.full(len(pairs), length)),
        },
        x_title=t("dimension 2i"),
        y_title=t("wavelength (positions)"),
        log=True,
        dots=True,
    )
    figure.data[1].update(mode="lines")
    caption = t(
        "From {first:.2f} positions (2π) in dimensions 0 and 1 to {last:,.0f} in the last two. Evenly spaced "
        "on this logarithmic axis: each pair is {factor:.3f} × slower than the one before.",
        first=wavelengths[0],
        last=wavelengths[-1],
        factor=wavelengths[min(1, len(wavelengths) - 1)] / wavelengths[0],
    )
    columns: Columns = {
        t("dimensions"): [f"{2 * i}, {2 * i + 1}" for i in pairs],
        t("wavelength (positions)"): wavelengths.round(3).tolist(),
        t("angle per position (rad)"): (2 * np.pi / wavelengths).round(8).tolist(),
    }
    return Plot(figure, caption, t("Wavelengths"), columns)


def product_plot(table: Floats) -> Plot:
    """Draw the dot product of every two positions, which depends only on their distance."""
    products = table @ table.T
    length = len(table)
    caption = t(
        "The dot product of two positions depends only on how far apart they are: along each diagonal it varies by "
        "at most {variation:.1e}. Neighbouring positions have {near:.2f}, the two ends {far:.2f}.",
        variation=max(float(np.ptp(np.diag(products, k))) for k in range(length)),
        near=float(products[0, min(1, length - 1)]),
        far=float(products[0, -1]),
    )
    figure = heatmap(
        products, x_title=t("position (from 0)"), y_title=t("position (from 0)"), span=_span(products), height=380
    )
    columns: Columns = {t("offset"): list(range(length)), t("dot product"): products[0].round(4).tolist()}
    return Plot(figure, caption, t("Dot product"), columns)


def word_plot(token: str, position: int, embedding: Floats, row: Floats | None) -> Plot:
    """Draw a token's embedding × √d_model, the row of its position, and their sum; each [d_model]."""
    strips = {t("embedding"): embedding}
    size = float(np.linalg.norm(embedding))
    if row is None:
        caption = t(
            "This model adds no positions: {token} is the same vector of length {length:.2f} wherever it stands.",
            token=quoted(token),
            length=size,
        )
    else:
        strips |= {t("+ position"): row, t("= sum"): embedding + row}
        added = float(np.linalg.norm(row))
        caption = t(
            "{token} at position {position}: the embedding has length {length:.2f}, the position {added:.2f} "
            "({percent:.0f} % of it), and their sum {sum:.2f}.",
            token=quoted(token),
            position=position,
            length=size,
            added=added,
            percent=100 * added / max(size, 1e-12),
            sum=np.linalg.norm(embedding + row),
        )
    columns: Columns = {t("dimension"): list(range(len(embedding)))}
    columns |= {name.lstrip("+= "): strip.round(4).tolist() for name, strip in strips.items()}
    values = np.stack(list(strips.values()))  # [strip, d_model]
    top = float(np.abs(values).max()) or 1.0
    figure = heatmap(values, x_title=t("dimension"), y_title="", span=(-top, top), height=110 + 50 * len(strips))
    figure.update_yaxes(tickmode="array", tickvals=list(range(len(strips))), ticktext=list(strips))
    figure.update_layout(margin_l=100)
    figure.update_traces(ygap=8)
    return Plot(figure, caption, t("One word and its position"), columns)


def rotation_plot(table: Floats, pair: int, position: int, offset: int) -> Plot:
    """Draw a sine–cosine pair as a hand on the unit circle, at a position and `offset` positions later."""
    here, there = table[position, 2 * pair : 2 * pair + 2], table[position + offset, 2 * pair : 2 * pair + 2]
    turn = np.linspace(0, 2 * np.pi, 121)
    figure = curves(
        {
            t("all positions"): (np.cos(turn), np.sin(turn)),
            f"PE({position})": ([0, here[1]], [0, here[0]]),
            f"PE({position + offset})": ([0, there[1]], [0, there[0]]),
        },
        x_title=t("cos (dimension {dimension})", dimension=2 * pair + 1),
        y_title=t("sin (dimension {dimension})", dimension=2 * pair),
        height=380,
    )
    for hand in figure.data[1:]:
        hand.update(mode="lines+markers", marker={"size": 10})
    figure.update_layout(hovermode="closest")
    figure.update_yaxes(scaleanchor="x", range=[-1.15, 1.15])
    figure.update_xaxes(range=[-1.15, 1.15])
    angle = np.degrees((np.arctan2(*there) - np.arctan2(*here)) % (2 * np.pi))
    caption = t(
        "Pair {pair} at position {position} and {offset} later: the hand has turned by {degrees:.1f}° (full "
        "turns not counted). It turns by the same angle from any other position.",
        pair=pair + 1,
        position=position,
        offset=offset,
        degrees=angle,
    )
    return Plot(figure, caption, t("One pair is a clock hand"))


def rotation_columns(check: RotationCheck) -> Columns:
    """M_k of every pair as the columns of a table."""
    return {
        t("pair"): list(range(1, len(check.angles) + 1)),
        t("angle k·ω (°)"): np.degrees(check.angles).round(4).tolist(),
        "cos": check.matrices[:, 0, 0].round(6).tolist(),
        "sin": check.matrices[:, 0, 1].round(6).tolist(),
    }


def length_plot(lengths: Sequence[Length], trained: int) -> Plot:
    """Draw the share of exactly right sentences by source length, with the longest trained length marked."""
    tokens = [length.tokens for length in lengths]
    right = [100 * length.right / length.sentences for length in lengths]
    figure = curves(
        {t("exactly right"): (tokens, right)}, x_title=t("source tokens"), y_title=t("exactly right (%)"), dots=True
    )
    figure.update_yaxes(range=[-4, 104])
    rule(figure, x=trained + 0.5, text=t("longest in training: {trained}", trained=trained))
    inside = [length for length in lengths if length.tokens <= trained]
    beyond = [length for length in lengths if length.tokens > trained]
    caption = t(
        "Up to {tokens}, {inside} are exactly right; beyond, {beyond}: in training, the model never saw a token at "
        "these positions.",
        tokens=t("{n} token", "{n:,} tokens", n=trained),
        inside=_share(inside),
        beyond=_share(beyond),
    )
    columns: Columns = {
        t("source tokens"): tokens,
        t("sentences"): [length.sentences for length in lengths],
        t("exactly right (%)"): right,
    }
    return Plot(figure, caption, t("Past the longest trained length"), columns)


def _share(lengths: Sequence[Length]) -> str:
    total = sum(length.sentences for length in lengths)
    return t(
        "{right} of {sentences}",
        right=sum(length.right for length in lengths),
        sentences=t("{n} sentence", "{n:,} sentences", n=total),
    )


def score_map(name: str, scores: Floats) -> Plot:
    """Draw scores of one word with itself at every two positions, [query, key]."""
    x_title, y_title = t("position of the key (from 0)"), t("position of the query (from 0)")
    low, high = float(scores.min()), float(scores.max())
    span = (low, high if low < high else low + 1)
    figure = heatmap(scores, x_title=x_title, y_title=y_title, span=span, height=380)
    figure.update_traces(autocolorscale=False)  # a score of 0 is nothing special
    caption = t(
        "{name}: scores of one word with itself at {n} positions, from {low:.2f} to {high:.2f}.",
        name=name,
        n=len(scores),
        low=low,
        high=high,
    )
    columns: Columns = {t("query at"): list(range(len(scores)))}
    columns |= {t("key at {i}", i=i): scores[:, i].round(4).tolist() for i in range(min(scores.shape[1], MAX_COLUMNS))}
    return Plot(figure, caption, t("Every two positions"), columns)


def likeness_plot(likeness: Floats, random: Floats) -> Plot:
    """Draw the mean cosine of rows by their distance [distance], and that of random rows [draw, distance]."""
    distances = list(range(len(likeness)))
    low, high = np.quantile(random, (0.05, 0.95), axis=0)
    names = t("this model"), t("random rows, 5 %"), t("random rows, 95 %")
    series = dict(zip(names, (likeness, low, high), strict=True))
    lead = lead_of_neighbours(likeness)
    typical, least, most = np.quantile([lead_of_neighbours(draw) for draw in random], (0.5, 0.05, 0.95))
    if lead > most:
        said = t("Neighbours are more alike than rows further apart: this was learned.")
    elif lead < least:
        said = t("Neighbours are less alike than rows further apart: this was learned.")
    else:
        said = t("Neighbours are no more alike than rows further apart: here, order does not show as closeness.")
    caption = t(
        "{said} The mean cosine of neighbours minus that of rows further apart is {lead}; of as many random rows, it "
        "is typically {typical}, and in 9 of 10 draws {least} to {most}.",
        said=said,
        lead=fixed(lead, 2, signed=True),
        typical=fixed(typical, 2, signed=True),
        least=fixed(least, 2, signed=True),
        most=fixed(most, 2, signed=True),
    )
    figure = curves(
        {name: (distances, values) for name, values in series.items()},
        x_title=t("distance of the two positions"),
        y_title=t("mean cosine of the two rows"),
    )
    figure.update_xaxes(rangemode="tozero", dtick=1 if len(distances) < 12 else None)
    columns = {t("distance of the two positions"): distances} | {n: v.round(4).tolist() for n, v in series.items()}
    return Plot(figure, caption, t("How alike are two rows?"), columns)


def by_distance_plot(name: str, by_distance: ByDistance) -> Plot:
    """Draw the mean, lowest and highest score at each distance."""
    distances = list(by_distance.distances)
    decides = by_distance.spread < 1e-9
    series = {t("score") if decides else t("mean"): (distances, by_distance.mean)}
    if not decides:
        series |= {t("lowest"): (distances, by_distance.low), t("highest"): (distances, by_distance.high)}
    figure = curves(
        series,
        x_title=t("position of the key − position of the query"),
        y_title=t("score"),
        height=380,
    )
    if max(by_distance.high) - min(by_distance.low) <= 1e-9:
        words = t("All scores are equal: neither the distance nor the place makes a difference.")
    elif decides:
        words = t("At each distance all scores are the same: the distance alone decides.")
    else:
        words = t(
            "At one distance the scores vary by up to {share} of their whole range: it matters where the pair is.",
            share=percent(by_distance.spread),
        )
    columns: Columns = {
        t("key − query"): distances,
        t("mean"): [round(value, 4) for value in by_distance.mean],
        t("lowest"): [round(value, 4) for value in by_distance.low],
        t("highest"): [round(value, 4) for value in by_distance.high],
    }
    return Plot(figure, f"{name}: {words}", t("By distance"), columns)


def learned_plot(table: Floats) -> Plot:
    """Draw learned rows, [pos, d_model], with a colour scale of their own."""
    caption = t(
        "Each row is the vector of one position: {n} number from {low:.2g} to {high:.2g}.",
        "Each row is the vector of one position: {n:,} numbers from {low:.2g} to {high:.2g}.",
        n=table.shape[1],
        low=table.min(),
        high=table.max(),
    )
    figure = heatmap(table, x_title=t("dimension"), y_title=t("position (from 0)"), span=_span(table))
    return Plot(figure, caption, t("Learned rows"), _columns(t("position"), range(table.shape[0]), table))
