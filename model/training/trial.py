"""Settle what `auto` means: precision, by trying it on a piece of the real work, and attention kernel."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from model.config import ConfigError
from model.training.corpus import Corpus, MicroBatch
from model.training.device import BF16_GAIN, Runtime, cpu_gains_from_bf16, seconds_of
from model.training.loss import TrainingLoss
from model.training.randomness import start_stream
from model.transformer import Transformer

TRIAL_TOKENS = 1024
PRECISIONS = ("auto", "fp32", "bf16")


def check_precision(precision: str) -> str:
    """The precision itself, if it is one that can be asked for.

    Raises:
        ConfigError: it is not.
    """
    if precision not in PRECISIONS:
        raise ConfigError(f"--precision is one of {', '.join(PRECISIONS)}, not '{precision}'.")
    return precision


def choose_runtime(model: Transformer, corpus: Corpus, wanted: Runtime, smoothing: float) -> Runtime:
    """`wanted` with its precision and attention kernel settled.

    bf16 on a GPU that has it. On a CPU only where a few timed steps say that it pays: with matrix units for bf16 it
    does, without them it costs. The fused kernel everywhere but on a CPU with attention dropout: it is slower there.
    """
    precision = check_precision(wanted.precision)
    device = wanted.torch_device
    fused = device.type != "cpu" or model.config.attention_dropout == 0
    settled = replace(wanted, fused=fused, settled=True)
    exact, rounded = replace(settled, precision="fp32"), replace(settled, precision="bf16")
    if precision != "auto":
        return replace(settled, precision=precision)
    if device.type != "cpu":
        return rounded if device.type == "cuda" and torch.cuda.is_bf16_supported() else exact
    if not cpu_gains_from_bf16(TRIAL_TOKENS, model.config.d_model, model.config.tgt_vocab_size):
        return exact
    start_stream(corpus.seed, "trial")
    batch = corpus.tensors(_trial_batch(corpus), device)
    slow, fast = (
        seconds_of(partial(_one_step, model, batch, choice, smoothing), device) for choice in (exact, rounded)
    )
    model.zero_grad(set_to_none=True)
    return rounded if fast * BF16_GAIN < slow else exact


def _trial_batch(corpus: Corpus) -> MicroBatch:
    """The first batch of training, cut to a size that any machine works through in a moment."""
    indices = corpus.updates(0)[0].shares[0][0].indices
    longest = max(max(corpus.lengths[i]) for i in indices)
    return MicroBatch(indices[: max(1, TRIAL_TOKENS // longest)])


def _one_step(model: Transformer, batch: tuple[Tensor, Tensor, Tensor], runtime: Runtime, smoothing: float) -> None:
    loss = TrainingLoss(model.train(), smoothing=smoothing, fused=runtime.fused)
    with runtime.autocast():
        total = loss(*batch)
    total.backward()
