"""The importance of heads: ablation, gradient scores and pruning.

Removing a head is an ordinary edit (:mod:`model.edits`); the gradient score places a gate at the same point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from model.config import ATTENTION_KINDS, PAD, AttentionKind, DecodeConfig, ModelConfig
from model.data.batching import Batch, EncodedPairs, batches, collate
from model.decoding.decode import decode_batch
from model.edits import HeadEdit, HeadEdits, edit_tap, patch
from model.metrics import TokenScores, token_scores
from model.points import Head, attention_scope
from model.recording import AttentionRecorder
from model.tap import Tap
from model.text.tokenizer import Tokenizer
from model.transformer import Transformer

BATCH_TOKENS = 2048

ByKind = dict[AttentionKind, NDArray[np.float64]]


def heads_of(config: ModelConfig) -> list[Head]:
    """Every head of a model, counted from 0."""
    return [
        (kind, layer, head)
        for kind in ATTENTION_KINDS
        for layer in range(config.n_layers(kind))
        for head in range(config.n_heads(kind))
    ]


def without(heads: Sequence[Head]) -> HeadEdits:
    """The edit that switches these heads off (operation `zero`)."""
    return HeadEdits(tuple(HeadEdit(kind, layer, head, "zero") for kind, layer, head in heads))


def edited_loss(
    model: Transformer, pairs: EncodedPairs, edit: HeadEdits | None, *, check: Callable[[], None] = lambda: None
) -> TokenScores:
    """Loss and token accuracy under teacher forcing, with an edit; `check` is called before each batch."""
    return sum((_scores(model, batch, edit, check) for batch in batches_of(pairs)), TokenScores())


@torch.inference_mode()
def _scores(model: Transformer, batch: Batch, edit: HeadEdits | None, check: Callable[[], None]) -> TokenScores:
    check()
    return token_scores(model(batch.src, batch.tgt_in, tap=edit_tap(edit, model.config)), batch.labels)


def batches_of(pairs: EncodedPairs) -> list[Batch]:
    """All pairs in padded batches of similar length, always in the same order."""
    return [
        collate(pairs, indices)
        for indices in batches(pairs.lengths, max_tokens=BATCH_TOKENS, seed=0, epoch=0, shuffle=False)
    ]


def edited_translations(
    model: Transformer,
    pairs: EncodedPairs,
    target: Tokenizer,
    edit: HeadEdits | None,
    *,
    check: Callable[[], None] = lambda: None,
) -> list[str]:
    """Greedy translations with an edit in force throughout decoding, in the order of the pairs."""
    texts = [""] * len(pairs)
    for indices in batches(pairs.lengths, max_tokens=BATCH_TOKENS, seed=0, epoch=0, shuffle=False):
        check()
        decoded = decode_batch(model, collate(pairs, indices).src, DecodeConfig(), edit=edit)
        for i, hypotheses in zip(indices, decoded, strict=True):
            texts[i] = target.decode(hypotheses[0].tokens)
    return texts


@dataclass(frozen=True, eq=False)
class Ablation:
    """Loss (nats per target token) and token accuracy of the whole model, and how both change without each head.

    Shapes: loss_change, accuracy_change by kind, [layer, head]; a useful head has a loss_change above 0.
    """

    loss: float
    accuracy: float
    loss_change: ByKind
    accuracy_change: ByKind


def ablate_each(model: Transformer, pairs: EncodedPairs, *, check: Callable[[], None] = lambda: None) -> Ablation:
    """Switch off one head at a time and leave the others on (Michel et al. 2019, §3.2: ξ_h = 0 in Σ_h ξ_h Att_h(x)).

    `check` is called before each batch of each head and may raise.

    Raises:
        ValueError: there are no pairs.
    """
    if not len(pairs):
        raise ValueError("there are no sentence pairs to measure on.")
    config = model.config
    prepared = batches_of(pairs)

    def measured(edit: HeadEdits | None) -> TokenScores:
        return sum((_scores(model, batch, edit, check) for batch in prepared), TokenScores())

    whole = measured(None)
    loss, accuracy = _blank(config), _blank(config)
    for kind, layer, head in heads_of(config):
        scores = measured(without([(kind, layer, head)]))
        loss[kind][layer, head] = scores.loss - whole.loss
        accuracy[kind][layer, head] = scores.accuracy - whole.accuracy
    return Ablation(whole.loss, whole.accuracy, loss, accuracy)


def _blank(config: ModelConfig) -> ByKind:
    return {kind: np.zeros((config.n_layers(kind), config.n_heads(kind))) for kind in ATTENTION_KINDS}


def gated(config: ModelConfig, gates: Mapping[tuple[AttentionKind, int], Tensor]) -> Tap:
    """A tap that multiplies each head's output by its gate ξ: 1 changes nothing, 0 switches the head off.

    Shapes: gates by (kind, layer), each [batch, head], so that one backward pass gives a gradient for each sentence.
    """

    def gating(gate: Tensor) -> Callable[[Tensor], Tensor]:
        return lambda output: output * gate[:, :, None, None]  # [batch, head, query, d_head]

    return patch(config, {f"{attention_scope(*site)}.output": gating(gate) for site, gate in gates.items()})


def gradient_scores(
    model: Transformer, pairs: EncodedPairs, *, check: Callable[[], None] = lambda: None, normalise: bool = True
) -> ByKind:
    """I_h = E_x |∂L(x) / ∂ξ_h| at ξ = 1 (Michel et al. 2019, §4.1, eq. 2), L2-normalised in each layer as in the paper.

    L(x) is the negative log-probability of a whole target, in nats. Absolute values are taken per sentence, before
    averaging; otherwise gradients of opposite sign would cancel.

    Shapes: by kind, [layer, head]; with `normalise`, each layer's squares sum to 1 (or all are 0).

    Raises:
        ValueError: there are no pairs.
    """
    if not len(pairs):
        raise ValueError("there are no sentence pairs to measure on.")
    config = model.config
    total = _blank(config)
    for batch in batches_of(pairs):
        check()
        for (kind, layer), gradient in sentence_gradients(model, batch).items():
            total[kind][layer] += gradient.abs().sum(dim=0).double().numpy()
    for values in total.values():
        values /= len(pairs)
        if normalise:
            norms = np.linalg.norm(values, axis=1, keepdims=True)
            values /= np.where(norms > 0, norms, 1.0)
    return total


def sentence_gradients(model: Transformer, batch: Batch) -> dict[tuple[AttentionKind, int], Tensor]:
    """∂L(x) / ∂ξ_h for every sentence x of a batch, by (kind, layer): [batch, head]."""
    config, n = model.config, batch.src.size(0)
    gates = {
        (kind, layer): torch.ones(n, config.n_heads(kind), requires_grad=True)
        for kind in ATTENTION_KINDS
        for layer in range(config.n_layers(kind))
    }
    with torch.enable_grad():
        logits = model(batch.src, batch.tgt_in, tap=gated(config, gates))
        real = batch.labels != PAD
        loss = F.cross_entropy(logits[real], batch.labels[real], reduction="sum")
        gradients = torch.autograd.grad(loss, list(gates.values()))
    return dict(zip(gates, gradients, strict=True))


@dataclass(frozen=True)
class PruningStep:
    """One point of a pruning curve: the heads switched off, and the scores and translations without them."""

    removed: tuple[Head, ...]
    scores: TokenScores
    translations: tuple[str, ...] = ()


def least_first(importance: ByKind) -> list[Head]:
    """All heads, least important first; ties are in the order of kind, layer and head."""
    changes: list[tuple[float, Head]] = [
        (float(value), (kind, layer, head))
        for kind in ATTENTION_KINDS
        for (layer, head), value in np.ndenumerate(importance[kind])
    ]
    return [head for _, head in sorted(changes, key=lambda item: item[0])]


def pruning_counts(n_heads: int, points: int = 10) -> list[int]:
    """The number of heads removed at each point of the curve, evenly spaced from 0 to all."""
    return sorted({round(i * n_heads / points) for i in range(points + 1)})


def pruning_curve(
    model: Transformer,
    pairs: EncodedPairs,
    order: Sequence[Head],
    target: Tokenizer | None = None,
    *,
    points: int = 10,
    check: Callable[[], None] = lambda: None,
) -> Iterator[PruningStep]:
    """Switch off heads cumulatively, in the given order, and score the remaining model (Michel et al. 2019, §4.2).

    With a `target` tokenizer, the pairs are also translated at each point. `check` is called before each batch and may
    raise.
    """
    for count in pruning_counts(len(order), points):
        removed = tuple(order[:count])
        edit = without(removed) if removed else None
        texts = edited_translations(model, pairs, target, edit, check=check) if target is not None else []
        yield PruningStep(removed, edited_loss(model, pairs, edit, check=check), tuple(texts))


@torch.inference_mode()
def mean_outputs(
    model: Transformer, pairs: EncodedPairs, heads: Sequence[Head], *, check: Callable[[], None] = lambda: None
) -> dict[Head, NDArray[np.float32]]:
    """Each head's output before W_O, averaged over all non-padding positions: the value that the edit `mean` inserts.

    Shapes: returns [d_head] per head.

    Raises:
        ValueError: there are no pairs.
    """
    if not len(pairs):
        raise ValueError("there are no sentence pairs to measure on.")
    sums: dict[Head, Tensor] = {}
    counts = {"src": 0, "tgt": 0}
    for batch in batches_of(pairs):
        check()
        recorder = AttentionRecorder(details=heads)
        model(batch.src, batch.tgt_in, tap=recorder)
        real = {"src": batch.src != PAD, "tgt": batch.tgt_in != PAD}
        for side, mask in real.items():
            counts[side] += int(mask.sum())
        for head in heads:
            output = recorder.details[head][0]["output"]  # [batch, query, d_head]
            added = output[real["src" if head[0] == "encoder" else "tgt"]].double().sum(dim=0)
            sums[head] = sums[head] + added if head in sums else added
    return {
        head: (total / counts["src" if head[0] == "encoder" else "tgt"]).float().numpy() for head, total in sums.items()
    }
