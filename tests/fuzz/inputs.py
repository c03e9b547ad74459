"""Inputs of the fuzzing tests: text of every sort, JSON of any shape, and damaged files."""

import copy
import json
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


# What replaces a part of a JSON file; as text, because some of it is none that Python would write.
VALUES = (
    *("null", "true", "[]", "{}", '""', "0", "-1", "1", "3", "0.5", "-0.0", "1e-320", "1e15", "1e308", "-1e308"),
    *("2147483648", "9223372036854775807", "9223372036854775808", "1" + "0" * 400, "9" * 5000, "1e999"),
    *("NaN", "-Infinity", '"3"', '"abc"', '"\\ud800"', '"\\u202eabc"', '"a\\u0000b"', '"\\u0000"', '"\\n"', '"\xad"'),
    *('"' + "x" * 70_000 + '"', "[" * 3000 + "]" * 3000, "[1, 2]", '[["a"]]', '{"": {}}', '{"a": null}', "[" * 20_000),
    *('"../../x"', '"<script>alert(1)</script>"', '"\U0001f469\u200d\U0001f469"', "[null]", "[{}]", "tru", "1 2"),
)
_MARK = "\ue000strange\ue000"


def with_value(content: bytes, way: tuple[Any, ...], text: str) -> bytes:
    """JSON with the part at the end of a path replaced by this text."""
    return json.dumps(replaced(json.loads(content), way, _MARK)).replace(json.dumps(_MARK), text).encode()


@st.composite
def strange_json(draw: st.DrawFn, content: bytes) -> bytes:
    """JSON, or one of several lines of it, with a part replaced, removed or added."""
    *before, line = content.splitlines()[: draw(st.integers(1, len(content.splitlines())))]
    after, value = content.splitlines()[len(before) + 1 :], json.loads(line)
    way = draw(st.sampled_from([(), *paths(value)]))
    if way and draw(st.integers(0, 9)) == 0:
        made = json.dumps(replaced(value, way, None, remove=True)).encode()
    elif isinstance(value, dict) and draw(st.integers(0, 19)) == 0:
        made = json.dumps(value | {"surprise\u202e": [_MARK]}).encode()
    else:
        made = with_value(line, way, draw(st.sampled_from(VALUES)))
    return b"\n".join([*before, made, *after])


@st.composite
def strange_weights(draw: st.DrawFn, content: bytes) -> bytes:
    """Weights whose header says something else, or has another length; the numbers stay."""
    length = int.from_bytes(content[:8], "little")
    header = draw(strange_json(content[8 : 8 + length]))
    claimed = draw(st.sampled_from([len(header)] * 7 + [0, length - 1, length + 1, 2**31, 2**63, 2**64 - 1]))
    return claimed.to_bytes(8, "little") + header + content[8 + length :]
