"""Describe how likely a model finds each token of a given target sentence: a caption and tables."""

from __future__ import annotations

import math
from typing import Any

from explorer.decoding.names import numbered
from explorer.decoding.translator import Translation
from explorer.locale.messages import t
from explorer.locale.text import fixed, percent, quoted
from model.trace import AttentionTrace


def log_probability(trace: AttentionTrace) -> float:
    """Log-probability of the whole target in nats; -inf if a token has probability 0."""
    return sum(math.log(p) if p > 0 else -math.inf for p in map(float, trace.probabilities))


def perplexity(trace: AttentionTrace) -> float:
    """Exp of the mean negative log-probability per token; at most e^700, so that it stays finite."""
    return math.exp(min(-log_probability(trace) / len(trace.probabilities), 700))


def probability_columns(trace: AttentionTrace) -> dict[str, list[Any]]:
    """Columns for the figure: token (with its position), probability in percent, and the model's first choice."""
    return {
        "token": list(numbered(trace.predicted_tokens)),
        "probability": [100 * float(p) for p in trace.probabilities],
        "first": [f"{tokens[0]} ({percent(float(p[0]))})" for tokens, p in _ranked(trace)],
    }


def probability_caption(trace: AttentionTrace) -> str:
    """State the whole target's probability and the token that the model expected least, in sentences."""
    probabilities = [float(p) for p in trace.probabilities]
    least = min(range(len(probabilities)), key=probabilities.__getitem__)
    tokens, first = _ranked(trace)[least]
    return t(
        "Log-probability {sum} nats over {tokens}, perplexity {perplexity:.3g}. Least expected: {token} "
        "({probability:.2g} %), where the model's first choice was {first} ({share}).",
        sum=fixed(log_probability(trace), 3),
        tokens=t("{n} token", "{n:,} tokens", n=len(probabilities)),
        perplexity=perplexity(trace),
        token=quoted(numbered(trace.predicted_tokens)[least]),
        probability=100 * probabilities[least],
        first=quoted(tokens[0]),
        share=percent(float(first[0])),
    )


def probability_table(forced: Translation) -> list[dict[str, Any]]:
    """One row per token: what was read, what it had to predict, its probability and rank, and the first choice."""
    trace = forced.trace
    table = []
    for row, token in enumerate(trace.predicted_tokens):
        ids, chosen = [int(i) for i in trace.top_ids[row]], forced.path[row]
        rank = str(ids.index(chosen) + 1) if chosen in ids else t("below {rank}", rank=len(ids))
        table.append(
            {
                t("step"): row + 1,
                t("reads"): trace.read_tokens[row],
                t("predicts"): token,
                t("probability (%)"): round(100 * float(trace.probabilities[row]), 3),
                t("rank"): rank,
                t("first choice"): trace.top_tokens[row][0],
                t("its probability (%)"): round(100 * float(trace.top_probabilities[row][0]), 3),
            }
        )
    return table


def _ranked(trace: AttentionTrace) -> list[tuple[tuple[str, ...], Any]]:
    return list(zip(trace.top_tokens, trace.top_probabilities, strict=True))
