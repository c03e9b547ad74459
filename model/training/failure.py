"""Errors of training, as one sentence that says what to change."""

from __future__ import annotations

import errno

import torch

from model.config import TrainConfig
from model.user_error import UserError
from model.wording import Later, later, message


class TrainingError(UserError):
    """Training cannot continue; the message says why and what to change."""


def not_finite(step: int, config: TrainConfig) -> TrainingError:
    """The error for a loss or gradient that is not finite."""
    clip = later("Or switch gradient clipping on (clip_norm=1).")
    advice = later(
        "the loss is no longer a number at step {step}: lower learning_rate (now {learning_rate:g}) or raise "
        "warmup_steps (now {warmup_steps}).",
        step=step,
        learning_rate=config.learning_rate,
        warmup_steps=config.warmup_steps,
    )
    return TrainingError(advice if config.clip_norm else later("{sentence} {more}", sentence=advice, more=clip))


_FULL = {
    errno.ENOSPC: message("the disk is full"),
    errno.EDQUOT: message("the disk quota is used up"),
    errno.EFBIG: message("a file has reached its maximum size"),
}
_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "bad_alloc", "not enough memory", "cannot allocate memory")


def sentence(error: BaseException, config: TrainConfig) -> Later | None:
    """The sentence for an error that the user can fix; None for a bug in the program."""
    if isinstance(error, TrainingError):
        return error.text
    if isinstance(error, KeyboardInterrupt):
        return later("interrupted twice, so ended at once; the last good save is intact and can be resumed.")
    memory = isinstance(error, (MemoryError, torch.OutOfMemoryError)) or (
        isinstance(error, (RuntimeError, OSError)) and any(sign in str(error).lower() for sign in _OUT_OF_MEMORY)
    )
    if memory:
        return later(
            "out of memory: lower max_tokens (now {max_tokens}; raise gradient_accumulation_steps to keep the size of "
            "an update) or choose a smaller model, then resume.",
            max_tokens=config.max_tokens,
        )
    if type(error).__module__.startswith(("torch._inductor", "torch._dynamo")):
        first = next(iter(str(error).splitlines()), type(error).__name__)
        return later("torch.compile does not work here ({reason}); start again without --compile.", reason=first)
    if isinstance(error, RuntimeError) and "Connection closed by peer" in str(error):
        return later("another process of this run ended; its own message says why.")
    if isinstance(error, OSError):
        reason = _FULL.get(error.errno or 0)
        if reason:
            return later(
                "{reason}: free some space (or keep fewer snapshots), then resume; the last good save is intact.",
                reason=Later(reason),
            )
        return later("a file of the run could not be read or written ({error}); fix that, then resume.", error=error)
    return None
