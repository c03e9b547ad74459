"""Run a model with other masks, so that it sees the future or padding, and measure what changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.config import PAD, AttentionKind, ModelConfig
from model.data.batching import pad
from model.decoding.search import output_rules, target_log_probs
from model.masks import causal_mask, padding_mask
from model.points import Head
from model.recording import AttentionRecorder
from model.trace import FUTURE, PADDING, VISIBLE, Codes
from model.transformer import Transformer

Weights = NDArray[np.float32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Switches:
    """The masks that are on: `causal` hides the future from decoder rows, `padding` hides padding keys."""

    causal: bool = True
    padding: bool = True


@dataclass(frozen=True, eq=False)
class Masks:
    """The masks of one batch, as they are passed to attention.

    Shapes:
        source: [batch, 1, 1, src] for encoder self-attention and cross-attention; target: [batch, 1, tgt, tgt] for
        decoder self-attention; bool, True = may attend.
    """

    source: Tensor
    target: Tensor

    def of(self, kind: AttentionKind, row: int, queries: int) -> NDArray[np.bool_]:
        """The mask of one sentence of the batch for one kind of attention: [query, key], as attention broadcasts it."""
        mask = self.target if kind == "decoder" else self.source
        visible: NDArray[np.bool_] = mask[row, 0].expand(queries, -1).numpy()
        return visible


def masks_for(src: Tensor, tgt: Tensor, switches: Switches) -> Masks:
    """The masks of a padded batch, src [batch, src] and tgt [batch, tgt], without the masks that are switched off."""
    source, target = padding_mask(src), padding_mask(tgt)
    if not switches.padding:
        source, target = torch.ones_like(source), torch.ones_like(target)
    length = tgt.size(1)
    target = target.expand(-1, 1, length, length)
    return Masks(source, target & causal_mask(length) if switches.causal else target)


def mask_codes(src: Tensor, tgt: Tensor, kind: AttentionKind, row: int, switches: Switches) -> Codes:
    """Why each cell of one sentence's map is visible or masked: [query, key] of VISIBLE, FUTURE or PADDING.

    A cell that is both in the future and padding counts as padding.
    """
    queries, keys = (tgt if kind != "encoder" else src)[row], (tgt if kind == "decoder" else src)[row]
    codes = np.full((len(queries), len(keys)), VISIBLE, dtype=np.uint8)
    if kind == "decoder" and switches.causal:
        codes[np.triu_indices(len(queries), k=1)] = FUTURE
    if switches.padding:
        codes[:, (keys == PAD).numpy()] = PADDING
    return codes


@dataclass(frozen=True, eq=False)
class Reading:
    """One teacher-forced run over a batch.

    Shapes:
        probabilities: [batch, tgt], of the token that each row must predict; 0 at padding.
        likeliest: [batch, tgt] ids of the likeliest next token. Both are [batch, 0] if nothing was predicted.
    """

    masks: Masks
    recorder: AttentionRecorder
    probabilities: Tensor
    likeliest: Tensor


@torch.inference_mode()
def read(
    model: Transformer,
    src: Tensor,
    tgt: Tensor,
    labels: Tensor,
    switches: Switches,
    *,
    details: Sequence[Head] = (),
    predicts: bool = True,
) -> Reading:
    """Run the model on the source and the whole target with these masks.

    Without `predicts`, the logits are left out: with a large vocabulary they take most of the time.

    Shapes:
        src: [batch, src]; tgt: [batch, tgt] with <sos> first; labels: [batch, tgt], the token that each row predicts.
    """
    masks, recorder = masks_for(src, tgt, switches), AttentionRecorder(details=details)
    memory = model.encode(src, src_mask=masks.source, tap=recorder)
    hidden = model.decode(tgt, memory, src_mask=masks.source, tgt_mask=masks.target, tap=recorder)
    if not predicts:
        nothing = hidden.new_empty(len(tgt), 0)
        return Reading(masks, recorder, nothing, nothing.long())
    log_probs = target_log_probs(model.logits(hidden), output_rules(model.config))
    of_labels = log_probs.gather(-1, labels[..., None])[..., 0]
    return Reading(masks, recorder, of_labels.exp() * (labels != PAD), log_probs.argmax(dim=-1))


@dataclass(frozen=True, eq=False)
class PaddedBatch:
    """A padded batch of sentences and their targets, as in training: src, tgt and labels [batch, longest]."""

    src: Tensor
    tgt: Tensor
    labels: Tensor


def padded_batch(config: ModelConfig, sources: Sequence[Sequence[int]], paths: Sequence[Sequence[int]]) -> PaddedBatch:
    """Batch source ids (without <eos>) and target paths (as predicted, with <eos>), padded on the right."""
    pairs = [config.inputs(ids, path) for ids, path in zip(sources, paths, strict=True)]
    return PaddedBatch(
        src=pad([src for src, _ in pairs]),
        tgt=pad([read for _, read in pairs]),
        labels=pad([tuple(path) for path in paths]),
    )


def attention_to_future(weights: Weights, rows: Flags | None = None) -> float:
    """The share of attention on later positions, averaged over rows, of weights [query, key].

    `rows` [query] selects the rows to average.
    """
    future = np.triu(weights, k=1)
    return float((future if rows is None else future[rows]).sum(axis=1).mean())


def most_ahead(weights: Weights) -> tuple[int, int, float]:
    """The head with the largest mean weight on the next position: layer and head (from 0), and that weight.

    Shapes:
        weights: [layer, head, query, key] of decoder self-attention.
    """
    has_next = weights.shape[-1] > 1
    ahead = np.diagonal(weights, offset=1, axis1=2, axis2=3).mean(axis=-1) if has_next else weights[..., 0]
    layer, head = np.unravel_index(int(ahead.argmax()), ahead.shape)[:2]
    return int(layer), int(head), float(ahead[layer, head].max())
