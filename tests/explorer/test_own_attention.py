"""Attention files of other models: what fits is shown exactly, what does not gets a sentence, whatever it is."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from explorer.own_attention import (
    MAX_BYTES,
    MAX_TOKENS,
    UNKNOWN,
    OwnAttention,
    OwnAttentionError,
    labels_and_words,
    read_own,
)
from model.trace import FUTURE, VISIBLE, AttentionTrace, kinds_of
from tests.explorer.planted import planted_trace

HOSTILE = ("</script>", "<img src=x onerror=alert(1)>", "人工知能", "שלום", "👩‍👩‍👧", " ", "", "a\nb", "\x00")


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def as_json(**arrays: Any) -> bytes:
    return json.dumps({k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in arrays.items()}).encode()


def weights_of(*shape: int, seed: int = 0, causal: bool = False) -> np.ndarray:
    raw = np.random.default_rng(seed).random(shape) + 0.01
    raw = np.tril(raw) if causal else raw
    return (raw / raw.sum(-1, keepdims=True)).astype(np.float32)


def tokens(n: int, letter: str = "t") -> list[str]:
    return [f"{letter}{i}" for i in range(n)]


# What fits


def test_our_own_attention_files_are_read_back(tmp_path: Path) -> None:
    trace = planted_trace(layers=(3, 2), heads=(1, 4))
    trace.save_npz(tmp_path / "red.npz")
    own = read_own((tmp_path / "red.npz").read_bytes(), "red.npz")
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_array_equal(own.trace.weights(kind), trace.weights(kind))
        np.testing.assert_array_equal(own.trace.mask(kind), trace.mask(kind))
    for name in ("src_tokens", "read_tokens", "predicted_tokens", "src_words", "tgt_words"):
        assert getattr(own.trace, name) == getattr(trace, name)
    np.testing.assert_array_equal(own.trace.probabilities, trace.probabilities)
    assert own.notes == ()
    assert own.name == "red.npz"


@pytest.mark.parametrize("write", [npz, as_json])
def test_one_kind_is_enough(write: Any) -> None:
    weights = weights_of(12, 12, 5, 5)
    own = read_own(write(encoder=weights, src_tokens=tokens(5)), "bert")
    assert kinds_of(own.trace) == ("encoder",)
    np.testing.assert_array_equal(own.trace.encoder, weights)
    assert own.trace.read_tokens == own.trace.predicted_tokens == ()
    rectangular = weights_of(2, 3, 4, 7)
    own = read_own(write(cross=rectangular, src_tokens=tokens(7), read_tokens=tokens(4)), "cross")
    assert kinds_of(own.trace) == ("cross",)
    np.testing.assert_array_equal(own.trace.cross, rectangular)
    assert own.trace.predicted_tokens == (UNKNOWN,) * 4
    assert np.isnan(own.trace.probabilities).all()
    assert own.trace.decoder.shape == (0, 0, 4, 4)


@given(st.data())
def test_any_sizes_come_through_bit_for_bit(data: st.DataObject) -> None:
    n_src, n_tgt = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    shapes = {"encoder": (n_src, n_src), "decoder": (n_tgt, n_tgt), "cross": (n_tgt, n_src)}
    kinds = data.draw(st.lists(st.sampled_from(sorted(shapes)), unique=True, min_size=1))
    arrays: dict[str, Any] = {
        kind: weights_of(data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4)), *shapes[kind], seed=i)
        for i, kind in enumerate(kinds)
    }
    token = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    given_tokens = {
        "src_tokens": data.draw(st.lists(token, min_size=n_src, max_size=n_src)),
        "read_tokens": data.draw(st.lists(token, min_size=n_tgt, max_size=n_tgt)),
    }
    own = read_own(as_json(**arrays, **given_tokens), "x.json")
    assert set(kinds_of(own.trace)) == set(kinds)
    for kind in kinds:
        np.testing.assert_array_equal(own.trace.weights(kind), arrays[kind])
    assert len(own.trace.src_tokens) == n_src
    assert all(own.trace.src_tokens)


def test_leading_axes_may_be_left_out_and_a_batch_of_one_may_stand_there() -> None:
    weights = weights_of(1, 1, 3, 3)
    for shape in ((3, 3), (1, 3, 3), (1, 1, 3, 3), (1, 1, 1, 3, 3)):
        own = read_own(npz(encoder=weights.reshape(shape), src_tokens=tokens(3)), "x")
        np.testing.assert_array_equal(own.trace.encoder, weights)
    layered = weights_of(4, 1, 2, 3, 3)
    own = read_own(npz(encoder=layered, src_tokens=tokens(3)), "x")
    np.testing.assert_array_equal(own.trace.encoder, layered[:, 0])


@pytest.mark.parametrize("dtype", [np.float16, np.float64, ">f4"])
def test_other_precisions_and_orders_are_taken(dtype: Any) -> None:
    weights = weights_of(2, 2, 3, 3).astype(dtype)
    own = read_own(npz(encoder=np.asfortranarray(weights), src_tokens=np.array(tokens(3))), "x")
    assert own.trace.encoder.dtype == np.float32
    np.testing.assert_array_equal(own.trace.encoder, weights.astype(np.float32))


def test_a_decoder_with_nothing_above_the_diagonal_counts_as_causal() -> None:
    own = read_own(npz(decoder=weights_of(2, 2, 4, 4, causal=True), read_tokens=tokens(4)), "gpt2")
    assert own.trace.decoder_mask[0].tolist() == [VISIBLE, FUTURE, FUTURE, FUTURE]
    assert "count as the future" in own.notes[0]
    looks_ahead = read_own(npz(decoder=weights_of(2, 2, 4, 4), read_tokens=tokens(4)), "x")
    assert not looks_ahead.trace.decoder_mask.any()
    assert looks_ahead.notes == ()


def test_a_given_mask_is_kept() -> None:
    weights = weights_of(2, 2, 3, 3)
    weights[..., 2] = 0
    weights /= weights.sum(-1, keepdims=True)
    mask = np.zeros((3, 3), int)
    mask[:, 2] = 2
    own = read_own(npz(encoder=weights, encoder_mask=mask, src_tokens=tokens(3)), "x")
    np.testing.assert_array_equal(own.trace.encoder_mask, mask)
    own = read_own(as_json(encoder=weights, encoder_mask=mask, src_tokens=tokens(3)), "x")
    np.testing.assert_array_equal(own.trace.encoder_mask, mask)


def test_rows_that_do_not_sum_to_one_are_mentioned() -> None:
    own = read_own(npz(encoder=weights_of(1, 1, 3, 3) / 2, src_tokens=tokens(3)), "x")
    assert "do not sum to 1 (off by up to 0.5)" in own.notes[0]


def test_the_content_names_the_view() -> None:
    one, two = (read_own(npz(encoder=weights_of(1, 1, 3, 3, seed=s), src_tokens=tokens(3)), "x") for s in (1, 2))
    again = read_own(npz(encoder=weights_of(1, 1, 3, 3, seed=1), src_tokens=tokens(3)), "other name")
    assert one.seq == again.seq != two.seq


@pytest.mark.parametrize(
    ("given", "labels", "words"),
    [
        (["▁Hello", "▁wor", "ld", "</s>"], ("Hello", "wor", "ld", "</s>"), (0, 1, 1, -1)),
        (
            ["[CLS]", "em", "##bed", "##ding", "s", "[SEP]"],
            ("[CLS]", "em", "bed", "ding", "s", "[SEP]"),
            (-1, 0, 0, 0, 1, -1),
        ),
        (["The", "Ġcat", "Ġs", "at"], ("The", "cat", "s", "at"), (0, 1, 2, 2)),
        (["a", "b", "<eos>"], ("a", "b", "<eos>"), (0, 1, -1)),
        (["▁", "x"], ("␣", "x"), (0, 0)),
        (["##", "a"], ("##", "a"), (0, 1)),
        (["", "y" * 200], ("␣", "y" * 59 + "…"), (0, 1)),
        ([], (), ()),
    ],
)
def test_subword_marks_become_words(given: list[str], labels: tuple[str, ...], words: tuple[int, ...]) -> None:
    assert labels_and_words(given) == (labels, words)


# What does not fit


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({}, "none of the arrays encoder, decoder and cross"),
        ({"attention": np.zeros((1, 1, 2, 2))}, "none of the arrays"),
        ({"encoder": weights_of(1, 1, 3, 3)}, "needs src_tokens"),
        ({"cross": weights_of(1, 1, 2, 3), "src_tokens": tokens(3)}, "needs read_tokens, a list of 2"),
        ({"encoder": weights_of(1, 1, 3, 3), "src_tokens": tokens(4)}, "3 queries, but src_tokens has 4"),
        ({"encoder": weights_of(1, 1, 3, 4), "src_tokens": tokens(3)}, "4 keys, but src_tokens has 3"),
        ({"encoder": np.full((1, 1, 2, 2), np.nan), "src_tokens": tokens(2)}, "not a number"),
        ({"encoder": np.full((1, 1, 2, 2), -0.5), "src_tokens": tokens(2)}, "from 0 to 1"),
        ({"encoder": np.full((1, 1, 2, 2), 7.0), "src_tokens": tokens(2)}, "from 0 to 1"),
        ({"encoder": np.full((1, 1, 2, 2), 1e300), "src_tokens": tokens(2)}, "not a number"),
        ({"encoder": np.zeros(3), "src_tokens": tokens(3)}, "[layer, head, query, key]"),
        ({"encoder": np.zeros((1, 2, 1, 1, 3, 3)), "src_tokens": tokens(3)}, "[layer, head, query, key]"),
        ({"encoder": np.zeros((1, 0, 2, 2)), "src_tokens": tokens(2)}, "empty axes"),
        ({"encoder": np.zeros((2, 2)), "src_tokens": np.zeros(2)}, "strings"),
        ({"encoder": np.zeros((2, 2)), "src_tokens": np.array([["a"], ["b"]])}, "plain list of strings"),
        ({"encoder": weights_of(2, 2), "src_tokens": tokens(2), "encoder_mask": np.eye(3)}, "encoder_mask must be"),
        ({"encoder": weights_of(2, 2), "src_tokens": tokens(2), "encoder_mask": 9 * np.eye(2)}, "other values than 0"),
        ({"encoder": weights_of(2, 2), "src_tokens": tokens(2), "encoder_mask": np.eye(2)}, "closes cells"),
        ({"encoder": weights_of(2, 2), "src_tokens": tokens(2), "src_words": np.array([0.5, 1])}, "whole numbers"),
        ({"encoder": weights_of(2, 2), "src_tokens": tokens(2), "src_words": np.arange(3)}, "src_words"),
        ({"decoder": weights_of(2, 2), "read_tokens": tokens(2), "probabilities": np.array([2.0, 0])}, "from 0 to 1"),
        ({"decoder": weights_of(2, 2), "read_tokens": tokens(2), "probabilities": np.zeros(5)}, "probabilities"),
        ({"decoder": weights_of(2, 2), "read_tokens": tokens(2), "predicted_tokens": ["a"]}, "predicted_tokens"),
        ({"encoder": weights_of(1, 1, 2, 2), "src_tokens": tokens(MAX_TOKENS + 1)}, "1,02"),
    ],
)
@pytest.mark.parametrize("write", [npz, as_json])
def test_what_does_not_fit_gets_a_sentence(write: Any, arrays: dict[str, Any], said: str) -> None:
    with pytest.raises(OwnAttentionError) as refused:
        read_own(write(**arrays), "odd.npz")
    assert said in str(refused.value)
    assert str(refused.value).startswith("odd.npz cannot be shown: ")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "neither an .npz file nor JSON"),
        (b"PK", "no readable .npz"),
        (b"PK\x03\x04" + b"\x00" * 50, "no readable .npz"),
        (b"\x93NUMPY", "neither"),
        (b"\xff\xfe{}", "neither"),
        (b"[1, 2]", "no object"),
        (b'{"encoder": [[1, 2], [3]], "src_tokens": ["a", "b"]}', "as long as each other"),
        (b'{"encoder": [["x"]], "src_tokens": ["a"]}', "nested lists of numbers"),
        (b'{"encoder": [[null]], "src_tokens": ["a"]}', "not a number"),
        (b'{"encoder": [[NaN]], "src_tokens": ["a"]}', "not a number"),
        (b'{"encoder": {"a": 1}, "src_tokens": ["a"]}', "nested lists"),
        (b'{"encoder": [[1]], "src_tokens": "a"}', "plain list of strings"),
        (b'{"encoder": [[1]], "src_tokens": [1]}', "plain list of strings"),
        (b'{"encoder": [[1e400]], "src_tokens": ["a"]}', "not a number"),
        (b'{"encoder": ' + b"9" * 5000 + b"}", "JSON"),
        (b"[" * 100_000, "neither"),
        (b'{"encoder": ' + b"[" * 80 + b"1" + b"]" * 80 + b"}", "nested lists"),
    ],
)
def test_files_that_are_something_else_get_a_sentence(content: bytes, said: str) -> None:
    with pytest.raises(OwnAttentionError, match=r"cannot be shown") as refused:
        read_own(content, "x")
    assert said in str(refused.value)


def test_a_file_of_objects_is_never_unpickled() -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (pytest.fail, ("unpickled",))

    for arrays in (
        {"encoder": np.array([[Trap()]], dtype=object), "src_tokens": ["a"]},
        {"encoder": np.eye(1), "src_tokens": np.array([Trap()], dtype=object)},
    ):
        with pytest.raises(OwnAttentionError, match="must hold"):
            read_own(npz(**arrays), "x")


def bomb(shape: tuple[int, ...], payload: int, dtype: str = "<f4") -> bytes:
    """An archive whose array declares `shape` but brings `payload` zero bytes, packed very small."""
    member = io.BytesIO()
    np.lib.format.write_array_header_1_0(member, {"descr": dtype, "fortran_order": False, "shape": shape})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("encoder.npy", "w") as inside:
            inside.write(member.getvalue())
            for _ in range(payload // 2**20):
                inside.write(bytes(2**20))
        archive.writestr("src_tokens.npy", b"")
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        bomb((12, 12, 2048, 2048), 2**20),
        bomb((1, 1, 10**9, 10**9), 2**20),
        bomb((2**62, 2**62), 2**20),
        bomb((8, 8, 128, 128), 600 * 2**20),
        bomb((2, 2), 2**20, "<U100000000"),
        bomb((-5, 2), 2**20),
    ],
)
def test_what_is_declared_too_large_is_never_allocated(content: bytes) -> None:
    assert len(content) < 2**20
    tracemalloc.start()
    try:
        with pytest.raises(OwnAttentionError):
            read_own(content, "bomb.npz")
        assert tracemalloc.get_traced_memory()[1] < 64 * 2**20
    finally:
        tracemalloc.stop()


def test_a_file_beyond_the_limit_is_not_looked_into() -> None:
    with pytest.raises(OwnAttentionError, match="at most"):
        read_own(b"PK" + bytes(MAX_BYTES), "x")


def readable(content: bytes) -> OwnAttention | None:
    try:
        return read_own(content, "fuzz")
    except OwnAttentionError:
        return None


GOOD = {
    "npz": npz(
        encoder=weights_of(2, 2, 3, 3), cross=weights_of(1, 2, 2, 3), src_tokens=tokens(3), read_tokens=tokens(2)
    ),
    "json": as_json(
        encoder=weights_of(1, 2, 3, 3), cross=weights_of(1, 1, 2, 3), src_tokens=tokens(3), read_tokens=tokens(2)
    ),
}


@given(st.sampled_from(sorted(GOOD)), st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=12))
@example("npz", [])
@example("json", [])
def test_a_damaged_file_is_shown_or_refused_with_a_sentence(which: str, damage: list[tuple[int, int]]) -> None:
    content = bytearray(GOOD[which])
    for at, value in damage:
        content[at % len(content)] = value
    found = readable(bytes(content))
    if not damage:
        assert found is not None
    if found is not None:
        assert isinstance(found.trace, AttentionTrace)
        for kind in kinds_of(found.trace):
            assert np.isfinite(found.trace.weights(kind)).all()


@given(st.sampled_from(sorted(GOOD)), st.floats(0, 1))
def test_a_file_that_was_cut_off_is_refused(which: str, part: float) -> None:
    content = GOOD[which][: int(part * (len(GOOD[which]) - 1))]
    assert readable(content) is None


@given(st.binary(max_size=400), st.booleans())
def test_noise_is_refused(noise: bytes, zipped: bool) -> None:
    assert readable(b"PK\x03\x04" + noise if zipped else noise) is None


@given(
    hnp.arrays(st.sampled_from([np.float32, np.float64, np.int64, np.bool_, "S3", "U2"]), hnp.array_shapes(max_dims=6))
)
def test_any_array_is_shown_or_refused(array: np.ndarray) -> None:
    readable(npz(encoder=array, src_tokens=tokens(array.shape[-1])))
    readable(npz(encoder=np.eye(2), src_tokens=array))


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=3),
        lambda c: (
            st.lists(c, max_size=4) | st.dictionaries(st.sampled_from(["encoder", "src_tokens", "a"]), c, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_any_json_is_shown_or_refused(value: Any) -> None:
    readable(json.dumps(value).encode())
    readable(json.dumps({"encoder": value, "src_tokens": ["a"]}).encode())
    readable(json.dumps({"encoder": [[1.0]], "src_tokens": value, "encoder_mask": value}).encode())
