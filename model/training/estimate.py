"""Estimate the parameters, memory and time of a run before it starts, from a few real updates."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from model.config import DecodeConfig, to_dict
from model.data.proposal import earliest_end
from model.embeddings import count_parameters
from model.scoring import teacher_forced, translate_pairs
from model.training.device import choose_runtime, describe_device, peak_bytes
from model.training.distributed import World
from model.training.failure import TrainingError, sentence
from model.training.schedule import curve
from model.training.setup import Setup, test_examples
from model.training.trainer import Trainer

MEASURE_SECONDS = 1.5
WARM_UPDATES = 2
MEASURED_SENTENCES = 64
STARTUP_SECONDS = 3.0
BUSIER = 1.5
"""A run may take this many times what was timed: of two runs beside a dozen others, one took 1.47 times."""


def estimate(setup: Setup) -> dict[str, Any]:
    """Estimate a run, without writing anything; returns JSON values.

    Keys: name task preset parameters weight_bytes memory_bytes device device_name precision threads, examples (of each
    split), skipped (examples too long or empty), src_vocab_size tgt_vocab_size, steps updates_per_epoch epochs,
    tokens_per_s and tokens_per_update (source and target, without padding), seconds (the whole run on a machine that
    does nothing else), evaluation_seconds (those of them that evaluations take), busy_seconds (the whole run, if the
    machine becomes somewhat busier than it was while updates were timed), earliest (the update after which the run may
    end), earliest_seconds (the part of seconds until then), schedule (pairs of step and rate), model data
    training (the complete configuration).

    Raises:
        TrainingError: memory or a compiler is missing, so the run would fail as well.
    """
    device = setup.runtime.torch_device
    began = time.monotonic()
    setup.corpus.pairs_of(0)
    per_epoch = time.monotonic() - began  # the time of BPE-dropout, if it is on
    runtime = choose_runtime(setup.model.to(device), setup.corpus, setup.runtime, setup.settings.training)
    torch.set_num_threads(runtime.threads)
    setup = replace(setup, runtime=runtime)
    training = setup.settings.training
    try:
        starting, per_update, tokens_per_s, times_slower = _time_updates(setup)
    except Exception as error:
        message = sentence(error, training)
        if message is None:
            raise
        raise TrainingError(message) from error
    per_evaluation = _time_evaluation(setup)
    n_test = len(test_examples(setup)) / max(len(setup.valid.decoded), 1)
    evaluations = -(-training.max_steps // training.eval_every) + n_test
    updates = len(setup.corpus.updates(0))
    epochs = training.max_steps / updates
    starting = STARTUP_SECONDS + (starting if runtime.compile else 0)
    updating = starting + training.max_steps * per_update
    other = evaluations * per_evaluation + epochs * per_epoch  # timed as busy as the machine was
    seconds = updating + other / times_slower
    earliest = earliest_end(training, len(setup.valid.decoded))
    parameters, largest = count_parameters(setup.model), setup.corpus.largest_batch()
    return {
        "name": setup.name,
        "task": setup.task.name,
        "parameters": parameters,
        "weight_bytes": 4 * parameters,
        "memory_bytes": peak_bytes(setup.settings.model, training, largest, setup.runtime, parameters=parameters),
        "device": setup.runtime.device,
        "device_name": describe_device(setup.runtime.device),
        "precision": setup.runtime.precision,
        "threads": setup.runtime.threads,
        "examples": {split: len(examples) for split, examples in setup.task.splits.items()},
        "skipped": setup.n_skipped,
        "src_vocab_size": len(setup.source),
        "tgt_vocab_size": len(setup.target),
        "steps": training.max_steps,
        "updates_per_epoch": updates,
        "epochs": round(epochs, 2),
        "tokens_per_s": round(tokens_per_s),
        "tokens_per_update": round(tokens_per_s * per_update),
        "seconds": round(seconds, 1),
        "evaluation_seconds": round(evaluations * per_evaluation / times_slower, 3),
        "busy_seconds": round(BUSIER * times_slower * seconds, 1),
        "earliest": earliest,
        "earliest_seconds": round(seconds * earliest / training.max_steps, 1),
        "schedule": curve(training),
        "model": to_dict(setup.settings.model),
        "data": to_dict(setup.settings.data),
        "training": to_dict(training),
        **dict(setup.origin),
    }


def _time_updates(setup: Setup) -> tuple[float, float, float, float]:
    """Seconds of the first updates, then seconds per update and tokens per second over about MEASURE_SECONDS.

    The last number is how many times as long the updates took as they would on a machine that does nothing else.

    Other programs slow down some updates more than others, so only the faster ones count; where a CPU computes, the
    time that it has given to this process is shorter still, and hardly depends on what else is running.
    """
    quiet = replace(setup.settings.training, max_steps=10**9, log_every=10**9)
    trainer = Trainer(replace(setup, settings=replace(setup.settings, training=quiet)), World(), None)
    began = time.monotonic()
    for _ in range(WARM_UPDATES):
        _timed_update(trainer)
    warm = time.monotonic() - began
    timed: list[tuple[int, float]] = []  # tokens and seconds of each update
    began, cpu = time.monotonic(), time.process_time()
    while time.monotonic() - began < MEASURE_SECONDS or not timed:
        timed.append(_timed_update(trainer))
    given = (time.process_time() - cpu) / setup.runtime.threads if trainer.device.type == "cpu" else math.inf
    tokens_per_s = undisturbed_rate(timed, given)
    return warm, statistics.mean(tokens for tokens, _ in timed) / tokens_per_s, tokens_per_s, slowdown(timed, given)


def _timed_update(trainer: Trainer) -> tuple[int, float]:
    """Make one update, and return its tokens and its seconds until the device has finished."""
    tokens, start = trainer.progress.tokens, time.monotonic()
    trainer.update()
    if trainer.device.type != "cpu":
        torch.accelerator.synchronize()
    return trainer.progress.tokens - tokens, time.monotonic() - start


def undisturbed_rate(timed: Sequence[tuple[int, float]], given: float = math.inf) -> float:
    """Tokens per second of the faster half of some updates, each given as its tokens and seconds.

    If a processor has `given` fewer seconds to all of them, the rest was spent waiting for other programs.
    """
    faster = sorted(timed, key=lambda update: update[1] / max(update[0], 1))[: (len(timed) + 1) // 2]
    rate = sum(tokens for tokens, _ in faster) / max(sum(seconds for _, seconds in faster), 1e-9)
    return max(rate, sum(tokens for tokens, _ in timed) / max(given, 1e-9))


def slowdown(timed: Sequence[tuple[int, float]], given: float = math.inf) -> float:
    """How many times as long some updates took, for the same tokens, as undisturbed ones; at least 1."""
    rate = sum(tokens for tokens, _ in timed) / max(sum(seconds for _, seconds in timed), 1e-9)
    return max(undisturbed_rate(timed, given) / max(rate, 1e-9), 1.0)


def _time_evaluation(setup: Setup) -> float:
    """Seconds per evaluation, from a few sentences; decoding stops at the longest reference, as if trained."""
    device = setup.runtime.torch_device
    model = setup.model.to(device).eval()
    pairs = setup.valid.pairs
    sample = pairs.part(setup.valid.decoded[:: max(1, len(setup.valid.decoded) // MEASURED_SENTENCES)])
    longest = max(tgt for _, tgt in sample.lengths)
    began = time.monotonic()
    teacher_forced(model, sample)
    forced = time.monotonic() - began
    translate_pairs(model, sample, setup.target, DecodeConfig(max_length=longest))
    decoded = time.monotonic() - began - forced
    model.train()
    return forced * len(pairs) / len(sample) + decoded * len(setup.valid.decoded) / len(sample)
