"""Checks of attention as an explanation: what changes when a row looks elsewhere, or when a value is not there.

Attention weights say where one layer read from. Whether a prediction rests on that is another question, and these are
the two answers to it that the literature asks for most: other rows in place of the attended ones (Moradi, Kambhatla &
Sarkar 2019, for translation), and values set to zero (Mohebbi et al. 2023).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.config import AttentionKind
from model.decoding.search import output_rules, target_log_probs
from model.edits import patch
from model.points import attention_scope, layer_output
from model.recording import PointRecorder
from model.tap import compose
from model.transformer import Transformer

Floats = NDArray[np.float64]
Counterfactual = Literal["uniform", "shuffled", "largest removed"]
COUNTERFACTUALS: tuple[Counterfactual, ...] = get_args(Counterfactual)


@dataclass(frozen=True, eq=False)
class Kept:
    """Whether each prediction stays under each counterfactual row: bool [tgt] by name; predicted ids [tgt]."""

    predicted: NDArray[np.int64]
    stays: dict[Counterfactual, NDArray[np.bool_]]


@torch.inference_mode()
def counterfactual_rows(model: Transformer, src: Sequence[int], read: Sequence[int], *, seed: int = 0) -> Kept:
    """Put another row in place of the cross-attention of all heads, one row of the target at a time.

    uniform: the same weight on every source token. shuffled: the row's own weights on other tokens, in an order drawn
    for each head. largest removed: the largest weight goes to the others in proportion (Moradi et al. 2019, §3).

    Shapes: src: ids with <eos>; read: target ids, <sos> first. A prediction stays if the likeliest token is the same.
    """
    config = model.config
    source, target = torch.tensor([list(src)]), torch.tensor([list(read)])
    rules = output_rules(config)
    rows = torch.arange(target.size(1))

    def likeliest(logits: Tensor) -> NDArray[np.int64]:
        found: NDArray[np.int64] = target_log_probs(logits, rules).argmax(dim=-1).numpy()
        return found

    predicted = likeliest(model(source, target)[0])
    stays = {}
    for name in COUNTERFACTUALS:
        generator = torch.Generator().manual_seed(seed)
        changes = {
            f"{attention_scope('cross', layer)}.weights": _row_each(name, rows, generator)
            for layer in range(config.n_decoder_layers)
        }
        many = len(rows)  # row t is changed in sentence t of the batch
        logits = model(source.expand(many, -1), target.expand(many, -1), tap=patch(config, changes))
        stays[name] = likeliest(logits)[np.arange(many), np.arange(many)] == predicted
    return Kept(predicted, stays)


def _row_each(name: Counterfactual, rows: Tensor, generator: torch.Generator) -> Callable[[Tensor], Tensor]:
    """Change row t of sentence t of the weights [sentence, head, query, key]."""

    def changed(weights: Tensor) -> Tensor:
        own = weights[rows, :, rows]  # [row, head, key]
        if name == "uniform":
            other = torch.full_like(own, 1 / own.size(-1))
        elif name == "shuffled":
            order = torch.rand(own.shape, generator=generator).argsort(dim=-1)
            other = own.gather(-1, order)
        else:
            other = own.scatter(-1, own.argmax(dim=-1, keepdim=True), 0.0)
            left = other.sum(dim=-1, keepdim=True)
            other = torch.where(left > 0, other / left.clamp_min(1e-12), own)  # with one token there is no other
        copy = weights.clone()
        copy[rows, :, rows] = other
        return copy

    return changed


@torch.inference_mode()
def value_zeroing(
    model: Transformer, src: Sequence[int], read: Sequence[int], kind: AttentionKind, layer: int
) -> Floats:
    """How much each output of a layer depends on the value of each key: cosine distance, rows summing to 1.

    The value of one key is set to zero in all heads of the layer, with the weights as they are, and the layer's output
    at each query is compared with what it was (Mohebbi et al. 2023, §3). A row that nothing changes is all zeros.

    Shapes: src: ids with <eos>; read: target ids, <sos> first; returns [query, key].
    """
    config = model.config
    source, target = torch.tensor([list(src)]), torch.tensor([list(read)])
    n_keys = target.size(1) if kind == "decoder" else source.size(1)
    keys = torch.arange(n_keys)

    def without(value: Tensor) -> Tensor:
        copy = value.clone()
        copy[keys, :, keys] = 0.0  # key j in sentence j, [sentence, head, key, d_head]
        return copy

    point = layer_output(config, "encoder" if kind == "encoder" else "decoder", layer)
    whole, changed = PointRecorder([point]), PointRecorder([point])
    model(source, target, tap=whole)
    tap = compose(patch(config, {f"{attention_scope(kind, layer)}.value": without}), changed)
    model(source.expand(n_keys, -1), target.expand(n_keys, -1), tap=tap)
    distance = 1 - torch.cosine_similarity(changed.tensors[point], whole.tensors[point], dim=-1)  # [key, query]
    scores: Floats = distance.clamp_min(0).double().T.numpy()
    scores = np.where(scores < 1e-6, 0.0, scores)  # rounding
    total = scores.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(scores, total, out=np.zeros_like(scores), where=total > 0)
    return shares
