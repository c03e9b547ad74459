"""The learning rate as a pure function of the step, so that there is no scheduler state to save."""

from __future__ import annotations

import math

from model.config import TrainConfig


def learning_rate(config: TrainConfig, step: int) -> float:
    """Learning rate of weight update `step`, counted from 1.

    All schedules rise linearly to `config.learning_rate` at `config.warmup_steps`. After that:
    inverse_sqrt: decays with 1/√step. This is d_model^-½ · min(step^-½, step · warmup^-1.5) (Vaswani et al. 2017,
        §5.3) with an explicit peak.
    constant: stays at the peak.
    cosine: decays along half a cosine to 0 just after `config.max_steps`.
    """
    peak, warmup = config.learning_rate, config.warmup_steps
    if step < warmup:
        return peak * step / warmup
    if config.schedule == "constant":
        return peak
    if config.schedule == "inverse_sqrt":
        return peak * math.sqrt(max(warmup, 1) / step)
    done = (step - warmup) / (config.max_steps + 1 - warmup) if config.max_steps >= warmup else 1.0
    return peak * 0.5 * (1.0 + math.cos(math.pi * min(done, 1.0)))


def curve(config: TrainConfig, points: int = 100) -> list[tuple[int, float]]:
    """At most `points` pairs (step, learning rate) for plotting, including the peak and both ends."""
    steps = {1 + round(i * (config.max_steps - 1) / max(points - 2, 1)) for i in range(max(points - 1, 2))}
    steps |= {1, config.max_steps} | ({config.warmup_steps} if 1 <= config.warmup_steps <= config.max_steps else set())
    return [(step, learning_rate(config, step)) for step in sorted(steps)]
