"""The tap: one optional function that every named intermediate of a model passes through.

A tap is given as an argument of a call, `model(src, tgt, tap=tap)`. At each point of the computation it receives the
point's name and tensor, and the model goes on with the tensor that it returns. A recorder (:mod:`model.recording`)
keeps the tensor and returns it unchanged; an edit (:mod:`model.edits`) returns another one; :func:`compose` does one
after the other. A tap belongs to the call and never to the model, so sessions that share a model cannot affect each
other. :mod:`model.points` lists the points.
"""

from __future__ import annotations

from typing import Protocol

from torch import Tensor


class Tap(Protocol):
    """What a model calls at every point while it computes."""

    def __call__(self, point: str, tensor: Tensor, /) -> Tensor:
        """The tensor to go on with: `tensor` itself, or another one of its shape, type and device."""
        ...


class ScopedTap:
    """A tap that knows which parts of the model concern it: no point of the others is passed to it."""

    def __call__(self, point: str, tensor: Tensor, /) -> Tensor:
        """The tensor to go on with, as for any tap."""
        raise NotImplementedError

    def within(self, scope: str | int) -> Tap | None:
        """The tap for one part, which is given the part's own names; None for a part that does not concern it."""
        raise NotImplementedError


def through(tap: Tap | None, point: str, tensor: Tensor) -> Tensor:
    """Pass `tensor` through the tap at `point`; without a tap it is returned as it is."""
    return tensor if tap is None else tap(point, tensor)


def within(tap: Tap | None, scope: str | int) -> Tap | None:
    """The tap for a part of the model: the names of the part's points get `scope` and a dot in front."""
    if tap is None:
        return None
    return tap.within(scope) if isinstance(tap, ScopedTap) else _Prefixed(tap, f"{scope}.")


def compose(*taps: Tap | None) -> Tap | None:
    """One tap that applies several in order, each to the result of the one before; None entries are skipped."""
    given = tuple(tap for tap in taps if tap is not None)
    if len(given) < 2:
        return given[0] if given else None
    return _Composed(given)


class _Composed(ScopedTap):
    """Several taps, one after the other."""

    def __init__(self, taps: tuple[Tap, ...]) -> None:
        self.taps = taps

    def __call__(self, point: str, tensor: Tensor, /) -> Tensor:
        for tap in self.taps:
            tensor = tap(point, tensor)
        return tensor

    def within(self, scope: str | int) -> Tap | None:
        return compose(*(within(tap, scope) for tap in self.taps))


class _Prefixed(ScopedTap):
    """Any tap behind a prefix; scopes within scopes share one prefix, so that a point costs one call however deep."""

    def __init__(self, tap: Tap, prefix: str) -> None:
        self.tap = tap
        self.prefix = prefix

    def __call__(self, point: str, tensor: Tensor, /) -> Tensor:
        return self.tap(self.prefix + point, tensor)

    def within(self, scope: str | int) -> Tap | None:
        return _Prefixed(self.tap, f"{self.prefix}{scope}.")
