"""Inputs of the fuzzing tests: text of every sort, JSON of any shape, and damaged files."""

import copy
import os
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

# `HEADLIGHT_FUZZ=50 python -m pytest tests/fuzz` tries fifty times as many examples, and different ones in each run.
_TIMES = max(1, int(os.environ.get("HEADLIGHT_FUZZ", "1")))


def tries(number: int) -> settings:
    """Settings for this many examples in an ordinary run."""
    return settings(max_examples=number * _TIMES, derandomize=_TIMES == 1)


STRANGE = (
    *("", " ", "\0", "\ud800", "\u200b", "\u202eabc", "\ufeff", "a\u0301" * 30, "\n", "\t\r", "</script>", "<eos>"),
    *("👩‍👩‍👧", "مرحبا", "你好", "%s%n", "../../etc/passwd", "a" * 3000, "NaN", "-0", "1e999", "<sos> <pad> <unk>"),
)
TEXTS = st.one_of(st.sampled_from(STRANGE), st.text(max_size=40), st.text("abc XYZ.'-", max_size=30))


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths to all parts of a JSON value that may be replaced; of long lists only the first items."""
    found = [at] if at else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += paths(inner, (*at, key))
    elif isinstance(value, list):
        for key, inner in enumerate(value[:4]):
            found += paths(inner, (*at, key))
    return found


def replaced(value: Any, way: tuple[Any, ...], new: Any, *, remove: bool = False) -> Any:
    """The value with the part at the end of a path replaced, or removed."""
    if not way:
        return new
    made = copy.deepcopy(value)
    owner = made
    for key in way[:-1]:
        owner = owner[key]
    if remove:
        del owner[way[-1]]
    else:
        owner[way[-1]] = new
    return made


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The file with some bytes changed, cut off, inserted or repeated."""
    made = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(made) - 1, 0)))
        what = draw(st.sampled_from(["change", "cut", "insert", "double"]))
        piece = draw(st.binary(min_size=1, max_size=8))
        if what == "change":
            made[at : at + len(piece)] = piece
        elif what == "cut":
            del made[at:]
        elif what == "insert":
            made[at:at] = piece
        else:
            made[at:at] = made[at : at + 64]
    return bytes(made)
