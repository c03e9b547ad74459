"""The binary blocks behind the Attention page: small, complete, exact where numbers are shown."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from explorer.browser.heads_payload import decode, encode_kind, encode_numbers, head_weights
from explorer.decoding.attention_maps import attention_maps
from tests.explorer.planted_heads import heads_trace, random_trace

LONG = [f"w{i}" for i in range(63)] + ["<eos>"]


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_small_models_are_sent_as_they_are(kind: str) -> None:
    trace = random_trace(["a", "b", "c", "<eos>"], ["<sos>", "x", "y"])
    maps = attention_maps(trace, kind)  # type: ignore[arg-type]
    header, body = decode(encode_kind(maps, name="here/x", seq="s"))
    assert header["exact"]
    weights = np.frombuffer(body, "<f4", maps.weights.size).reshape(maps.weights.shape)
    np.testing.assert_array_equal(weights, maps.weights)
    np.testing.assert_array_equal(np.frombuffer(body[4 * weights.size :], np.uint8).reshape(maps.mask.shape), maps.mask)
    assert (header["layers"], header["heads"], header["queries"], header["keys"]) == maps.weights.shape


def test_six_layers_of_eight_heads_and_64_tokens_stay_within_250_kilobytes() -> None:
    trace = random_trace(LONG, ["<sos>", *LONG[:63]], layers=(6, 6), heads=(8, 8))
    for kind in ("encoder", "decoder", "cross"):
        maps = attention_maps(trace, kind)
        block = encode_kind(maps, name="heads/x", seq="0123456789abcdef")
        assert len(block) <= 250_000
        header, body = decode(block)
        assert not header["exact"]
        levels = np.frombuffer(body, np.uint8, maps.weights.size).reshape(maps.weights.shape) / 255
        assert np.abs(levels**2 - maps.weights).max() < 1 / 250, "a byte is precise enough to choose a colour"


def test_numbers_are_the_very_float32_of_the_trace() -> None:
    trace = random_trace(LONG, ["<sos>", *LONG[:63]], layers=(6, 6), heads=(8, 8))
    maps = attention_maps(trace, "cross")
    header, body = decode(encode_numbers(maps, [(6, 3), (6, 0)], name="heads/cross/numbers", seq="s"))
    assert header["given"] == [[6, 3], [6, 0]]
    one, mean = np.frombuffer(body, "<f4").reshape(2, 64, 64)
    np.testing.assert_array_equal(one, trace.cross[5, 2])
    np.testing.assert_array_equal(mean, trace.cross[5].astype(np.float64).mean(axis=0).astype(np.float32))


def test_head_0_is_the_mean() -> None:
    maps = attention_maps(heads_trace(), "encoder")
    assert head_weights(maps, 1, 0)[2].tolist() == pytest.approx(
        [0.2333333, 0.2333333, 0.2333333, 0.2333333, 1 / 30, 1 / 30]
    )


@pytest.mark.parametrize("token", ["</script>", "مرحبا", "日本語", "👩‍👩‍👧", '"\\', "\ud800", "\x00"])
def test_any_token_makes_an_ascii_header(token: str) -> None:
    trace = random_trace(["a", token, "<eos>"], ["<sos>", token])
    block = encode_kind(attention_maps(trace, "cross"), name="x/cross", seq="s")
    (length,) = struct.unpack_from("<I", block)
    assert length % 4 == 0
    assert len(json.loads(block[4 : 4 + length].decode("ascii"))["columns"]) == 3


def test_a_broken_weight_is_refused() -> None:
    trace = heads_trace()
    trace.cross[0, 0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="cross attention holds a value that is not a number"):
        encode_kind(attention_maps(trace, "cross"), name="x/cross", seq="s")


def test_one_token_says_that_there_is_no_choice_without_nan() -> None:
    trace = random_trace(["<eos>"], ["<sos>"])
    header, _ = decode(encode_kind(attention_maps(trace, "encoder"), name="x/encoder", seq="s"))
    assert header["effective"][0][0] is None
