"""Types of what a token passes in the machine, and of numbers by place; structs.py has those of the other messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model.config import AttentionKind

StageOperation = Literal[
    "ids", "lookup", "times", "plus", "copy", "linear", "split", "rotate", "dot", "divide", "mask", "softmax", "mix",
    "join", "multiply", "norm", "rms", "relu", "gelu", "gelu_tanh", "silu", "other",
]  # fmt: skip


@dataclass(frozen=True)
class MachineStage:
    """A point with the operation that computes it from the points `reads` (machine_stages.py).

    `side` says whose tokens its rows are; `columns` counts the numbers of a token, 0 for one number a key. `weight` is
    the module whose parameters it uses, `width` the number of columns of its matrix, and `bias` whether it adds one. Of
    a rotation, `factor` is the base of the wavelengths and `width` the distance between the two columns of a pair.
    `group` counts the heads that share the columns read.
    """

    point: str
    block: str
    title: str
    side: Literal["source", "target"]
    op: StageOperation
    reads: list[str]
    columns: int = 0
    weight: str = ""
    width: int = 0
    bias: bool = False
    factor: float = 1.0
    group: int = 1


@dataclass(frozen=True)
class TensorSlice:
    """Rows and columns (from 0) of a point or of a parameter; `head` counts from 1, and is 0 without heads."""

    name: str
    head: int
    row: int
    rows: int
    column: int
    columns: int


@dataclass(frozen=True)
class NumbersRequest:
    """Numbers that the machine needs of a decoding; `step` is 0 if one run serves all steps."""

    seq: str
    step: int
    slices: list[TensorSlice]


@dataclass(frozen=True)
class MachineNumbers(NumbersRequest):
    """The requested numbers: the array `0` has those of the first slice, and so on. Masked cells are NaN."""

    part: Literal["numbers"] = "numbers"


@dataclass(frozen=True)
class RowWeights:
    """The weights, in thousandths, that one row of a head is to have: layer, head and row from 1.

    With `to`, token `row` is to stand at that position instead. Without both, the model is to be as it was trained.
    """

    seq: str
    kind: AttentionKind
    layer: int
    head: int
    row: int
    weights: list[int]
    to: int = 0
