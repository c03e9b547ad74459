"""The stepping of a decoding as a moving picture for slides (GIF or APNG): the stage, drawn by matplotlib at each step.

No browser and no network. A long decoding is cut to its first steps, and the picture says so.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from explorer.charts.palette import LIGHT
from explorer.decoding.coordinates import Place
from explorer.decoding.names import head_title, numbered
from explorer.decoding.stage import StageStep, sentence_of, stage_steps
from explorer.files.figure_files import drawing
from explorer.locale.text import percent
from model.trace import AttentionTrace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from PIL.Image import Image

MovingFormat = Literal["gif", "png"]
MOST_STEPS = 60
STEP_MS, LAST_MS = 900, 2500  # how long a step is shown, and the last one
WIDTH, DPI = 8.0, 100  # inches, dots per inch
COLOURS = 96
ROW, GAP = 0.62, 0.95  # inches: a line of chips, and the room for the curves
INK, SOFT = "#1d2733", "#5b6672"
FAINT = 0.02  # a smaller weight has no curve, as on screen
Boxes = dict[int, tuple[float, float, float]]  # left, top and width of each chip, in inches


def drawn_steps(
    trace: AttentionTrace, at: Place, model: str, report: Callable[[int, int], object] | None = None
) -> list[Image]:
    """An image of each step, with one palette; `report` is told how many steps are drawn, and of how many."""
    steps = list(islice(stage_steps(trace, at), MOST_STEPS))
    title = f"{model} · {head_title(at.kind, at.layer, at.head)}"
    if len(steps) < steps[0].steps:
        title += f" · the first {len(steps)} steps"
    images: list[Image] = []
    with drawing((title, *trace.src_tokens, *trace.read_tokens, *trace.predicted_tokens)):
        for one in steps:
            images.append(_image(one, trace.src_tokens, steps[-1].target, title))
            if report:
                report(len(images), len(steps))
    from PIL import Image as _Image

    palette = images[-1].quantize(COLOURS)  # one for all, so that no colour changes from step to step
    return [image.quantize(palette=palette, dither=_Image.Dither.NONE) for image in images]


def moving_picture(images: Sequence[Image], kind: MovingFormat) -> bytes:
    """The images of :func:`drawn_steps` as a file that plays over and over."""
    durations = [STEP_MS] * (len(images) - 1) + [LAST_MS]
    first, *others = images
    file = io.BytesIO()
    options: dict[str, Any] = {"disposal": 1} if kind == "gif" else {}
    first.save(file, kind.upper(), save_all=True, append_images=others, duration=durations, loop=0, **options)
    return file.getvalue()


def _image(one: StageStep, source: Sequence[str], whole: Sequence[str], title: str) -> Image:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    canvas = FigureCanvasAgg(figure_of(one, source, whole, title))
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")


def figure_of(one: StageStep, source: Sequence[str], whole: Sequence[str], title: str) -> Figure:
    """One step as a figure; `whole` is the target at the last step, whose size all steps have."""
    from matplotlib.figure import Figure

    above, below = _places(source), _places(whole)
    tops = (0.62, 0.62 + _lines(above) * ROW + GAP)
    height = tops[1] + _lines(below) * ROW + 0.55
    figure = Figure(figsize=(WIDTH, height), dpi=DPI)
    figure.set_facecolor("white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height, 0)
    axes.text(0.15, 0.2, title, fontsize=9, color=SOFT, va="center")
    axes.text(WIDTH - 0.15, 0.2, f"step {one.step} of {one.steps}", fontsize=9, color=SOFT, va="center", ha="right")
    axes.text(0.15, 0.47, "Source", fontsize=7.5, color=SOFT, va="center")
    axes.text(0.15, tops[1] - 0.15, "Target", fontsize=7.5, color=SOFT, va="center")
    _curves(axes, one, {"source": (above, tops[0]), "target": (below, tops[1])})
    shares = {"source": np.full(len(source), np.nan), "target": np.full(len(one.target), np.nan)}
    shares[one.keys_in][: len(one.weights)] = one.weights
    _chips(axes, source, above, tops[0], LIGHT.source, shares["source"], -1)
    _chips(axes, one.target, below, tops[1], LIGHT.target, shares["target"], len(one.target) - 1)
    axes.text(0.15, height - 0.26, sentence_of(one, tuple(source)), fontsize=9.5, color=INK, va="center")
    return figure


def _places(tokens: Sequence[str]) -> Boxes:
    """Where the chips of a sentence are, below its own top."""
    boxes: Boxes = {}
    x, y = 0.15, 0.0
    for i, label in enumerate(numbered(tokens)):
        wide = 0.2 + 0.078 * max(len(label), 4)
        if boxes and x + wide > WIDTH - 0.15:
            x, y = 0.15, y + ROW
        boxes[i] = x, y, wide
        x += wide + 0.06
    return boxes


def _lines(boxes: Boxes) -> int:
    return 1 + round(max(top for _, top, _ in boxes.values()) / ROW)


def _chips(
    axes: Axes,
    tokens: Sequence[str],
    boxes: Boxes,
    top: float,
    colour: str,
    shares: np.ndarray[tuple[int], np.dtype[np.float64]],
    current: int,
) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import FancyBboxPatch

    for i, label in enumerate(numbered(tokens)):
        left, y, wide = boxes[i]
        weight = 0.0 if np.isnan(shares[i]) else float(shares[i])
        strength = 1.0 if i == current else 0.07 + 0.43 * weight
        fill = tuple(1 - strength * (1 - part) for part in to_rgb(colour))
        box = FancyBboxPatch(
            (left, top + y), wide, 0.46, boxstyle="round,pad=0,rounding_size=0.06", fc=fill, ec=colour, lw=0.8, zorder=3
        )
        axes.add_artist(box)
        ink = "white" if i == current else INK
        axes.text(left + wide / 2, top + y + 0.17, label, fontsize=9.5, color=ink, ha="center", va="center", zorder=4)
        if weight >= 0.005:
            axes.text(
                left + wide / 2,
                top + y + 0.37,
                percent(weight),
                fontsize=7,
                color=ink,
                ha="center",
                va="center",
                zorder=4,
            )


def _curves(axes: Axes, one: StageStep, sides: dict[str, tuple[Boxes, float]]) -> None:
    """Curves between the sentences; arcs within one, in the room between the two."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    side, start = one.origin
    boxes, top = sides[side]
    left, y, wide = boxes[start]
    for i in sorted(range(len(one.weights)), key=lambda i: np.nan_to_num(one.weights[i])):
        weight = float(np.nan_to_num(one.weights[i]))
        if weight < FAINT:
            continue
        other, its_top = sides[one.keys_in]
        to_left, to_y, to_wide = other[i]
        x0, x1 = left + wide / 2, to_left + to_wide / 2
        if side != one.keys_in:
            y0, y1 = top + y, its_top + to_y + 0.46
            middle = (y0 + y1) / 2
            points = [(x0, y0), (x0, middle), (x1, middle), (x1, y1)]
        else:
            down = side == "source"
            y0, y1 = (top + y + 0.46, its_top + to_y + 0.46) if down else (top + y, its_top + to_y)
            bend = (1 if down else -1) * min(0.2 + 0.12 * abs(x1 - x0), 0.85)
            x0, x1 = (x0 - 0.07, x1 + 0.07) if i == start else (x0, x1)
            points = [(x0, y0), (x0, y0 + bend), (x1, y1 + bend), (x1, y1)]
        path = Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
        colour = LIGHT.source if one.keys_in == "source" else LIGHT.target
        axes.add_artist(
            PathPatch(path, fc="none", ec=colour, lw=0.8 + 6 * weight, alpha=0.15 + 0.75 * weight, zorder=2)
        )
