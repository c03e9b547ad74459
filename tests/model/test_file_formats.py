"""The check at the door: what a JSON file of a model folder must not hold."""

import json

import pytest

from model.file_formats import FormatError, decode

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
