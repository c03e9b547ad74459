"""The points of a model as data, read off one dry run: what passes through a tap, in which shape, computed from what.

A model of the same architecture with tiny sizes reads two sentences. What each tensor was computed from is followed
through PyTorch's own calls, so that nothing here repeats how the layers are wired.
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

    `reads` are the points that it is computed from, without any other point in between. `axes` are those of its tensor.
    `module` is the path of the module that computes it and owns its parameters, or empty where it is plain arithmetic.
    In a decoding step, `key` and `value` of decoder self-attention also contain those of earlier steps.
    """

    name: str
    reads: tuple[str, ...]
    axes: tuple[str, ...]
    module: str = ""


@lru_cache(maxsize=64)
def points(config: ModelConfig) -> tuple[Point, ...]:
    """Return all points of a model, in the order in which they are computed when a whole target is read.

    A mask point is only passed where a mask is applied: decoding a single sentence step by step needs none.
    """
    model = make_model(_tiny(config)).eval()
    owned = (*model.named_parameters(), *model.named_buffers())  # a sinusoidal table is a buffer
    modules = {id(tensor): path.rpartition(".")[0].removesuffix(".embedding") for path, tensor in owned}
    run = _DryRun(modules)
    source = torch.full((_BATCH, _SOURCE), len(SPECIALS))
    target = torch.full((_BATCH, _TARGET), len(SPECIALS))
    with torch.no_grad(), run:
        model(source, target, tap=run.listen)
    return tuple(run.points)


# Each axis has a size of its own, by which it is known again.
_BATCH, _SOURCE, _TARGET, _LAYERS = 2, 3, 5, 11
_SIZES = {"head": 7, "d_head": 4, "d_model": 7 * 4, "d_ff": 17, "vocabulary": 19}
_AXES = {_BATCH: "batch", _SOURCE: "position", _TARGET: "position", _LAYERS: "layer"} | {
    size: name for name, size in _SIZES.items()
}


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
    """Follows every tensor to the points and parameters that it was computed from."""

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
        found: dict[tuple[str, str], None] = self._origins.get(tensor, {})
        return found

    def listen(self, name: str, tensor: Tensor) -> Tensor:
        """Note a point; what is computed from it is computed from nothing before it."""
        with torch._C.DisableTorchFunction():
            origins = self._origins_of(tensor)
            reads = tuple(each for kind, each in origins if kind == "point")
            owners = [each for kind, each in origins if kind == "module"]
            self.points.append(Point(name, reads, _axes(tensor), _common(owners)))
            passed = tensor.view_as(tensor)
        self._origins[passed] = {("point", name): None}
        return passed


def _common(modules: list[str]) -> str:
    """The module that owns all of the parameters: the path that all of theirs begin with."""
    shared = [each.split(".") for each in modules]
    if not shared:
        return ""
    same = [parts[0] for parts in zip(*shared, strict=False) if len(set(parts)) == 1]
    return ".".join(same)


def _tensors(value: Any) -> Iterator[Tensor]:
    """All tensors in nested arguments or results."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _tensors(each)
