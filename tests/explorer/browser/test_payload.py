"""A decoding as messages: complete, exact, and what cannot be drawn is refused."""

from typing import Any

import numpy as np
import pytest

from explorer.browser import wire
from explorer.browser.payload import encode
from explorer.locale.text import printable
from tests.explorer.planted import planted_trace, planted_view


def header_of(**changes: Any) -> dict[str, Any]:
    decoding: dict[str, Any] = wire.read(encode(planted_view(**changes).decoding))[0]["decoding"]
    return decoding


@pytest.mark.parametrize("token", ["</script>", "مرحبا", "日本語", "👩‍👩‍👧", '"\\', "\ud800", "\x00"])
def test_any_token_makes_an_ascii_header(token: str) -> None:
    message = encode(planted_view(planted_trace(["a", token, "<eos>"])).decoding)
    assert wire.read(message)[0]["decoding"]["source"]["tokens"][1] == printable(token)
    message[4 : 4 + int.from_bytes(message[:4], "little")].decode("ascii")


def test_kinds_can_follow_one_by_one() -> None:
    decoding = planted_view().decoding
    first, nothing = wire.read(encode(decoding, ()))
    assert (bool(first["decoding"]), nothing) == (True, {})
    message, arrays = wire.read(encode(decoding, ("decoder",), with_header=False))
    assert (message["seq"], message["decoding"]) == ("first", None)
    assert list(arrays) == ["decoder", "decoder.mask"]


def test_the_sanity_line_is_computed_from_all_heads_and_a_masked_row_of_zeros_is_sound() -> None:
    trace = planted_trace(heads=(2, 3))
    trace.encoder_mask[2] = 2
    trace.encoder[:, :, 2] = 0
    assert header_of(trace=trace)["checks"] == {"error": 0.0, "leaks": 0, "heads": 2 * 2 + 2 * 3 * 2}
    trace.decoder[0, 1, 1, 4] = 0.25  # a weight on a later token, in one head only
    assert header_of(trace=trace)["checks"] == {"error": 0.25, "leaks": 1, "heads": 16}


@pytest.mark.parametrize("choices", [{}, {"digits": 4}, {"kinds": ()}, {"kinds": ("encoder",), "with_header": False}])
def test_a_broken_weight_is_refused_whatever_is_sent(choices: dict[str, Any]) -> None:
    trace = planted_trace()
    trace.cross[0, 0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="cross attention holds a value that is not a number"):
        encode(planted_view(trace).decoding, **choices)
