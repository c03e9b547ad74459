"""The check at the door: what a JSON file of a model folder must not hold."""

import json

import pytest
from msgspec import Struct

from model.file_formats import FormatError, Line, checked, decode

TORN = "not valid JSON"
LARGE = "too large"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", TORN),
        (b"{} {}", TORN),
        (b'{"a": NaN}', TORN),
        (b'{"a": -Infinity}', TORN),
        (b'{"a": "\\ud800"}', TORN),
        (b'{"a": "\xff"}', TORN),
        (b'{"a": 1' + b"0" * 400 + b"}", LARGE),
        (b'{"a": ' + b"9" * 5000 + b"}", LARGE),
        (b'{"a": 1e999}', LARGE),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, "nested too deeply"),
    ],
)
def test_what_is_beyond_the_limits_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        decode(content)


def test_anything_else_is_read_as_python_reads_it() -> None:
    value = {"ä": [None, True, -(2**63), 2**63 - 1, 1.5, "\u2028"]}
    assert decode(json.dumps(value).encode()) == value
    assert decode(b"\xef\xbb\xbf" + json.dumps(value, ensure_ascii=False).encode()) == value


class Parts(Struct):
    """Two parts that may be missing, and one that must be there."""

    name: Line
    first: list[int] | None = None
    second: dict[str, str] | None = None


def test_parts_that_may_be_missing_are_left_out_with_a_reason() -> None:
    value = {"second": {"a": 1}, "name": "n", "first": [1, "x"]}
    found, problems = checked(value, Parts, optional=("first", "second"))
    assert (found.name, found.first, found.second) == ("n", None, None)
    assert sorted(problem.split("'")[1].split("[")[0] for problem in problems) == ["first", "second"]
    with pytest.raises(FormatError, match="'first"):
        checked(value, Parts, optional=("second",))
    with pytest.raises(FormatError, match="'name'"):
        checked(value | {"name": 3}, Parts, optional=("first", "second"))
    assert value["first"] == [1, "x"]
