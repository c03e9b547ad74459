"""The tap: one optional function that every named intermediate of a model passes through.

A tap is an argument of a call, `model(src, tgt, tap=tap)`. At each point of the computation it receives the point's
name and tensor, and the model continues with the tensor that it returns. A recorder (:mod:`model.recording`) keeps the
tensor and returns it unchanged; an edit (:mod:`model.edits`) returns another one; :func:`compose` does one after the
other. :mod:`model.points` lists the points.

The tap of a call is in a context variable, so the layers need not pass it on. Each thread and each call has its own:
sessions that share a model cannot affect each other, and the model itself never holds a tap.

The result of every named layer (a projection, a norm) is a point with the layer's name. Everything else that can be
seen has a line of its own: `weights = self.point("weights", weights)`.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Protocol

import torch
from torch import Tensor, nn


class Tap(Protocol):
    """The function that a model calls at every point while it computes."""

    def __call__(self, point: str, tensor: Tensor, /) -> Tensor:
        """The tensor to continue with: `tensor` itself, or another one of its shape, type and device."""
        ...


_current: ContextVar[Tap | None] = ContextVar("tap", default=None)


class tapped:  # lower case, since it is used as `with tapped(tap):`
    """Pass the points of all model code in the block through `tap`; None keeps the tap of the surrounding call."""

    def __init__(self, tap: Tap | None) -> None:
        self._tap = tap
        self._token: Token[Tap | None] | None = None

    def __enter__(self) -> None:
        if self._tap is not None:
            self._token = _current.set(self._tap)

    def __exit__(self, *error: object) -> None:
        if self._token is not None:
            _current.reset(self._token)


def wanted_points(tap: Tap) -> frozenset[str] | None:
    """The last parts of the names of the points that a tap uses, such as "weights"; None if it uses any point."""
    wanted: frozenset[str] | None = getattr(tap, "wanted", None)
    return wanted


def current_tap() -> Tap | None:
    """Return the tap of the surrounding call, or None."""
    return _current.get()


def through(point: str, tensor: Tensor) -> Tensor:
    """Pass `tensor` through the tap of the call at a point that is named in full."""
    if torch.compiler.is_compiling():  # compiled code is for training, which has no tap
        return tensor
    tap = _current.get()
    return tensor if tap is None else tap(point, tensor)


class Part(nn.Module):
    """A module that knows its name within the model; :func:`name_points` sets it."""

    name = ""

    def point(self, name: str, tensor: Tensor) -> Tensor:
        """Pass an intermediate of this module through the tap of the call, at the point `name` below its own."""
        return through(f"{self.name}.{name}" if self.name else name, tensor)


class Linear(Part, nn.Linear):
    """A linear layer whose result is a point."""

    def forward(self, x: Tensor) -> Tensor:
        """[.., in] -> [.., out]."""
        return through(self.name, super().forward(x))


class LayerNorm(Part, nn.LayerNorm):
    """A layer norm (Ba, Kiros and Hinton 2016) whose result is a point."""

    def forward(self, x: Tensor) -> Tensor:
        """Normalise over the last axis; the shape stays."""
        return through(self.name, super().forward(x))


_NAMES = {"norm_src": "src.norm", "norm_tgt": "tgt.norm"}


def name_points(model: nn.Module) -> None:
    """Set the name of each part of a model: its path, without the "layers" between a stack and a number."""
    for path, module in model.named_modules():
        if isinstance(module, Part):
            module.name = _NAMES.get(path, path.replace(".layers.", "."))


def compose(*taps: Tap | None) -> Tap | None:
    """Return one tap that applies several in order, each to the result of the one before; None entries are skipped."""
    given = tuple(tap for tap in taps if tap is not None)
    if len(given) < 2:
        return given[0] if given else None

    return _Composed(given)


class _Composed:
    """Several taps, one after the other."""

    def __init__(self, taps: tuple[Tap, ...]) -> None:
        self._taps = taps
        wanted = [wanted_points(tap) for tap in taps]
        self.wanted = None if None in wanted else frozenset().union(*(names for names in wanted if names is not None))

    def __call__(self, point: str, tensor: Tensor, /) -> Tensor:
        for tap in self._taps:
            tensor = tap(point, tensor)
        return tensor
