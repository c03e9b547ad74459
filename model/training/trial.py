"""Resolve `auto`: precision, attention kernel and threads of a run, by rule or, if asked, by timing.

By rule, they follow from the machine and the sizes alone, so that the same command gives the same weights whatever else
runs. A stopwatch decides only with `--tune`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from model.architectures import Model
from model.config import ConfigError, TrainConfig
from model.embeddings import count_parameters
from model.training.corpus import Corpus, MicroBatch
from model.training.device import OtherWork, Runtime, cpu_multiplies_bf16, default_threads, seconds_of
from model.training.loss import TrainingLoss
from model.training.randomness import start_stream
from model.transformer import Transformer

TRIAL_OPERATIONS = 20_000_000_000  # per trial step: a fraction of a second
NEARLY = 1.15
BUSY_CORES = 0.5  # of others: threads that share a core with them wait for each other, and times say little
THREAD_OPERATIONS = 2_500_000_000  # of a batch, for each thread: with fewer, threads wait for each other
ROUNDED_WEIGHTS = 250_000  # numbers in an output projection from which bf16 pays on a CPU that multiplies it
ROUNDING_PAYS = 1.05
PRECISIONS = ("auto", "fp32", "bf16")


def check_precision(precision: str) -> str:
    """The precision itself, if it is a valid choice.

    Raises:
        ConfigError: it is not valid.
    """
    if precision not in PRECISIONS:
        raise ConfigError(f"--precision is one of {', '.join(PRECISIONS)}, not '{precision}'.")
    return precision


def choose_runtime(
    model: Model, corpus: Corpus, wanted: Runtime, config: TrainConfig, *, tune: bool = False
) -> Runtime:
    """`wanted` with precision, attention kernel and threads resolved.

    On a GPU, bf16 where it is supported. On a CPU, bf16 where it has instructions for that and the output projection,
    the largest product, is large enough; and one thread per THREAD_OPERATIONS of a batch, up to the number of cores,
    since small products gain little from more. With `tune`, a few timed steps decide instead: bf16 only where it is
    faster, and the fewest threads close to the best time. The fused kernel is used except on a CPU with attention
    dropout, where it is slower.
    """
    precision = check_precision(wanted.precision)
    on_cpu = wanted.torch_device.type == "cpu"
    fused = isinstance(model, Transformer) and (not on_cpu or model.config.attention_dropout == 0)
    most = default_threads()
    settled = replace(wanted, fused=fused, threads=wanted.threads or most, settled=True)
    if not on_cpu:
        may_round = wanted.torch_device.type == "cuda" and torch.cuda.is_bf16_supported()
        return replace(settled, precision=("bf16" if may_round else "fp32") if precision == "auto" else precision)
    if tune:
        precisions = [precision] if precision != "auto" else ["fp32", "bf16"] if cpu_multiplies_bf16() else ["fp32"]
        threads = [wanted.threads] if wanted.threads else _fewer(most)
        choices = [replace(settled, precision=p, threads=n) for p in precisions for n in threads]
        return choices[0] if len(choices) == 1 else _quickest(model, corpus, choices, config.label_smoothing)
    if precision == "auto":
        rounds = cpu_multiplies_bf16() and model.output.weight.numel() >= ROUNDED_WEIGHTS
        precision = "bf16" if rounds else "fp32"
    enough = max(1, batch_operations(model, corpus, config) // THREAD_OPERATIONS)
    return replace(settled, precision=precision, threads=wanted.threads or min(most, enough))


def operations(model: Model, tokens: int) -> int:
    """Operations of forward and backward for so many tokens: six per parameter and token."""
    return 6 * count_parameters(model) * tokens


def batch_operations(model: Model, corpus: Corpus, config: TrainConfig) -> int:
    """Operations of forward and backward for a full batch, in each view of it."""
    tokens = min(config.max_tokens, sum(map(max, corpus.lengths)))
    views = 1 if config.consistency == "none" else 2
    return operations(model, tokens * views)


def _fewer(most: int) -> list[int]:
    """1, 2, 4 … threads, up to `most`, which is included."""
    return [*(2**i for i in range(most.bit_length()) if 2**i < most), most]


def _quickest(model: Model, corpus: Corpus, choices: list[Runtime], smoothing: float) -> Runtime:
    """The fastest choice: fp32 unless bf16 is faster, with the fewest threads that come close to the best time."""
    before = torch.get_num_threads()
    start_stream(corpus.seed, "trial")
    others = OtherWork()
    batch = corpus.tensors(_trial_batch(corpus, model), choices[0].torch_device)
    try:
        times = seconds_of([partial(_one_step, model, batch, choice, smoothing) for choice in choices])
    finally:
        busy = others.cores() > BUSY_CORES
        torch.set_num_threads(before)
        model.zero_grad(set_to_none=True)
    timed = list(zip(choices, times, strict=True))
    best = {c.precision: min(t for other, t in timed if other.precision == c.precision) for c in choices}
    rounds = "bf16" in best and best["bf16"] * ROUNDING_PAYS < best.get("fp32", math.inf)
    precision = "bf16" if rounds else "fp32"
    of_kind = [(choice, time) for choice, time in timed if choice.precision == precision]
    if busy:
        return of_kind[-1 if _operations(corpus, model) >= 2 * THREAD_OPERATIONS else 0][0]
    return next(choice for choice, time in of_kind if time <= NEARLY * best[precision])


def _operations(corpus: Corpus, model: Model) -> int:
    """Operations of forward and backward for the first batch."""
    indices = corpus.updates(0)[0].shares[0][0].indices
    return operations(model, sum(max(corpus.lengths[i]) for i in indices))


def _trial_batch(corpus: Corpus, model: Model) -> MicroBatch:
    """The first batch, reduced to what any machine processes in a moment."""
    indices = corpus.updates(0)[0].shares[0][0].indices
    longest = max(max(corpus.lengths[i]) for i in indices)
    tokens = TRIAL_OPERATIONS // operations(model, 1)
    return MicroBatch(indices[: max(1, tokens // longest)])


def _one_step(model: Model, batch: tuple[Tensor, Tensor, Tensor], runtime: Runtime, smoothing: float) -> None:
    torch.set_num_threads(runtime.threads)
    loss = TrainingLoss(model.train(), smoothing=smoothing, fused=runtime.fused)
    with runtime.products(operations(model, max(side.numel() for side in batch))):
        with runtime.autocast():
            total, _ = loss(*batch)
        total.backward()
