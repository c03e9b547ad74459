"""The points of a model as data: name, axes and inputs of each tensor that passes through a tap, from one dry run.

A model of the same architecture with tiny sizes reads two sentences. The inputs of each tensor are traced through
PyTorch's own calls, so the wiring of the layers is not described a second time here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from model.architectures import make_model
from model.config import SPECIALS, ModelConfig


@dataclass(frozen=True)
class Point:
    """One named intermediate of a model.

    `reads` are the points that it is computed from, without any other point in between; `axes` names the tensor's axes.
    `module` is the path of the module that computes it and owns its parameters, or empty if it is plain arithmetic.
    In a decoding step, `key` and `value` of decoder self-attention also contain those of earlier steps.
    """

    name: str
    reads: tuple[str, ...]
    axes: tuple[str, ...]
    module: str = ""


@lru_cache(maxsize=64)
def points(config: ModelConfig) -> tuple[Point, ...]:
    """Return all points of a model, in the order in which they are computed when a whole target is read.

    A mask is a point only if it is applied: decoding a single sentence step by step needs none.
    """
    model = make_model(_tiny(config)).eval()
    owned = (*model.named_parameters(), *model.named_buffers())  # a sinusoidal table is a buffer
    modules = {id(tensor): path.rpartition(".")[0].removesuffix(".embedding") for path, tensor in owned}
    run = _DryRun(modules)
    source = torch.full((_BATCH, _SOURCE if config.has_encoder else 0), len(SPECIALS))
    target = torch.full((_BATCH, _TARGET), len(SPECIALS))
    with torch.no_grad(), run:
        model(source, target, tap=run.listen)
    return tuple(run.points)


# No two axes have the same size, so the size identifies the axis.
_BATCH, _SOURCE, _TARGET, _LAYERS = 2, 3, 5, 11
_SIZES = {"head": 7, "d_head": 4, "d_model": 7 * 4, "d_ff": 17, "vocabulary": 19}
_HEAD_WIDTH = 6  # of models whose heads have a width of their own
_AXES = {
    _BATCH: "batch",
    _SOURCE: "position",
    _TARGET: "position",
    _LAYERS: "layer",
    7 * _HEAD_WIDTH: "joined heads",
    _HEAD_WIDTH: "d_head",
} | {size: name for name, size in _SIZES.items()}


def _tiny(config: ModelConfig) -> ModelConfig:
    """The same architecture with the sizes above."""
    lstm = config.architecture == "lstm"
    return replace(
        config,
        src_vocab_size=_SIZES["vocabulary"],
        tgt_vocab_size=_SIZES["vocabulary"],
        d_model=_SIZES["d_model"],
        d_ff=_SIZES["d_ff"],
        n_encoder_heads=1 if lstm else _SIZES["head"],
        n_decoder_heads=1 if lstm else _SIZES["head"],
        share_embeddings="none",  # so that each matrix has one owner
        n_decoder_layers=_LAYERS if lstm else config.n_decoder_layers,
        head_width=_HEAD_WIDTH if config.head_width else 0,
        key_value_heads=1 if config.key_value_heads else 0,
        max_positions=_TARGET + 1,
        banned_tokens=(),
        first_token=0,
    )


def _axes(tensor: Tensor) -> tuple[str, ...]:
    """The names of a tensor's axes; a mask has an axis of size 1 where it is the same for all."""
    if tensor.dim() == 4 and tensor.size(-1) in (_SOURCE, _TARGET):
        return ("batch", "head", "query", "key")
    if tensor.dim() == 4:
        return ("batch", "head", "position", "d_head")
    return tuple(_AXES[size] for size in tensor.shape)


class _DryRun(TorchFunctionMode):
    """Traces every tensor to the points and parameters that it was computed from."""

    def __init__(self, modules: dict[int, str]) -> None:
        super().__init__()
        self.points: list[Point] = []
        self._modules = modules  # by the id of a parameter or buffer
        self._origins: Any = WeakIdKeyDictionary()  # tensor -> its points and modules, in the order of their use

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        read = {origin: None for tensor in _tensors((args, kwargs)) for origin in self._origins_of(tensor)}
        for tensor in _tensors(result):
            if read and id(tensor) not in self._modules:
                self._origins[tensor] = {**self._origins_of(tensor), **read}
        return result

    def _origins_of(self, tensor: Tensor) -> dict[tuple[str, str], None]:
        if id(tensor) in self._modules:
            return {("module", self._modules[id(tensor)]): None}
        origins: dict[tuple[str, str], None] = self._origins.get(tensor, {})
        return origins

    def listen(self, name: str, tensor: Tensor) -> Tensor:
        """Record a point; the trace of later tensors ends here."""
        with torch._C.DisableTorchFunction():
            origins = self._origins_of(tensor)
            reads = tuple(path for kind, path in origins if kind == "point")
            owners = [path for kind, path in origins if kind == "module"]
            self.points.append(Point(name, reads, _axes(tensor), _common_path(owners)))
            output = tensor.view_as(tensor)
        self._origins[output] = {("point", name): None}
        return output


def _common_path(modules: list[str]) -> str:
    """The path that the paths of these modules have in common; empty if there are none."""
    paths = [module.split(".") for module in modules]
    return ".".join(parts[0] for parts in zip(*paths, strict=False) if len(set(parts)) == 1)


def _tensors(value: Any) -> Iterator[Tensor]:
    """All tensors in nested arguments or results."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
