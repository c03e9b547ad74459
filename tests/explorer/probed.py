"""Samples whose heads are known by construction, for the tests of the Probe page's statistics."""

from collections.abc import Callable, Iterable

import numpy as np

from explorer.probing.measurement import Probe, Tally
from model.analysis.recorded_batches import Observed, Weights
from model.config import ATTENTION_KINDS, EOS, SOS
from model.data.task import Alignment
from model.trace import AttentionTrace, future_mask

Head = Callable[[int, int], np.ndarray]  # (query, keys that it may see) -> its row


def one_hot(key: int, n_keys: int) -> np.ndarray:
    return np.eye(n_keys, dtype=np.float32)[min(max(key, 0), n_keys - 1)]


HEADS: dict[str, Head] = {
    "previous": lambda q, n: one_hot(q - 1, n),
    "first": lambda q, n: one_hot(0, n),
    "end": lambda q, n: one_hot(n - 1, n),
    "itself": lambda q, n: one_hot(q, n),
    "next": lambda q, n: one_hot(q + 1, n),
    "uniform": lambda q, n: np.full(n, 1 / n, dtype=np.float32),
    "sink and previous": lambda q, n: 0.6 * one_hot(0, n) + 0.4 * one_hot(q - 1, n),
}


def mixed(place: Callable[[int], int], share: float) -> Head:
    """A head with this share of its weight at one place, and the rest spread evenly."""
    return lambda q, n: (1 - share) * HEADS["uniform"](q, n) + share * one_hot(place(q), n)


def observed(
    n_src: int = 9,
    n_tgt: int = 8,
    *,
    encoder: tuple[Head, ...] = (HEADS["uniform"],),
    decoder: tuple[Head, ...] = (HEADS["uniform"],),
    cross: tuple[Head, ...] = (HEADS["uniform"],),
    src_ids: tuple[int, ...] | None = None,
    read_ids: tuple[int, ...] | None = None,
    counts: tuple[int, ...] | None = None,
    src_tokens: tuple[str, ...] | None = None,
    alignment: Alignment | None = None,
) -> Observed:
    """One layer of the given heads per kind; `n_src` counts <eos>, `n_tgt` counts <sos>."""
    sources = src_ids or tuple(range(10, 9 + n_src))
    reads = read_ids or tuple(range(40, 39 + n_tgt))
    words = src_tokens or tuple(f"s{i}" for i in range(n_src - 1))
    return Observed(
        trace=AttentionTrace(
            encoder=_rows(encoder, n_src, n_src, causal=False),
            decoder=_rows(decoder, n_tgt, n_tgt, causal=True),
            cross=_rows(cross, n_tgt, n_src, causal=False),
            encoder_mask=np.zeros((n_src, n_src), np.uint8),
            decoder_mask=future_mask(n_tgt),
            cross_mask=np.zeros((n_tgt, n_src), np.uint8),
            src_tokens=(*words, "<eos>"),
            read_tokens=("<sos>", *(f"t{i}" for i in range(n_tgt - 1))),
            predicted_tokens=(*(f"t{i}" for i in range(n_tgt - 1)), "<eos>"),
            src_words=(*range(n_src - 1), -1),
            tgt_words=(-1, *range(n_tgt - 1)),
            probabilities=np.ones(n_tgt, np.float32),
            top_ids=np.zeros((n_tgt, 0), np.int64),
            top_probabilities=np.zeros((n_tgt, 0), np.float32),
            top_tokens=((),) * n_tgt,
        ),
        src_ids=np.array([*sources, EOS]),
        src_counts=np.array([*(counts or [5] * (n_src - 1)), 0]),
        read_ids=np.array([SOS, *reads]),
        alignment=alignment,
    )


def _rows(heads: tuple[Head, ...], n_rows: int, n_keys: int, *, causal: bool) -> np.ndarray:
    """[1, head, query, key]; a head of a causal kind is given only the keys that it may see."""
    found = np.zeros((1, len(heads), n_rows, n_keys), np.float32)
    for h, head in enumerate(heads):
        for q in range(n_rows):
            seen = q + 1 if causal else n_keys
            found[0, h, q, :seen] = head(q, seen)
    return found


def with_untrained(item: Observed, seed: int, seeds: int = 5) -> Weights:
    """The planted heads first, then models that look untrained: rows nearly uniform over the keys that they may see."""
    rng = np.random.default_rng(seed)
    found: Weights = {}
    for kind in ATTENTION_KINDS:
        own = item.trace.weights(kind)
        drawn = np.exp(0.3 * rng.normal(size=(seeds, *own.shape))) * (item.trace.mask(kind) == 0)
        found[kind] = np.concatenate([own[None], drawn / drawn.sum(-1, keepdims=True)], dtype=np.float32)
    return found


def probe_of(items: Iterable[Observed], seeds: int = 5) -> Probe:
    """The statistics of these sentences beside models that look untrained."""
    tally = Tally()
    for i, item in enumerate(items):
        tally.add(i, item, with_untrained(item, i, seeds))
    return tally.result()


def random_observed(seed: int = 3, n_src: int = 7, n_tgt: int = 5, **more: object) -> Observed:
    """Two heads per kind whose rows are noise."""
    rng = np.random.default_rng(seed)

    def noise(q: int, n: int) -> np.ndarray:
        row = rng.random(n) ** 3
        return (row / row.sum()).astype(np.float32)

    return observed(n_src, n_tgt, encoder=(noise, noise), decoder=(noise, noise), cross=(noise, noise), **more)


def quiet(done: float, words: str) -> None:
    """Takes reports of progress, which must make sense."""
    assert 0 <= done <= 1
    assert words
