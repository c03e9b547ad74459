"""Beam search, over a batch of sentences, with every candidate kept visible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from model.config import EOS, SOS, DecodeConfig
from model.decoding.search import (
    ENDED,
    FORBIDDEN,
    PRUNED,
    AnyState,
    BeamStep,
    Hypothesis,
    StepFn,
    allowed_log_probs,
    length_penalty,
)


def beam_search(
    step: StepFn[AnyState],
    state: AnyState,
    *,
    limit: int | Sequence[int],
    config: DecodeConfig,
    prefix: Sequence[int] = (),
    forbidden: Sequence[int] = FORBIDDEN,
) -> Iterator[BeamStep]:
    """Keep the `config.beam_size` best unfinished hypotheses per sentence (Sutskever et al. 2014, §3.2).

    At each step the 2 × beam_size best continuations are candidates. One that ends with <eos> among the best beam_size
    is kept as finished; the best beam_size of the others go on. A sentence stops when it has beam_size finished
    hypotheses and none that goes on scores, at its present length, above the worst of those. After `limit` tokens (one
    number, or one per sentence) what still goes on is cut.

    Put the steps together with :func:`hypotheses`.
    """
    width = config.beam_size
    n = state.batch_size
    sentences = torch.arange(n)
    state = state.select(sentences.repeat_interleave(width))
    tokens = torch.full((n * width,), SOS)
    totals = torch.full((n, width), -torch.inf)
    totals[:, 0] = 0.0  # all slots start equal: one of them is enough
    ended_scores: list[list[float]] = [[] for _ in range(n)]
    limits = torch.as_tensor(limit).expand(n)
    for index in range(int(limits.max())):
        logits, state = step(tokens, state)
        log_probs = allowed_log_probs(logits, forbidden).float().cpu()
        vocab = log_probs.size(-1)
        offered = log_probs if index >= len(prefix) else _only(log_probs, prefix[index])
        grown = (totals[:, :, None] + offered.view(len(sentences), width, vocab)).flatten(1)  # [n, slot · vocab]
        candidates, flat = grown.topk(min(2 * width, grown.size(1)), dim=1)
        parents, chosen = flat // vocab, flat % vocab
        own = log_probs.view(len(sentences), width, vocab).flatten(1).gather(1, flat)
        scores = candidates / length_penalty(config.length_penalty, config.alpha, index + 1)
        slots = _place(candidates, chosen, width)
        yield BeamStep(index, sentences, chosen, parents, own, candidates, scores, slots)

        totals, tokens, rows = _continue(candidates, chosen, parents, slots, width)
        for row, sentence in enumerate(sentences.tolist()):
            ended_scores[sentence] += scores[row][slots[row] == ENDED].tolist()
        penalty = length_penalty(config.length_penalty, config.alpha, index + 1)
        running = torch.tensor(
            [
                index + 1 < limits[sentence]
                and _goes_on(ended_scores[sentence], float(totals[row, 0]) / penalty, width)
                for row, sentence in enumerate(sentences.tolist())
            ]
        )
        if not bool(running.any()):
            return
        sentences, totals = sentences[running], totals[running]
        tokens = tokens[running].flatten()
        state = state.select(rows[running].flatten())


def _only(log_probs: Tensor, token: int) -> Tensor:
    """Offer nothing but `token`, at its own log-probability."""
    forced = torch.full_like(log_probs, -torch.inf)
    forced[:, token] = log_probs[:, token]
    return forced


def _place(candidates: Tensor, chosen: Tensor, width: int) -> Tensor:
    """Where each candidate [n, candidate] goes: a beam slot, ENDED or PRUNED."""
    slots = torch.full_like(chosen, PRUNED)
    for row in range(chosen.size(0)):
        slot = 0
        for rank in range(chosen.size(1)):
            if not torch.isfinite(candidates[row, rank]):
                continue
            if chosen[row, rank] == EOS:
                slots[row, rank] = ENDED if rank < width else PRUNED
            elif slot < width:
                slots[row, rank] = slot
                slot += 1
    return slots


def _continue(
    candidates: Tensor, chosen: Tensor, parents: Tensor, slots: Tensor, width: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The next beams, each [n, slot]: totals (-inf in a slot nobody fills), tokens, rows of the state to go on from."""
    n = chosen.size(0)
    totals = torch.full((n, width), -torch.inf)
    tokens = torch.full((n, width), EOS)
    origin = torch.zeros((n, width), dtype=torch.long)
    for slot in range(width):
        row, rank = (slots == slot).nonzero(as_tuple=True)
        totals[row, slot] = candidates[row, rank]
        tokens[row, slot] = chosen[row, rank]
        origin[row, slot] = parents[row, rank]
    return totals, tokens, origin + width * torch.arange(n)[:, None]


def _goes_on(ended: list[float], best: float, width: int) -> bool:
    """Whether a sentence still has a hypothesis worth a step, given the scores of those that ended."""
    if best == -float("inf"):
        return False
    return len(ended) < width or best > sorted(ended, reverse=True)[width - 1]


def hypotheses(steps: Sequence[BeamStep], n_sentences: int, width: int) -> list[list[Hypothesis]]:
    """Walk the parent pointers back: per sentence its best `width` hypotheses, best score first.

    Those that ended come first; only a sentence with none that ended gets the ones that were cut off.
    """
    paths: list[dict[int, tuple[int, ...]]] = [{0: ()} for _ in range(n_sentences)]
    ended: list[list[Hypothesis]] = [[] for _ in range(n_sentences)]
    cut: list[list[Hypothesis]] = [[] for _ in range(n_sentences)]
    for step in steps:
        columns = zip(
            step.tokens.tolist(), step.parents.tolist(), step.totals.tolist(), step.scores.tolist(), strict=True
        )
        for sentence, slots, (tokens, parents, totals, scores) in zip(
            step.sentences.tolist(), step.slots.tolist(), columns, strict=True
        ):
            before, after = paths[sentence], {}
            cut[sentence] = []
            for slot, token, parent, total, score in zip(slots, tokens, parents, totals, scores, strict=True):
                if slot == ENDED:
                    ended[sentence].append(Hypothesis(before[parent], total, score, finished=True))
                elif slot != PRUNED:
                    after[slot] = (*before[parent], token)
                    cut[sentence].append(Hypothesis(after[slot], total, score, finished=False))
            paths[sentence] = after
    best = [found or rest for found, rest in zip(ended, cut, strict=True)]
    return [sorted(found, key=lambda hypothesis: -hypothesis.score)[:width] for found in best]
