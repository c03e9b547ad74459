"""The attention of one decoding with everything needed to label it, as NumPy arrays and strings, without torch."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.config import ATTENTION_KINDS, AttentionKind
from model.user_error import UserError

VISIBLE, FUTURE, PADDING = 0, 1, 2
TRACE_VERSION = 1

Floats = NDArray[np.float32]
Codes = NDArray[np.uint8]


class TraceError(UserError):
    """An attention file that cannot be used; the message says what is wrong with it."""


@dataclass(frozen=True, eq=False)
class AttentionTrace:
    """Every head's weights in one decoding, and what each row read and predicted.

    Shapes:
        encoder: [layer, head, src, src]; decoder: [layer, head, tgt, tgt]; cross: [layer, head, tgt, src]; float32,
            rows = queries, columns = keys, rows sum to 1 over visible keys. Encoder and decoder may differ in depth and
            head count.
        encoder_mask [src, src], decoder_mask [tgt, tgt], cross_mask [tgt, src]: uint8, VISIBLE, FUTURE or PADDING.
        src_tokens [src]: the source tokens with <eos>. Decoder row t is the token read at t, read_tokens[t] (<sos>
            first), and predicts predicted_tokens[t], which is what row t + 1 reads.
        src_words [src], tgt_words [tgt]: which word a token (read, for the target) belongs to; -1 for specials.
        probabilities [tgt]: of the predicted token, among the tokens that search may choose.
        top_ids, top_probabilities [tgt, k] and top_tokens: the likeliest next tokens of each row, best first.
        edits: one line per head edit in force; empty for the model as trained.
    """

    encoder: Floats
    decoder: Floats
    cross: Floats
    encoder_mask: Codes
    decoder_mask: Codes
    cross_mask: Codes
    src_tokens: tuple[str, ...]
    read_tokens: tuple[str, ...]
    predicted_tokens: tuple[str, ...]
    src_words: tuple[int, ...]
    tgt_words: tuple[int, ...]
    probabilities: Floats
    top_ids: NDArray[np.int64]
    top_probabilities: Floats
    top_tokens: tuple[tuple[str, ...], ...]
    edits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n_src, n_tgt = len(self.src_tokens), len(self.read_tokens)
        for kind in ATTENTION_KINDS:
            size = no_weights(kind, n_src, n_tgt).shape[2:]
            weights, mask = getattr(self, kind), getattr(self, f"{kind}_mask")
            if weights.ndim != 4 or weights.shape[2:] != size:
                raise TraceError(
                    "{kind} must be [layer, head, {queries}, {keys}], but is {shape}.",
                    kind=kind,
                    queries=size[0],
                    keys=size[1],
                    shape=list(weights.shape),
                )
            if mask.shape != size:
                raise TraceError(
                    "{kind}_mask must be {needed}, but is {shape}.",
                    kind=kind,
                    needed=list(size),
                    shape=list(mask.shape),
                )
        for name, length in (("predicted_tokens", n_tgt), ("src_words", n_src), ("tgt_words", n_tgt)):
            if len(getattr(self, name)) != length:
                raise TraceError(
                    "{name} must have {needed} entries, but has {given}.",
                    name=name,
                    needed=length,
                    given=len(getattr(self, name)),
                )
        k = len(self.top_tokens[0]) if self.top_tokens else 0
        for name, shape in (
            ("probabilities", (n_tgt,)),
            ("top_ids", (n_tgt, k)),
            ("top_probabilities", (n_tgt, k)),
        ):
            if getattr(self, name).shape != shape:
                raise TraceError(
                    "{name} must be {needed}, but is {shape}.",
                    name=name,
                    needed=list(shape),
                    shape=list(getattr(self, name).shape),
                )
        if [len(row) for row in self.top_tokens] != [k] * n_tgt:
            raise TraceError("top_tokens must be [{n_tgt}, {k}] like top_ids.", n_tgt=n_tgt, k=k)

    def weights(self, kind: AttentionKind) -> Floats:
        """[layer, head, query, key] of one kind."""
        array: Floats = getattr(self, kind)
        return array

    def tokens(self, kind: AttentionKind) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tokens of the queries and of the keys of one kind."""
        return (
            self.src_tokens if kind == "encoder" else self.read_tokens,
            self.read_tokens if kind == "decoder" else self.src_tokens,
        )

    def mask(self, kind: AttentionKind) -> Codes:
        """[query, key] of one kind: why a cell is visible or masked."""
        array: Codes = getattr(self, f"{kind}_mask")
        return array

    def save_npz(self, path: str | Path) -> None:
        """Write an attention file: numeric arrays, and token lists as fixed-width strings, without pickles."""
        arrays: dict[str, NDArray[np.generic]] = {"format_version": np.array(TRACE_VERSION)}
        for item in fields(self):
            value = getattr(self, item.name)
            arrays[item.name] = np.asarray(value, dtype=np.str_ if _is_text(item.name) else None)
        with Path(path).open("wb") as file:  # given a path, savez would append .npz to its name
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]

    @classmethod
    def load_npz(cls, path: str | Path) -> AttentionTrace:
        """Read an attention file.

        Raises:
            TraceError: the file is not an attention file, is incomplete, or its shapes do not fit its token lists.
        """
        try:
            zipfile.ZipFile(path).close()  # rejects other files before numpy guesses their format
            with np.load(path, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
        except Exception as error:  # numpy and zipfile raise a dozen kinds for files that are cut, damaged or foreign
            raise TraceError(
                "{name} is not a readable attention file (.npz): {error}", name=Path(path).name, error=error
            ) from error
        missing = [item.name for item in fields(cls) if item.name not in arrays]
        if missing:
            raise TraceError("{name} lacks {missing}.", name=Path(path).name, missing=", ".join(missing))
        return cls(**{item.name: _read(item.name, arrays[item.name]) for item in fields(cls)})


def _is_text(name: str) -> bool:
    return name.endswith("_tokens") or name == "edits"


def _read(name: str, array: NDArray[np.generic]) -> Any:
    """A field of the trace from its array in the file."""
    dimensions = _dimensions(name)
    if array.ndim != dimensions:
        raise TraceError(
            "{name} must have {dimensions} axes, but has {ndim}.", name=name, dimensions=dimensions, ndim=array.ndim
        )
    if _is_text(name):
        if array.dtype.kind not in "US" and array.size:
            raise TraceError("{name} must hold strings, not {dtype}.", name=name, dtype=array.dtype)
        rows = array.astype(np.str_).tolist()
        return tuple(tuple(row) if isinstance(row, list) else str(row) for row in rows)
    if array.dtype.kind not in "buif":
        raise TraceError("{name} must hold numbers, not {dtype}.", name=name, dtype=array.dtype)
    if name.endswith("_words"):
        return tuple(int(value) for value in array)
    if name.endswith("_mask"):
        return array.astype(np.uint8)
    return array.astype(np.int64 if name == "top_ids" else np.float32)


def _dimensions(name: str) -> int:
    """Number of axes of a field's array in the file."""
    if name in ATTENTION_KINDS:
        return 4
    return 2 if name.startswith("top_") or name.endswith("_mask") else 1


def future_mask(length: int) -> Codes:
    """[query, key] codes of a decoding of `length` real tokens: FUTURE above the diagonal, VISIBLE elsewhere.

    This also holds for a decoder that is not causal: at each step, later tokens did not exist yet.
    """
    return np.triu(np.full((length, length), FUTURE, dtype=np.uint8), k=1)


def no_weights(kind: AttentionKind, n_src: int, n_tgt: int) -> Floats:
    """The array of a missing kind: no layers, but query and key axes as long as its tokens."""
    shape = {"encoder": (n_src, n_src), "decoder": (n_tgt, n_tgt), "cross": (n_tgt, n_src)}[kind]
    return np.zeros((0, 0, *shape), np.float32)


def maps_of(weights: Mapping[AttentionKind, Floats], n_src: int, n_tgt: int, decoder_mask: Codes) -> dict[str, Any]:
    """The weights and masks of a trace without padding, by field; kinds without weights have no layers."""
    every: dict[str, Floats] = {kind: weights.get(kind, no_weights(kind, n_src, n_tgt)) for kind in ATTENTION_KINDS}
    masks = {f"{kind}_mask": np.full(array.shape[2:], VISIBLE, np.uint8) for kind, array in every.items()}
    return {**every, **masks, "decoder_mask": decoder_mask}


def kinds_of(trace: AttentionTrace) -> tuple[AttentionKind, ...]:
    """The kinds of attention that have weights."""
    return tuple(kind for kind in ATTENTION_KINDS if trace.weights(kind).size)
