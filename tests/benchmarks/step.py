"""One decoding step with and without recording, and with RoPE beside sinusoids, alternating within one run."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter, thread_time

import torch

from model.architectures import make_transformer
from model.config import SOS, ModelConfig
from model.decoding.decode import stepper
from model.fast.decoding import FastDecoder, StepState
from model.recording import AttentionRecorder
from tests.benchmarks.registry import Row, benchmark, median, torch_threads

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


@benchmark("step")
@torch.inference_mode()
def measure() -> list[Row]:
    """Decode sentences of 20 steps; compute each step twice from the same state, recorded and plain."""
    generator = torch.Generator().manual_seed(0)
    model = decoder(CONFIG)
    schemes = {name: decoder(replace(CONFIG, positions=name)) for name in ("sinusoidal", "rope")}
    recorded: list[tuple[float, float]] = []
    plain: list[tuple[float, float]] = []
    by_scheme: dict[str, list[tuple[float, float]]] = {name: [] for name in schemes}
    with torch_threads(1):
        for sentence in range(N_WARM_UP + N_SENTENCES):
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
                    if sentence >= N_WARM_UP:
                        by_scheme[name].append(took)
                if not torch.equal(with_logits, without_logits):
                    raise AssertionError(f"recording changed the logits of step {step + 1}")
                if sentence >= N_WARM_UP:
                    recorded.append(with_ms)
                    plain.append(without_ms)
                tokens = with_logits.argmax(-1)
    ours, baseline = (median([clock for clock, _ in times]) for times in (recorded, plain))
    sinusoidal, rope = (median([clock for clock, _ in by_scheme[name]]) for name in schemes)
    work = median([worked for _, worked in recorded])  # hardly affected by other load
    sizes = "4+4 layers, d_model 128, vocabulary 6000, 1 thread"
    return [
        Row(
            measure=f"one decoding step with recording, {sizes}",
            ours=ours,
            unit="ms",
            other=baseline,
            against="the same step without recording",
            target="≤ 3 ms and ≤ 1.05 × without recording, logits torch.equal",
            met=ours <= 3.0 and ours / baseline <= 1.05,
            detail=f"median of {len(recorded)}; {work:.2f} ms of processor time; logits equal at each step",
        ),
        Row(
            measure=f"one decoding step with RoPE, {sizes}",
            ours=rope,
            unit="ms",
            other=sinusoidal,
            against="the same step with sinusoidal positions",
            target="≤ 1.05 × sinusoidal",
            met=rope / sinusoidal <= 1.05,
        ),
    ]
