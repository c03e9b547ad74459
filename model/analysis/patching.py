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

from model.config import ATTENTION_KINDS, SOS, AttentionKind, ModelConfig
from model.decoding.search import output_rules, target_log_probs
from model.edits import patch
from model.plurals import plural
from model.points import attention_scope, embedded, layer_output
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
) -> PatchGrid:
    """Replace every vector of both stacks, one at a time, by that from a run on another source.

    Both runs read the same target, so their positions correspond; only the source differs.

    Shapes: src and other: ids with <eos>, equally many; read: target ids, <sos> first, up to the row whose prediction
    of `token` is measured.

    Raises:
        PatchError: the sources differ in length, or are equal.
    """
    _check_lengths(src, other)
    if list(src) == list(other):
        raise PatchError("Both sentences are the same for this model: nothing changes. Change a word.")
    config = model.config
    rules = output_rules(config)
    tgt = torch.tensor([list(read)])

    def run(source: Sequence[int], rows: int = 1, tap: Tap | None = None) -> Tensor:
        """[rows, vocab]: log-probabilities after the last token read."""
        logits = model(torch.tensor([list(source)]).expand(rows, -1), tgt.expand(rows, -1), tap=tap)
        return target_log_probs(logits, rules)[:, -1]

    points = {stack: patched_points(config, stack) for stack in STACKS}
    donor = PointRecorder([point for names in points.values() for point in names])
    other_log_probs = run(other, tap=donor)
    own_log_probs = run(src)
    grid = PatchGrid(float(own_log_probs[0, token]), float(other_log_probs[0, token]), {}, {})
    for stack, names in points.items():
        n = len(src) if stack == "encoder" else len(read)
        patches = (patch(config, {point: _on_diagonal(donor.tensors[point][0])}) for point in names)
        runs = torch.stack([run(src, n, tap) for tap in patches])
        grid.log_probs[stack] = runs[..., token].double().numpy()
        grid.likeliest[stack] = runs.argmax(dim=-1).numpy()
    return grid


def _check_lengths(src: Sequence[int], other: Sequence[int]) -> None:
    if len(src) != len(other):
        raise PatchError(
            f"Patching needs two sentences of equal length in tokens: this one has {plural(len(src) - 1, 'token')}, "
            f"the other one {len(other) - 1}. Change a word for another one."
        )


def _on_diagonal(donor: Tensor) -> Callable[[Tensor], Tensor]:
    """A function that replaces index i of axis 1 in row i of its argument, [i, i, …], by that of the donor, [i, …]."""

    def replaced(x: Tensor) -> Tensor:
        places = torch.arange(x.size(0))
        changed = x.clone()
        changed[places, places] = donor[places]
        return changed

    return replaced


@dataclass(frozen=True, eq=False)
class SourceEffects:
    """A translation read beside other sources of the same length, row by row.

    Shapes: own [row], others [source, row]: the log-probability of the token that the translation has there, in nats;
    changes [source, row]: whether another token is likelier with the other source.
    """

    own: Floats
    others: Floats
    changes: NDArray[np.bool_]

    def row(self, source: int) -> int:
        """The row (from 0) that another source changes most."""
        return int(np.abs(self.others[source] - self.own).argmax())


@torch.inference_mode()
def source_effects(
    model: Transformer, src: Sequence[int], others: Sequence[Sequence[int]], path: Sequence[int]
) -> SourceEffects:
    """Read a translation with its own source and with each of the others, and compare its predictions.

    Shapes: src and others: ids with <eos>, equally many; path: the ids of the translation.

    Raises:
        PatchError: a source differs in length.
    """
    for other in others:
        _check_lengths(src, other)
    rows = torch.tensor([[SOS, *path[:-1]]]).expand(len(others) + 1, -1)
    logits = model(torch.tensor([list(src), *map(list, others)]), rows)
    log_probs = target_log_probs(logits, output_rules(model.config))
    tokens = torch.tensor(list(path))
    chosen = log_probs.gather(2, tokens.expand(len(rows), -1)[..., None])[..., 0].double().numpy()
    changes = (log_probs.argmax(dim=-1) != tokens).numpy()
    return SourceEffects(chosen[0], chosen[1:], changes[1:])


@torch.inference_mode()
def patch_heads(
    model: Transformer, src: Sequence[int], other: Sequence[int], read: Sequence[int], token: int
) -> dict[AttentionKind, Floats]:
    """Replace the output of every head, one at a time and at all positions, by that from a run on another source.

    Arguments as in :func:`patch_grid`. Returns the log-probability of `token`, [layer, head] by kind.

    Raises:
        PatchError: the sources differ in length.
    """
    _check_lengths(src, other)
    config, rules = model.config, output_rules(model.config)
    outputs = {
        (kind, layer): f"{attention_scope(kind, layer)}.output"
        for kind in ATTENTION_KINDS
        for layer in range(config.n_layers(kind))
    }
    tgt, donor = torch.tensor([list(read)]), PointRecorder(list(outputs.values()))
    model(torch.tensor([list(other)]), tgt, tap=donor)
    log_probs: dict[AttentionKind, list[NDArray[np.float64]]] = {kind: [] for kind in ATTENTION_KINDS}
    for (kind, _), point in outputs.items():
        n = config.n_heads(kind)
        tap = patch(config, {point: _on_diagonal(donor.tensors[point][0])})
        logits = model(torch.tensor([list(src)]).expand(n, -1), tgt.expand(n, -1), tap=tap)
        log_probs[kind].append(target_log_probs(logits, rules)[:, -1, token].double().numpy())
    return {kind: np.stack(layers) for kind, layers in log_probs.items()}
