"""Settle what `auto` means, precision and threads by trying them on a piece of the real work."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from model.config import ConfigError
from model.training.corpus import Corpus, MicroBatch
from model.training.device import Runtime, cpu_multiplies_bf16, default_threads, seconds_of
from model.training.loss import TrainingLoss
from model.training.randomness import start_stream
from model.transformer import Transformer, count_parameters

TRIAL_OPERATIONS = 20_000_000_000  # of a trial step: a fraction of a second
NEARLY = 1.15
ROUNDING_PAYS = 1.05
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
    """`wanted` with precision, attention kernel and threads settled.

    On a GPU bf16 where it has it. On a CPU a few timed steps decide: bf16 only where it pays (with matrix units for it,
    it does), and as few threads as come near the best time, for small products gain little from more and the page wants
    a core too. The fused kernel everywhere but on a CPU with attention dropout: it is slower there.
    """
    precision = check_precision(wanted.precision)
    on_cpu = wanted.torch_device.type == "cpu"
    fused = not on_cpu or model.config.attention_dropout == 0
    settled = replace(wanted, fused=fused, threads=wanted.threads or default_threads(), settled=True)
    if not on_cpu:
        may_round = wanted.torch_device.type == "cuda" and torch.cuda.is_bf16_supported()
        return replace(settled, precision=("bf16" if may_round else "fp32") if precision == "auto" else precision)
    precisions = [precision] if precision != "auto" else ["fp32", "bf16"] if cpu_multiplies_bf16() else ["fp32"]
    threads = [wanted.threads] if wanted.threads else _fewer(settled.threads)
    choices = [replace(settled, precision=p, threads=n) for p in precisions for n in threads]
    return choices[0] if len(choices) == 1 else _quickest(model, corpus, choices, smoothing)


def _fewer(most: int) -> list[int]:
    """1, 2, 4 … threads, and the most."""
    return [*(2**i for i in range(most.bit_length()) if 2**i < most), most]


def _quickest(model: Transformer, corpus: Corpus, choices: list[Runtime], smoothing: float) -> Runtime:
    """fp32 unless bf16 gains; then the fewest threads that are nearly as quick as the most."""
    before = torch.get_num_threads()
    start_stream(corpus.seed, "trial")
    batch = corpus.tensors(_trial_batch(corpus, model), choices[0].torch_device)
    try:
        times = seconds_of([partial(_one_step, model, batch, choice, smoothing) for choice in choices])
    finally:
        torch.set_num_threads(before)
        model.zero_grad(set_to_none=True)
    timed = list(zip(choices, times, strict=True))
    best = {c.precision: min(t for other, t in timed if other.precision == c.precision) for c in choices}
    rounds = "bf16" in best and best["bf16"] * ROUNDING_PAYS < best.get("fp32", math.inf)
    precision = "bf16" if rounds else "fp32"
    return next(c for c, t in timed if c.precision == precision and t <= NEARLY * best[precision])


def _trial_batch(corpus: Corpus, model: Transformer) -> MicroBatch:
    """The first batch of training, cut to what any machine works through in a moment."""
    indices = corpus.updates(0)[0].shares[0][0].indices
    longest = max(max(corpus.lengths[i]) for i in indices)
    tokens = TRIAL_OPERATIONS // (6 * count_parameters(model))
    return MicroBatch(indices[: max(1, tokens // longest)])


def _one_step(model: Transformer, batch: tuple[Tensor, Tensor, Tensor], runtime: Runtime, smoothing: float) -> None:
    torch.set_num_threads(runtime.threads)
    loss = TrainingLoss(model.train(), smoothing=smoothing, fused=runtime.fused)
    with runtime.autocast():
        total = loss(*batch)
    total.backward()
