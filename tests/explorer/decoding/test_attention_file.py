"""Attention files of other models: valid ones are shown exactly, all others get a message; nothing is unpickled."""

import io
import json
import tracemalloc
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from explorer.decoding.attention_file import (
    MAX_BYTES,
    MAX_TOKENS,
    OwnAttentionError,
    labels_and_words,
    read_own,
)
from explorer.decoding.decoding import Decoding
from model.trace import FUTURE, VISIBLE
from tests.explorer.attention_files import as_json, npz, tokens, weights_of


@pytest.mark.parametrize(
    ("given_axes", "shape"),
    [((), (1, 1)), ((1,), (1, 1)), ((1, 1), (1, 1)), ((1, 1, 1), (1, 1)), ((4, 1, 2), (4, 2)), ((2, 3), (2, 3))],
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f4"])
def test_leading_axes_may_be_missing_or_a_batch_of_one_in_any_precision(
    given_axes: tuple[int, ...], shape: tuple[int, ...], dtype: Any
) -> None:
    weights = np.asfortranarray(weights_of(*given_axes, 3, 3).astype(dtype))
    encoder = read_own(npz(encoder=weights, src_tokens=np.array(tokens(3))), "x").trace.encoder
    assert encoder.dtype == np.float32
    np.testing.assert_array_equal(encoder, weights.astype(np.float32).reshape(*shape, 3, 3))


def test_a_decoder_with_nothing_above_the_diagonal_counts_as_causal() -> None:
    own = read_own(npz(decoder=weights_of(2, 2, 4, 4, causal=True), read_tokens=tokens(4)), "gpt2")
    assert own.trace.decoder_mask[0].tolist() == [VISIBLE, FUTURE, FUTURE, FUTURE]
    assert "masked (future)" in str(own.notes[0])
    looks_ahead = read_own(npz(decoder=weights_of(2, 2, 4, 4), read_tokens=tokens(4)), "x")
    assert not looks_ahead.trace.decoder_mask.any()
    assert looks_ahead.notes == ()


@pytest.mark.parametrize(
    ("given", "labels", "words"),
    [
        (["▁Hello", "▁wor", "ld", "</s>"], ("Hello", "wor", "ld", "</s>"), (0, 1, 1, -1)),
        (["[CLS]", "em", "##bed", "s", "[SEP]"], ("[CLS]", "em", "bed", "s", "[SEP]"), (-1, 0, 0, 1, -1)),
        (["The", "Ġcat", "Ġs", "at"], ("The", "cat", "s", "at"), (0, 1, 2, 2)),
        (["a", "b", "<eos>"], ("a", "b", "<eos>"), (0, 1, -1)),
        (["▁", "x"], ("␣", "x"), (0, 0)),
        (["##", "a"], ("##", "a"), (0, 1)),
        (["", "y" * 200], ("␣", "y" * 59 + "…"), (0, 1)),
        ([], (), ()),
    ],
)
def test_subword_markers_become_words(given: list[str], labels: tuple[str, ...], words: tuple[int, ...]) -> None:
    assert labels_and_words(given) == (labels, words)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"attention": np.eye(2)}, "none of the arrays encoder, decoder and cross"),
        ({"encoder": weights_of(1, 1, 3, 3)}, "needs src_tokens"),
        ({"cross": weights_of(1, 1, 2, 3), "src_tokens": tokens(3)}, "needs read_tokens, a list of 2"),
        ({"encoder": weights_of(1, 1, 3, 3), "src_tokens": tokens(4)}, "3 queries, but src_tokens has 4"),
        ({"encoder": weights_of(1, 1, 3, 4), "src_tokens": tokens(3)}, "4 keys, but src_tokens has 3"),
        ({"encoder": np.full((1, 1, 2, 2), np.nan), "src_tokens": tokens(2)}, "not a number"),
        ({"encoder": np.full((1, 1, 2, 2), -0.5), "src_tokens": tokens(2)}, "between 0 and 1"),
        ({"encoder": np.full((1, 1, 2, 2), 7.0), "src_tokens": tokens(2)}, "between 0 and 1"),
        ({"encoder": np.full((1, 1, 2, 2), 1e300), "src_tokens": tokens(2)}, "not a number"),
        ({"encoder": np.zeros(3), "src_tokens": tokens(3)}, "[layer, head, query, key]"),
        ({"encoder": np.zeros((1, 2, 1, 1, 3, 3)), "src_tokens": tokens(3)}, "[layer, head, query, key]"),
        ({"encoder": np.zeros((1, 0, 2, 2)), "src_tokens": tokens(2)}, "empty axes"),
        ({"encoder": np.zeros((2, 2)), "src_tokens": np.zeros(2)}, "strings"),
        ({"encoder": np.zeros((2, 2)), "src_tokens": np.array([["a"], ["b"]])}, "plain list of strings"),
        ({"encoder": weights_of(2, 2), "src_tokens": tokens(2), "encoder_mask": np.eye(3)}, "encoder_mask must be"),
        ({"encoder": weights_of(2, 2), "src_tokens": tokens(2), "encoder_mask": 9 * np.eye(2)}, "other values than 0"),
        ({"encoder": weights_of(2, 2), "src_tokens": tokens(2), "encoder_mask": np.eye(2)}, "masks cells"),
        ({"encoder": weights_of(2, 2), "src_tokens": tokens(2), "src_words": np.array([0.5, 1])}, "whole numbers"),
        ({"encoder": weights_of(2, 2), "src_tokens": tokens(2), "src_words": np.arange(3)}, "src_words"),
        ({"decoder": np.eye(2), "read_tokens": tokens(2), "probabilities": np.array([2.0, 0])}, "must lie between"),
        ({"decoder": np.eye(2), "read_tokens": tokens(2), "probabilities": np.zeros(5)}, "probabilities"),
        ({"decoder": weights_of(2, 2), "read_tokens": tokens(2), "predicted_tokens": ["a"]}, "predicted_tokens"),
        ({"encoder": weights_of(1, 1, 2, 2), "src_tokens": tokens(MAX_TOKENS + 1)}, "1,02"),
    ],
)
@pytest.mark.parametrize("write", [npz, as_json])
def test_what_does_not_fit_gets_a_message(write: Any, arrays: dict[str, Any], said: str) -> None:
    with pytest.raises(OwnAttentionError) as refused:
        read_own(write(**arrays), "odd.npz")
    assert said in str(refused.value)
    assert str(refused.value).startswith("odd.npz cannot be shown: ")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "neither an .npz file nor JSON"),
        (b"PK", "not a readable .npz"),
        (b"PK" + bytes(MAX_BYTES), "at most"),
        (b"\xff\xfe{}", "neither"),
        (b"[1, 2]", "not an object"),
        (b'{"encoder": [[1, 2], [3]], "src_tokens": ["a", "b"]}', "of equal length"),
        (b'{"encoder": [["x"]], "src_tokens": ["a"]}', "nested lists of numbers"),
        (b'{"encoder": [[null]], "src_tokens": ["a"]}', "not a number"),
        (b'{"encoder": [[1]], "src_tokens": "a"}', "plain list of strings"),
        (b'{"encoder": [[1e400]], "src_tokens": ["a"]}', "not a number"),
        (b'{"encoder": ' + b"9" * 5000 + b"}", "JSON"),
        (b"[" * 100_000, "neither"),
        (b'{"encoder": ' + b"[" * 80 + b"1" + b"]" * 80 + b"}", "nested lists"),
    ],
    ids=range(13),
)
def test_files_that_are_something_else_get_a_message(content: bytes, said: str) -> None:
    with pytest.raises(OwnAttentionError) as refused:
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


def zipped(name: str, dtype: str, shape: tuple[int, ...], payload: bytes, **others: bytes) -> bytes:
    """A compressed archive with an array whose header declares `shape`, whatever its payload is."""
    header, file = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": dtype, "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.npy", header.getvalue() + payload)
        for other, content in others.items():
            archive.writestr(f"{other}.npy", content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("shape", "megabytes", "dtype"),
    [
        ((12, 12, 2048, 2048), 1, "<f4"),
        ((1, 1, 10**9, 10**9), 1, "<f4"),
        ((2**62, 2**62), 1, "<f4"),
        ((8, 8, 128, 128), 128, "<f4"),
        ((2, 2), 1, "<U100000000"),
        ((-5, 2), 1, "<f4"),
    ],
)
def test_what_is_declared_too_large_is_never_allocated(shape: tuple[int, ...], megabytes: int, dtype: str) -> None:
    content = zipped("encoder", dtype, shape, bytes(megabytes * 2**20), src_tokens=b"")
    assert len(content) < 2**20
    tracemalloc.start()
    try:
        with pytest.raises(OwnAttentionError):
            read_own(content, "bomb.npz")
        assert tracemalloc.get_traced_memory()[1] < 64 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (("src_tokens", "<U1", (2,), b"\x00\x00\x11\x00" * 2), "holds numbers that are not characters."),
        (("src_tokens", "<U0", (2,), b""), "not a readable .npz"),
        (("encoder", "<f4", (10**400,), b""), "encoder declares far too many entries"),
        (("encoder", "<f4", (1,) * 70, b"\x00" * 4), "not a readable .npz"),
        (("encoder", "<f4", (1, 2), b"\x00" * 4), "encoder is truncated."),
    ],
)
def test_headers_that_no_array_has_get_a_short_message(array: tuple[Any, ...], said: str) -> None:
    with pytest.raises(OwnAttentionError) as refused:
        read_own(zipped(*array), "odd.npz")
    assert said in str(refused.value)
    assert len(str(refused.value)) < 250
    assert "\n" not in str(refused.value)


def readable(content: bytes) -> Decoding | None:
    try:
        return read_own(content, "fuzz")
    except OwnAttentionError:
        return None


DTYPES: st.SearchStrategy[Any] = st.sampled_from([np.float32, np.int64, np.bool_, "S3", "U2"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3),
    lambda c: st.lists(c, max_size=4) | st.dictionaries(st.sampled_from(["encoder", "src_tokens"]), c, max_size=3),
    max_leaves=12,
)


@given(hnp.arrays(DTYPES, hnp.array_shapes(max_dims=6)), VALUES)
def test_any_array_and_any_json_are_shown_or_refused(array: np.ndarray, value: Any) -> None:
    readable(npz(encoder=array, src_tokens=tokens(array.shape[-1])))
    readable(npz(encoder=np.eye(2), src_tokens=array))
    readable(json.dumps(value).encode())
    readable(json.dumps({"encoder": value, "src_tokens": ["a"]}).encode())
    readable(json.dumps({"encoder": [[1.0]], "src_tokens": value, "encoder_mask": value}).encode())
