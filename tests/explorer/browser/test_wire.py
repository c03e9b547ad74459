"""The form in which data reach the browser: what goes in comes out, for Python and for JavaScript."""

import base64
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from explorer.browser import wire
from explorer.browser.payload import encode
from tests.explorer.planted import planted_view
from tests.paths import ROOT

NAMES = st.text(min_size=1, max_size=8)
ARRAYS = st.one_of(
    arrays(np.float32, array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5), elements=st.floats(width=32)),
    arrays(np.uint8, array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5)),
)


@given(header=st.dictionaries(NAMES.filter(lambda name: name != "arrays"), NAMES), given=st.dictionaries(NAMES, ARRAYS))
def test_what_goes_in_comes_out(header: dict[str, str], given: dict[str, Any]) -> None:
    back, found = wire.read(wire.write(header, given))
    assert back == header
    assert list(found) == list(given)
    for name, array in given.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("digits", [1, 2, 4])
def test_rounded_numbers_take_two_bytes(digits: int) -> None:
    weights = np.random.default_rng(0).random((3, 4, 5), dtype=np.float32)
    message = wire.write({}, {"cross": weights}, digits=digits)
    assert len(message) < 2 * weights.size + 80
    rounded = np.round(weights.astype(np.float64), digits).astype(np.float32)
    np.testing.assert_array_equal(wire.read(message)[1]["cross"], rounded)
    with pytest.raises(ValueError, match="cross holds a number outside 0 to 1"):
        wire.write({}, {"cross": weights + 1}, digits=digits)


@pytest.mark.parametrize("change", [lambda message: message[:-4], lambda message: message + bytes(4)])
def test_a_torn_message_is_refused(change: Any) -> None:
    with pytest.raises(ValueError, match=r"bytes|buffer"):
        wire.read(change(encode(planted_view().decoding)))


def test_the_messages_of_the_javascript_tests_are_those_that_the_server_sends() -> None:
    decoding = planted_view().decoding
    sent = {
        "whole": encode(decoding),
        "header": encode(decoding, ()),
        "cross": encode(decoding, ("cross",), with_header=False),
        "rounded": encode(decoding, digits=2),
    }
    fixture = json.loads((ROOT / "tests" / "fixtures" / "messages.json").read_text(encoding="utf-8"))
    assert {name: base64.b64encode(message).decode() for name, message in sent.items()} == fixture["bytes"]
    assert decoding.trace.cross.tolist() == fixture["weights"]
