"""Search strategies (greedy, sampling; beam search is in beam.py) as generators over a step function.

They know a model only as `step(tokens, state) -> (logits, new state)` and `state.select(rows)`, so they run on a
hand-made table as well as on a Transformer. States are never changed, so any of them can be continued again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, Self, TypeVar

import torch
from torch import Tensor

from model.config import EOS, PAD, SOS, DecodeConfig, LengthPenalty, ModelConfig


class State(Protocol):
    """The interface of a decoding state that search uses."""

    @property
    def batch_size(self) -> int:
        """Number of hypotheses."""
        ...

    def select(self, rows: Tensor) -> Self:
        """A state of the given rows."""
        ...


AnyState = TypeVar("AnyState", bound=State)
StepFn = Callable[[Tensor, AnyState], tuple[Tensor, AnyState]]
FORBIDDEN = (PAD, SOS)  # tokens that can be read but are never predicted


@dataclass(frozen=True)
class OutputRules:
    """Restrictions on predictions: no id of `never`, and at the first step only `first`, unless it is None."""

    never: tuple[int, ...] = FORBIDDEN
    first: int | None = None


DEFAULT_RULES = OutputRules()


def output_rules(config: ModelConfig) -> OutputRules:
    """The rules of a model: `FORBIDDEN`, and the banned tokens and first token of its configuration."""
    return OutputRules((*FORBIDDEN, *config.banned_tokens), config.first_token or None)


@dataclass(frozen=True)
class PathStep:
    """One step of greedy search or sampling over a batch.

    Shapes:
        tokens: [batch] the chosen ids (PAD for sentences that had ended); parents: [batch] the row of the previous
            step that each continues (itself); log_probs: [batch, vocab] of the allowed tokens, renormalised, -inf for
            others, on the model's device; finished: whether each sentence has ended, one bool per row.
    """

    index: int
    tokens: Tensor
    parents: Tensor
    log_probs: Tensor
    finished: tuple[bool, ...]


@dataclass(frozen=True)
class BeamStep:
    """One step of beam search over the unfinished sentences, with 2 × beam_size candidates each, best first.

    Shapes:
        sentences: [n] the sentence of the batch in each row. All others are [n, candidate]:
        tokens: ids; parents: the beam slot of the previous step that each extends;
        totals: summed log-probabilities of the hypothesis; scores: totals over the length penalty; slots: the beam slot
        in which each continues, or ENDED (finished with <eos>) or PRUNED.
    """

    sentences: Tensor
    tokens: Tensor
    parents: Tensor
    totals: Tensor
    scores: Tensor
    slots: Tensor


PRUNED, ENDED = -1, -2


@dataclass(frozen=True)
class Hypothesis:
    """A finished or cut-off target: ids without <eos>, summed log-probability (nats), score after length penalty."""

    tokens: tuple[int, ...]
    log_prob: float
    score: float
    finished: bool

    @property
    def path(self) -> tuple[int, ...]:
        """The predicted ids, with the final <eos> if the hypothesis is finished."""
        return (*self.tokens, EOS) if self.finished else self.tokens


def allowed_log_probs(logits: Tensor, rules: OutputRules = DEFAULT_RULES, *, first: bool = False) -> Tensor:
    """Log-softmax over the allowed tokens: forbidden ones are set to -inf first, so the others sum to 1.

    `first`: whether these are the logits of the first target token.

    Shapes:
        logits: [.., vocab]; returns the same shape.
    """
    if first and rules.first is not None:
        forced = torch.full_like(logits, -torch.inf)
        forced[..., rules.first] = 0.0
        return forced
    if rules.never:
        logits = logits.index_fill(-1, _indices(rules.never, logits.device), -torch.inf)
    return logits.log_softmax(dim=-1)


@lru_cache(maxsize=16)
def _indices(ids: tuple[int, ...], device: torch.device) -> Tensor:
    with torch.inference_mode(False):  # the cached tensor may be used outside inference mode
        return torch.tensor(ids, device=device)


def target_log_probs(logits: Tensor, rules: OutputRules = DEFAULT_RULES) -> Tensor:
    """As :func:`allowed_log_probs` for a whole target, whose row 0 predicts the first token.

    Shapes:
        logits: [.., tgt, vocab]; returns the same shape.
    """
    log_probs = allowed_log_probs(logits, rules)
    if rules.first is not None:
        log_probs[..., 0, :] = allowed_log_probs(logits[..., 0, :], rules, first=True)
    return log_probs


def length_penalty(name: LengthPenalty, alpha: float, length: int) -> float:
    """The divisor of a summed log-probability; `length` counts target tokens, <eos> included.

    none: 1. mean: length^α. gnmt: ((5 + length) / 6)^α (Wu et al. 2016, eq. 14).
    """
    if name == "none":
        return 1.0
    base = float(length) if name == "mean" else (5.0 + length) / 6.0
    return float(base**alpha)


def filter_top(log_probs: Tensor, top_k: int, top_p: float) -> Tensor:
    """Set all but the `top_k` most probable tokens to -inf, then all but the fewest with total probability `top_p`.

    The most probable token always remains. Shape: [batch, vocab]. Sources: Fan et al. 2018; Holtzman et al. 2020.
    """
    if top_k:
        kth = log_probs.topk(min(top_k, log_probs.size(-1)), dim=-1).values[..., -1:]
        log_probs = log_probs.masked_fill(log_probs < kth, -torch.inf)
    if top_p < 1.0:
        ordered, order = log_probs.softmax(dim=-1).sort(dim=-1, descending=True)
        before = ordered.cumsum(dim=-1) - ordered  # probability of all tokens ranked higher
        dropped = torch.zeros_like(before, dtype=torch.bool).scatter(-1, order, before >= top_p)
        log_probs = log_probs.masked_fill(dropped, -torch.inf)
    return log_probs


def greedy(
    step: StepFn[AnyState],
    state: AnyState,
    *,
    limit: int | Sequence[int],
    rules: OutputRules = DEFAULT_RULES,
    first: Tensor | None = None,
) -> Iterator[PathStep]:
    """Choose the most probable token until <eos> or `limit` tokens (<eos> included).

    `limit` is one number, or one per sentence of the batch. The first step reads `first` [batch], by default <sos>.
    """
    return _choose_tokens(step, state, lambda log_probs: log_probs.argmax(dim=-1), limit, rules, first)


def sample(
    step: StepFn[AnyState],
    state: AnyState,
    *,
    limit: int | Sequence[int],
    config: DecodeConfig,
    rules: OutputRules = DEFAULT_RULES,
    first: Tensor | None = None,
) -> Iterator[PathStep]:
    """Sample tokens with `config`'s temperature, top_k, top_p and seed; see also :func:`greedy`."""
    generator = torch.Generator().manual_seed(config.seed)

    def draw(log_probs: Tensor) -> Tensor:
        # On the CPU, so that a seed gives the same tokens on every device.
        filtered = filter_top(log_probs.cpu() / config.temperature, config.top_k, config.top_p)
        return torch.multinomial(filtered.softmax(dim=-1), 1, generator=generator)[:, 0]

    return _choose_tokens(step, state, draw, limit, rules, first)


def _choose_tokens(
    step: StepFn[AnyState],
    state: AnyState,
    choose: Callable[[Tensor], Tensor],
    limit: int | Sequence[int],
    rules: OutputRules,
    first: Tensor | None,
) -> Iterator[PathStep]:
    """Choose one token per sentence and step with `choose`, until all sentences have ended."""
    n = state.batch_size
    rows, tokens = torch.arange(n), torch.full((n,), SOS) if first is None else first
    limits = [limit] * n if isinstance(limit, int) else limit
    finished = tuple(most < 1 for most in limits)
    for index in range(max(limits)):
        logits, state = step(tokens, state)
        log_probs = allowed_log_probs(logits, rules, first=index == 0)  # on the model's device; only tokens leave it
        chosen = choose(log_probs).tolist()
        chosen = [PAD if done else token for token, done in zip(chosen, finished, strict=True)]
        tokens = torch.tensor(chosen)
        finished = tuple(
            done or token == EOS or most <= index + 1
            for done, token, most in zip(finished, chosen, limits, strict=True)
        )
        yield PathStep(index, tokens, rows, log_probs, finished)
        if all(finished):
            return


def follow(steps: Iterable[PathStep]) -> list[Hypothesis]:
    """The result of greedy search or sampling for each sentence; its score is the log-probability, without penalty."""
    # Keep only the log-probabilities of the chosen tokens, not of the whole vocabulary.
    chosen = [
        (step.tokens, step.log_probs.gather(1, step.tokens[:, None].to(step.log_probs.device))[:, 0]) for step in steps
    ]
    if not chosen:
        return []
    all_tokens = torch.stack([tokens for tokens, _ in chosen], dim=1).tolist()  # [batch, step]
    all_log_probs = torch.stack([log_probs for _, log_probs in chosen], dim=1).tolist()
    results = []
    for path, log_probs in zip(all_tokens, all_log_probs, strict=True):
        length = path.index(EOS) + 1 if EOS in path else [*path, PAD].index(PAD)
        ended = EOS in path
        total = sum(log_probs[:length])
        results.append(Hypothesis(tuple(path[: length - 1] if ended else path[:length]), total, total, ended))
    return results
