"""Choose precision and attention kernel by trying them on a piece of the real work."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from model.config import ConfigError
from model.training.corpus import Corpus, MicroBatch
from model.training.device import Runtime, cpu_gains_from_bf16, seconds_of
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
    """`wanted` with its precision and attention kernel settled, on the machine's own word: a few timed steps.

    Raises:
        ConfigError: no such precision.
    """
    precision = check_precision(wanted.precision)
    kind = wanted.torch_device.type
    if kind == "cuda":
        bf16 = torch.cuda.is_bf16_supported() if precision == "auto" else precision == "bf16"
        return _with(wanted, bf16=bf16, fused=True)
    if kind == "mps":
        return _with(wanted, bf16=precision == "bf16", fused=True)
    start_stream(corpus.seed, "trial")
    vocab = model.config.tgt_vocab_size
    may_bf16 = precision == "bf16" or (
        precision == "auto" and cpu_gains_from_bf16(TRIAL_TOKENS, model.config.d_model, vocab)
    )
    precisions = [False] if not may_bf16 else [True] if precision == "bf16" else [False, True]
    candidates = [_with(wanted, bf16=bf16, fused=fused) for bf16 in precisions for fused in (True, False)]
    batch = corpus.tensors(_trial_batch(corpus), wanted.torch_device)
    times = [
        seconds_of(partial(_one_step, model, batch, runtime, smoothing), wanted.torch_device) for runtime in candidates
    ]
    model.zero_grad(set_to_none=True)
    return candidates[times.index(min(times))]


def _with(runtime: Runtime, *, bf16: bool, fused: bool) -> Runtime:
    return Runtime(**{**runtime.to_dict(), "precision": "bf16" if bf16 else "fp32", "fused": fused, "settled": True})


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
