"""One decoding step with and without recording, alternating within one run."""

from __future__ import annotations

from time import perf_counter, thread_time

import torch

from model.config import SOS, ModelConfig
from model.recording import AttentionRecorder
from model.shortcuts import with_shortcuts
from model.state import DecodeState
from model.transformer import Transformer
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


def timed_step(
    model: Transformer, tokens: torch.Tensor, state: DecodeState, recorder: AttentionRecorder | None
) -> tuple[tuple[float, float], torch.Tensor, DecodeState]:
    """Milliseconds (wall-clock, CPU), logits and the new state of one step."""
    start, worked = perf_counter(), thread_time()
    logits, state = model.step(tokens, state, tap=recorder)
    return (1000 * (perf_counter() - start), 1000 * (thread_time() - worked)), logits, state


@benchmark("step")
@torch.inference_mode()
def measure() -> list[Row]:
    """Decode sentences of 20 steps; compute each step twice from the same state, recorded and plain."""
    generator = torch.Generator().manual_seed(0)
    model = with_shortcuts(Transformer(CONFIG).eval())  # as a loaded model has them
    recorded: list[tuple[float, float]] = []
    plain: list[tuple[float, float]] = []
    with torch_threads(1):
        for sentence in range(N_WARM_UP + N_SENTENCES):
            recorder = AttentionRecorder()
            src = torch.randint(4, 6000, (1, N_SOURCE), generator=generator)
            state = model.start(src, tap=recorder)
            tokens = torch.tensor([SOS])
            for step in range(N_STEPS):
                order = (recorder, None) if (step + sentence) % 2 else (None, recorder)  # neither is always first
                results = {use is not None: timed_step(model, tokens, state, use) for use in order}
                with_ms, with_logits, state = results[True]
                without_ms, without_logits, _ = results[False]
                if not torch.equal(with_logits, without_logits):
                    raise AssertionError(f"recording changed the logits of step {step + 1}")
                if sentence >= N_WARM_UP:
                    recorded.append(with_ms)
                    plain.append(without_ms)
                tokens = with_logits.argmax(-1)
    ours, baseline = median([clock for clock, _ in recorded]), median([clock for clock, _ in plain])
    work = median([worked for _, worked in recorded])  # hardly affected by other load
    return [
        Row(
            measure="one decoding step with recording, 4+4 layers, d_model 128, vocabulary 6000, 1 thread",
            ours=ours,
            unit="ms",
            other=baseline,
            against="the same step without recording",
            target="≤ 3 ms and ≤ 1.15 × without recording, logits torch.equal",
            met=ours <= 3.0 and ours / baseline <= 1.15,
            detail=f"median of {len(recorded)}; {work:.2f} ms of processor time; logits equal at each step",
        )
    ]
