"""Measure attention sinks and massive activations.

Large models put much of their attention on the first token, an "attention sink" (Xiao et al. 2024, "Efficient Streaming
Language Models with Attention Sinks"), and single numbers of their residual stream grow hundreds of times as large as
the median ("massive activations"; Sun et al. 2024). According to Sun et al. 2026 (arXiv 2603.05498), the two coincide
only because of pre-norm; according to Qiu et al. 2025 (arXiv 2505.06708), a gate after attention removes the sink.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from model.config import ATTENTION_KINDS, EOS, SOS
from model.data.task import Example
from model.points import attention_scope, layer_output
from model.recording import PointRecorder
from model.text.tokenizer import Tokenizer
from model.transformer import Transformer

MAX_SENTENCES = 200

Rests = dict[str, dict[str, list[float]]]
"""By kind of attention, a number for each layer: `first`, `last` and `uniform` (shares), and, for the encoder and the
decoder, `largest` (a ratio)."""


@torch.inference_mode()
def attention_rests(
    model: Transformer, source: Tokenizer, target: Tokenizer, examples: Sequence[Example], *, most: int = MAX_SENTENCES
) -> Rests:
    """Read evenly spaced sentence pairs with teacher forcing, and measure every layer.

    `first` is the mean weight on the first key and `last` on the last key that a query may see (in decoder
    self-attention, the query's own token), over all heads and all queries with more than one key; `uniform` is the
    weight of one key if all weights were equal. `largest` is the largest magnitude in a layer's output divided by the
    median magnitude. All are means over sentences.
    """
    step = max(1, len(examples) // most)
    sums: dict[str, dict[str, Tensor]] = {}
    chosen = examples[::step][:most]
    for example in chosen:
        measured = _measure(model, source.encode(example.source).ids, target.encode(example.target).ids)
        for kind, numbers in measured.items():
            means = sums.setdefault(kind, {})
            for name, layers in numbers.items():
                means[name] = means.get(name, 0) + layers / len(chosen)
    return {kind: {name: layers.tolist() for name, layers in numbers.items()} for kind, numbers in sums.items()}


def _measure(model: Transformer, src: Sequence[int], tgt: Sequence[int]) -> dict[str, dict[str, Tensor]]:
    """The numbers of one sentence pair, each [layer]."""
    recorder, config = PointRecorder(), model.config
    model(torch.tensor([[*src, EOS]]), torch.tensor([[SOS, *tgt]]), tap=recorder)
    measured: dict[str, dict[str, Tensor]] = {}
    for kind in ATTENTION_KINDS:
        scopes = [attention_scope(kind, layer) for layer in range(config.n_layers(kind))]
        weights = torch.stack([recorder.tensors[f"{scope}.weights"][0].double() for scope in scopes])
        measured[kind] = _shares(weights, causal=kind == "decoder" and config.causal)
        if kind != "cross":
            hidden = [recorder.tensors[layer_output(config, kind, layer)].abs() for layer in range(len(scopes))]
            measured[kind]["largest"] = torch.stack([h.max() / h.median() for h in hidden]).double()
    return measured


def _shares(weights: Tensor, *, causal: bool) -> dict[str, Tensor]:
    """First, last and uniform share of each layer, from weights [layer, head, query, key]."""
    n_queries, n_keys = weights.shape[-2:]
    visible = torch.arange(1, n_queries + 1) if causal else torch.full((n_queries,), n_keys)  # keys of each query
    has_choice = visible > 1
    if not has_choice.any():
        has_choice = visible > 0
    rows = weights[:, :, has_choice]  # [layer, head, row, key]
    last = (visible[has_choice] - 1).expand(*rows.shape[:2], -1)[..., None]
    return {
        "first": rows[..., 0].mean(dim=(1, 2)),
        "last": rows.gather(-1, last).mean(dim=(1, 2, 3)),
        "uniform": (1 / visible[has_choice].double()).mean().expand(len(weights)),
    }
