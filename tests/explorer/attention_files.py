"""Attention files made in memory, as a person's own program would write them."""

import io
import json
from typing import Any

import numpy as np

HOSTILE = ("</script>", "<img src=x onerror=alert(1)>", "人工知能", "שלום", "👩‍👩‍👧", " ", "", "a\nb", "\x00")


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def as_json(**arrays: Any) -> bytes:
    return json.dumps({k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in arrays.items()}).encode()


def weights_of(*shape: int, seed: int = 0, causal: bool = False) -> np.ndarray:
    raw = np.random.default_rng(seed).random(shape) + 0.01
    raw = np.tril(raw) if causal else raw
    return (raw / raw.sum(-1, keepdims=True)).astype(np.float32)


def tokens(n: int, letter: str = "t") -> list[str]:
    return [f"{letter}{i}" for i in range(n)]
