"""The data of the machine beside the decoding itself: one message for the diagram, one for an opened block.

Both are written by wire.py. The diagram's has one array, `numbers`, float32, into which the picture of each block
points (structs.py). Rows of the target are those of a run over the whole path: a causal row is the same at every step.
A decoder that is not causal computes all rows anew at every step; then row r of step t (both from 0) is at
t · (t + 1) / 2 + r.

The arrays of an opened block have all rows of the run, so that stepping through a causal decoding needs no request:

- of an attention block, `heads`: the weights of all heads; `W.…`, `x.…` and `…_proj`: the matrices of queries, keys and
  values, the vectors that go in, and those that come out;
- of an attention block, too, what follows its heads, as far as the picture shows it;
- of a head, its queries, keys, values, scores, masked scores, weights and output; of any other block, its points.
  Masked cells are NaN;
- `numbers.…` for each point of the block, [row, 3]: mean, standard deviation and length of the row.

Other numbers are requested by place (machine_numbers.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.browser import wire
from explorer.browser.machine_model import (
    BLOCK_PARTS,
    PROJECTIONS,
    SOURCE,
    code_of_block,
    kind_of,
    machine_of,
    parts_at,
    points_of,
)
from explorer.browser.machine_stages import is_target, short_name
from explorer.browser.structs import MachineDetails, MachinePicture, MachinePlace, Opened, PointNumbers
from explorer.decoding.decoding import Decoding
from explorer.decoding.model_diagram import MEMORY, Block
from model.config import ModelConfig
from model.dry_run import points

if TYPE_CHECKING:
    from model.analysis.operations import Operation, Recording
    from model.architectures import Model

NUMBERS = 16
"""Number of components of a vector that a picture shows."""
COLUMNS = 64
"""Number of components of a vector that the picture of an opened block shows."""
MATRIX = 32
"""Maximum number of rows and columns in the picture of a matrix."""

Floats = NDArray[np.float32]
_FOLLOWED = re.compile(r"(target|source-[1-9]\d{0,3})(\.[a-z_]{1,20}\d?)?")


@dataclass(frozen=True, eq=False)
class MachineView:
    """A decoding in the machine: the blocks of its model, and the place to start at if the browser has none."""

    decoding: Decoding
    config: ModelConfig
    blocks: tuple[Block, ...]
    start: MachinePlace = MachinePlace()

    @property
    def stepwise(self) -> bool:
        """Whether each step has rows of its own."""
        return not self.config.causal

    def fitting(self, requested: MachinePlace) -> MachinePlace:
        """The place that a browser or a link requests, as far as it exists in this model."""
        steps = len(self.decoding.trace.read_tokens)
        follow = requested.follow if _FOLLOWED.fullmatch(requested.follow) else ""
        at = replace(requested, step=max(1, min(steps, requested.step)), follow=follow)
        block = next((each for each in self.blocks if each.name == at.block), None)
        if block is None:
            return replace(at, block="", head=0, part="")
        if not block.attention or not 1 <= at.head <= self.config.n_heads(kind_of(block)):
            at = replace(at, head=0)
        return at if at.part in parts_at(block, at.head, self.config) else replace(at, part="")


def encode(view: MachineView, runs: Sequence[Recording], added: Mapping[str, Floats]) -> bytes:
    """The machine of a decoding as a message.

    `runs` is the recorded run over the whole path; for a decoder that is not causal, the runs of all steps. `added` are
    the vectors that the positions add [position, d_model], by the name of the block.

    Raises:
        ValueError: there are not as many runs as the model needs, or a recorded value is not a number.
    """
    steps, config = len(view.decoding.trace.read_tokens), view.config
    if len(runs) != (steps if view.stepwise else 1):
        raise ValueError(f"{len(runs)} runs do not fit {steps} steps.")
    machine, n_src = machine_of(config), len(view.decoding.trace.src_tokens)
    arrays: list[Floats] = []
    pictures: dict[str, MachinePicture] = {}
    end = 0
    for block in view.blocks:
        picture = machine.facts[block.name].picture
        if picture is None or block.name == MEMORY:
            continue
        numbers = _pictured(view, block, runs, added)
        if not np.isfinite(numbers).all():
            raise ValueError(f"{block.result} holds a value that is not a number; the model is broken.")
        scale = full_colour(numbers) if block.attention else _usual_size(numbers)
        rows, width = numbers.shape
        pictures[block.name] = replace(picture, scale=scale, at=end, rows=rows, width=width)
        arrays.append(numbers)
        end += numbers.size
    facts = {
        block.name: replace(
            machine.facts[block.name],
            shape=[n_src if size == SOURCE else size for size in machine.facts[block.name].shape],
            picture=pictures.get(block.reads[0] if block.name == MEMORY else block.name),
        )
        for block in view.blocks
    }
    message = replace(machine, seq=view.decoding.seq, facts=facts)
    return wire.write(vars(message), {"numbers": np.concatenate([np.ravel(array) for array in arrays])})


def _pictured(view: MachineView, block: Block, runs: Sequence[Recording], added: Mapping[str, Floats]) -> Floats:
    """The numbers in the picture of a block's result."""
    trace, each = view.decoding.trace, runs if is_target(block) else runs[-1:]  # one run is enough for the source
    if block.attention:
        keys = trace.weights(kind_of(block)).shape[-1]
        maps = [run[f"{block.name}.weights"].value[0].float().mean(dim=0).numpy() for run in each]
        # Keys that did not exist yet have weight 0.
        return np.concatenate([np.pad(rows, ((0, 0), (0, keys - rows.shape[1]))) for rows in maps])
    if block.kind == "linear":
        rows = np.concatenate([run["logits"].value[0].float().numpy() for run in each])
        if view.stepwise:  # only the newest row predicts
            rows = rows[np.cumsum(np.arange(len(runs)) + 1) - 1]
        return np.take_along_axis(rows, trace.top_ids, axis=1)
    if block.kind == "initial":
        return runs[-1][block.result].value[:, 0, :NUMBERS].float().numpy()
    if block.kind == "positions":
        return added[block.name][:, :NUMBERS]
    return np.concatenate([run[block.result].value[0, :, :NUMBERS].float().numpy() for run in each])


def _usual_size(numbers: Floats) -> float:
    """The magnitude that has the full colour: 98 % of the numbers are smaller."""
    scale = float(np.quantile(np.abs(numbers), 0.98)) if numbers.size else 1.0
    return float(f"{max(scale, 1e-9):.4g}")


def full_colour(weights: Floats) -> float:
    """The weight that has the full colour of a small map: the median of the largest weights of its rows.

    Where attention is spread over many tokens, no weight is near 1, and a scale up to 1 would show a blank map.
    """
    return float(f"{max(float(np.median(weights.max(axis=-1))), 1e-6):.4g}")


def encode_details(block: Block, opened: Opened, run: Recording, model: Model, *, seq: str, step: int) -> bytes:
    """The message of an opened block of a recorded run.

    `step` is the run's step if each step has rows of its own, and 0 if one run serves all.
    """
    arrays: dict[str, Floats] = {}
    numbers: list[PointNumbers] = []
    for name, point in points_of(model.config)[block.name].items():
        operation = run[name]
        rows = rows_of(operation, max(opened.head, 1))
        arrays[f"numbers.{point.point}"] = _described(rows)
        mean, deviation = _number(operation.mean), _number(operation.standard_deviation)
        numbers.append(replace(point, shape=list(operation.shape[1:]), mean=mean, deviation=deviation))
        if not block.attention and name != "logits":
            arrays[point.point] = rows[:, :COLUMNS]
    if block.attention:
        arrays |= _attention(block, opened.head, run, model)
    message = MachineDetails(
        part="details",
        seq=seq,
        step=step,
        opened=opened,
        heads=run[f"{block.name}.weights"].shape[1] if block.attention else 0,
        full=full_colour(arrays["heads"]) if block.attention else 1.0,
        numbers=numbers,
        code=code_of_block(model, block),
    )
    return wire.write(vars(message), arrays)


def rows_of(operation: Operation, head: int) -> Floats:
    """The rows [row, number] of an operation, of one head (from 1) if it has heads. Masked scores are NaN."""
    value = operation.value.float()
    if operation.name == "decoder.initial":  # [layer, batch, number]
        return np.array(value[:, 0].numpy())
    rows = np.array((value[0, head - 1] if value.dim() == 4 else value[0]).numpy())
    if operation.short == "masked":
        rows[rows <= np.finfo(np.float32).min] = np.nan
    return rows


def _described(rows: Floats) -> Floats:
    """Mean, standard deviation and length of each row; masked cells do not count."""
    seen = np.ma.masked_invalid(rows.astype(np.float64))
    columns = [seen.mean(axis=1), seen.std(axis=1), np.ma.sqrt((seen**2).sum(axis=1))]
    return np.stack([np.ma.filled(column, np.nan) for column in columns], axis=1).astype(np.float32)


def _number(value: float) -> float | None:
    return float(f"{value:.5g}") if np.isfinite(value) else None


def _attention(block: Block, head: int, run: Recording, model: Model) -> dict[str, Floats]:
    """The weights of all heads, the projections, and everything of the open head."""
    arrays: dict[str, Floats] = {"heads": run[f"{block.name}.weights"].value[0].float().numpy()}
    arrays |= _projections(block, run, model)
    for point in block.points:
        short = short_name(point)
        if point in run.operations and (short in BLOCK_PARTS or (head and run[point].value.dim() == 4)):
            arrays[short] = rows_of(run[point], head)[:, : COLUMNS if short in BLOCK_PARTS else None]
    return arrays


def _projections(block: Block, run: Recording, model: Model) -> dict[str, Floats]:
    """The inputs of the three matrices, the matrices as pictures, and the outputs; nothing for an LSTM."""
    points_by_name = {point.name: point for point in points(model.config)}
    arrays: dict[str, Floats] = {}
    for short in PROJECTIONS:
        name = f"{block.name}.{short}"
        if name not in run.operations:
            return {}
        weight = model.get_submodule(points_by_name[name].module).weight
        heads = run[f"{block.name}.weights"].shape[1]
        arrays[f"W.{short}"] = pooled(np.abs(weight.detach().float().numpy()), heads)  # type: ignore[operator]
        arrays[short] = run[name].value[0].float().numpy()
        arrays[f"x.{short}"] = run[points_by_name[name].reads[0]].value[0].float().numpy()
    if block.attention != "cross":  # all three read the same
        del arrays["x.k_proj"]
    del arrays["x.v_proj"]
    return arrays


def pooled(matrix: Floats, heads: int) -> Floats:
    """A matrix [out, in] as a small picture [in, out]: means over equal tiles, each within one head."""
    wide, high = matrix.shape
    columns, rows = heads * _divisor(wide // heads, max(1, MATRIX // heads)), _divisor(high, MATRIX)
    tiles = matrix.reshape(columns, wide // columns, rows, high // rows)
    means: Floats = tiles.mean(axis=(1, 3), dtype=np.float64).astype(np.float32)
    return means.T


def _divisor(size: int, most: int) -> int:
    """The largest divisor that is not above `most`."""
    return next(part for part in range(min(size, most), 0, -1) if size % part == 0)
