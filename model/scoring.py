"""Decode a set of examples and score them, for `model.evaluate` and for validation during training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from model.architectures import Model
from model.config import DecodeConfig
from model.data.batching import EncodedPairs, batches, collate, encode_pairs
from model.data.task import Example, one_group, same_text
from model.decoding.decode import decode_batch
from model.edits import HeadEdits
from model.metrics import Bleu, TokenScores, bleu, bleu_lc_tok, exact_match, token_scores
from model.text.tokenizer import Tokenizer

SCORING_TOKENS = 4096


@dataclass(frozen=True)
class Scores:
    """The scores of a set of examples; `predictions` are in the order of the examples, in the language `lang`."""

    tokens: TokenScores
    exact_match: float
    predictions: tuple[str, ...] = ()
    references: tuple[str, ...] = field(default=(), repr=False)
    groups: dict[str, float] = field(default_factory=dict)
    lang: str = "en"

    def flat(self, *, with_bleu: bool = True) -> dict[str, Any]:
        """The keys of `model.evaluate --json`; loss in nats per target token with <eos>, BLEU from 0 to 100."""
        values: dict[str, Any] = {
            "exact_match": self.exact_match,
            "token_accuracy": self.tokens.accuracy,
            "loss": self.tokens.loss,
            "sentences": len(self.predictions),
        }
        if with_bleu and self.predictions:
            cased: Bleu = bleu(self.predictions, self.references)
            papers: Bleu = bleu_lc_tok(self.predictions, self.references, self.lang)
            values |= {"bleu": cased.score, "bleu_signature": cased.signature, "bleu_lc_tok": papers.score}
        return values


def evenly_spaced(n: int, most: int) -> tuple[int, ...]:
    """At most `most` of the indices 0 … n-1, evenly spaced, because data is often sorted by length."""
    count = min(n, most)
    return tuple(i * n // count for i in range(count))


@torch.inference_mode()
def teacher_forced(model: Model, pairs: EncodedPairs, *, check: Callable[[], None] = lambda: None) -> TokenScores:
    """Loss and token accuracy under teacher forcing; `check` is called before each batch and may raise."""
    device = model.tgt_embedding.weight.device
    total = TokenScores()
    for indices in scoring_batches(pairs):
        check()
        batch = collate(pairs, indices)
        logits = model(batch.src.to(device), batch.tgt_in.to(device))
        total += token_scores(logits, batch.labels.to(device))
    return total


def scoring_batches(pairs: EncodedPairs) -> list[tuple[int, ...]]:
    """Indices of all pairs in batches of similar length, in a fixed order."""
    return batches(pairs.lengths, max_tokens=SCORING_TOKENS, seed=0, epoch=0, shuffle=False)


def translate_pairs(
    model: Model,
    pairs: EncodedPairs,
    target: Tokenizer,
    config: DecodeConfig,
    *,
    edit: HeadEdits | None = None,
    check: Callable[[], None] = lambda: None,
) -> list[str]:
    """The translation of each source, in the order of the pairs; an edit holds throughout decoding."""
    return [texts[0] for texts in translate_n_best(model, pairs, target, config, edit=edit, check=check)]


def translate_n_best(
    model: Model,
    pairs: EncodedPairs,
    target: Tokenizer,
    config: DecodeConfig,
    *,
    edit: HeadEdits | None = None,
    check: Callable[[], None] = lambda: None,
) -> list[list[str]]:
    """All translations of each source that a search keeps, best first; an edit holds throughout decoding."""
    device = model.tgt_embedding.weight.device
    texts: list[list[str]] = [[] for _ in range(len(pairs))]
    for indices in scoring_batches(pairs):
        check()
        decoded = decode_batch(model, collate(pairs, indices).src.to(device), config, edit=edit)
        for i, hypotheses in zip(indices, decoded, strict=True):
            texts[i] = [target.decode(hypothesis.tokens) for hypothesis in hypotheses]
    return texts


def score_predictions(
    examples: Sequence[Example],
    predictions: Sequence[str],
    tokens: TokenScores,
    *,
    equivalent: Callable[[str, Example], bool] = same_text,
    group: Callable[[Example], str] = one_group,
    lang: str = "en",
) -> Scores:
    """Combine predictions and token scores; `groups` holds the exact match of each group of examples."""
    right = [equivalent(text, example) for text, example in zip(predictions, examples, strict=True)]
    marks: dict[str, list[bool]] = defaultdict(list)
    for example, mark in zip(examples, right, strict=True):
        marks[group(example)].append(mark)
    return Scores(
        tokens=tokens,
        exact_match=exact_match(right),
        predictions=tuple(predictions),
        references=tuple(example.target for example in examples),
        groups={name: exact_match(marks[name]) for name in sorted(marks)},
        lang=lang,
    )


def score_examples(
    model: Model,
    source: Tokenizer,
    target: Tokenizer,
    examples: Sequence[Example],
    config: DecodeConfig,
    *,
    equivalent: Callable[[str, Example], bool] = same_text,
    group: Callable[[Example], str] = one_group,
    check: Callable[[], None] = lambda: None,
) -> Scores:
    """Decode and score a set of examples in this process; `check` is called before each batch and may raise."""
    pairs = encode_pairs(examples, source, target)
    predictions = translate_pairs(model, pairs, target, config, check=check)
    tokens = teacher_forced(model, pairs, check=check)
    return score_predictions(examples, predictions, tokens, equivalent=equivalent, group=group, lang=target.lang)
