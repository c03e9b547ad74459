"""The binary block behind the stepper: it survives the round trip, and what cannot be drawn is refused."""

from __future__ import annotations

import dataclasses
import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.browser.stepper_payload import decode, encode
from explorer.decoding.coordinates import Place
from explorer.locale.text import printable
from model.config import ATTENTION_KINDS
from tests.explorer.planted import planted_trace, planted_view


@given(
    n_src=st.integers(1, 7),
    n_tgt=st.integers(1, 7),
    layers=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    heads=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    seed=st.integers(0, 2**16),
)
def test_weights_masks_and_tokens_come_back(n_src: int, n_tgt: int, layers: Any, heads: Any, seed: int) -> None:
    trace = planted_trace(["w"] * n_src, ["<sos>"] + ["v"] * (n_tgt - 1), layers=layers, heads=heads)
    noise = np.random.default_rng(seed)
    trace = dataclasses.replace(
        trace, **{kind: noise.random(trace.weights(kind).shape, dtype=np.float32) for kind in ATTENTION_KINDS}
    )
    header, weights, masks = decode(encode(planted_view(trace), name="here"))
    for kind in ATTENTION_KINDS:
        np.testing.assert_array_equal(weights[kind], trace.weights(kind))
        np.testing.assert_array_equal(masks[kind], trace.mask(kind))
    assert header["source"]["tokens"] == list(trace.src_tokens)
    assert header["target"]["tokens"] == list(trace.read_tokens)
    assert header["alternatives"]["ids"] == trace.top_ids.tolist()


def test_probabilities_are_the_same_float32() -> None:
    odd = np.float32([0.1, 1 / 3, 1e-20, 0.99999994, 0.0])
    trace = dataclasses.replace(planted_trace(), probabilities=odd)
    header, *_ = decode(encode(planted_view(trace), name="here"))
    np.testing.assert_array_equal(np.float32(header["target"]["probabilities"]), odd)


@pytest.mark.parametrize("model", ["m", "mo", "mod", "mode"])
def test_weights_start_at_a_multiple_of_four(model: str) -> None:
    (length,) = struct.unpack_from("<I", encode(planted_view(model=model), name="here"))
    assert length % 4 == 0


@pytest.mark.parametrize("token", ["</script>", "مرحبا", "日本語", "👩‍👩‍👧", '"\\', "\ud800"])
def test_any_token_makes_an_ascii_header(token: str) -> None:
    payload = encode(planted_view(planted_trace(["a", token, "<eos>"])), name="here")
    (length,) = struct.unpack_from("<I", payload)
    header = json.loads(payload[4 : 4 + length].decode("ascii"))
    assert header["source"]["tokens"][1] == printable(token)


@pytest.mark.parametrize(
    ("given_position", "expected"),
    [
        ({}, Place("cross", 2, 0, row=1, step=1)),
        ({"step": 3, "kind": "encoder", "layer": 1, "head": 2}, Place("encoder", 1, 2, row=1, step=3)),
        ({"step": 99, "kind": "bogus", "layer": -4, "head": 99}, Place("cross", 1, 3, row=5, step=5)),
    ],
)
def test_the_start_is_moved_into_range(given_position: dict[str, Any], expected: Place) -> None:
    view = planted_view(planted_trace(layers=(1, 2), heads=(2, 3)), **given_position)
    assert view.place() == expected
    header, *_ = decode(encode(view, name="here"))
    position = (expected.step, expected.kind, expected.layer, expected.head)
    assert tuple(header[name] for name in ("step", "kind", "layer", "head")) == position


def test_the_sanity_line_is_computed_from_all_heads() -> None:
    trace = planted_trace(heads=(2, 3))
    assert decode(encode(planted_view(trace), name="here"))[0]["checks"] == {
        "error": 0.0,
        "leaks": 0,
        "heads": 2 * 2 + 2 * 3 * 2,
    }
    trace.decoder[0, 1, 1, 4] = 0.25  # a weight on a later token, in one head only
    assert decode(encode(planted_view(trace), name="here"))[0]["checks"] == {"error": 0.25, "leaks": 1, "heads": 16}


def test_a_fully_masked_row_of_zeros_is_sound() -> None:
    trace = planted_trace()
    trace.encoder_mask[2] = 2
    trace.encoder[:, :, 2] = 0
    assert decode(encode(planted_view(trace), name="here"))[0]["checks"]["error"] == 0.0


def test_a_broken_weight_is_refused() -> None:
    trace = planted_trace()
    trace.cross[0, 0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="cross attention holds a value that is not a number"):
        encode(planted_view(trace), name="here")


def test_self_attention_may_be_missing_and_cross_attention_may_not() -> None:
    trace = planted_trace()
    none = {kind: np.zeros((0, 0, 5, 5), dtype=np.float32) for kind in ("encoder", "decoder")}
    view = planted_view(dataclasses.replace(trace, **none), kind="encoder", layer=2, head=2)
    assert view.place() == Place("cross", 2, 2, row=1, step=1)
    header, weights, _ = decode(encode(view, name="here"))
    assert [header["maps"][kind]["layers"] for kind in ("encoder", "decoder", "cross")] == [0, 0, 2]
    assert np.array_equal(weights["cross"], trace.cross)
    assert header["checks"]["heads"] == 4
    with pytest.raises(ValueError, match="no cross-attention"):
        encode(planted_view(dataclasses.replace(trace, cross=none["encoder"])), name="here")


def test_ids_and_unknown_marks_must_fit() -> None:
    with pytest.raises(ValueError, match="2 predicted ids do not fit 5 decoder rows"):
        encode(planted_view(predicted_ids=(1, 2)), name="here")
    with pytest.raises(ValueError, match="6 unknown marks do not fit 5 source tokens"):
        encode(planted_view(src_unknown=(True,) * 6), name="here")


@pytest.mark.parametrize("change", [lambda payload: payload[:-1], lambda payload: payload + b"\0"])
def test_a_torn_block_is_refused(change: Any) -> None:
    with pytest.raises(ValueError, match=r"bytes|buffer"):
        decode(change(encode(planted_view(), name="here")))
