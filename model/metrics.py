"""Scores of translations: exact match, token accuracy, loss, BLEU, and agreement of attention with gold alignments.

Pure functions on numbers and text. sacreBLEU is imported only when a BLEU is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor
from torch.nn import functional as F

from model.config import PAD, UNK


@dataclass(frozen=True)
class TokenScores:
    """Sums over target tokens (with <eos>, without padding) that can be added over batches and processes."""

    nll: float = 0.0
    correct: int = 0
    tokens: int = 0

    def __add__(self, other: TokenScores) -> TokenScores:
        return TokenScores(self.nll + other.nll, self.correct + other.correct, self.tokens + other.tokens)

    @property
    def loss(self) -> float:
        """Mean negative log-probability of the correct token, in nats per target token; nan without tokens."""
        return self.nll / self.tokens if self.tokens else float("nan")

    @property
    def accuracy(self) -> float:
        """Share of target tokens that the model ranks first; nan without tokens."""
        return self.correct / self.tokens if self.tokens else float("nan")


def token_scores(logits: Tensor, labels: Tensor) -> TokenScores:
    """Score predictions under teacher forcing; an unknown token in the reference is never predicted correctly.

    Shapes:
        logits: [batch, tgt, vocab]; labels: [batch, tgt] ids, PAD where there is nothing to predict.
    """
    real = labels != PAD
    rows, targets = logits[real].float(), labels[real]  # [token, vocab], [token]
    nll = F.cross_entropy(rows, targets, reduction="sum").item() if len(targets) else 0.0
    right = (rows.argmax(-1) == targets) & (targets != UNK)
    return TokenScores(nll, int(right.sum()), len(targets))


def exact_match(right: Sequence[bool]) -> float:
    """Share of sentences that are entirely correct; nan without sentences."""
    return sum(right) / len(right) if right else float("nan")


@dataclass(frozen=True)
class Bleu:
    """A corpus BLEU from 0 to 100 and the sacreBLEU signature that says how it was computed."""

    score: float
    signature: str


def bleu(predictions: Sequence[str], references: Sequence[str]) -> Bleu:
    """Corpus BLEU of detokenised text by sacreBLEU (Post 2018), with its default tokenisation 13a, case-sensitive.

    Raises:
        ValueError: there are no predictions, or their number differs from that of the references.
    """
    return _bleu(predictions, references, tokenize="13a")


def bleu_lc_tok(predictions: Sequence[str], references: Sequence[str], lang: str) -> Bleu:
    """The BLEU of papers on Multi30k: lower-cased, punctuation normalised, tokenised by Moses' rules for `lang`.

    Predictions and references, both plain text, are processed alike, so the model's own tokenizer has no influence.
    Scores in papers are comparable only if they were computed this way.

    Raises:
        ValueError: there are no predictions, or their number differs from that of the references.
    """
    return _bleu(moses_tokens(predictions, lang), moses_tokens(references, lang), tokenize="none")


def moses_tokens(texts: Iterable[str], lang: str) -> list[str]:
    """Each text lower-cased, with normalised punctuation and single spaces between tokens, without escapes."""
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

    normalizer, tokenizer = MosesPunctNormalizer(lang=lang), MosesTokenizer(lang=lang)
    return [
        str(tokenizer.tokenize(normalizer.normalize(text.lower()), escape=False, return_str=True)) for text in texts
    ]


def _bleu(predictions: Sequence[str], references: Sequence[str], *, tokenize: str) -> Bleu:
    if not predictions or len(predictions) != len(references):
        raise ValueError(f"BLEU needs as many predictions as references, not {len(predictions)} and {len(references)}.")
    from sacrebleu.metrics.bleu import BLEU  # slow to import, and most commands never need it

    metric = BLEU(tokenize=tokenize, force=True)
    score = metric.corpus_score(list(predictions), [list(references)])
    return Bleu(float(score.score), str(metric.get_signature()))


def flat(values: dict[str, Any]) -> dict[str, Any]:
    """The dictionary with nan and infinities, which JSON cannot represent, replaced by None."""
    return {
        key: None if isinstance(value, float) and not np.isfinite(value) else value for key, value in values.items()
    }
