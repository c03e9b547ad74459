"""Measure the importance of heads: ablation and pruning.

A head is removed by an ordinary edit (:mod:`model.edits`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.config import PAD, AttentionKind, ModelConfig
from model.data.batching import Batch, EncodedPairs, batches, collate
from model.decoder_only import DecoderOnly
from model.edits import HeadEdit, HeadEdits, edit_tap
from model.masks import padding_mask, target_mask
from model.points import Head, embedded, layer_output
from model.recording import AttentionRecorder, PointRecorder
from model.tap import Tap, tapped
from model.transformer import Transformer

BATCH_TOKENS = 512  # of sentences of like length: larger batches are padded more, and no quicker on a CPU

ByKind = dict[AttentionKind, NDArray[np.float64]]


def heads_of(config: ModelConfig) -> list[Head]:
    """Every head of a model, counted from 0."""
    return [
        (kind, layer, head)
        for kind in config.kinds
        for layer in range(config.n_layers(kind))
        for head in range(config.n_heads(kind))
    ]


Means = Mapping[Head, NDArray[np.float32]]


def without(heads: Sequence[Head], means: Means | None = None) -> HeadEdits:
    """The edit that switches these heads off: operation `zero` or, with the means of their outputs, `mean`."""
    if means is None:
        return HeadEdits(tuple(HeadEdit(*head, "zero") for head in heads))
    return HeadEdits(tuple(HeadEdit(*head, "mean", values=means[head]) for head in heads))


@dataclass(frozen=True, eq=False)
class SentenceLosses:
    """Sums over the target tokens of each sentence, in the order of the pairs: [sentence] each.

    nll: negative log-probability of the right tokens in nats; correct: tokens ranked first; tokens: all, with <eos>.
    """

    nll: NDArray[np.float64]
    correct: NDArray[np.float64]
    tokens: NDArray[np.float64]

    @property
    def loss(self) -> float:
        """Mean over all target tokens, in nats."""
        return float(self.nll.sum() / self.tokens.sum())

    @property
    def accuracy(self) -> float:
        """Share of target tokens that the model ranks first."""
        return float(self.correct.sum() / self.tokens.sum())

    def loss_change(self, other: SentenceLosses) -> Estimate:
        """The loss of `other` minus this loss, on the same sentences, with its interval over sentences."""
        return bootstrap.of_ratio(other.nll - self.nll, self.tokens)


def edited_loss(
    model: Transformer, pairs: EncodedPairs, edit: HeadEdits | None, *, check: Callable[[], None] = lambda: None
) -> SentenceLosses:
    """Loss and token accuracy of each sentence under teacher forcing, with an edit; `check` precedes each batch."""
    sums = np.zeros((3, len(pairs)))
    for rows, batch in _rows_and_batches(pairs):
        check()
        with torch.inference_mode():
            logits = model(batch.src, batch.tgt_in, tap=edit_tap(edit, model.config))
            sums[:, rows] = _sums(logits, batch.labels)
    return SentenceLosses(*sums)


def _sums(logits: Tensor, labels: Tensor) -> NDArray[np.float64]:
    """[3, sentence]: negative log-probability, tokens ranked first, tokens; from logits [sentence, tgt, vocab]."""
    real = labels != PAD
    rows = logits.float().flatten(0, 1)
    nll = F.cross_entropy(rows, labels.flatten(), ignore_index=PAD, reduction="none").view_as(labels)
    right = (logits.argmax(-1) == labels) & real
    array: NDArray[np.float64] = torch.stack([nll.double(), right.double(), real.double()]).sum(dim=-1).numpy()
    return array


def batches_of(pairs: EncodedPairs) -> list[Batch]:
    """All pairs in padded batches of similar length, always in the same order."""
    return [batch for _, batch in _rows_and_batches(pairs)]


def _rows_and_batches(pairs: EncodedPairs) -> list[tuple[list[int], Batch]]:
    """As :func:`batches_of`, with the indices of the pairs in each batch."""
    indices = batches(pairs.lengths, max_tokens=BATCH_TOKENS, seed=0, epoch=0, shuffle=False)
    return [(list(rows), collate(pairs, rows)) for rows in indices]


@dataclass(frozen=True, eq=False)
class Ablation:
    """Loss (nats per target token) and token accuracy of the whole model, and their changes without each head.

    Shapes: `loss_interval` and `accuracy_interval` by kind, [layer, head]: each change with its interval over
    sentences. Without a useful head, the loss rises.
    """

    loss: float
    accuracy: float
    loss_interval: Mapping[AttentionKind, Estimate]
    accuracy_interval: Mapping[AttentionKind, Estimate]

    @property
    def loss_change(self) -> ByKind:
        """The change of the loss without each head, by kind, [layer, head]."""
        return {kind: item.value for kind, item in self.loss_interval.items()}


def ablate_each(model: Transformer, pairs: EncodedPairs, *, check: Callable[[], None] = lambda: None) -> Ablation:
    """Switch off one head at a time (Michel et al. 2019, §3.2: ξ_h = 0 in Σ_h ξ_h Att_h(x)).

    `check` is called before each batch of each head and may raise.

    Raises:
        ValueError: there are no pairs.
    """
    whole, (loss, accuracy) = _one_by_one(model, pairs, None, check)
    return Ablation(whole.loss, whole.accuracy, loss, accuracy)


def mean_ablate_each(
    model: Transformer, pairs: EncodedPairs, *, check: Callable[[], None] = lambda: None
) -> dict[AttentionKind, Estimate]:
    """The change of the loss with one head's output at a time replaced by its mean over the pairs.

    It stays among the outputs that the model knows, as zero may not. Shapes, `check` and errors as :func:`ablate_each`.
    """
    _, (loss, _) = _one_by_one(model, pairs, mean_outputs(model, pairs, heads_of(model.config)), check)
    return loss


def _one_by_one(
    model: Transformer, pairs: EncodedPairs, means: Means | None, check: Callable[[], None]
) -> tuple[SentenceLosses, list[dict[AttentionKind, Estimate]]]:
    """The losses of the whole model, and the changes of loss and accuracy without each head."""
    config = model.config
    sums = _sums_without(model, pairs, heads_of(config), means, check)
    tokens = sums[0, 2]
    changes = np.moveaxis(sums[1:, :2] - sums[0, :2], 2, 0)  # [sentence, head, nll or correct]
    estimates = bootstrap.of_ratio(changes, np.broadcast_to(tokens[:, None, None], changes.shape))
    return SentenceLosses(*sums[0]), [_by_kind(config, estimates, measure) for measure in range(2)]


def _sums_without(
    model: Transformer, pairs: EncodedPairs, heads: Sequence[Head], means: Means | None, check: Callable[[], None]
) -> NDArray[np.float64]:
    """Run the whole model, then without each head; `check` is called before each batch of each and may raise.

    `means`: of the outputs of heads, which replace them; without these, zero does.

    Shapes: returns [1 + head, 3, sentence], the sums of :class:`SentenceLosses`.

    Raises:
        ValueError: there are no pairs.
    """
    if not len(pairs):
        raise ValueError("there are no sentence pairs to measure on.")
    sums = np.zeros((1 + len(heads), 3, len(pairs)))
    for rows, batch in _rows_and_batches(pairs):
        check()
        with torch.inference_mode():
            layers = LayerInputs(model, batch.src, batch.tgt_in)
            sums[0][:, rows] = _sums(layers.logits, batch.labels)
            for nth, head in enumerate(heads, start=1):
                check()
                hidden = layers.hidden_from(head, without([head], means).tap(model.config))
                sums[nth][:, rows] = _sums(model.logits(hidden), batch.labels)
    return sums


def _by_kind(config: ModelConfig, estimates: Estimate, measure: int) -> dict[AttentionKind, Estimate]:
    """One measure of the estimates [head, measure], by kind as [layer, head]."""
    first, by_kind = 0, {}
    for kind in config.kinds:
        shape = config.n_layers(kind), config.n_heads(kind)
        end = first + shape[0] * shape[1]
        by_kind[kind] = Estimate(
            *(ends[first:end, measure].reshape(shape) for ends in (estimates.value, estimates.low, estimates.high))
        )
        first = end
    return by_kind


class LayerInputs:
    """The inputs of each layer for one batch, so that the model can be run again from any layer.

    A head affects nothing below its own layer. Running the layers from there on gives the same logits, bit for bit, as
    the whole model with the edit.
    """

    def __init__(self, model: Transformer, src: Tensor, tgt: Tensor) -> None:
        config = model.config
        self._model, self._n_tgt = model, tgt.size(1)
        if isinstance(model, DecoderOnly) and src.size(1):
            src, tgt = src[:, :0], model.joined(src, tgt)
        self._src_mask, self._tgt_mask = padding_mask(src), target_mask(tgt, causal=config.causal)
        self._inputs = {
            (stack, layer): embedded(side, config) if layer == 0 else layer_output(config, stack, layer - 1)
            for stack, side, n in (
                ("encoder", "src", config.n_layers("encoder")),
                ("decoder", "tgt", config.n_decoder_layers),
            )
            for layer in range(n)
        }
        recorder = PointRecorder(self._inputs.values())
        memory = model.encode(src, src_mask=self._src_mask, tap=recorder)
        self._cross_kv = model.decoder.project_memory(memory)
        hidden = model.decode(tgt, memory, src_mask=self._src_mask, tgt_mask=self._tgt_mask, tap=recorder)
        self._tensors = recorder.tensors
        self.logits = model.logits(hidden[:, -self._n_tgt :])

    def n_keys(self, kind: AttentionKind) -> int:
        """The number of keys."""
        mask = self._tgt_mask if kind == "decoder" else self._src_mask
        return mask.size(-1)

    def layer(self, kind: AttentionKind, layer: int, tap: Tap | None = None, copies: int = 1) -> Tensor:
        """The output of one layer for a batch of one sentence, repeated `copies` times: [copy, position, d_model]."""
        model, stack = self._model, "encoder" if kind == "encoder" else "decoder"
        x = self._tensors[self._inputs[stack, layer]].expand(copies, -1, -1)
        with tapped(tap):
            if kind == "encoder":
                output: Tensor = model.encoder.layers[layer](x, mask=self._src_mask)
                return output
            if not self._cross_kv:
                output, _ = model.decoder.layers[layer](x, self_mask=self._tgt_mask)
                return output
            key, value = (part.expand(copies, -1, -1, -1) for part in self._cross_kv[layer])
            output, _ = model.decoder.layers[layer](
                x, (key, value), self_mask=self._tgt_mask, cross_mask=self._src_mask
            )
        return output

    def hidden_from(self, head: Head, tap: Tap) -> Tensor:
        """What the logits are computed from, with an edit of a head and of later ones; the tap may copy a sentence.

        Only the layers from the head's own on are run again.
        """
        model, (kind, start, _) = self._model, head
        cross_kv = self._cross_kv
        with tapped(tap):
            if kind == "encoder":
                memory = model.encoder(self._tensors[self._inputs["encoder", start]], mask=self._src_mask, start=start)
                cross_kv, start = model.decoder.project_memory(memory), 0
            hidden, _ = model.decoder(
                self._tensors[self._inputs["decoder", start]],
                cross_kv,
                self_mask=self._tgt_mask,
                cross_mask=self._src_mask,
                start=start,
            )
        return hidden[:, -self._n_tgt :]


def least_first(importance: ByKind) -> list[Head]:
    """All heads, least important first, with ties in the order of kind, layer and head."""
    changes: list[tuple[float, Head]] = [
        (float(value), (kind, layer, head))
        for kind, values in importance.items()
        for (layer, head), value in np.ndenumerate(values)
    ]
    return [head for _, head in sorted(changes, key=lambda item: item[0])]


@torch.inference_mode()
def mean_outputs(model: Transformer, pairs: EncodedPairs, heads: Sequence[Head]) -> dict[Head, NDArray[np.float32]]:
    """Each head's output before W_O, averaged over all non-padding positions: the value that the edit `mean` inserts.

    Shapes: returns [d_head] per head.

    Raises:
        ValueError: there are no pairs.
    """
    if not len(pairs):
        raise ValueError("there are no sentence pairs to measure on.")
    sums: dict[Head, Tensor] = {}
    counts = dict.fromkeys(heads, 0)
    for batch in batches_of(pairs):
        recorder = AttentionRecorder(details=heads)
        model(batch.src, batch.tgt_in, tap=recorder)
        read = model.joined(batch.src, batch.tgt_in) if isinstance(model, DecoderOnly) else batch.tgt_in
        for head in heads:
            real = (batch.src if head[0] == "encoder" else read) != PAD
            output = recorder.details[head][0]["output"]  # [batch, query, d_head]
            batch_sum = output[real].double().sum(dim=0)
            sums[head] = sums[head] + batch_sum if head in sums else batch_sum
            counts[head] += int(real.sum())
    return {head: (total / counts[head]).float().numpy() for head, total in sums.items()}
