"""Draw a decoding as a moving picture for slides (GIF), with one frame per step.

A frame shows the words so far, the word being written, and the words that it looks at, as in the browser
(js/stage_lines.js): a decoder row belongs to the word that it predicts; in the encoder, the row is that of the source
token with the largest weight of cross-attention at this step. A decoder alone has one sentence. A long decoding is cut
to its first steps, and the title says so.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.charts.palette import LIGHT
from explorer.decoding.attention_maps import is_leftwards_in
from explorer.decoding.coordinates import Place
from explorer.decoding.labelled_map import NAMED_FROM
from explorer.decoding.names import head_title, numbered
from explorer.decoding.view_options import ViewOptions
from explorer.files.picture import INK, SOFT, Box, Curve, Mark, Picture, Text, in_lines, tinted
from explorer.files.picture_drawing import frames
from explorer.locale.messages import t
from explorer.locale.scripts import columns_of, ordered, places
from explorer.locale.text import percent
from model.trace import VISIBLE, AttentionTrace

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_STEPS = 60
STEP_MS, LAST_MS = 900, 2500  # duration of a step, and of the last one
WIDTH, DPI = 8.0, 100  # inches, dots per inch
COLOURS = 96
ROW, GAP, CHIP = 0.62, 0.95, 0.46  # inches: height of a line of chips, of the room for the curves, and of a chip
Chips = list[tuple[float, float, float]]  # left, top and width of each chip, in inches


@dataclass(frozen=True)
class StageStep:
    """One step of a decoding.

    Args:
        step, steps: this step, from 1, and the number of steps.
        target: the tokens of the target, ending with the one that is being written.
        reads, writes: the token that is read, with its position, and the one that is predicted.
        given: whether the next token was given, in a prompt, and not predicted.
        origin: where the curves begin: ("target", index) or ("source", index), from 0.
        keys_in: the sentence that contains the keys, "source" or "target".
        weights: [key] of the row, NaN where masked.
        leftwards: whether the source, and whether the target, is written from right to left.
        direction: the one that the reader has chosen, as in :class:`ViewOptions`.
    """

    step: int
    steps: int
    target: tuple[str, ...]
    reads: str
    writes: str
    given: bool
    origin: tuple[str, int]
    keys_in: str
    weights: NDArray[np.float64]
    leftwards: tuple[bool, bool] = (False, False)
    direction: str = ""


def stage_steps(trace: AttentionTrace, at: Place, n_prompt: int = 0, direction: str = "") -> Iterator[StageStep]:
    """Yield every step of a decoding, for one head or (head 0) the mean over the heads of a layer.

    The first `n_prompt` steps read a prompt. For `direction` see :class:`ViewOptions`.
    """
    maps = trace.weights(at.kind)[at.layer - 1]
    values = (maps.mean(axis=0) if at.head == 0 else maps[at.head - 1]).astype(np.float64)
    values = np.where(trace.mask(at.kind) == VISIBLE, values, np.nan)
    steps = len(trace.read_tokens)
    cross = trace.cross[-1].mean(axis=0) if trace.cross.size else np.zeros((steps, 1))  # it chooses the encoder's row
    for row in range(steps):
        encoder = at.kind == "encoder"
        query = int(np.argmax(cross[row])) if encoder else row
        yield StageStep(
            step=row + 1,
            steps=steps,
            target=(*trace.read_tokens[: row + 1], trace.predicted_tokens[row]),
            reads=numbered(trace.read_tokens)[row],
            writes=trace.predicted_tokens[row],
            given=row < n_prompt,
            origin=("source", query) if encoder else ("target", row + 1),
            keys_in="target" if at.kind == "decoder" else "source",
            weights=values[query, : row + 1] if at.kind == "decoder" else values[query],
            leftwards=(is_leftwards_in(trace, "source"), is_leftwards_in(trace, "target")),
            direction=direction,
        )


def sentence_of(step: StageStep, source: tuple[str, ...]) -> str:
    """Describe a step in words: "reads 5 spielen → predicts im: looks at 6 football 64 %, 9 park 21 %"."""
    names = numbered(source if step.keys_in == "source" else step.target)
    order = np.argsort(-np.nan_to_num(step.weights, nan=-1.0), kind="stable")
    best = [i for n, i in enumerate(order) if n < 3 and (not n or step.weights[i] >= NAMED_FROM)]
    keys = ", ".join(f"{names[i]} {percent(float(step.weights[i]))}" for i in best)
    if step.origin[0] == "source":
        looks = t("{token} looks at {keys}", token=names[step.origin[1]], keys=keys)
    else:
        looks = t("looks at {keys}", keys=keys)
    if step.given:
        return t(
            "reads {read} → the prompt goes on with {token}: {looks}", read=step.reads, token=step.writes, looks=looks
        )
    return t("reads {read} → predicts {token}: {looks}", read=step.reads, token=step.writes, looks=looks)


def drawn_steps(
    trace: AttentionTrace,
    at: Place,
    model: str,
    report: Callable[[int, int], object] | None = None,
    *,
    n_prompt: int = 0,
    direction: str = "",
) -> list[Image]:
    """Draw an image of each step, with one palette; `report` is called with the number of images drawn and of all."""
    steps = list(islice(stage_steps(trace, at, n_prompt, direction), MOST_STEPS))
    title = f"{model} · {head_title(at.kind, at.layer, at.head)}"
    if len(steps) < steps[0].steps:
        title += " · " + t("the first {n} steps", n=len(steps))
    pictures = (picture_of(step, trace.src_tokens, steps[-1].target, title) for step in steps)
    images: list[Image] = []
    for image in frames(pictures, (title, *trace.src_tokens, *trace.read_tokens, *trace.predicted_tokens), DPI):
        images.append(image)
        if report:
            report(len(images), len(steps))
    palette = images[-1].quantize(COLOURS)  # the same for all images, so that colours do not change
    return [image.quantize(palette=palette, dither=0) for image in images]  # type: ignore[arg-type]


def moving_picture(images: Sequence[Image]) -> bytes:
    """Write the images of :func:`drawn_steps` as a GIF file that plays in a loop."""
    durations = [STEP_MS] * (len(images) - 1) + [LAST_MS]
    first, *others = images
    file = io.BytesIO()
    first.save(file, "GIF", save_all=True, append_images=others, duration=durations, loop=0, disposal=1)
    return file.getvalue()


def picture_of(step: StageStep, source: Sequence[str], whole: Sequence[str], title: str) -> Picture:
    """Draw one step; `whole` is the target at the last step, which sets the size of all frames."""
    above = _chips(source, 0.62, step.leftwards[0], step.direction)
    middle = above[-1][1] + ROW + GAP if above else 0.62 + GAP
    below = _chips(whole, middle, step.leftwards[1], step.direction)
    height = below[-1][1] + ROW + 0.55
    shares = {"source": np.zeros(len(source)), "target": np.zeros(len(step.target))}
    shares[step.keys_in][: len(step.weights)] = np.nan_to_num(step.weights)
    marks: list[Mark] = [
        Text(0.15, 0.2, title, 9, SOFT),
        Text(WIDTH - 0.15, 0.2, t("step {step} of {n}", step=step.step, n=step.steps), 9, SOFT, "right"),
        *([Text(0.15, 0.47, t("Source"), 7.5, SOFT)] if above else []),
        Text(0.15, middle - 0.15, t("Target") if above else t("Text"), 7.5, SOFT),
        *_curves(step, {"source": above, "target": below}),
        *_sentence(source, above, LIGHT.source, shares["source"], -1),
        *_sentence(step.target, below, LIGHT.target, shares["target"], len(step.target) - 1),
        Text(0.15, height - 0.26, ordered(sentence_of(step, tuple(source))), 9.5),
    ]
    return Picture(WIDTH, height, tuple(marks))


def _chips(tokens: Sequence[str], top: float, leftwards: bool, direction: str) -> Chips:
    """Lay out the chips of a sentence, beginning at `top`, from the left or from the right."""
    widths = [0.2 + 0.078 * max(columns_of(label), 4) for label in numbered(tokens)]
    at = places(tokens, leftwards, direction) or range(len(tokens))
    laid = in_lines(widths, WIDTH - 0.3, at, ViewOptions(direction=direction).leftwards(leftwards))
    return [(0.15 + left, top + line * ROW, wide) for wide, (line, left) in zip(widths, laid, strict=True)]


def _sentence(
    tokens: Sequence[str], chips: Chips, colour: str, shares: NDArray[np.float64], current: int
) -> Iterator[Mark]:
    """Draw the chips of a sentence, tinted by weight; the `current` one is filled."""
    for i, (label, (left, top, wide), share) in enumerate(zip(numbered(tokens), chips, shares, strict=False)):
        strength = 1.0 if i == current else 0.07 + 0.43 * float(share)
        yield Box(left, top, wide, CHIP, tinted(colour, strength), colour, line=0.8, rounding=0.06)
        ink = "#ffffff" if i == current else INK
        yield Text(left + wide / 2, top + 0.17, ordered(label), 9.5, ink, "center")
        if share >= 0.005:
            yield Text(left + wide / 2, top + 0.37, percent(float(share)), 7, ink, "center")


def _curves(step: StageStep, sides: dict[str, Chips]) -> Iterator[Curve]:
    """Draw curves between the sentences, or arcs within one of them, in the room between both."""
    side, start = step.origin
    left, y, wide = sides[side][start]
    colour = LIGHT.source if step.keys_in == "source" else LIGHT.target
    weights = np.nan_to_num(step.weights)
    for i in np.argsort(weights, kind="stable"):
        weight = float(weights[i])
        if weight < NAMED_FROM:
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
