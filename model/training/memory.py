"""The memory that a run needs, from its sizes; what cannot fit is refused before anything is allocated."""

from __future__ import annotations

import psutil
import torch

from model.analysis.size import budget
from model.config import ConfigError, ModelConfig, TrainConfig
from model.training.corpus import Corpus
from model.training.device import Runtime, cpu_multiplies_bf16
from model.training.loss import slice_rows

LIBRARY_BYTES = 300 * 2**20
"""What Python, torch and the data take beside the run itself; on a GPU, the graphics memory holds none of it."""


def check_weights(config: ModelConfig, *, on_cpu: bool) -> None:
    """Refuse sizes whose weights cannot fit, before anything is allocated.

    Raises:
        ConfigError: this machine has less memory than the weights need (on the CPU: with gradients and two moments).
    """
    parameters = sum(part.parameters for part in budget(config, 1, 1))
    tables = 2 * config.max_positions * config.d_model  # a row for each position, on both sides
    needed, memory = 4 * tables + (16 if on_cpu else 4) * parameters, psutil.virtual_memory().total
    if needed > memory:
        raise ConfigError(
            f"a model of these sizes has {parameters:,} parameters and needs {needed / 1e9:,.0f} GB of memory, "
            f"but this machine has {memory / 1e9:,.0f} GB; lower d_model, d_ff, the number of layers or max_positions."
        )


def check_batch(config: ModelConfig, training: TrainConfig, corpus: Corpus, runtime: Runtime) -> None:
    """Refuse a `max_tokens` that puts more into a batch than fits; where it exceeds the corpus, that is the batch.

    Raises:
        ConfigError: the device has less memory than the largest batch needs.
    """
    tokens = corpus.largest_batch()
    device = runtime.torch_device
    needed, memory = _activations(config, training, tokens, runtime), _memory_of(device)
    if needed > memory:
        where = "this machine" if device.type in ("cpu", "mps") else "the GPU"
        raise ConfigError(
            f"max_tokens={training.max_tokens} makes a batch of {tokens:,} tokens, which needs about "
            f"{needed / 1e9:,.1f} GB of memory, but {where} has {memory / 1e9:,.1f} GB; lower max_tokens (and raise "
            f"gradient_accumulation_steps to keep the size of an update) or choose a smaller model."
        )


def peak_bytes(config: ModelConfig, training: TrainConfig, corpus: Corpus, runtime: Runtime, *, parameters: int) -> int:
    """Peak memory of a run in bytes: weights, gradients, two moments, and the activations of the largest batch."""
    library = LIBRARY_BYTES if runtime.torch_device.type == "cpu" else 0
    return 16 * parameters + _activations(config, training, corpus.largest_batch(), runtime) + library


def _activations(config: ModelConfig, training: TrainConfig, tokens: int, runtime: Runtime) -> int:
    """Bytes of what the forward pass of a batch of this many source and target tokens keeps, and of its logits."""
    kind = runtime.torch_device.type
    batch = tokens * (1 if training.consistency == "none" else 2)  # two views of it
    # Until the precision is settled, the smaller of those that may be chosen: nothing that fits is refused.
    rounds = runtime.precision == "bf16" or (runtime.precision == "auto" and (kind != "cpu" or cpu_multiplies_bf16()))
    per_token = 16 * config.d_model + 2 * config.d_ff  # projections, norms, sums and the feed-forward's two widths
    layers = config.n_encoder_layers + 1.5 * config.n_decoder_layers  # a decoder layer has one more sublayer
    rows = min(batch, slice_rows(kind, config.tgt_vocab_size))
    logits = 3 * 4 * rows * config.tgt_vocab_size  # logits, their softmax and its gradient, in float32, slice by slice
    return int((2 if rounds else 4) * batch * per_token * layers + logits)


def _memory_of(device: torch.device) -> int:
    """All memory of the device in bytes; an Apple GPU shares that of the machine."""
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    return int(psutil.virtual_memory().total)
