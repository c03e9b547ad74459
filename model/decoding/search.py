"""How the next token is chosen: greedy, sampling, beam search, as generators over a step function.

They know a model only as `step(tokens, state) -> (logits, new state)` and `state.select(rows)`, so they run on a
hand-made table as well as on a Transformer, and never touch a state that somebody may still want to go back to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import torch
from torch import Tensor

from model.config import EOS, PAD, SOS, DecodeConfig, LengthPenalty


class State(Protocol):
    """What search needs of a decoding state."""

    @property
    def batch_size(self) -> int:
        """How many hypotheses stand side by side."""
        ...

    def select(self, rows: Tensor) -> Self:
        """A state of the given rows."""
        ...


AnyState = TypeVar("AnyState", bound=State)
StepFn = Callable[[Tensor, AnyState], tuple[Tensor, AnyState]]
FORBIDDEN = (PAD, SOS)  # these can be read but never be an answer


@dataclass(frozen=True)
class PathStep:
    """One step of greedy search or sampling over a batch.

    Shapes:
        tokens: [batch] the ids chosen (PAD for sentences that had ended); parents: [batch] the row of the previous
            step that each continues (itself); log_probs: [batch, vocab] of the allowed tokens, renormalised, -inf for
            others; finished: [batch] bool.
    """

    index: int
    tokens: Tensor
    parents: Tensor
    log_probs: Tensor
    finished: Tensor
    forced: bool


@dataclass(frozen=True)
class BeamStep:
    """One step of beam search over the sentences that still run; 2 × beam_size candidates each, best first.

    Shapes:
        sentences: [n] which sentence of the batch each row is. The rest is [n, candidate]:
        tokens: ids; parents: the beam slot of the previous step that each continues; log_probs: of the token;
        totals: of the hypothesis; scores: totals over the length penalty; slots: the beam slot that each goes on in, or
        ENDED (it ended with <eos> and is kept) or PRUNED.
    """

    index: int
    sentences: Tensor
    tokens: Tensor
    parents: Tensor
    log_probs: Tensor
    totals: Tensor
    scores: Tensor
    slots: Tensor


PRUNED, ENDED = -1, -2


@dataclass(frozen=True)
class Hypothesis:
    """A finished or cut-off target: ids without <eos>, summed log-probability (nats), penalised score, did it end."""

    tokens: tuple[int, ...]
    log_prob: float
    score: float
    finished: bool

    @property
    def path(self) -> tuple[int, ...]:
        """The ids with the <eos> that ended it, as the rows of a decoding predict them."""
        return (*self.tokens, EOS) if self.finished else self.tokens


def allowed_log_probs(logits: Tensor, forbidden: Sequence[int] = FORBIDDEN) -> Tensor:
    """log-softmax over the tokens that may be chosen: the others become -inf before it, so the rest sums to 1.

    Shapes:
        logits: [batch, vocab]; returns the same shape.
    """
    if forbidden:
        logits = logits.index_fill(-1, torch.tensor(list(forbidden), device=logits.device), -torch.inf)
    return logits.log_softmax(dim=-1)


def length_penalty(name: LengthPenalty, alpha: float, length: int) -> float:
    """What a summed log-probability is divided by; length counts target tokens with <eos>.

    none: 1. mean: length^α. gnmt: ((5 + length) / 6)^α (Wu et al. 2016, eq. 14).
    """
    if name == "none":
        return 1.0
    base = float(length) if name == "mean" else (5.0 + length) / 6.0
    return float(base**alpha)


def filter_top(log_probs: Tensor, top_k: int, top_p: float) -> Tensor:
    """-inf for all but the `top_k` likeliest tokens, then for all but the fewest that hold mass `top_p`.

    (Fan et al. 2018; Holtzman et al. 2020.) The likeliest token always stays; [batch, vocab] stays as it is.
    """
    if top_k:
        kth = log_probs.topk(min(top_k, log_probs.size(-1)), dim=-1).values[..., -1:]
        log_probs = log_probs.masked_fill(log_probs < kth, -torch.inf)
    if top_p < 1.0:
        ordered, order = log_probs.softmax(dim=-1).sort(dim=-1, descending=True)
        before = ordered.cumsum(dim=-1) - ordered  # mass of the likelier tokens
        dropped = torch.zeros_like(before, dtype=torch.bool).scatter(-1, order, before >= top_p)
        log_probs = log_probs.masked_fill(dropped, -torch.inf)
    return log_probs


def greedy(
    step: StepFn[AnyState],
    state: AnyState,
    *,
    limit: int | Sequence[int],
    prefix: Sequence[int] = (),
    forbidden: Sequence[int] = FORBIDDEN,
) -> Iterator[PathStep]:
    """Always the likeliest token, after the given `prefix`, until <eos> or `limit` tokens (<eos> included).

    `limit` is one number, or one per sentence of the batch.
    """
    return _walk(step, state, lambda log_probs: log_probs.argmax(dim=-1), limit, prefix, forbidden)


def sample(
    step: StepFn[AnyState],
    state: AnyState,
    *,
    limit: int | Sequence[int],
    config: DecodeConfig,
    prefix: Sequence[int] = (),
    forbidden: Sequence[int] = FORBIDDEN,
) -> Iterator[PathStep]:
    """A token drawn by its probability, with `config`'s temperature, top_k, top_p and seed, after the `prefix`."""
    generator = torch.Generator().manual_seed(config.seed)

    def draw(log_probs: Tensor) -> Tensor:
        kept = filter_top(log_probs / config.temperature, config.top_k, config.top_p)
        return torch.multinomial(kept.softmax(dim=-1), 1, generator=generator)[:, 0]

    return _walk(step, state, draw, limit, prefix, forbidden)


def _walk(
    step: StepFn[AnyState],
    state: AnyState,
    choose: Callable[[Tensor], Tensor],
    limit: int | Sequence[int],
    prefix: Sequence[int],
    forbidden: Sequence[int],
) -> Iterator[PathStep]:
    rows = torch.arange(state.batch_size)
    limits = torch.as_tensor(limit).expand(state.batch_size)
    tokens = torch.full((state.batch_size,), SOS)
    finished = limits < 1
    for index in range(int(limits.max())):
        logits, state = step(tokens, state)
        log_probs = allowed_log_probs(logits, forbidden).cpu()  # choosing is bookkeeping: it stays off the accelerator
        forced = index < len(prefix)
        tokens = torch.full_like(tokens, prefix[index]) if forced else choose(log_probs)
        tokens = tokens.masked_fill(finished, PAD)
        finished = finished | (tokens == EOS) | (limits <= index + 1)
        yield PathStep(index, tokens, rows, log_probs, finished, forced)
        if bool(finished.all()):
            return


def follow(steps: Sequence[PathStep]) -> list[Hypothesis]:
    """What greedy search or sampling arrived at, per sentence; the score is the log-probability, without a penalty."""
    if not steps:
        return []
    tokens = torch.stack([step.tokens for step in steps], dim=1).tolist()  # [batch, step]
    gained = torch.stack([step.log_probs.gather(1, step.tokens[:, None])[:, 0] for step in steps], dim=1).tolist()
    found = []
    for path, log_probs in zip(tokens, gained, strict=True):
        length = path.index(EOS) + 1 if EOS in path else [*path, PAD].index(PAD)
        ended = EOS in path
        total = sum(log_probs[:length])
        found.append(Hypothesis(tuple(path[: length - 1] if ended else path[:length]), total, total, ended))
    return found
