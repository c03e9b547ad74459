"""Numbers of a recorded run by place: parts of its tensors and of the model's parameters, as the browser requests them.

So a message holds what is on screen and no more, whatever the size of the model. On a site without a server,
`numbersOf` (js/live/machine.js) answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from explorer.browser import wire
from explorer.browser.machine_payload import Floats, rows_of
from explorer.browser.machine_stages import ADDED_POINT, stages_of
from explorer.browser.machine_structs import MachineNumbers, NumbersRequest, TensorSlice
from model.analysis.operations import Recording, added_positions

if TYPE_CHECKING:
    from model.architectures import Model

MOST = 200_000
"""Maximum number of numbers in a message, so that none is larger than 1 MB."""


def encode_numbers(request: NumbersRequest, run: Recording, model: Model) -> bytes | None:
    """The message with the requested numbers; None if the run has no such numbers, or if they are too many."""
    try:
        found = [_part(each, run, model) for each in request.slices]
    except LookupError:
        return None
    if sum(numbers.size for numbers in found) > MOST:
        return None
    header = vars(MachineNumbers(request.seq, request.step, request.slices))
    return wire.write(header, {str(i): numbers for i, numbers in enumerate(found)})


def _part(part: TensorSlice, run: Recording, model: Model) -> Floats:
    if min(part.head, part.row, part.rows, part.column, part.columns) < 0:
        raise LookupError(part)
    whole = _matrix(part.name, part.head, run, model)
    return whole[part.row : part.row + part.rows, part.column : part.column + part.columns]


def _matrix(name: str, head: int, run: Recording, model: Model) -> Floats:
    """A point or a parameter as a matrix, which need not be a copy."""
    stage, _, kind = name.rpartition(".")
    if name in ("src.tokens", "tgt.tokens"):
        return np.array(run.src_ids if name == "src.tokens" else run.read_ids, np.float32)[:, None]
    if name.endswith(ADDED_POINT):
        return added_positions(model, run)[f"{stage}.positions"]
    if name in run.operations:
        if head > (run[name].shape[1] if run[name].value.dim() == 4 else 0):
            raise LookupError(name)
        return rows_of(run[name], max(head, 1))
    if kind not in ("weight", "bias") or stage not in {each.weight for each in stages_of(model.config)} - {""}:
        raise LookupError(name)
    with torch.inference_mode():
        numbers: Floats = model.get_parameter(name).float().numpy()
    return numbers.reshape(-1, numbers.shape[-1])
