"""Record a translation operation by operation, and derive quantities from the recorded tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.architectures import Model, empty_model
from model.config import ModelConfig
from model.decoding.search import output_rules, target_log_probs
from model.dry_run import points
from model.edits import HeadEdits, edit_tap
from model.points import embedded, layer_output
from model.recording import PointRecorder
from model.tap import compose
from model.transformer import Transformer

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation of a recorded run: a point of the model (:mod:`model.points`) with the tensor recorded there."""

    name: str
    value: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result; the first axis is the batch."""
        return tuple(self.value.shape)

    @property
    def short(self) -> str:
        """The last part of the name."""
        return self.name.rsplit(".", 1)[-1]

    @property
    def finite(self) -> Tensor:
        """The values without those that a mask has set to the lowest finite number."""
        return self.value[self.value > torch.finfo(self.value.dtype).min]

    @property
    def mean(self) -> float:
        """The mean of all values that are not masked."""
        return float(self.finite.mean())

    @property
    def standard_deviation(self) -> float:
        """The standard deviation of the same values, with division by their number."""
        return float(self.finite.std(unbiased=False))


@dataclass(frozen=True, eq=False)
class Recording:
    """A recorded run from text to prediction: its operations by name, in the order of computation.

    `read_ids` are the target tokens read, <sos> first; the row of the last one makes the prediction.
    """

    operations: dict[str, Operation]
    src_ids: tuple[int, ...]
    read_ids: tuple[int, ...]
    logits: Tensor
    edit: HeadEdits | None = None

    def __getitem__(self, name: str) -> Operation:
        return self.operations[name]


@torch.inference_mode()
def record(
    model: Model, source: Sequence[int], path: Sequence[int], step: int, *, edit: HeadEdits | None = None
) -> Recording:
    """Run the model on source ids (without <eos>) up to `step` (from 1) of a target path and record every operation.

    With `edit`, heads are changed throughout, and what is recorded is what the model goes on with.

    Raises:
        EditError: the edit does not fit.
    """
    src, read = model.config.inputs(source, path[:step])
    recorder, ids = PointRecorder(), torch.tensor([src], dtype=torch.long)
    logits = model(ids, torch.tensor([read]), tap=compose(edit_tap(edit, model.config), recorder))[0, -1]
    # Ids and masks are inputs, not operations.
    inputs = {point.name for point in points(model.config) if not point.reads}
    operations = {name: Operation(name, value) for name, value in recorder.tensors.items() if name not in inputs}
    chances = target_log_probs(operations["logits"].value, output_rules(model.config)).exp()
    operations["softmax"] = Operation("softmax", chances)
    return Recording(operations, src, read, logits, edit)


@lru_cache(maxsize=64)
def parameter_counts(config: ModelConfig) -> dict[str, tuple[int, str]]:
    """Count the parameters of each point that no earlier point uses, and name the point that first uses the others.

    Points without parameters are left out.
    """
    model, owners = empty_model(config), dict[int, str]()
    counts = {}
    for point in points(config):
        if not point.module:
            continue
        count, shared_with = 0, ""
        for parameter in model.get_submodule(point.module).parameters():
            owner = owners.setdefault(id(parameter), point.name)
            count += parameter.numel() if owner == point.name else 0
            shared_with = shared_with if owner == point.name else owner
        counts[point.name] = count, shared_with
    return counts


def whole_runs(
    model: Model, source: Sequence[int], path: Sequence[int], *, edit: HeadEdits | None = None
) -> tuple[Recording, ...]:
    """Record every row of every step of a target path.

    One run over the whole path covers all steps of a causal decoder, whose rows do not change. A decoder that is not
    causal recomputes all rows at every step, so each step has its own run.
    """
    steps = (len(path),) if model.config.causal else range(1, len(path) + 1)
    return tuple(record(model, source, path, step, edit=edit) for step in steps)


@torch.inference_mode()
def added_positions(model: Model, run: Recording) -> dict[str, NDArray[np.float32]]:
    """The vectors that were added to the embeddings, [position, d_model], by their point; empty if there are none."""
    added = {}
    if isinstance(model, Transformer):
        for side in ("src", "tgt") if model.config.has_encoder else ("tgt",):
            encoding = getattr(model, f"positions_{side}")
            point = f"{side}.positions"
            rows = encoding.table(run[point].shape[1])
            if rows is not None:
                added[point] = rows.float().numpy().copy()
    for edit in run.edit.edits if run.edit is not None else ():
        point = f"{edit.scope}.positions"
        if edit.op == "position" and point in added and (edit.row or 0) < len(added[point]):
            added[point][edit.row] += edit.values
    return added


@torch.inference_mode()
def layer_by_layer(model: Transformer, run: Recording) -> Tensor:
    """The output projection applied after the embedding and after each decoder layer ("logit lens").

    In a pre-norm model, the final norm is applied first, as in the model itself. The last entry is the real prediction.

    Shapes:
        returns: logits [layer + 1, row, tgt_vocab].
    """
    config = model.config
    names = [embedded("tgt", config), *(layer_output(config, "decoder", i) for i in range(config.n_decoder_layers))]
    return torch.stack([model.logits(model.decoder.norm(run[name].value))[0] for name in names])
