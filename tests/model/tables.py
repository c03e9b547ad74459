"""A language model given as a table, so that every probability in a search test can be checked by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from model.config import EOS, DecodeConfig
from model.decoding.beam import beam_search, hypotheses
from model.decoding.search import Hypothesis, length_penalty

A, B, C = 4, 5, 6
VOCAB = 7
PENALTIES = ("none", "mean", "gnmt")

Row = Mapping[int, float]
Table = Mapping[tuple[int, ...], Row]


@dataclass(frozen=True)
class TableState:
    """Per hypothesis: which table it reads from, and the tokens read so far (<sos> first)."""

    sentences: tuple[int, ...]
    read: tuple[tuple[int, ...], ...]

    @property
    def batch_size(self) -> int:
        return len(self.read)

    def select(self, rows: Tensor) -> TableState:
        chosen = rows.tolist()
        return TableState(tuple(self.sentences[row] for row in chosen), tuple(self.read[row] for row in chosen))


@dataclass
class TableModel:
    """One table per sentence: {tokens after <sos>: {next token: probability}}; <eos> follows any other prefix."""

    tables: list[Table]
    calls: list[int] = field(default_factory=list)

    def start(self) -> TableState:
        return TableState(tuple(range(len(self.tables))), ((),) * len(self.tables))

    def step(self, tokens: Tensor, state: TableState) -> tuple[Tensor, TableState]:
        self.calls.append(len(tokens))
        read = tuple((*past, token) for past, token in zip(state.read, tokens.tolist(), strict=True))
        logits = torch.full((len(read), VOCAB), -math.inf)
        for row, (sentence, path) in enumerate(zip(state.sentences, read, strict=True)):
            for token, probability in self.tables[sentence].get(path[1:], {EOS: 1.0}).items():
                logits[row, token] = math.log(probability)
        return logits, TableState(state.sentences, read)


GARDEN_PATH: Table = {
    (): {A: 0.55, B: 0.45},
    (A,): {A: 0.4, B: 0.3, EOS: 0.3},
    (B,): {EOS: 0.9, A: 0.1},
}
"""Greedy takes A (0.55) and then A again (0.22); the best whole sentence is B (0.45 × 0.9 = 0.405)."""


@st.composite
def random_tables(draw: st.DrawFn, n: int = 1, depth: int = 3) -> TableModel:
    """Tables in which every path up to `depth` has its own probabilities for A, B and <eos>."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    tables = []
    for _ in range(n):
        table = {}
        for path in itertools.chain(*(itertools.product((A, B), repeat=length) for length in range(depth))):
            a, b, end = torch.rand(3, generator=generator).pow(2).add(1e-3).tolist()
            table[path] = {A: a / (a + b + end), B: b / (a + b + end), EOS: end / (a + b + end)}
        tables.append(table)
    return TableModel(tables)


def beam(width: int = 2, penalty: str = "none", alpha: float = 1.0) -> DecodeConfig:
    return DecodeConfig(method="beam", beam_size=width, length_penalty=penalty, alpha=alpha)


def best_by_beam(model: TableModel, config: DecodeConfig, limit: int = 6, **options: Any) -> list[Hypothesis]:
    steps = list(beam_search(model.step, model.start(), limit=limit, config=config, **options))
    return hypotheses(steps, 1, config.beam_size)[0]


def every_sentence(
    table: Mapping[tuple[int, ...], Row], config: DecodeConfig, limit: int
) -> list[tuple[float, tuple[int, ...]]]:
    """Score and path of each finished sentence of at most `limit` tokens, best first: brute force."""
    found = []
    for length in range(limit):
        for path in itertools.product((A, B), repeat=length):
            steps = [table.get(path[:i], {EOS: 1.0}) for i in range(length + 1)]
            probabilities = [row.get(token, 0.0) for row, token in zip(steps, (*path, EOS), strict=True)]
            if all(probabilities):
                total = sum(math.log(p) for p in probabilities)
                found.append((total / length_penalty(config.length_penalty, config.alpha, length + 1), path))
    return sorted(found, reverse=True)
