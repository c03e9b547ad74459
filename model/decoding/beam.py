"""Beam search over a batch of sentences that reports every candidate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from model.config import EOS, SOS, DecodeConfig
from model.decoding.search import (
    DEFAULT_RULES,
    ENDED,
    PRUNED,
    AnyState,
    BeamStep,
    Hypothesis,
    OutputRules,
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
    rules: OutputRules = DEFAULT_RULES,
    first: Tensor | None = None,
) -> Iterator[BeamStep]:
    """Extend the `config.beam_size` best unfinished hypotheses of each sentence (Sutskever et al. 2014, §3.2).

    The candidates of a step are the 2 × beam_size best continuations. Those among the best beam_size that end with
    <eos> are finished hypotheses; of the others, the best beam_size continue. A sentence is done once it has beam_size
    finished hypotheses and no running one whose present score exceeds the lowest of their beam_size best. Hypotheses
    still running after `limit` tokens (one number, or one per sentence) are cut off. The first step reads `first`
    [batch], by default <sos>.

    :func:`hypotheses` assembles the results from the steps.
    """
    width = config.beam_size
    n = state.batch_size
    sentences = torch.arange(n)
    limits = torch.as_tensor(limit).expand(n)
    state = state.select(sentences.repeat_interleave(width))
    tokens = (torch.full((n,), SOS) if first is None else first).repeat_interleave(width)
    totals = torch.full((n, width), -torch.inf)
    totals[:, 0] = 0.0  # all slots start out equal, so only one of them may be extended
    finished = torch.full((n, width), -torch.inf)  # the best scores of finished hypotheses
    for index in range(int(limits.max())):
        logits, state = step(tokens, state)
        # The vocabulary is searched on the model's device; only the candidates move to the CPU.
        log_probs = allowed_log_probs(logits, rules, first=index == 0).float()
        log_probs = log_probs.view(len(sentences), width, -1)  # [n, slot, vocab]
        allowed = log_probs if index >= len(prefix) else _only(log_probs, prefix[index])
        extended = (totals.to(allowed.device)[:, :, None] + allowed).flatten(1)  # [n, slot · vocab]
        best, flat = extended.topk(min(2 * width, extended.size(1)), dim=1)
        candidates, flat = best.cpu(), flat.cpu()
        parents, chosen = flat // log_probs.size(-1), flat % log_probs.size(-1)
        penalty = length_penalty(config.length_penalty, config.alpha, index + 1)
        scores = candidates / penalty
        slots = _assign_slots(candidates, chosen, width)
        yield BeamStep(sentences, chosen, parents, candidates, scores, slots)

        totals, tokens, origins = _next_beams(candidates, chosen, parents, slots, width)
        ended = scores.masked_fill(slots != ENDED, -torch.inf)
        finished = torch.cat((finished, ended), dim=1).topk(width, dim=1).values
        outlook = totals[:, 0].double() / penalty
        running = (limits[sentences] > index + 1) & (outlook > finished[:, -1].double())
        if not bool(running.any()):
            return
        rows = origins + width * torch.arange(len(sentences))[:, None]
        sentences, totals, finished = sentences[running], totals[running], finished[running]
        tokens = tokens[running].flatten()
        state = state.select(rows[running].flatten())


def _only(log_probs: Tensor, token: int) -> Tensor:
    """Set all log-probabilities [n, slot, vocab] but those of `token` to -inf."""
    forced = torch.full_like(log_probs, -torch.inf)
    forced[..., token] = log_probs[..., token]
    return forced


def _assign_slots(candidates: Tensor, chosen: Tensor, width: int) -> Tensor:
    """The fate of each candidate [n, candidate], best first: its beam slot, ENDED or PRUNED."""
    possible, ends = torch.isfinite(candidates), chosen == EOS
    continues = possible & ~ends
    slot = continues.cumsum(dim=1) - 1
    slots = slot.masked_fill(~continues | (slot >= width), PRUNED)
    in_beam = torch.arange(chosen.size(1)) < width
    return slots.masked_fill(possible & ends & in_beam, ENDED)


def _next_beams(
    candidates: Tensor, chosen: Tensor, parents: Tensor, slots: Tensor, width: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The next beams, each [n, slot]: totals (-inf for an empty slot), tokens, and the slots that they extend."""
    columns = slots.masked_fill(slots < 0, width)  # candidates that do not continue share a column, cut off below

    def fill(empty: float, values: Tensor) -> Tensor:
        return values.new_full((len(values), width + 1), empty).scatter(1, columns, values)[:, :width]

    return fill(-torch.inf, candidates), fill(EOS, chosen), fill(0, parents)


def hypotheses(steps: Sequence[BeamStep], n_sentences: int, width: int) -> list[list[Hypothesis]]:
    """The `width` best hypotheses of each sentence, best score first, assembled by the steps' parent pointers.

    Hypotheses that were cut off count only for a sentence in which none finished.
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
    results = [finished or rest for finished, rest in zip(ended, cut, strict=True)]
    return [sorted(result, key=lambda hypothesis: -hypothesis.score)[:width] for result in results]
