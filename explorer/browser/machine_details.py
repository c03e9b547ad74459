"""What the machine shows of an opened block, as one message (see machine_payload.py for its form).

- `arrays`: of an attention block, the weights of all heads; of a head, its queries, keys, values, scores, masked
  scores, weights and output; how queries, keys and values arise: the vectors that go in, the matrices, and
  the vectors that come out. Of any other block, its points. Masked cells are NaN.
- `numbers`: a line for each point of the block, with an array [row, 3 + n]: mean, standard deviation and length of the
  row, and its first numbers.
- `code`: the functions that compute the points, and for each point which of them, and which of its lines.

Rows are all those of the run, so that stepping through a causal decoding asks for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.browser import wire
from explorer.browser.machine_payload import Opened, full_colour, is_target
from explorer.decoding.machine_blocks import MEMORY, Block
from model.analysis.point_code import NoCode, code_of
from model.config import ATTENTION_KINDS, ModelConfig
from model.points import points

if TYPE_CHECKING:
    from torch import nn

    from model.analysis.operations import Operation, Walk

COLUMNS = 64
"""How many numbers of a vector the picture of an opened block shows."""
FIRST = 8
"""How many numbers of a row are written out."""
MATRIX = 32
"""At most so many rows and columns has the picture of a matrix."""

Floats = NDArray[np.float32]

_PROJECTIONS = ("q_proj", "k_proj", "v_proj")
_OF_KEYS = ("k_proj", "v_proj", "key", "value")
_CELLS = ("bias", "scores", "masked", "weights")


def check_opened(asked: Mapping[str, Any], blocks: tuple[Block, ...], config: ModelConfig) -> Opened:
    """What a browser or a link asks for, as far as it exists in this model; nothing is trusted."""
    block = next((each for each in blocks if each.name == asked.get("block")), None)
    if block is None:
        return Opened()
    head, part = asked.get("head"), asked.get("part")
    if not block.attention or type(head) is not int:
        return Opened(block.name)
    kind = next(kind for kind in ATTENTION_KINDS if kind == block.attention)
    if not 1 <= head <= config.n_heads(kind):
        return Opened(block.name)
    known = part in {point.rsplit(".", 1)[-1] for point in block.points}
    return Opened(block.name, head, str(part) if known else "")


def encode_details(
    block: Block,
    opened: Opened,
    run: Walk,
    model: nn.Module,
    title_of: Callable[[str], str],
    *,
    seq: str,
    step: int,
    before: Block | None = None,
) -> bytes:
    """What the browser gets of an opened block of a recorded run; `title_of` names a point.

    `step` is that of the run where each step has rows of its own, and 0 where one run serves all. `before` is the block
    whose result this one is, where it computes nothing itself: the memory is what the encoder's last block gives.
    """
    computed = block.points or (before.points[-1:] if before is not None else ())
    operations = [run[point] for point in computed if point in run.operations and point != "softmax"]
    arrays: dict[str, Floats] = {}
    numbers = []
    for operation in operations:
        rows = _rows(operation, max(opened.head, 1))
        arrays[f"numbers.{operation.short}"] = _described(rows)
        numbers.append(
            {
                "point": operation.short,
                "title": title_of(operation.name),
                "shape": list(operation.shape[1:]),
                "parameters": operation.parameters,
                "mean": _number(operation.mean),
                "deviation": _number(operation.standard_deviation),
                "side": "target" if _is_of_target(block, operation.short) else "source",
            }
        )
        if not block.attention and operation.name != "logits":
            arrays[operation.short] = rows[:, :COLUMNS]
    if block.attention:
        arrays |= _attention(block, opened.head, run, model)
    header = {
        "part": "details",
        "seq": seq,
        "step": step,
        "opened": asdict(opened),
        "numbers": numbers,
        "code": _code(model, block),
        "heads": run[f"{block.name}.weights"].shape[1] if block.attention else 0,
        "full": full_colour(arrays["heads"]) if block.attention else 1.0,
    }
    return wire.write(header, arrays)


def _rows(operation: Operation, head: int) -> Floats:
    """[row, number] of an operation; of one head (from 1) where it has heads. Masked scores are NaN."""
    value = operation.value.float()
    if operation.name == "decoder.initial":  # [layer, batch, number]
        return np.array(value[:, 0].numpy())
    rows = np.array((value[0, head - 1] if value.dim() == 4 else value[0]).numpy())
    if operation.short == "masked":
        rows[rows <= np.finfo(np.float32).min] = np.nan
    return rows


def _described(rows: Floats) -> Floats:
    """Mean, standard deviation and length of each row, and its first numbers; masked cells do not count."""
    seen = np.ma.masked_invalid(rows.astype(np.float64))
    columns = [seen.mean(axis=1), seen.std(axis=1), np.ma.sqrt((seen**2).sum(axis=1))]
    told = np.stack([np.ma.filled(column, np.nan) for column in columns], axis=1)
    return np.concatenate((told, rows[:, :FIRST]), axis=1).astype(np.float32)


def _is_of_target(block: Block, point: str) -> bool:
    """Whether the rows of a point belong to target tokens: the keys of cross-attention belong to the source."""
    return is_target(block) and not (block.attention == "cross" and point in _OF_KEYS)


def _number(value: float) -> float | None:
    return float(f"{value:.5g}") if np.isfinite(value) else None


def _attention(block: Block, head: int, run: Walk, model: nn.Module) -> dict[str, Floats]:
    """The weights of all heads, the projections, and everything of the open head."""
    found: dict[str, Floats] = {"heads": run[f"{block.name}.weights"].value[0].float().numpy()}
    found |= _projections(block, run, model)
    if head:
        for point in block.points:
            short = point.rsplit(".", 1)[-1]
            if point in run.operations and run[point].value.dim() == 4:
                found[short] = _rows(run[point], head)
    return found


def _projections(block: Block, run: Walk, model: nn.Module) -> dict[str, Floats]:
    """What goes into the three matrices, the matrices as pictures, and what comes out; nothing for an LSTM."""
    known = {point.name: point for point in points(model.config)}  # type: ignore[arg-type]
    found: dict[str, Floats] = {}
    for short in _PROJECTIONS:
        name = f"{block.name}.{short}"
        if name not in run.operations:
            return {}
        weight = model.get_submodule(known[name].module).weight
        heads = run[f"{block.name}.weights"].shape[1]
        found[f"W.{short}"] = pooled(np.abs(weight.detach().float().numpy()), heads)  # type: ignore[operator]
        found[short] = run[name].value[0].float().numpy()
        found[f"x.{short}"] = run[known[name].reads[0]].value[0].float().numpy()
    if block.attention != "cross":  # all three read the same
        del found["x.k_proj"]
    del found["x.v_proj"]
    return found


def pooled(matrix: Floats, heads: int) -> Floats:
    """A matrix [out, in] as a small picture [in, out]: means over equal tiles, none of which belongs to two heads."""
    wide, high = matrix.shape
    columns, rows = heads * _divisor(wide // heads, max(1, MATRIX // heads)), _divisor(high, MATRIX)
    tiles = matrix.reshape(columns, wide // columns, rows, high // rows)
    means: Floats = tiles.mean(axis=(1, 3), dtype=np.float64).astype(np.float32)
    return means.T


def _divisor(size: int, most: int) -> int:
    """The largest divisor that is not above `most`."""
    return next(part for part in range(min(size, most), 0, -1) if size % part == 0)


def _code(model: nn.Module, block: Block) -> dict[str, Any]:
    """The functions behind a block, each once, and the lines of each point by the last part of its name."""
    names = {"result": "softmax"} if block.kind == "word" else {"result": MEMORY} if block.name == MEMORY else {}
    names |= {point.rsplit(".", 1)[-1]: point for point in block.points}
    functions: dict[tuple[str, str], dict[str, Any]] = {}
    places: dict[str, Any] = {}
    for short, point in names.items():
        try:
            excerpt = code_of(model, point)
        except NoCode:
            continue
        functions.setdefault(
            (excerpt.file, excerpt.function),
            {
                "file": excerpt.file,
                "name": excerpt.function,
                "first": excerpt.first_line,
                "lines": list(excerpt.lines),
            },
        )
        nth = list(functions).index((excerpt.file, excerpt.function))
        places[short] = {"function": nth, "marked": list(excerpt.marked)}
    return {"functions": list(functions.values()), "places": places}
