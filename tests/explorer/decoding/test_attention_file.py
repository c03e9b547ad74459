"""Attention files of other models: valid ones are shown exactly, all others get a message."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.attention_file import UNKNOWN, labels_and_words, read_own
from model.config import ATTENTION_KINDS
from model.trace import FUTURE, VISIBLE, kinds_of
from tests.explorer.attention_files import HOSTILE, as_json, npz, tokens, weights_of
from tests.explorer.planted import planted_trace


def test_our_own_attention_files_are_read_back(tmp_path: Path) -> None:
    trace = planted_trace(layers=(3, 2), heads=(1, 4))
    trace.save_npz(tmp_path / "red.npz")
    own = read_own((tmp_path / "red.npz").read_bytes(), "red.npz")
    names = ("src_tokens", "read_tokens", "predicted_tokens", "src_words", "tgt_words", "probabilities")
    for name in (*names, *ATTENTION_KINDS, *(f"{kind}_mask" for kind in ATTENTION_KINDS)):
        np.testing.assert_array_equal(getattr(own.trace, name), getattr(trace, name))
    assert (own.notes, own.model) == ((), "red.npz")


@pytest.mark.parametrize("write", [npz, as_json])
def test_one_kind_is_enough(write: Any) -> None:
    weights = weights_of(12, 12, 5, 5)
    own = read_own(write(encoder=weights, src_tokens=tokens(5)), "bert")
    assert own.trace.read_tokens == own.trace.predicted_tokens == own.notes == ()
    again, other = (read_own(write(encoder=w, src_tokens=tokens(5)), "x") for w in (weights, weights[::-1]))
    assert own.seq == again.seq != other.seq, "the content names the view"
    half = read_own(write(encoder=weights / 2, src_tokens=tokens(5)), "x")
    assert "do not sum to 1 (off by up to 0.5)" in str(half.notes[0])
    cross = read_own(write(cross=weights_of(2, 3, 4, 7), src_tokens=tokens(7), read_tokens=tokens(4)), "cross").trace
    assert cross.predicted_tokens == (UNKNOWN,) * 4
    assert np.isnan(cross.probabilities).all()
    assert cross.decoder.shape == (0, 0, 4, 4)


@given(st.data())
def test_any_sizes_are_read_bit_for_bit(data: st.DataObject) -> None:
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
    for write in (npz, as_json):
        own = read_own(write(**arrays, **given_tokens), "x")
        assert set(kinds_of(own.trace)) == set(kinds)
        for kind in kinds:
            np.testing.assert_array_equal(own.trace.weights(kind), arrays[kind])
        assert len(own.trace.src_tokens) == n_src
        assert all(own.trace.src_tokens)


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


@pytest.mark.parametrize("write", [npz, as_json])
def test_a_given_mask_is_kept(write: Any) -> None:
    weights, mask = weights_of(2, 2, 3, 3), np.zeros((3, 3), int)
    weights[..., 2], mask[:, 2] = 0, 2
    weights /= weights.sum(-1, keepdims=True)
    own = read_own(write(encoder=weights, encoder_mask=mask, src_tokens=tokens(3)), "x")
    np.testing.assert_array_equal(own.trace.encoder_mask, mask)


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
