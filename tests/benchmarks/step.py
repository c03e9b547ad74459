"""One decoding step with and without recording, and with RoPE beside sinusoids, alternating within one run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter, thread_time

import torch

from model.architectures import make_transformer
from model.config import SOS, ModelConfig
from model.decoding.decode import stepper
from model.fast.decoding import FastDecoder, StepState
from model.recording import AttentionRecorder
from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median

N_SOURCE, N_STEPS, N_SENTENCES, N_WARM_UP = 12, 20, 30, 3

CONFIG = ModelConfig(
    src_vocab_size=6000,
    tgt_vocab_size=6000,
    d_model=128,
    d_ff=256,
    n_encoder_layers=4,
    n_decoder_layers=4,
    n_encoder_heads=4,
    n_decoder_heads=4,
)


def decoder(config: ModelConfig) -> FastDecoder:
    """What search steps with, of a new model."""
    made = stepper(make_transformer(config).eval())
    if not isinstance(made, FastDecoder):
        raise AssertionError("search would not use the fast steps")
    return made


def timed_step(
    model: FastDecoder, tokens: torch.Tensor, state: StepState, recorder: AttentionRecorder | None
) -> tuple[tuple[float, float], torch.Tensor, StepState]:
    """Milliseconds (wall-clock, CPU), logits and the new state of one step."""
    start, worked = perf_counter(), thread_time()
    logits, state = model.step(tokens, state, tap=recorder)
    return (1000 * (perf_counter() - start), 1000 * (thread_time() - worked)), logits, state


@benchmark("step", threads=1)
@torch.inference_mode()
def measure(lab: Lab) -> Iterator[Row]:
    """Decode sentences of 20 steps; compute each step twice from the same state, recorded and plain."""
    generator = torch.Generator().manual_seed(0)
    model = decoder(CONFIG)
    schemes = {name: decoder(replace(CONFIG, positions=name)) for name in ("sinusoidal", "rope")}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ("recorded", "plain", *schemes)}
    for sentence in range(N_WARM_UP + lab.times(N_SENTENCES)):
        if sentence == N_WARM_UP:
            times = {name: [] for name in times}
        recorder = AttentionRecorder()
        src = torch.randint(4, 6000, (1, N_SOURCE), generator=generator)
        state = model.start(src, tap=recorder)
        states = {name: each.start(src) for name, each in schemes.items()}
        tokens = torch.tensor([SOS])
        for step in range(N_STEPS):
            order = (recorder, None) if (step + sentence) % 2 else (None, recorder)  # neither is always first
            results = {use is not None: timed_step(model, tokens, state, use) for use in order}
            with_ms, with_logits, state = results[True]
            without_ms, without_logits, _ = results[False]
            for name in schemes if step % 2 else reversed(schemes):
                took, _, states[name] = timed_step(schemes[name], tokens, states[name], None)
                times[name].append(took)
            if not torch.equal(with_logits, without_logits):
                raise AssertionError(f"recording changed the logits of step {step + 1}")
            times["recorded"].append(with_ms)
            times["plain"].append(without_ms)
            tokens = with_logits.argmax(-1)
    clock = {name: median([each for each, _ in found]) for name, found in times.items()}
    work = median([worked for _, worked in times["recorded"]])  # hardly affected by other load
    sizes = "4+4 layers, d_model 128, vocabulary 6000, 1 thread"
    yield Row(
        f"one decoding step with recording, {sizes}",
        clock["recorded"],
        "ms",
        clock["plain"],
        "the same step without recording",
        target="≤ 3 ms and ≤ 1.05 × without recording, logits torch.equal",
        met=clock["recorded"] <= 3.0 and clock["recorded"] <= 1.05 * clock["plain"],
        detail=f"median of {len(times['recorded'])}; {work:.2f} ms of processor time; logits equal at each step",
    )
    yield Row(
        f"one decoding step with RoPE, {sizes}",
        clock["rope"],
        "ms",
        clock["sinusoidal"],
        "the same step with sinusoidal positions",
        target="≤ 1.05 × sinusoidal",
        met=clock["rope"] <= 1.05 * clock["sinusoidal"],
    )
