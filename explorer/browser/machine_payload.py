"""The data of the machine as one message (wire.py): the whole diagram of one decoding, small enough to send at once.

Its one array, `numbers`, is float32, and each block's `picture` in the header points into it:

- `rows`: the first numbers of each token's vector, [row, number], as recorded at the block's result. For the positions,
  the vectors that are added; for the logits, those of the likeliest tokens.
- `map`: the attention weights, mean over the heads, [query, key]; the `scale` of both is the number that has the full
  colour.

Rows of the target are those of a run over the whole path: a causal row is the same at every step. A decoder that is not
causal computes all rows anew at every step; then row r of step t (both from 0) is at t · (t + 1) / 2 + r.

What is opened comes in a message of its own (machine_details.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.browser import machine_words, wire
from explorer.decoding.machine_blocks import MEMORY, Block
from explorer.decoding.model_diagram import ModelDiagram
from explorer.locale import glossary
from explorer.locale.text import printable
from model.config import AttentionKind, ModelConfig

if TYPE_CHECKING:
    from model.analysis.operations import Walk
    from model.trace import AttentionTrace

NUMBERS = 16
"""How many numbers of a vector a picture shows; opening the block shows more."""

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Opened:
    """What is open: a block, a head of it (from 1; 0 = none) and a part of that head, such as `scores`."""

    block: str = ""
    head: int = 0
    part: str = ""


@dataclass(frozen=True, eq=False)
class MachineView:
    """A decoding in the machine.

    Args:
        diagram: the model, with its blocks.
        runs: the recorded run over the whole path; for a decoder that is not causal, the runs of all steps.
        trace: of the same path: tokens and probabilities.
        added: the vectors that the positions add [position, d_model], by the name of the block.
        seq: names this decoding; the browser adopts `step` and `opened` when it sees a new one.
        step: where to start, from 1.
    """

    diagram: ModelDiagram
    config: ModelConfig
    runs: Sequence[Walk]
    trace: AttentionTrace
    seq: str
    model: str
    added: Mapping[str, Floats] = field(default_factory=dict)
    step: int = 1
    opened: Opened = Opened()
    trained: bool = True

    @property
    def stepwise(self) -> bool:
        """Whether each step has rows of its own."""
        return not self.config.causal


def encode(view: MachineView) -> bytes:
    """The view as the message described at the top of this file.

    Raises:
        ValueError: there are not as many runs as the model needs, or a recorded value is not a number.
    """
    trace, config = view.trace, view.config
    steps = len(trace.read_tokens)
    if len(view.runs) != (steps if view.stepwise else 1):
        raise ValueError(f"{len(view.runs)} runs do not fit {steps} steps.")
    arrays: list[Floats] = []
    facts, pictures, end = {}, {}, 0
    for block in view.diagram.blocks:
        found = _picture(view, block)
        if found is not None:
            pictured, numbers = found
            if not np.isfinite(numbers).all():
                raise ValueError(f"{block.result} holds a value that is not a number; the model is broken.")
            pictures[block.name] = {**pictured, "at": end, "rows": numbers.shape[0], "width": numbers.shape[1]}
            arrays.append(numbers)
            end += numbers.size
        facts[block.name] = {
            "title": machine_words.title_of(block, config),
            "words": machine_words.words_of(block, config),
            "formula": machine_words.formula_of(block, config),
            "shape": shape_of(view, block),
            "parameters": sum(view.runs[-1][point].parameters for point in block.points if _known(view, point)),
            "picture": pictures[block.reads[0]] if block.name == MEMORY else pictures.get(block.name),
        }
    header = {
        "part": "machine",
        "seq": view.seq,
        "model": printable(view.model),
        "trained": view.trained,
        "stepwise": view.stepwise,
        "diagram": view.diagram.payload(),
        "facts": facts,
        "parts": _parts(view),
        "terms": glossary.addresses("inside"),
        "numbers": config.d_model,
        "vocabulary": config.tgt_vocab_size,
        "source": {"tokens": [printable(token) for token in trace.src_tokens]},
        "target": {
            "tokens": [printable(token) for token in trace.read_tokens],
            "predicted": [printable(token) for token in trace.predicted_tokens],
            "probabilities": _numbers(trace.probabilities),
        },
        "alternatives": {
            "tokens": [[printable(token) for token in row] for row in trace.top_tokens],
            "probabilities": [_numbers(row) for row in trace.top_probabilities],
        },
    }
    return wire.write(header, {"numbers": np.concatenate([np.ravel(array) for array in arrays])})


def is_target(block: Block) -> bool:
    """Whether a block has a row for each target token that was read."""
    return block.stack in ("target", "decoder", "output") and block.kind != "initial"


def _known(view: MachineView, point: str) -> bool:
    return point in view.runs[-1].operations


def _parts(view: MachineView) -> dict[str, Any]:
    """The parts of a head by kind of attention."""
    found: dict[str, Any] = {}
    for block in view.diagram.blocks:
        if block.attention and block.attention not in found:
            known = {point.rsplit(".", 1)[-1] for point in block.points if _known(view, point)}
            parts = machine_words.parts_of(block, view.config)
            found[block.attention] = {name: part for name, part in parts.items() if name in known | {"head"}}
    return found


def _picture(view: MachineView, block: Block) -> tuple[dict[str, Any], Floats] | None:
    """The picture of a block's result, described and as numbers; None for a block that has none."""
    if block.attention:
        name = f"{block.name}.weights"
        keys = view.trace.weights(_kind(block)).shape[-1]
        maps = [_wide(run[name].value[0].float().mean(dim=0).numpy(), keys) for run in _runs_for(view, block)]
        numbers = np.concatenate(maps)
        return {"kind": "map", "side": _side(block), "scale": full_colour(numbers)}, numbers
    if block.kind == "linear":
        rows = np.concatenate([run["logits"].value[0].float().numpy() for run in _runs_for(view, block)])
        if view.stepwise:  # only the newest row predicts
            last = np.cumsum(np.arange(len(view.runs)) + 1) - 1
            rows = rows[last]
        numbers = np.take_along_axis(rows, view.trace.top_ids, axis=1)
        return _described(numbers, "step"), numbers
    if block.kind == "initial":
        numbers = view.runs[-1][block.result].value[:, 0, :NUMBERS].float().numpy()
        return _described(numbers, "source"), numbers
    if block.kind == "positions" and block.name in view.added:
        numbers = view.added[block.name][:, :NUMBERS]
        return _described(numbers, "source" if block.stack == "source" else "once"), numbers
    if not _known(view, block.result) or block.kind == "softmax":
        return None
    runs = _runs_for(view, block)
    numbers = np.concatenate([run[block.result].value[0, :, :NUMBERS].float().numpy() for run in runs])
    return _described(numbers, _side(block)), numbers


def _described(numbers: Floats, side: str) -> dict[str, Any]:
    """`scale` is the size of a number that has the full colour: nearly all are smaller."""
    scale = float(np.quantile(np.abs(numbers), 0.98)) if numbers.size else 1.0
    return {"kind": "rows", "side": side, "scale": float(f"{max(scale, 1e-9):.4g}")}


def full_colour(weights: Floats) -> float:
    """The weight that has the full colour of a small map: the median of the largest weights of its rows.

    Where attention is spread over many tokens, no weight is near 1, and a scale up to 1 would show a blank map.
    """
    return float(f"{max(float(np.median(weights.max(axis=-1))), 1e-6):.4g}")


def _runs_for(view: MachineView, block: Block) -> Sequence[Walk]:
    """The runs whose rows a picture has: of the source, one is enough."""
    return view.runs if is_target(block) else view.runs[-1:]


def _side(block: Block) -> str:
    return "target" if is_target(block) else "source"


def _wide(weights: Floats, keys: int) -> Floats:
    """[query, key] with 0 for keys that did not exist yet."""
    return np.pad(weights, ((0, 0), (0, keys - weights.shape[1])))


def _kind(block: Block) -> AttentionKind:
    kinds: dict[str, AttentionKind] = {"encoder": "encoder", "decoder": "decoder", "cross": "cross"}
    return kinds[block.attention]


def shape_of(view: MachineView, block: Block) -> list[int]:
    """The axes of a block's result without the batch; 0 stands for the number of target tokens that were read.

    That of attention is the shape of its weights: head, query, key.
    """
    config, n_src = view.config, len(view.trace.src_tokens)
    rows = 0 if is_target(block) else n_src
    if block.attention:
        return [config.n_heads(_kind(block)), rows, 0 if block.attention == "decoder" else n_src]
    if block.kind == "tokens":
        return [rows]
    if block.kind in ("linear", "softmax"):
        return [rows, config.tgt_vocab_size] if block.kind == "linear" else [config.tgt_vocab_size]
    if block.kind == "word":
        return [1]
    if block.kind == "initial":
        return [config.n_decoder_layers, config.d_model]
    return [rows, config.d_model]


def _numbers(values: Any) -> list[float]:
    """float32 values as the shortest JSON numbers that give the same float32 back."""
    return [float(str(value)) for value in np.asarray(values, dtype=np.float32)]
