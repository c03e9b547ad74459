"""Patching: replace one vector of the residual stream by that of another sentence, point by point.

If a single vector in a run on one sentence comes from a run on another, the result shows where the difference between
both arises (Vig et al. 2020, "causal mediation"; Meng et al. 2022, "causal tracing"). Unlike ablation, patching uses
only vectors that the model really computes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.config import SPECIALS, AttentionKind, ModelConfig
from model.decoding.search import allowed_log_probs, output_rules, target_log_probs
from model.edits import patch
from model.points import attention_scope, embedded, layer_output
from model.recording import PointRecorder
from model.tap import Tap
from model.transformer import Transformer
from model.user_error import UserError
from model.wording import later

Floats = NDArray[np.float64]
Stack = Literal["encoder", "decoder"]


class PatchError(UserError):
    """Two sentences that cannot be patched into each other; the message says why and what to do."""


@dataclass(frozen=True, eq=False)
class PatchGrid:
    """The prediction of one row when a single vector comes from another sentence.

    Shapes: log_probs by stack, [point, position]: the log-probability of the predicted token, in nats, with the vector
    at this point and position replaced; point 0 is the embedding, point l the output of layer l. The decoder's
    positions are those that the row sees, in a decoder alone with the prompt. likeliest, of the same shapes: the
    likeliest token with the patch.
    `own` and `other`: the log-probability without a patch, and with the whole source of the other sentence.
    """

    own: float
    other: float
    log_probs: dict[Stack, Floats]
    likeliest: dict[Stack, NDArray[np.int64]]


def stacks_of(config: ModelConfig) -> tuple[Stack, ...]:
    """The stacks of a model; a model without an encoder has one."""
    return ("encoder", "decoder") if config.has_encoder else ("decoder",)


def patched_points(config: ModelConfig, stack: Stack) -> tuple[str, ...]:
    """The points at which vectors are replaced: the embedding, then the output of each layer."""
    side, n_layers = ("src", config.n_encoder_layers) if stack == "encoder" else ("tgt", config.n_decoder_layers)
    return (embedded(side, config), *(layer_output(config, stack, layer) for layer in range(n_layers)))


@dataclass(frozen=True, eq=False)
class ChangedRows:
    """How the predictions change if the model reads other sources, with the same target.

    Shapes: token [row], the one that is watched; instead [other, row], the likeliest with each other source, and
    chance, its probability; fall [other, row]: by how much the log-probability of `token` falls, in nats.
    """

    token: NDArray[np.int64]
    instead: NDArray[np.int64]
    chance: Floats
    fall: Floats

    @property
    def answer_changes(self) -> NDArray[np.bool_]:
        """[other, row]: whether another token becomes the likeliest."""
        changes: NDArray[np.bool_] = self.instead != self.token
        return changes


@torch.inference_mode()
def changed_rows(
    model: Transformer,
    src: Sequence[int],
    others: Sequence[Sequence[int]],
    read: Sequence[int],
    watched: Sequence[int] | None = None,
    tap: Tap | None = None,
) -> ChangedRows:
    """Compare the predictions of every row between a source and others of equal length.

    Shapes: src and each of `others`: ids with <eos>; read: target ids, <sos> first; watched: an id a row, the
    likeliest one if none are given. A `tap` sees the source as the first of the batch.

    Raises:
        PatchError: a source differs in length.
    """
    for other in others:
        _check_lengths(src, other)
    sources = torch.tensor([list(src), *map(list, others)])
    target = torch.tensor([list(read)]).expand(len(sources), -1)
    log_probs = target_log_probs(model(sources, target, tap=tap), output_rules(model.config))  # [1 + other, row, vocab]
    most, likeliest = log_probs.max(dim=-1)
    tokens = likeliest[0] if watched is None else torch.tensor(list(watched))
    own = log_probs.gather(-1, tokens[None, :, None].expand(len(sources), -1, -1))[..., 0]
    chance, fall = (each.double().numpy() for each in (most[1:].exp(), own[0] - own[1:]))
    return ChangedRows(tokens.numpy(), likeliest[1:].numpy(), chance, fall)


def neighbours(model: Transformer, ids: Sequence[int], count: int) -> tuple[NDArray[np.int64], Floats]:
    """The source tokens whose embeddings are closest to those of `ids`, and the cosines: [id, count], no specials."""
    with torch.inference_mode():
        embedding = model.src_embedding if model.config.has_encoder else model.tgt_embedding
        vectors = torch.nn.functional.normalize(embedding.weight.float(), dim=-1)
        similar = vectors[list(ids)] @ vectors.T
        similar[:, : len(SPECIALS)] = -torch.inf
        similar[torch.arange(len(ids)), list(ids)] = -torch.inf
        cosines, nearest = similar.topk(min(count, similar.size(1) - len(SPECIALS) - 1), dim=-1)
    return nearest.numpy(), cosines.double().numpy()


@dataclass(frozen=True, eq=False)
class PatchEffects:
    """How far single patches carry a prediction over from one source to another, in nats.

    The prediction is the difference of the log-probabilities of two tokens, the likeliest with each source (Wang et al.
    2022): a patch that only harms the model lowers both. `gap`: how far the whole other source moves it. Shapes: places
    by stack [point, position], see :class:`PatchGrid`; heads by kind [layer, head], with the head's output at all
    positions from the other source.
    """

    gap: float
    places: dict[Stack, Floats]
    heads: dict[AttentionKind, Floats]


@torch.inference_mode()
def patch_effects(
    model: Transformer, src: Sequence[int], other: Sequence[int], read: Sequence[int], token: int, instead: int
) -> PatchEffects:
    """Measure every patch of a vector and of a head's output; arguments as :func:`patch_grid`."""
    config = model.config
    rules, tgt = output_rules(config), torch.tensor([list(read)])

    def contrast(source: Sequence[int], rows: int = 1, tap: Tap | None = None) -> Floats:
        logits = model(torch.tensor([list(source)]).expand(rows, -1), tgt.expand(rows, -1), tap=tap)
        log_probs = allowed_log_probs(logits[:, -1], rules, first=len(read) == 1).double()
        difference: Floats = (log_probs[:, token] - log_probs[:, instead]).numpy()
        return difference

    points = {stack: patched_points(config, stack) for stack in stacks_of(config)}
    donor = PointRecorder([name for names in points.values() for name in names])
    theirs = contrast(other, tap=donor)
    own = contrast(src)[0]
    places = {}
    for stack, names in points.items():
        n = donor.tensors[names[0]].size(1)
        taps = (patch(config, {name: _on_diagonal(donor.tensors[name][0])}) for name in names)
        places[stack] = np.stack([own - contrast(src, n, tap) for tap in taps])
    by_head = patch_heads(model, src, other, read, (token, instead))
    heads = {kind: own - (values[..., 0] - values[..., 1]) for kind, values in by_head.items()}
    return PatchEffects(float(own - theirs[0]), places, heads)


@torch.inference_mode()
def patch_heads(
    model: Transformer, src: Sequence[int], other: Sequence[int], read: Sequence[int], tokens: Sequence[int]
) -> dict[AttentionKind, Floats]:
    """Replace the output of every head, one at a time and at all positions, by that from a run on another source.

    Arguments as in :func:`patch_grid`. Returns the log-probabilities of `tokens`, [layer, head, token] by kind.

    Raises:
        PatchError: the sources differ in length.
    """
    _check_lengths(src, other)
    config, rules, tgt = model.config, output_rules(model.config), torch.tensor([list(read)])
    outputs = {
        kind: [f"{attention_scope(kind, layer)}.output" for layer in range(config.n_layers(kind))]
        for kind in config.kinds
    }
    donor = PointRecorder([point for points in outputs.values() for point in points])
    model(torch.tensor([list(other)]), tgt, tap=donor)
    found = {}
    for kind, points in outputs.items():
        rows = torch.tensor([list(src)]).expand(config.n_heads(kind), -1)
        taps = (patch(config, {point: _on_diagonal(donor.tensors[point][0])}) for point in points)
        logits = [model(rows, tgt.expand(len(rows), -1), tap=tap)[:, -1] for tap in taps]
        log_probs = [allowed_log_probs(last, rules, first=len(read) == 1).double() for last in logits]
        found[kind] = np.stack([each[:, list(tokens)].numpy() for each in log_probs])
    return found


@torch.inference_mode()
def patch_grid(
    model: Transformer,
    src: Sequence[int],
    other: Sequence[int],
    read: Sequence[int],
    token: int,
) -> PatchGrid:
    """Replace every vector of the stacks, one at a time, by that from a run on another source.

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

    points = {stack: patched_points(config, stack) for stack in stacks_of(config)}
    donor = PointRecorder([point for names in points.values() for point in names])
    other_log_probs = run(other, tap=donor)
    own_log_probs = run(src)
    grid = PatchGrid(float(own_log_probs[0, token]), float(other_log_probs[0, token]), {}, {})
    for stack, names in points.items():
        n = donor.tensors[names[0]].size(1)
        patches = (patch(config, {point: _on_diagonal(donor.tensors[point][0])}) for point in names)
        runs = torch.stack([run(src, n, tap) for tap in patches])
        grid.log_probs[stack] = runs[..., token].double().numpy()
        grid.likeliest[stack] = runs.argmax(dim=-1).numpy()
    return grid


def _check_lengths(src: Sequence[int], other: Sequence[int]) -> None:
    if len(src) != len(other):
        raise PatchError(
            "Patching needs two sentences of equal length in tokens: this one has {tokens}, "
            "the other one {other}. Change a word for another one.",
            tokens=later("{n} token", "{n:,} tokens", n=len(src) - 1),
            other=len(other) - 1,
        )


def _on_diagonal(donor: Tensor) -> Callable[[Tensor], Tensor]:
    """A function that replaces index i of axis 1 in row i of its argument, [i, i, …], by that of the donor, [i, …]."""

    def replaced(x: Tensor) -> Tensor:
        places = torch.arange(x.size(0))
        changed = x.clone()
        changed[places, places] = donor[places]
        return changed

    return replaced
