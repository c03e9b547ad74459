"""Training speed: our trainer and torch.nn.Transformer in a plain loop, alternating over the same batches."""

import ctypes
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.config import PAD, DataConfig, ModelConfig, TrainConfig
from model.data.batching import EncodedPairs, collate
from model.positions import sinusoidal_table
from model.training.corpus import Corpus
from model.training.device import Runtime, choose_runtime
from model.training.distributed import World
from model.training.settings import Settings
from model.training.setup import Setup
from model.training.trainer import Trainer
from model.transformer import Transformer
from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median, seconds

THREADS, N_UPDATES, N_WARM_UP = 2, 12, 2
Batch = tuple[Tensor, Tensor, Tensor]
PEER = "torch.nn.Transformer"
VOCAB, N_PAIRS, MEAN_LENGTH, LONGEST = 6000, 6000, 13.7, 40  # lengths as in Multi30k's subwords

MODEL = ModelConfig(
    src_vocab_size=VOCAB,
    tgt_vocab_size=VOCAB,
    d_model=128,
    d_ff=256,
    n_encoder_layers=4,
    n_decoder_layers=4,
    dropout=0.3,
    share_embeddings="all",
)
TRAINING = TrainConfig(max_tokens=4096, max_steps=10**6, log_every=10**6, eval_every=10**6, save_every=10**6)


class Peer(nn.Module):
    """The same model built from PyTorch's own modules, as a tutorial would."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, MODEL.d_model, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=MODEL.d_model**-0.5)
        self.register_buffer("positions", sinusoidal_table(LONGEST + 2, MODEL.d_model).float())
        self.transformer = nn.Transformer(
            MODEL.d_model,
            MODEL.n_encoder_heads,
            MODEL.n_encoder_layers,
            MODEL.n_decoder_layers,
            MODEL.d_ff,
            dropout=MODEL.dropout,
            batch_first=True,
        )
        for module in self.transformer.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0  # ours drops no attention weights by default; PyTorch has one setting for all
        self.dropout = nn.Dropout(MODEL.dropout)

    def embed(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) * math.sqrt(MODEL.d_model) + self.positions[: tokens.size(1)]
        return self.dropout(x)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        future = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(1)
        hidden = self.transformer(
            self.embed(src),
            self.embed(tgt),
            tgt_mask=future,
            src_key_padding_mask=src == PAD,
            tgt_key_padding_mask=tgt == PAD,
            memory_key_padding_mask=src == PAD,
        )
        return F.linear(hidden, self.embedding.weight)


def peer_update(peer: Peer, optimizer: torch.optim.Optimizer, batch: Batch) -> None:
    src, tgt, labels = batch
    loss = F.cross_entropy(
        peer(src, tgt).flatten(0, 1), labels.flatten(), ignore_index=PAD, label_smoothing=TRAINING.label_smoothing
    )
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(peer.parameters(), TRAINING.clip_norm)
    optimizer.step()


def padded_batch(corpus: Corpus, chosen: Sequence[int]) -> Batch:
    """Sources, decoder inputs and labels of these sentences, right-padded."""
    batch = collate(corpus.pairs, chosen)
    return batch.src, batch.tgt_in, batch.labels


def random_corpus() -> Corpus:
    """Random ids in sentences with the lengths of captions."""
    rng = np.random.default_rng(0)

    def sentence(length: int) -> tuple[int, ...]:
        return tuple(rng.integers(4, VOCAB, length).tolist())

    lengths = np.clip(rng.normal(MEAN_LENGTH, 4.5, N_PAIRS).round().astype(int), 4, LONGEST)
    others = np.clip(lengths + rng.integers(-3, 4, N_PAIRS), 3, LONGEST)
    pairs = EncodedPairs(tuple(map(sentence, lengths)), tuple(map(sentence, others)))
    return Corpus(pairs, seed=1, max_tokens=TRAINING.max_tokens, gradient_accumulation_steps=1, processes=1)


def our_trainer(corpus: Corpus, runtime: Runtime) -> Trainer:
    """The trainer of `python -m model.train`, without a run folder to write into."""
    absent: Any = None  # used only by evaluation and saving
    unscored: Any = SimpleNamespace(equivalent=None)
    setup = Setup(
        name="benchmark",
        task=unscored,
        settings=Settings(MODEL, DataConfig(), TRAINING),
        source=absent,
        target=absent,
        model=Transformer(MODEL),
        corpus=corpus,
        valid=absent,
        runtime=runtime,
    )
    return Trainer(setup, World(), None)


def keep_memory() -> bool:
    """Let the C library keep freed memory instead of returning large tensors to the system; False if it cannot.

    On Linux, the plain loop spends half its time on that. Ours hardly does, because its tensors are smaller.
    """
    if not sys.platform.startswith("linux"):
        return False
    trim_threshold, top_pad, mmap_threshold = -1, -2, -3
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    settings = ((mmap_threshold, 1 << 30), (trim_threshold, (1 << 31) - 1), (top_pad, 1 << 27))
    return mallopt is not None and all(mallopt(*setting) for setting in settings)


@benchmark("train", threads=THREADS)
def measure(lab: Lab) -> Iterator[Row]:
    """Alternate updates of the peer and of ours; a row for each precision that ours can run in."""
    torch.manual_seed(0)
    corpus, updates = random_corpus(), lab.times(N_UPDATES)
    plain = Runtime(precision="fp32", fused=True, settled=True, threads=THREADS)
    chosen = choose_runtime(Transformer(MODEL), corpus, replace(plain, precision="auto"), TRAINING)
    trainers = {"float32": our_trainer(corpus, plain)}
    if chosen.precision != "fp32":
        trainers[f"{chosen.precision}, as --precision auto chose here"] = our_trainer(corpus, chosen)
    peer = Peer().train()
    optimizer = torch.optim.Adam(peer.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)

    def works(batch: Batch) -> dict[str, Callable[[], None]]:
        ours = {name: trainer.update for name, trainer in trainers.items()}
        return ours | {PEER: lambda: peer_update(peer, optimizer, batch)}

    yield from rows_of(take_turns(corpus, works, updates), "")
    if keep_memory():
        yield from rows_of(take_turns(corpus, works, updates), ", C library told to keep freed memory")


def take_turns(
    corpus: Corpus, works: Callable[[Batch], dict[str, Callable[[], None]]], updates: int
) -> dict[str, list[float]]:
    """Tokens per second of each work at each update; `works` makes them from the update's batch."""
    found: dict[str, list[float]] = {}
    for step, update in enumerate(corpus.updates(0)[: N_WARM_UP + updates]):
        [batch] = update.shares[0]
        now = works(padded_batch(corpus, batch.indices))
        order = list(now) if step % 2 else list(reversed(now))
        times = {name: seconds(now[name]) for name in order}
        if step < N_WARM_UP:
            continue
        for name, time in times.items():
            found.setdefault(name, []).append(update.tokens / time)
    return found


def rows_of(found: dict[str, list[float]], memory: str) -> Iterator[Row]:
    sizes = f"training, d_model 128, 4+4 layers, vocabulary {VOCAB}, 4096 tokens a batch, 2 threads"
    ours = {name: median(speeds) for name, speeds in found.items() if name != PEER}
    for name, speed in ours.items():
        asked = 3 if "bf16" in name else 2.7
        yield Row(
            f"{sizes}, {name}",
            speed,
            "tokens/s",
            median(found[PEER]),
            f"torch.nn.Transformer in a plain loop, float32{memory}",
            target=f"≥ {asked} ×",
            met=speed >= asked * median(found[PEER]),
            detail=f"median of {len(found[PEER])} updates, source and target tokens counted",
        )
