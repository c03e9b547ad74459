"""Patching: replace one vector of the residual stream by that of another sentence, point by point.

If a single vector in a run on one sentence comes from a run on another, the result shows where the difference between
both arises (Vig et al. 2020, "causal mediation"; Meng et al. 2022, "causal tracing"). Unlike ablation, patching uses
only vectors that the model really computes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.config import ModelConfig
from model.decoding.search import output_rules, target_log_probs
from model.edits import patch
from model.plurals import plural
from model.points import embedded, layer_output
from model.recording import PointRecorder
from model.tap import Tap
from model.transformer import Transformer
from model.user_error import UserError

Floats = NDArray[np.float64]
Stack = Literal["encoder", "decoder"]
STACKS: tuple[Stack, ...] = get_args(Stack)


class PatchError(UserError):
    """Two sentences that cannot be patched into each other; the message says why and what to do."""


@dataclass(frozen=True, eq=False)
class PatchGrid:
    """The prediction of one row when a single vector comes from another sentence.

    Shapes: log_probs by stack, [point, position]: the log-probability of the predicted token, in nats, with the vector
    at this point and position replaced; point 0 is the embedding, point l the output of layer l. The decoder's
    positions are those that the row sees. likeliest, of the same shapes: the likeliest token with the patch.
    `own` and `other`: the log-probability without a patch, and with the whole source of the other sentence.
    """

    own: float
    other: float
    log_probs: dict[Stack, Floats]
    likeliest: dict[Stack, NDArray[np.int64]]


def patched_points(config: ModelConfig, stack: Stack) -> tuple[str, ...]:
    """The points at which vectors are replaced: the embedding, then the output of each layer."""
    side, n_layers = ("src", config.n_encoder_layers) if stack == "encoder" else ("tgt", config.n_decoder_layers)
    return (embedded(side, config), *(layer_output(config, stack, layer) for layer in range(n_layers)))


@torch.inference_mode()
def patch_grid(
    model: Transformer,
    src: Sequence[int],
    other: Sequence[int],
    read: Sequence[int],
    token: int,
    other_read: Sequence[int] | None = None,
) -> PatchGrid:
    """Replace every vector of both stacks, one at a time, by that from a run on another source.

    Both runs read the same target, so their positions correspond; only the source differs.

    Shapes: src and other: ids with <eos>, equally many; read: target ids, <sos> first, up to the row whose prediction
    of `token` is measured. A decoder-only model reads no source: `read` and `other_read` hold the whole texts.

    Raises:
        PatchError: the sources differ in length, or are equal.
    """
    donor_read, own = other_read or read, src or read
    others = other or donor_read
    if len(own) != len(others):
        end = len(src[-1:])  # <eos>
        raise PatchError(
            f"Patching needs two sentences of equal length in tokens: this one has {plural(len(own) - end, 'token')}, "
            f"the other one {len(others) - end}. Change a word for another one."
        )
    if list(own) == list(others):
        raise PatchError("Both sentences are the same for this model: nothing changes. Change a word.")
    config = model.config
    rules = output_rules(config)

    def run(source: Sequence[int], target: Sequence[int], rows: int = 1, tap: Tap | None = None) -> Tensor:
        """[rows, vocab]: log-probabilities after the last token read."""
        pair = (torch.tensor([list(ids)], dtype=torch.long).expand(rows, -1) for ids in (source, target))
        logits = model(*pair, tap=tap)
        return target_log_probs(logits, rules)[:, -1]

    points = {stack: patched_points(config, stack) for stack in (STACKS if src else STACKS[1:])}
    donor = PointRecorder([point for names in points.values() for point in names])
    other_log_probs, own_log_probs = run(other, donor_read, tap=donor), run(src, read)
    grid = PatchGrid(float(own_log_probs[0, token]), float(other_log_probs[0, token]), {}, {})
    for stack, names in points.items():
        n = len(src) if stack == "encoder" else len(read)
        patches = (patch(config, {point: _on_diagonal(donor.tensors[point])}) for point in names)
        runs = torch.stack([run(src, read, n, tap) for tap in patches])
        grid.log_probs[stack] = runs[..., token].double().numpy()
        grid.likeliest[stack] = runs.argmax(dim=-1).numpy()
    return grid


def _on_diagonal(donor: Tensor) -> Callable[[Tensor], Tensor]:
    """A function that replaces position p in row p of its argument, [position, position, d_model]."""

    def replaced(x: Tensor) -> Tensor:
        positions = torch.arange(x.size(0))
        changed = x.clone()
        changed[positions, positions] = donor[0, positions]
        return changed

    return replaced
