"""Compute tables of positions, and the attention scores that they give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.decoding.translator import Translator
from explorer.locale.messages import message
from model.analysis.position_scores import (
    ByDistance,
    by_distance,
    scores_with_distance,
    scores_with_rotation,
    scores_with_rows,
)
from model.analysis.token_vectors import first_positions
from model.analysis.word_order import Length, by_length, longest
from model.data import TASKS, get_task
from model.data.task import DataError
from model.positions import sinusoidal_table, wavelengths
from model.transformer import Transformer

Floats = NDArray[np.float64]

LEARNED = message("learned (this model)")
PAPER_BASE = 10_000.0
RANDOM_DRAWS = 500


@dataclass(frozen=True)
class TableSize:
    """The size of a table: numbers per position, number of positions, and the base of the wavelengths."""

    d_model: int
    length: int
    base: float


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of one word with itself at every two positions, [query, key], and by their distance."""

    scores: Floats
    by_distance: ByDistance


def sinusoidal(size: TableSize) -> tuple[Floats, Floats]:
    """The paper's table [pos, d_model] of this size, and its wavelengths [pair] in positions."""
    table = sinusoidal_table(size.length, size.d_model, size.base)
    return table.numpy(), wavelengths(size.d_model, size.base).numpy()


def learned_rows(model: Transformer) -> Floats | None:
    """The position embeddings that a model's first stack learned, [pos, d_model]; None if it learned none."""
    if model.config.positions != "learned":
        return None
    rows: Floats = first_positions(model).embedding.weight.detach().double().numpy()
    return rows


def likeness_by_distance(rows: Floats) -> Floats:
    """The mean cosine of two rows [pos, d_model] by the distance of their positions, from 0."""
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    cosines = unit @ unit.T
    return np.array([np.diag(cosines, distance).mean() for distance in range(len(rows))])


def lead_of_neighbours(likeness: Floats) -> float:
    """How much more alike neighbours are than rows further apart, of which there are fewer the further they are."""
    pairs = np.arange(len(likeness) - 2, 0, -1)
    return float(likeness[1] - np.average(likeness[2:], weights=pairs))


def likeness_of_random(shape: tuple[int, ...]) -> Floats:
    """What `likeness_by_distance` gives for rows of random numbers [pos, d_model], as [draw, distance]."""
    numbers = np.random.default_rng(0)
    return np.array([likeness_by_distance(numbers.standard_normal(shape)) for _ in range(RANDOM_DRAWS)])


def scores_by_scheme(size: TableSize, learned: Floats | None, head: int) -> dict[str, Scores]:
    """The scores that each kind of positions gives; ALiBi's are those of one head, from 1."""
    length, width = size.length, size.d_model
    scores: dict[str, Tensor] = {
        "sinusoidal": scores_with_rows(sinusoidal_table(length, width, size.base)),
        "RoPE": scores_with_rotation(length, width, size.base),
        "ALiBi": scores_with_distance(length, width, head),
        "none": scores_with_rows(torch.zeros(length, width, dtype=torch.float64)),
    }
    if learned is not None:
        scores[LEARNED] = scores_with_rows(torch.from_numpy(learned[:length]))
    return {name: Scores(values.numpy(), by_distance(values)) for name, values in scores.items()}


def longest_trained(translator: Translator) -> int:
    """Tokens of the longest training sentence, as training recorded it or as the task's data have it; 0 if unknown.

    Raises:
        DataError: the data are not on this machine.
    """
    loaded = translator.loaded
    recorded = loaded.summary.get("results", {}).get("longest_source")
    if type(recorded) is int and recorded > 0:
        return recorded
    task = loaded.data_config.task
    return longest(get_task(task).splits["train"], loaded.source) if task in TASKS else 0


def rows_trained(translator: Translator) -> int | None:
    """The rows of a learned table that the longest training sentence reaches, <eos> included; None if unknown here."""
    loaded = translator.loaded
    if not loaded.model.config.has_encoder:
        return None
    try:
        length = longest_trained(translator)
    except DataError:  # a corpus that is not on this machine
        return None
    return length + 1 if length else None


def exact_by_length(translator: Translator) -> tuple[Length, ...]:
    """Exact-match accuracy by source length; empty unless the task has sentences longer than any in training."""
    loaded = translator.loaded
    try:
        splits = get_task(loaded.data_config.task).splits if loaded.data_config.task in TASKS else {}
    except DataError:  # a corpus that is not on this machine; it has no such sentences
        return ()
    if "long" not in splits:
        return ()
    return by_length(loaded.transformer, loaded.source, loaded.target, [*splits["test"], *splits["long"]])
