"""Random streams of a run, each determined by its seed and purpose and independent of earlier draws.

A stream is restarted for each batch from (seed, purpose, step, …), so a resumed run needs no saved random state:
batch 1 000 draws the same dropout whether or not batches 1–999 ran in this process.
"""

from __future__ import annotations

import hashlib

import torch


def stream_seed(seed: int, *purpose: str | int) -> int:
    """A seed for one purpose, unrelated to those of other purposes: the first 8 bytes of a BLAKE2b hash."""
    text = "/".join(map(str, (seed, *purpose)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


def start_stream(seed: int, *purpose: str | int) -> None:
    """Seed torch with the stream of this purpose, on every device."""
    torch.manual_seed(stream_seed(seed, *purpose))


def generator(seed: int, *purpose: str | int) -> torch.Generator:
    """A separate CPU generator for this purpose."""
    return torch.Generator().manual_seed(stream_seed(seed, *purpose))
