"""The stepping of a decoding as a moving picture for slides (GIF or APNG): a picture of the stage at each step.

A long decoding is cut to its first steps, and the picture says so.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.charts.palette import LIGHT
from explorer.decoding.coordinates import Place
from explorer.decoding.names import head_title, numbered
from explorer.decoding.stage import StageStep, sentence_of, stage_steps
from explorer.files.figure_files import frames
from explorer.files.picture import INK, SOFT, Box, Curve, Mark, Picture, Text, ordered, tinted
from explorer.locale.text import percent
from model.trace import AttentionTrace

if TYPE_CHECKING:
    from PIL.Image import Image

MovingFormat = Literal["gif", "png"]
MOST_STEPS = 60
STEP_MS, LAST_MS = 900, 2500  # how long a step is shown, and the last one
WIDTH, DPI = 8.0, 100  # inches, dots per inch
COLOURS = 96
ROW, GAP, CHIP = 0.62, 0.95, 0.46  # inches: a line of chips, the room for the curves, the height of a chip
FAINT = 0.02  # a smaller weight has no curve, as on screen
Chips = list[tuple[float, float, float]]  # left, top and width of each chip, in inches


def drawn_steps(
    trace: AttentionTrace, at: Place, model: str, report: Callable[[int, int], object] | None = None
) -> list[Image]:
    """An image of each step, with one palette; `report` is told how many steps are drawn, and of how many."""
    steps = list(islice(stage_steps(trace, at), MOST_STEPS))
    title = f"{model} · {head_title(at.kind, at.layer, at.head)}"
    if len(steps) < steps[0].steps:
        title += f" · the first {len(steps)} steps"
    pictures = (picture_of(step, trace.src_tokens, steps[-1].target, title) for step in steps)
    images: list[Image] = []
    for image in frames(pictures, (title, *trace.src_tokens, *trace.read_tokens, *trace.predicted_tokens), DPI):
        images.append(image)
        if report:
            report(len(images), len(steps))
    palette = images[-1].quantize(COLOURS)  # one for all, so that no colour changes from step to step
    return [image.quantize(palette=palette, dither=0) for image in images]  # type: ignore[arg-type]


def moving_picture(images: Sequence[Image], kind: MovingFormat) -> bytes:
    """The images of :func:`drawn_steps` as a file that plays over and over."""
    durations = [STEP_MS] * (len(images) - 1) + [LAST_MS]
    first, *others = images
    file = io.BytesIO()
    options: dict[str, Any] = {"disposal": 1} if kind == "gif" else {}
    first.save(file, kind.upper(), save_all=True, append_images=others, duration=durations, loop=0, **options)
    return file.getvalue()


def picture_of(step: StageStep, source: Sequence[str], whole: Sequence[str], title: str) -> Picture:
    """One step; `whole` is the target at the last step, whose size all steps have."""
    above = _chips(source, 0.62)
    middle = above[-1][1] + ROW + GAP
    below = _chips(whole, middle)
    height = below[-1][1] + ROW + 0.55
    shares = {"source": np.zeros(len(source)), "target": np.zeros(len(step.target))}
    shares[step.keys_in][: len(step.weights)] = np.nan_to_num(step.weights)
    marks: list[Mark] = [
        Text(0.15, 0.2, title, 9, SOFT),
        Text(WIDTH - 0.15, 0.2, f"step {step.step} of {step.steps}", 9, SOFT, "right"),
        Text(0.15, 0.47, "Source", 7.5, SOFT),
        Text(0.15, middle - 0.15, "Target", 7.5, SOFT),
        *_curves(step, {"source": above, "target": below}),
        *_sentence(source, above, LIGHT.source, shares["source"], -1),
        *_sentence(step.target, below, LIGHT.target, shares["target"], len(step.target) - 1),
        Text(0.15, height - 0.26, ordered(sentence_of(step, tuple(source))), 9.5),
    ]
    return Picture(WIDTH, height, tuple(marks))


def _chips(tokens: Sequence[str], top: float) -> Chips:
    """Where the chips of a sentence are that begins at `top`."""
    chips: Chips = []
    x, y = 0.15, top
    for label in numbered(tokens):
        wide = 0.2 + 0.078 * max(len(label), 4)
        if chips and x + wide > WIDTH - 0.15:
            x, y = 0.15, y + ROW
        chips.append((x, y, wide))
        x += wide + 0.06
    return chips


def _sentence(
    tokens: Sequence[str], chips: Chips, colour: str, shares: NDArray[np.float64], current: int
) -> Iterator[Mark]:
    """The chips of a sentence, tinted by the weight of each; the `current` one is filled."""
    for i, (label, (left, top, wide), share) in enumerate(zip(numbered(tokens), chips, shares, strict=False)):
        strength = 1.0 if i == current else 0.07 + 0.43 * float(share)
        yield Box(left, top, wide, CHIP, tinted(colour, strength), colour, line=0.8, rounding=0.06)
        ink = "#ffffff" if i == current else INK
        yield Text(left + wide / 2, top + 0.17, ordered(label), 9.5, ink, "center")
        if share >= 0.005:
            yield Text(left + wide / 2, top + 0.37, percent(float(share)), 7, ink, "center")


def _curves(step: StageStep, sides: dict[str, Chips]) -> Iterator[Curve]:
    """Curves between the sentences; arcs within one, in the room between the two."""
    side, start = step.origin
    left, y, wide = sides[side][start]
    colour = LIGHT.source if step.keys_in == "source" else LIGHT.target
    weights = np.nan_to_num(step.weights)
    for i in np.argsort(weights, kind="stable"):
        weight = float(weights[i])
        if weight < FAINT:
            continue
        to_left, to_y, to_wide = sides[step.keys_in][i]
        x0, x1 = left + wide / 2, to_left + to_wide / 2
        if side != step.keys_in:
            y0, y1 = y, to_y + CHIP
            bends = ((x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2))
        else:
            down = side == "source"
            y0, y1 = (y + CHIP, to_y + CHIP) if down else (y, to_y)
            bend = (1 if down else -1) * min(0.2 + 0.12 * abs(x1 - x0), 0.85)
            x0, x1 = (x0 - 0.07, x1 + 0.07) if i == start else (x0, x1)
            bends = ((x0, y0 + bend), (x1, y1 + bend))
        yield Curve(((x0, y0), *bends, (x1, y1)), colour, 0.8 + 6 * weight, 0.15 + 0.75 * weight)
