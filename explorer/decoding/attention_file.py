"""Read attention of any model from a file: the arrays of `model/trace.py`, most of which are optional.

An `.npz` file holds arrays, a JSON file an object of nested lists, under the names of :data:`CONTENT`, of which
the table in docs/formats.md is made. Any rectangular map fits as `cross`. Kinds may differ in layers and heads.

Nothing is unpickled, and the declared size of each array is checked before it is read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.array_file import FileError, read_json, read_npz
from explorer.decoding.decoding import Decoding
from explorer.locale.messages import Later, later, t
from explorer.locale.text import shortened
from model.config import ATTENTION_KINDS, AttentionKind
from model.trace import PADDING, VISIBLE, AttentionTrace, TraceError, future_mask, no_weights
from model.user_error import UserError

MAX_BYTES = 20_000_000  # of a file
MAX_CELLS = 16_000_000  # of all weights together: 64 MB
MAX_TOKENS = 1024  # a side
MAX_CHARACTERS = 60  # of a token's label
SUM_TOLERANCE = 0.02  # allows for half precision and rounded JSON
UNKNOWN = "?"  # the predicted token where the file has none


_WEIGHTS = (
    "[layer, head, query, key]: weights from 0 to 1; rows should sum to 1 over visible keys. Where they are 1, the "
    "axes layer, or layer and head, may be left out, and a batch axis of 1 may stand between the two"
)
_MASK = "[query, key]: 0 visible, 1 future, 2 padding"
_TOKENS = (
    f"at most {MAX_TOKENS:,} texts: decoder row *t* reads `read_tokens[t]` (first `<sos>`) and predicts "
    "`predicted_tokens[t]`; the axes of the weights need theirs"
)
_WORDS = "the number of the word that each token belongs to; −1 for specials"
_PROBABILITIES = "from 0 to 1, of each predicted token"
CONTENT: dict[str, str] = {
    **dict.fromkeys(("encoder", "decoder", "cross"), _WEIGHTS),
    **dict.fromkeys(("encoder_mask", "decoder_mask", "cross_mask"), _MASK),
    **dict.fromkeys(("src_tokens", "read_tokens", "predicted_tokens"), _TOKENS),
    **dict.fromkeys(("src_words", "tgt_words"), _WORDS),
    "probabilities": _PROBABILITIES,
}
"""The arrays that are read from an attention file, and what each holds; at least one kind of weights is required.

A decoder without a mask whose weights are 0 above the diagonal counts as causal.
"""

_TEXTS = tuple(name for name, holds in CONTENT.items() if holds == _TOKENS)
_NUMBERS = tuple(name for name in CONTENT if name not in _TEXTS)
_SPECIAL = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_AXES: dict[AttentionKind, tuple[str, str]] = {
    "encoder": ("src_tokens", "src_tokens"),
    "decoder": ("read_tokens", "read_tokens"),
    "cross": ("read_tokens", "src_tokens"),
}


class OwnAttentionError(UserError):
    """The file cannot be shown; the message says why."""


def read_own(content: bytes, name: str) -> Decoding:
    """Read an attention file; its format is :data:`CONTENT`.

    The decoding is named by a hash of the content, and its model by the name of the file. Kinds missing from the file
    have no layers in the trace; `model.trace.kinds_of` names the others. Without predicted tokens or probabilities in
    the file, `predicted_tokens` are `UNKNOWN` and `probabilities` NaN.

    Raises:
        OwnAttentionError: the file has another format, is too large, or its parts do not fit together.
    """
    label = PurePath(name.replace("\\", "/")).name[:80] or t("the file")
    if len(content) > MAX_BYTES:
        raise OwnAttentionError(
            "{label} has {content:,} bytes; at most {max_bytes:,} are read.",
            label=label,
            content=len(content),
            max_bytes=MAX_BYTES,
        )
    try:
        if content[:2] == b"PK":
            arrays = read_npz(content, texts=_TEXTS, numbers=_NUMBERS, max_numbers=MAX_CELLS, max_texts=MAX_TOKENS)
        else:
            arrays = read_json(content, texts=_TEXTS, numbers=_NUMBERS, max_numbers=MAX_CELLS, max_texts=MAX_TOKENS)
        trace, notes = trace_of(arrays)
    except (FileError, TraceError, OwnAttentionError) as unfit:
        raise OwnAttentionError("{label} cannot be shown: {unfit}", label=label, unfit=unfit) from None
    return Decoding(trace, f"own-{hashlib.sha256(content).hexdigest()[:16]}", label, notes=tuple(notes))


def trace_of(
    arrays: Mapping[str, NDArray[Any]], called: Mapping[str, str] = MappingProxyType({})
) -> tuple[AttentionTrace, list[Later]]:
    """Build the trace from arrays named as in :data:`CONTENT`; returns it with remarks for the reader.

    `called` renames token lists in messages, for callers whose lists have other names than those of a file.

    Raises:
        OwnAttentionError, TraceError: the parts do not fit together.
    """
    # A file of a model without some kind of attention has an array without layers and heads in its place.
    kinds = [kind for kind in ATTENTION_KINDS if kind in arrays and arrays[kind].shape[:2] != (0, 0)]
    weights = {kind: _four_axes(kind, arrays[kind]) for kind in kinds}
    if not weights:
        raise OwnAttentionError("it has none of the arrays encoder, decoder and cross.")
    given = {name: tuple(arrays[name].tolist()) for name in _TEXTS if name in arrays}
    for kind, array in weights.items():
        _check_axes(kind, array, given, called)
        _check_values(kind, array)
    src, read = given.get("src_tokens", ()), given.get("read_tokens", ())
    masks = {kind: _mask(kind, weights.get(kind), arrays, len(read), len(src)) for kind in ATTENTION_KINDS}
    notes = _notes(weights, masks, arrays)
    src_labels, src_words = labels_and_words(src)
    read_labels, tgt_words = labels_and_words(read)
    predicted = labels_and_words(given["predicted_tokens"])[0] if "predicted_tokens" in given else ()
    all_weights = {kind: weights.get(kind, no_weights(kind, len(src), len(read))) for kind in ATTENTION_KINDS}
    trace = AttentionTrace(
        encoder=all_weights["encoder"],
        decoder=all_weights["decoder"],
        cross=all_weights["cross"],
        encoder_mask=masks["encoder"],
        decoder_mask=masks["decoder"],
        cross_mask=masks["cross"],
        src_tokens=src_labels,
        read_tokens=read_labels,
        predicted_tokens=predicted or (UNKNOWN,) * len(read),
        src_words=_word_numbers("src_words", arrays, src_words),
        tgt_words=_word_numbers("tgt_words", arrays, tgt_words),
        probabilities=_probabilities(arrays, len(read)),
        top_ids=np.zeros((len(read), 0), np.int64),
        top_probabilities=np.zeros((len(read), 0), np.float32),
        top_tokens=((),) * len(read),
    )
    return trace, notes


def _four_axes(kind: str, array: NDArray[Any]) -> NDArray[np.float32]:
    """[layer, head, query, key] of an array that may lack leading axes or have a batch axis of 1."""
    if array.ndim == 5 and array.shape[1] == 1:
        array = array[:, 0]
    while 2 <= array.ndim < 4:
        array = array[None]
    if array.ndim != 4 or 0 in array.shape:
        raise OwnAttentionError(
            "{kind} must be [layer, head, query, key] without empty axes, not {shape}.",
            kind=kind,
            shape=list(array.shape),
        )
    with np.errstate(over="ignore"):  # values too large for float32 become infinite; :func:`_check_values` refuses them
        return np.ascontiguousarray(array, dtype=np.float32)


def _check_axes(
    kind: AttentionKind, array: NDArray[np.float32], given: Mapping[str, Sequence[str]], called: Mapping[str, str]
) -> None:
    for axis, side, length in zip((later("queries"), later("keys")), _AXES[kind], array.shape[2:], strict=True):
        name = called.get(side, side)
        if side not in given:
            raise OwnAttentionError(
                "{kind} needs {name}, a list of {strings}.",
                kind=kind,
                name=name,
                strings=later("{n} string", "{n:,} strings", n=length),
            )
        if len(given[side]) != length:
            raise OwnAttentionError(
                "{kind} has {length} {axis}, but {name} has {tokens}.",
                kind=kind,
                length=length,
                axis=axis,
                name=name,
                tokens=later("{n} token", "{n:,} tokens", n=len(given[side])),
            )


def _check_values(kind: str, array: NDArray[np.float32]) -> None:
    if not np.isfinite(array).all():
        raise OwnAttentionError(
            "{place} holds a value that is not a number (NaN or ∞).", place=row_at(kind, ~np.isfinite(array))
        )
    outside = (array < 0) | (array > 1 + SUM_TOLERANCE)
    if outside.any():
        raise OwnAttentionError(
            "{place} holds {weight:.4g}; weights lie between 0 and 1. Scores before the softmax cannot be shown.",
            place=row_at(kind, outside),
            weight=array[outside][0],
        )


def row_at(kind: str, wrong: NDArray[np.bool_]) -> Later:
    """The first wrong place of `wrong` [layer, head, row, …], as in “encoder, layer 1, head 2, row 3,”."""
    layer, head, row = (int(i) + 1 for i in np.argwhere(wrong)[0][:3])
    return later("{kind}, layer {layer}, head {head}, row {row},", kind=kind, layer=layer, head=head, row=row)


def _mask(
    kind: AttentionKind, weights: NDArray[np.float32] | None, arrays: Mapping[str, NDArray[Any]], n_tgt: int, n_src: int
) -> NDArray[np.uint8]:
    shape = no_weights(kind, n_src, n_tgt).shape[2:]
    name = f"{kind}_mask"
    if name not in arrays:
        causal = kind == "decoder" and weights is not None and not np.triu(weights, 1).any()
        return future_mask(n_tgt) if causal else np.full(shape, VISIBLE, np.uint8)
    given = arrays[name]
    if given.shape != shape:
        raise OwnAttentionError(
            "{name} must be {needed}, not {given}.", name=name, needed=list(shape), given=list(given.shape)
        )
    if not np.isin(given, range(PADDING + 1)).all():
        raise OwnAttentionError("{name} holds other values than 0 (visible), 1 (future) and 2 (padding).", name=name)
    mask = given.astype(np.uint8)
    if weights is not None and weights[..., mask != VISIBLE].any():
        raise OwnAttentionError("{name} masks cells in which {kind} has weights.", name=name, kind=kind)
    return mask


def _notes(
    weights: Mapping[AttentionKind, NDArray[np.float32]],
    masks: Mapping[AttentionKind, NDArray[np.uint8]],
    arrays: Mapping[str, NDArray[Any]],
) -> list[Later]:
    notes: list[Later] = []
    for kind, array in weights.items():
        has_keys = (masks[kind] == VISIBLE).any(-1)
        error = np.abs(array.sum(-1, dtype=np.float64) - 1)[..., has_keys].max(initial=0.0)
        if error > SUM_TOLERANCE:
            notes.append(
                later(
                    "Rows of {kind} do not sum to 1 (off by up to {error:.2g}): these are not plain weights.",
                    kind=kind,
                    error=float(error),
                )
            )
    if "decoder" in weights and "decoder_mask" not in arrays and (masks["decoder"] != VISIBLE).any():
        notes.append(
            later("All decoder weights above the diagonal are 0, so those cells are shown as masked (future).")
        )
    return notes


def labels_and_words(tokens: Sequence[str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Strip subword markers from tokens, and number the word of each token (-1 for specials such as [CLS]).

    Recognised markers: ▁ and Ġ before the first piece of a word (SentencePiece, byte-level BPE), ## before later pieces
    (WordPiece).
    Without markers, each token is a word of its own.
    """
    starts = any(token[:1] in ("▁", "Ġ") for token in tokens)
    rests = not starts and any(token.startswith("##") and len(token) > 2 for token in tokens)
    labels, words = [], []
    word, after_special = -1, True
    for token in tokens:
        special = bool(_SPECIAL.fullmatch(token))
        begins = token[:1] in ("▁", "Ġ") if starts else not (rests and token.startswith("##"))
        if not special and (begins or after_special):
            word += 1
        words.append(-1 if special else word)
        after_special = special
        label = token if special else token.lstrip("▁Ġ") if starts else token[2:] if not begins else token
        label = label or "␣"
        labels.append(shortened(label, MAX_CHARACTERS))
    return tuple(labels), tuple(words)


def _word_numbers(name: str, arrays: Mapping[str, NDArray[Any]], derived: tuple[int, ...]) -> tuple[int, ...]:
    """The word numbers from the file, or `derived` from the tokens if the file has none."""
    if name not in arrays:
        return derived
    given = arrays[name]
    if given.ndim != 1 or not np.array_equal(given, np.rint(given)) or np.abs(given).max(initial=0) > MAX_TOKENS:
        raise OwnAttentionError("{name} must be whole numbers, one per token.", name=name)
    return tuple(int(word) for word in given)


def _probabilities(arrays: Mapping[str, NDArray[Any]], n_tgt: int) -> NDArray[np.float32]:
    if "probabilities" not in arrays:
        return np.full(n_tgt, np.nan, np.float32)
    given = arrays["probabilities"].astype(np.float32)
    if not (np.isnan(given) | ((given >= 0) & (given <= 1))).all():
        raise OwnAttentionError("probabilities must lie between 0 and 1.")
    return given
