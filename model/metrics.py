"""How good translations are: exact match, token accuracy, loss, BLEU, and how well attention follows known alignments.

Pure functions on numbers and text. sacreBLEU is imported only when a BLEU is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from model.config import PAD


@dataclass(frozen=True)
class TokenScores:
    """Sums over target tokens, <eos> included and padding left out, that can be added up over batches and processes."""

    nll: float = 0.0
    correct: int = 0
    tokens: int = 0

    def __add__(self, other: TokenScores) -> TokenScores:
        return TokenScores(self.nll + other.nll, self.correct + other.correct, self.tokens + other.tokens)

    @property
    def loss(self) -> float:
        """Mean negative log-probability of the right token, in nats per target token; nan without any token."""
        return self.nll / self.tokens if self.tokens else float("nan")

    @property
    def accuracy(self) -> float:
        """Share of target tokens that were the likeliest one; nan without any token."""
        return self.correct / self.tokens if self.tokens else float("nan")


def token_scores(logits: Tensor, labels: Tensor) -> TokenScores:
    """Score predictions made with the right prefix given (teacher forcing).

    Shapes:
        logits: [batch, tgt, vocab]; labels: [batch, tgt] ids, PAD where there is nothing to predict.
    """
    real = labels != PAD
    rows, wanted = logits[real].float(), labels[real]  # [token, vocab], [token]
    nll = F.cross_entropy(rows, wanted, reduction="sum").item() if len(wanted) else 0.0
    return TokenScores(nll, int((rows.argmax(-1) == wanted).sum()), len(wanted))


def exact_match(right: Iterable[bool]) -> float:
    """Share of sentences that are right as a whole; nan without any."""
    marks = list(right)
    return sum(marks) / len(marks) if marks else float("nan")


@dataclass(frozen=True)
class Bleu:
    """A corpus BLEU from 0 to 100 and the sacreBLEU signature that says how it was computed."""

    score: float
    signature: str


def bleu(predictions: Sequence[str], references: Sequence[str]) -> Bleu:
    """Corpus BLEU of detokenised text by sacreBLEU (Post 2018), with its default tokenisation 13a, case counted.

    Raises:
        ValueError: there is nothing to score, or not one prediction per reference.
    """
    return _bleu(predictions, references, tokenize="13a")


def bleu_lc_tok(predictions: Sequence[str], references: Sequence[str], lang: str) -> Bleu:
    """The BLEU that papers on Multi30k print: lower-cased, punctuation normalised, cut by Moses' rules for `lang`.

    Prediction and reference, both plain text, go through the same steps, so that how a model cuts words has no say.
    Other papers' scores compare only where they are made like this.

    Raises:
        ValueError: there is nothing to score, or not one prediction per reference.
    """
    return _bleu(moses_tokens(predictions, lang), moses_tokens(references, lang), tokenize="none")


def moses_tokens(texts: Iterable[str], lang: str) -> list[str]:
    """Each text lower-cased, its punctuation normalised, its tokens set apart by single spaces, nothing escaped."""
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


def alignment_hits(cross: NDArray[np.float32], alignment: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """For each cross-attention head, how many rows look most at a source position that is right.

    Shapes:
        cross: [layer, head, tgt, src]; alignment: for each target token (without <eos>) its source positions; rows of
            tokens without any are left out.
        returns: [layer, head] counts out of :func:`alignment_rows`.
    """
    favourite = cross.argmax(axis=-1)  # [layer, head, tgt]
    hits = np.zeros(cross.shape[:2], dtype=np.int64)
    for row, positions in enumerate(alignment):
        if positions:
            hits += np.isin(favourite[:, :, row], positions)
    return hits


def alignment_rows(alignment: Sequence[Sequence[int]]) -> int:
    """How many target tokens have a known source position."""
    return sum(1 for positions in alignment if positions)


def flat(values: dict[str, Any]) -> dict[str, Any]:
    """The same dictionary with numbers that JSON cannot hold (nan, infinities) as None, so that files stay valid."""
    return {
        key: None if isinstance(value, float) and not np.isfinite(value) else value for key, value in values.items()
    }
