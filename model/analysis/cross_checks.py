"""Check attention as an explanation: what changes with other weights in a row, or without one value.

Attention weights show where one layer reads from, but not whether a prediction depends on it. Two common tests of that
are counterfactual rows of weights (Moradi, Kambhatla & Sarkar 2019, for translation) and values set to zero (Mohebbi et
al. 2023).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.analysis.decomposition import RecordedRun
from model.analysis.importance import LayerInputs
from model.config import AttentionKind
from model.decoding.search import output_rules, target_log_probs
from model.edits import patch
from model.points import attention_scope
from model.transformer import Transformer

Floats = NDArray[np.float64]
Counterfactual = Literal["uniform", "shuffled", "largest removed"]
COUNTERFACTUALS: tuple[Counterfactual, ...] = get_args(Counterfactual)


@dataclass(frozen=True, eq=False)
class Counterfactuals:
    """The predicted ids [tgt], whether each stays the likeliest with each counterfactual row, and how far it falls.

    Shapes: `stays` and `change` [tgt] by name; `change` is that of its log-probability, in nats.
    """

    predicted: NDArray[np.int64]
    stays: dict[Counterfactual, NDArray[np.bool_]]
    change: dict[Counterfactual, Floats]


@torch.inference_mode()
def counterfactual_rows(
    model: Transformer, src: Sequence[int], read: Sequence[int], *, seed: int = 0
) -> Counterfactuals:
    """Replace the cross-attention of all heads in one row of the target at a time; of a decoder alone, its attention.

    uniform: the same weight on every token that the row sees. shuffled: the row's weights in an order drawn for each
    head by `seed`. largest removed: the largest weight is distributed to the others in proportion (Moradi et al. 2019,
    §3).

    Shapes: src: ids with <eos>; read: target ids, <sos> first. A prediction stays if the likeliest token is the same;
    it may have become less likely all the same.
    """
    config = model.config
    source, target = torch.tensor([list(src)], dtype=torch.long), torch.tensor([list(read)])
    rules = output_rules(config)
    rows = torch.arange(target.size(1))

    layers = LayerInputs(model, source, target)
    before = target_log_probs(layers.logits[0], rules)
    predicted = before.argmax(dim=-1)
    kind: AttentionKind = "cross" if config.has_encoder else "decoder"
    stays, change = {}, {}
    for name in COUNTERFACTUALS:
        generator = torch.Generator().manual_seed(seed)
        changes = {
            f"{attention_scope(kind, layer)}.weights": _row_each(
                name, rows, generator, causal=kind == "decoder" and config.causal
            )
            for layer in range(config.n_decoder_layers)
        }
        hidden = layers.hidden_from((kind, 0, 0), patch(config, changes))
        after = target_log_probs(model.logits(hidden[rows, rows]), rules)
        stays[name] = (after.argmax(dim=-1) == predicted).numpy()
        change[name] = (after - before)[rows, predicted].double().numpy()
    return Counterfactuals(predicted.numpy(), stays, change)


def _row_each(
    name: Counterfactual, rows: Tensor, generator: torch.Generator, *, causal: bool = False
) -> Callable[[Tensor], Tensor]:
    """A function that changes row t of sentence t of weights [sentence, head, query, key], counted from its last rows.

    One sentence becomes as many as there are rows: what precedes the first change is computed once.

    With `causal`, a row keeps its weights on later keys, which are 0.
    """

    def changed(weights: Tensor) -> Tensor:
        n_keys = weights.size(-1)
        queries = rows + weights.size(-2) - len(rows)
        copy = weights.expand(len(rows), -1, -1, -1).clone()
        original = copy[rows, :, queries]  # [row, head, key]
        seen = (torch.arange(n_keys) <= queries[:, None])[:, None] if causal else torch.ones(1, dtype=torch.bool)
        if name == "uniform":
            replacement = torch.where(seen, 1 / seen.expand(len(rows), 1, n_keys).sum(dim=-1, keepdim=True), 0.0)
            replacement = replacement.expand_as(original)
        elif name == "shuffled":
            order = torch.rand(original.shape, generator=generator).masked_fill(~seen, 2.0).argsort(dim=-1)
            replacement = original.gather(-1, order)
        else:
            others = original.scatter(-1, original.argmax(dim=-1, keepdim=True), 0.0)
            total = others.sum(dim=-1, keepdim=True)
            # A single token keeps its weight.
            replacement = torch.where(total > 0, others / total.clamp_min(1e-12), original)
        copy[rows, :, queries] = replacement
        return copy

    return changed


@torch.inference_mode()
def value_zeroing(
    model: Transformer, src: Sequence[int], read: Sequence[int], kind: AttentionKind, layer: int
) -> Floats:
    """How much each output of a layer depends on the value of each key: cosine distances, with rows summing to 1.

    The value of one key is set to zero in all heads of the layer, with unchanged weights, and the layer's output at
    each query is compared with the original output (Mohebbi et al. 2023, §3). A row without any change is all zeros.

    Shapes: src: ids with <eos>; read: target ids, <sos> first; returns [query, key].
    """
    return _zeroed(LayerInputs(model, *_pair(src, read)), model, kind, layer)


@dataclass(frozen=True, eq=False)
class LayerMaps:
    """Three measures of one layer, [query, key] each: its weights, the norms of what is added, and value zeroing.

    weights: the mean over the heads; norms: ‖Σ_h α f(x)‖ (Kobayashi et al. 2020, eq. 6), rows summing to 1;
    zeroed: see :func:`value_zeroing`.
    """

    weights: Floats
    norms: Floats
    zeroed: Floats


@torch.inference_mode()
def layer_maps(
    model: Transformer, src: Sequence[int], read: Sequence[int]
) -> dict[tuple[AttentionKind, int], LayerMaps]:
    """The three maps of every layer, by kind and layer (from 0), of one pair. Shapes: as :func:`value_zeroing`."""
    run, layers = RecordedRun(model, src, read), LayerInputs(model, *_pair(src, read))
    maps = {}
    for kind in model.config.kinds:
        for layer in range(model.config.n_layers(kind)):
            scope = attention_scope(kind, layer)
            weights, norms = run.tensors[f"{scope}.weights"].mean(dim=0), run.written(scope).norm(dim=-1)
            maps[kind, layer] = LayerMaps(weights.numpy(), _shares(norms.numpy()), _zeroed(layers, model, kind, layer))
    return maps


def _zeroed(layers: LayerInputs, model: Transformer, kind: AttentionKind, layer: int) -> Floats:
    original = layers.layer(kind, layer)
    n_keys = layers.n_keys(kind)
    keys = torch.arange(n_keys)

    def zeroed(value: Tensor) -> Tensor:
        copy = value.clone()
        copy[keys, :, keys] = 0.0  # key j in sentence j, [sentence, head, key, d_head]
        return copy

    changed = layers.layer(kind, layer, patch(model.config, {f"{attention_scope(kind, layer)}.value": zeroed}), n_keys)
    distance = 1 - torch.cosine_similarity(changed, original, dim=-1)  # [key, query]
    scores: Floats = distance.clamp_min(0).double().T.numpy()
    return _shares(np.where(scores < 1e-6, 0.0, scores))  # smaller distances are rounding


def _pair(src: Sequence[int], read: Sequence[int]) -> tuple[Tensor, Tensor]:
    return torch.tensor([list(src)], dtype=torch.long), torch.tensor([list(read)])


def _shares(values: Floats) -> Floats:
    """Divide rows by their sums; a row of zeros stays zero."""
    total = values.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(values, total, out=np.zeros_like(values), where=total > 0)
    return shares
