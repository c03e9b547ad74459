"""Figures of the Positions page: the table, its curves and wavelengths, dot products, one word, a rotation, scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.charts.plotly_charts import Columns, Plot, curves, heatmap, rule
from explorer.locale.text import percent, plural, quoted
from model.analysis.position_scores import ByDistance
from model.analysis.sinusoidal_checks import RotationCheck
from model.analysis.word_order import Length

Floats = NDArray[np.float64]
MAX_COLUMNS = 32  # of a table under a figure


def _columns(first: str, rows: Sequence[Any], values: NDArray[Any], name: str = "dim {}") -> Columns:
    """Table columns: the names of the rows, and the values [row, column], at most `MAX_COLUMNS` columns."""
    columns = range(min(values.shape[1], MAX_COLUMNS))
    return {first: list(rows)} | {name.format(i): values[:, i].round(4).tolist() for i in columns}


def _span(values: NDArray[Any]) -> tuple[float, float]:
    """The ends of the colour scale: from 0 if no value is negative, otherwise symmetric around 0."""
    top = float(np.abs(values).max()) or 1.0
    return (0.0, top) if values.min() >= 0 else (-top, top)


def table_plot(table: Floats, wavelengths: Floats) -> Plot:
    """Draw the table [pos, d_model] of the formula as a heatmap; wavelengths [pair] in positions."""
    length, d_model = table.shape
    complete = int((wavelengths <= length).sum())
    incomplete = len(wavelengths) - complete
    caption = (
        f"Each row is the vector of one position, {d_model} numbers between −1 and 1. On the left the numbers "
        f"change from row to row (a full turn in {wavelengths[0]:.1f} positions), on the right they hardly "
        f"change ({wavelengths[-1]:,.0f} positions): {complete} of {len(wavelengths)} sine–cosine pairs complete a "
        f"turn within these {plural(length, 'position')}, {incomplete} do not."
    )
    figure = heatmap(table, x_title="dimension", y_title="position (from 0)", span=(-1.0, 1.0), height=420)
    return Plot(figure, caption, "The table", _columns("position", range(length), table))


def curves_plot(table: Floats, wavelengths: Floats, dimensions: Sequence[int]) -> Plot:
    """Draw chosen dimensions against position."""
    positions = np.arange(table.shape[0])
    names = {i: f"dim {i} ({'cos' if i % 2 else 'sin'})" for i in dimensions}
    figure = curves(
        {names[i]: (positions, table[:, i]) for i in dimensions}, x_title="position (from 0)", y_title="value"
    )
    periods = [f"dimension {i} repeats every {wavelengths[i // 2]:,.1f} positions" for i in dimensions]
    caption = "; ".join(periods) + "." if periods else "Choose one or more dimensions."
    columns: Columns = {"position": positions.tolist()}
    columns |= {names[i]: table[:, i].round(4).tolist() for i in dimensions}
    return Plot(figure, caption[0].upper() + caption[1:], "Curves of chosen dimensions", columns)


def wavelength_plot(wavelengths: Floats, length: int) -> Plot:
    """Draw the wavelength of each sine–cosine pair on a logarithmic axis."""
    pairs = np.arange(len(wavelengths))
    figure = curves(
        {"wavelength": (2 * pairs, wavelengths), f"{length} positions": (2 * pairs, np.full(len(pairs), length))},
        x_title="dimension 2i",
        y_title="wavelength (positions)",
        log=True,
        dots=True,
    )
    figure.data[1].update(mode="lines")
    caption = (
        f"From {wavelengths[0]:.2f} positions (2π) in dimensions 0 and 1 to {wavelengths[-1]:,.0f} in the last two. "
        f"Evenly spaced on this logarithmic axis: each pair is "
        f"{wavelengths[min(1, len(wavelengths) - 1)] / wavelengths[0]:.3f} × slower than the one before."
    )
    columns: Columns = {
        "dimensions": [f"{2 * i}, {2 * i + 1}" for i in pairs],
        "wavelength (positions)": wavelengths.round(3).tolist(),
        "angle per position (rad)": (2 * np.pi / wavelengths).round(8).tolist(),
    }
    return Plot(figure, caption, "Wavelengths", columns)


def product_plot(table: Floats, *, distance: bool) -> Plot:
    """Draw the dot product or Euclidean distance of every two positions, which depends only on their distance."""
    dot_products = table @ table.T
    squares = np.diag(dot_products)
    distances = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * dot_products, 0))
    values = distances if distance else dot_products
    length = len(table)
    variation = max(float(np.ptp(np.diag(values, k))) for k in range(length))
    noun = "distance" if distance else "dot product"
    near, far = float(values[0, min(1, length - 1)]), float(values[0, -1])
    caption = (
        f"The {noun} of two positions depends only on how far apart they are: along each diagonal it varies by at most "
        f"{variation:.1e}. Neighbouring positions have {near:.2f}, the two ends {far:.2f}."
    )
    figure = heatmap(values, x_title="position (from 0)", y_title="position (from 0)", span=_span(values), height=380)
    columns: Columns = {"offset": list(range(length)), noun: values[0].round(4).tolist()}
    return Plot(figure, caption, "Distance" if distance else "Dot product", columns)


def word_plot(token: str, position: int, embedding: Floats, row: Floats | None) -> Plot:
    """Draw a token's embedding × √d_model, the row of its position, and their sum; each [d_model]."""
    strips = {"embedding": embedding}
    size = float(np.linalg.norm(embedding))
    if row is None:
        caption = (
            f"This model adds no positions: {quoted(token)} is the same vector of length {size:.2f} wherever it stands."
        )
    else:
        strips |= {"+ position": row, "= sum": embedding + row}
        added = float(np.linalg.norm(row))
        caption = (
            f"{quoted(token)} at position {position}: the embedding has length {size:.2f}, the position {added:.2f} "
            f"({100 * added / max(size, 1e-12):.0f} % of it), and their sum {np.linalg.norm(embedding + row):.2f}."
        )
    columns: Columns = {"dimension": list(range(len(embedding)))}
    columns |= {name.lstrip("+= "): strip.round(4).tolist() for name, strip in strips.items()}
    values = np.stack(list(strips.values()))  # [strip, d_model]
    top = float(np.abs(values).max()) or 1.0
    figure = heatmap(values, x_title="dimension", y_title="", span=(-top, top), height=110 + 50 * len(strips))
    figure.update_yaxes(tickmode="array", tickvals=list(range(len(strips))), ticktext=list(strips))
    figure.update_layout(margin_l=100)
    figure.update_traces(ygap=8)
    return Plot(figure, caption, "One word and its position", columns)


def rotation_plot(table: Floats, pair: int, position: int, offset: int) -> Plot:
    """Draw a sine–cosine pair as a hand on the unit circle, at a position and `offset` positions later."""
    here, there = table[position, 2 * pair : 2 * pair + 2], table[position + offset, 2 * pair : 2 * pair + 2]
    turn = np.linspace(0, 2 * np.pi, 121)
    figure = curves(
        {
            "all positions": (np.cos(turn), np.sin(turn)),
            f"PE({position})": ([0, here[1]], [0, here[0]]),
            f"PE({position + offset})": ([0, there[1]], [0, there[0]]),
        },
        x_title=f"cos (dimension {2 * pair + 1})",
        y_title=f"sin (dimension {2 * pair})",
        height=380,
    )
    for hand in figure.data[1:]:
        hand.update(mode="lines+markers", marker={"size": 10})
    figure.update_layout(hovermode="closest")
    figure.update_yaxes(scaleanchor="x", range=[-1.15, 1.15])
    figure.update_xaxes(range=[-1.15, 1.15])
    angle = np.degrees((np.arctan2(*there) - np.arctan2(*here)) % (2 * np.pi))
    caption = (
        f"Pair {pair + 1} at position {position} and {offset} later: the hand has turned by {angle:.1f}° (full turns "
        f"not counted). It turns by the same angle from any other position."
    )
    return Plot(figure, caption, "One pair is a clock hand")


def rotation_columns(check: RotationCheck) -> Columns:
    """M_k of every pair as the columns of a table."""
    return {
        "pair": list(range(1, len(check.angles) + 1)),
        "angle k·ω (°)": np.degrees(check.angles).round(4).tolist(),
        "cos": check.matrices[:, 0, 0].round(6).tolist(),
        "sin": check.matrices[:, 0, 1].round(6).tolist(),
        "−sin": check.matrices[:, 1, 0].round(6).tolist(),
        "largest error (10⁻¹⁵)": (1e15 * check.errors).round(2).tolist(),
    }


def length_plot(lengths: Sequence[Length], trained: int) -> Plot:
    """Draw the share of exactly right sentences by source length, with the longest trained length marked."""
    tokens = [length.tokens for length in lengths]
    right = [100 * length.right / length.sentences for length in lengths]
    figure = curves({"exactly right": (tokens, right)}, x_title="source tokens", y_title="exactly right (%)", dots=True)
    figure.update_yaxes(range=[-4, 104])
    rule(figure, x=trained + 0.5, text=f"longest in training: {trained}")
    inside = [length for length in lengths if length.tokens <= trained]
    beyond = [length for length in lengths if length.tokens > trained]
    caption = (
        f"Up to {plural(trained, 'token')}, {_share(inside)} are exactly right; beyond, {_share(beyond)}: in training, "
        f"the model never saw a token at these positions."
    )
    columns: Columns = {
        "source tokens": tokens,
        "sentences": [length.sentences for length in lengths],
        "exactly right (%)": right,
    }
    return Plot(figure, caption, "Past the longest trained length", columns)


def _share(lengths: Sequence[Length]) -> str:
    total = sum(length.sentences for length in lengths)
    return f"{sum(length.right for length in lengths)} of {plural(total, 'sentence')}"


def score_map(name: str, scores: Floats) -> Plot:
    """Draw scores of one word with itself at every two positions, [query, key]."""
    x_title, y_title = "position of the key (from 0)", "position of the query (from 0)"
    figure = heatmap(scores, x_title=x_title, y_title=y_title, span=_span(scores), height=380)
    low, high = float(scores.min()), float(scores.max())
    caption = f"{name}: scores of one word with itself at {len(scores)} positions, from {low:.2f} to {high:.2f}."
    return Plot(figure, caption, "Every two positions", _columns("query at", range(len(scores)), scores, "key at {}"))


def by_distance_plot(name: str, by_distance: ByDistance, noun: str = "score") -> Plot:
    """Draw the mean, lowest and highest score (or another quantity of two positions) at each distance."""
    distances = list(by_distance.distances)
    series = {
        "mean": (distances, by_distance.mean),
        "lowest": (distances, by_distance.low),
        "highest": (distances, by_distance.high),
    }
    figure = curves(series, x_title="position of the key − position of the query", y_title=noun, height=380)
    here = by_distance.mean[len(distances) // 2]
    if max(by_distance.high) - min(by_distance.low) <= 1e-9:
        words = f"All {noun}s are equal: neither the distance nor the place makes a difference."
    elif by_distance.spread < 1e-9:
        words = f"At each distance all {noun}s are the same: the distance alone decides."
    else:
        share = percent(by_distance.spread)
        words = f"At one distance the {noun}s vary by up to {share} of their whole range: it matters where the pair is."
    caption = f"{name}: {words} At distance 0 the mean is {here:.2f}, at the largest {by_distance.mean[-1]:.2f}."
    columns: Columns = {
        "key − query": distances,
        "mean": [round(value, 4) for value in by_distance.mean],
        "lowest": [round(value, 4) for value in by_distance.low],
        "highest": [round(value, 4) for value in by_distance.high],
    }
    return Plot(figure, caption, "By distance", columns)


def scheme_plot(name: str, table: Floats) -> Plot:
    """Draw the table of a scheme, [pos, d_model], with its own colour scale."""
    distinct = len(np.unique(table.round(9), axis=0))
    caption = (
        f"{name}: {plural(table.shape[0], 'row')}, {distinct} of them distinct; entries from {table.min():.2g} to "
        f"{table.max():.2g}."
    )
    figure = heatmap(table, x_title="dimension", y_title="position (from 0)", span=_span(table))
    return Plot(figure, caption, "", _columns("position", range(table.shape[0]), table))
