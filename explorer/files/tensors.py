"""Convert the attention that any model returns (tensors by layer, or by step and layer) to one array per kind.

Libraries return different forms: a tensor per layer, [batch, head, query, key] or [head, query, key]; one array for all
layers; after generation with a cache, a list of tensors for each step, which have only the new queries and one key more
than the previous step; without a cache, all queries again. Tensors need `__array__`; those of PyTorch are detached and
copied to the CPU first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.locale.messages import Later, later, message, t
from model.config import AttentionKind
from model.user_error import UserError

Floats = NDArray[np.float32]


class AttentionError(UserError):
    """Tensors or tokens cannot be shown; the message says which, and what to do."""


def by_layer(kind: AttentionKind, given: Any, sentence: int = 1) -> tuple[Floats, bool, tuple[str, ...]]:
    """Convert one kind to [layer, head, query, key]; also says whether it was generated step by step, and remarks.

    Of a batch, `sentence` (from 1) is taken. In a layer with fewer heads than another one, the mean of its heads stands
    in the place of each missing one, so that the mean over heads is right; a remark says so.

    Raises:
        AttentionError: a tensor is missing, differs in queries or keys from the others, or lacks that sentence.
    """
    if isinstance(given, list | tuple) and not given:
        raise AttentionError("{kind} is an empty list. {eager}", kind=kind, eager=Later(_EAGER))
    if isinstance(given, list | tuple) and isinstance(given[0], list | tuple) and _holds_tensors(given[0]):
        return _joined_steps(kind, given, sentence), True, _of_batch(given[0][0], sentence)
    axis = _axis(kind, given)
    layers = [
        _layer(later("Layer {n} of {kind}", n=number, kind=kind), tensor, sentence)
        for number, tensor in enumerate(axis, start=1)
    ]
    for number, layer in enumerate(layers[1:], start=2):
        if layer.shape[1:] != layers[0].shape[1:]:
            raise AttentionError(
                "Layer {number} of {kind} is {shape} [head, query, key], but layer 1 is "
                "{first}; layers may differ in heads, not in queries and keys. Show them one by one: "
                "show({kind}=[attentions[{index}]], …).",
                number=number,
                kind=kind,
                shape=list(layer.shape),
                first=list(layers[0].shape),
                index=number - 1,
            )
    most = max(len(layer) for layer in layers)
    remarks = [
        t(
            "Layer {layer} of {kind} has {n} head: the mean of them stands in for each further one.",
            "Layer {layer} of {kind} has {n:,} heads: the mean of them stands in for each further one.",
            layer=number,
            kind=kind,
            n=len(layer),
        )
        for number, layer in enumerate(layers, start=1)
        if len(layer) < most
    ]
    full = [np.concatenate([layer, *[layer.mean(axis=0, keepdims=True)] * (most - len(layer))]) for layer in layers]
    return np.stack(full), False, (*_of_batch(axis[0], sentence), *remarks)


def _of_batch(tensor: Any, sentence: int) -> tuple[str, ...]:
    """Which sentence of a batch is shown, if there is more than one."""
    shape: Sequence[int] = getattr(tensor, "shape", ())
    if len(shape) != 4 or shape[0] <= 1:
        return ()
    return (t("Sentence {sentence} of {n} in the batch.", sentence=sentence, n=shape[0]),)


_EAGER = message(
    "Models from Hugging Face return their weights only if they were loaded with "
    'attn_implementation="eager" and called with output_attentions=True.'
)


def _holds_tensors(values: Sequence[Any]) -> bool:
    return bool(values) and (hasattr(values[0], "__array__") or values[0] is None)


def _axis(kind: str, given: Any) -> Sequence[Any] | NDArray[Any]:
    """The layers, as a list or as the first axis of an array."""
    if isinstance(given, list | tuple) and _holds_tensors(given):
        return given
    array = _array(kind, given)
    if array.ndim not in (4, 5):
        raise AttentionError(
            "{kind} is {shape}; it has to be a list with a tensor [batch, head, query, key] for each "
            "layer, or one array [layer, head, query, key].",
            kind=kind,
            shape=list(array.shape),
        )
    return array


def _layer(name: str | Later, given: Any, sentence: int = 1) -> Floats:
    """Convert one layer to [head, query, key], that of one sentence of a batch."""
    array = _array(name, given)
    if array.ndim == 4:
        if not 1 <= sentence <= array.shape[0]:
            raise AttentionError(
                "{name} has a batch of {size}, and sentence is {sentence}, counted "
                "from 1. After a beam search, rows are hypotheses: generate with num_beams=1.",
                name=name,
                size=array.shape[0],
                sentence=sentence,
            )
        array = array[sentence - 1]
    if array.ndim != 3 or 0 in array.shape:
        raise AttentionError(
            "{name} is {shape}, not [batch, head, query, key].",
            name=name,
            shape=list(array.shape),
        )
    return array


def _array(name: str | Later, given: Any) -> Floats:
    """Convert a tensor of any library to float32."""
    if given is None:
        raise AttentionError("{name} is missing (None). {eager}", name=name, eager=Later(_EAGER))
    for step in ("detach", "float", "cpu"):  # PyTorch; numpy has no bfloat16
        given = getattr(given, step)() if hasattr(given, step) else given
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{array.dtype} is not a type of number")
        with np.errstate(over="ignore"):  # values too large for float32 become infinite, and are refused later
            return array.astype(np.float32)
    except (ValueError, TypeError) as unfit:
        raise AttentionError("{name} is not an array of numbers ({unfit}).", name=name, unfit=unfit) from None


def _of_step(step: int, layer: int, kind: AttentionKind) -> Later:
    return later("Step {step}, layer {layer} of {kind}", step=step, layer=layer, kind=kind)


def _joined_steps(kind: AttentionKind, steps: Sequence[Sequence[Any]], sentence: int) -> Floats:
    """Join the rows of all steps into one map; keys that a step did not have yet get weight 0.

    A step has only its new queries, or all queries so far (without a cache), of which the new ones are taken.
    """
    first = [_layer(_of_step(1, n, kind), tensor, sentence) for n, tensor in enumerate(steps[0], start=1)]
    n_rows, rows = 0, []
    for number, step in enumerate(steps, start=1):
        layers = [_layer(_of_step(number, n, kind), tensor, sentence) for n, tensor in enumerate(step, start=1)]
        if len(layers) != len(first) or any(layer.shape != layers[0].shape for layer in layers):
            raise AttentionError(
                "Step {number} of {kind} does not have as many layers as step 1, or its layers differ in shape.",
                number=number,
                kind=kind,
            )
        heads, queries, keys = layers[0].shape
        new = queries if n_rows == 0 or queries == 1 else queries - n_rows
        total = n_rows + new
        if new < 1 or heads != first[0].shape[0] or (kind != "cross" and keys != total):
            raise AttentionError(
                "Step {number} of {kind} is {shape} [head, query, key], which does not follow the "
                "{rows} before it: each step adds its new queries, and as many keys.",
                number=number,
                kind=kind,
                shape=[heads, queries, keys],
                rows=later("{n} row", "{n:,} rows", n=n_rows),
            )
        rows.append(np.stack(layers)[:, :, queries - new :])
        n_rows = total
    width = rows[-1].shape[-1]
    if kind == "cross" and any(row.shape[-1] != width for row in rows):
        raise AttentionError(
            "The steps of cross do not all have the same number of keys, although the source does not change."
        )
    padded = [np.pad(row, ((0, 0), (0, 0), (0, 0), (0, width - row.shape[-1]))) for row in rows]
    return np.concatenate(padded, axis=2)
