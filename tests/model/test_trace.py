from __future__ import annotations

import contextlib
import dataclasses
import zipfile

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from model.recording import AttentionRecorder
from model.trace import FUTURE, PADDING, VISIBLE, AttentionTrace, TraceError, future_mask
from tests.tiny import sources, targets, tiny_model

HOSTILE = [
    "<sos>",
    "</script>",
    "<img src=x onerror=alert(1)>",
    "l'été",
    "मुझे",
    "שלום",
    "人工知能",
    "👩‍👩‍👧",
    " ",
    "a\nb",
    "",
]

words = st.one_of(
    st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=6)
)


def weights_of(rng: np.random.Generator, layers: int, heads: int, queries: int, keys: int) -> np.ndarray:
    raw = rng.random((layers, heads, queries, keys), dtype=np.float32)
    return raw / raw.sum(-1, keepdims=True)


@st.composite
def traces(draw: st.DrawFn) -> AttentionTrace:
    n_src, n_tgt, k = draw(st.integers(1, 5)), draw(st.integers(1, 5)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    tokens = {
        name: tuple(draw(st.lists(words, min_size=n, max_size=n)))
        for name, n in (("src_tokens", n_src), ("read_tokens", n_tgt), ("predicted_tokens", n_tgt))
    }
    return AttentionTrace(
        encoder=weights_of(rng, draw(st.integers(1, 3)), draw(st.integers(1, 3)), n_src, n_src),
        decoder=weights_of(rng, 2, 1, n_tgt, n_tgt),
        cross=weights_of(rng, 2, 4, n_tgt, n_src),
        encoder_mask=draw(hnp.arrays(np.uint8, (n_src, n_src), elements=st.sampled_from([VISIBLE, PADDING]))),
        decoder_mask=future_mask(n_tgt),
        cross_mask=np.zeros((n_tgt, n_src), np.uint8),
        src_words=(*range(n_src - 1), -1),
        tgt_words=(-1, *range(n_tgt - 1)),
        probabilities=rng.random(n_tgt, dtype=np.float32),
        top_ids=rng.integers(0, 99, (n_tgt, k)),
        top_probabilities=rng.random((n_tgt, k), dtype=np.float32),
        top_tokens=tuple(tuple(draw(st.lists(words, min_size=k, max_size=k))) for _ in range(n_tgt)),
        edits=tuple(draw(st.lists(words.filter(bool), max_size=2))),
        **tokens,
    )


def a_trace() -> AttentionTrace:
    rng = np.random.default_rng(0)
    return AttentionTrace(
        encoder=weights_of(rng, 1, 2, 3, 3),
        decoder=weights_of(rng, 2, 4, 2, 2),
        cross=weights_of(rng, 2, 4, 2, 3),
        encoder_mask=np.zeros((3, 3), np.uint8),
        decoder_mask=future_mask(2),
        cross_mask=np.zeros((2, 3), np.uint8),
        src_tokens=("red", "books", "<eos>"),
        read_tokens=("<sos>", "livres"),
        predicted_tokens=("livres", "rouge"),
        src_words=(0, 1, -1),
        tgt_words=(-1, 0),
        probabilities=np.array([0.9, 0.8], np.float32),
        top_ids=np.array([[4, 5], [5, 4]]),
        top_probabilities=np.array([[0.9, 0.1], [0.8, 0.2]], np.float32),
        top_tokens=(("livres", "rouge"), ("rouge", "livres")),
    )


def assert_same(one: AttentionTrace, two: AttentionTrace) -> None:
    for field in dataclasses.fields(AttentionTrace):
        before, after = getattr(one, field.name), getattr(two, field.name)
        assert type(after) is type(before), field.name
        if isinstance(before, np.ndarray):
            assert after.dtype == before.dtype, field.name
            np.testing.assert_array_equal(after, before)
        else:
            assert after == before, field.name


# The file


@given(trace=traces())
def test_a_trace_comes_back_from_its_file(trace: AttentionTrace, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("traces") / "attention.npz"
    trace.save_npz(path)
    assert_same(trace, AttentionTrace.load_npz(path))


def test_the_file_is_plain_arrays_without_pickles(tmp_path) -> None:
    path = tmp_path / "exactly this name"
    a_trace().save_npz(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["exactly this name"]
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    assert {"encoder", "decoder", "cross", "src_tokens", "read_tokens", "predicted_tokens"} <= set(arrays)
    assert all(array.dtype.kind in "fiuU" for array in arrays.values())
    assert arrays["src_tokens"].tolist() == ["red", "books", "<eos>"]
    assert arrays["encoder"].dtype == np.float32


class Unpickled(Exception):
    pass


class Bomb:
    def __reduce__(self):
        return (_explode, ())


def _explode() -> None:
    raise Unpickled


def test_a_pickle_in_the_file_is_never_opened(tmp_path) -> None:
    path = tmp_path / "bomb.npz"
    a_trace().save_npz(path)
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["src_tokens"] = np.array([Bomb(), "books", "<eos>"], dtype=object)
    np.savez(path, **arrays)
    with pytest.raises(TraceError):
        AttentionTrace.load_npz(path)


@pytest.mark.parametrize("kept", [0, 1, 10, 100, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused_with_a_message(tmp_path, kept: float) -> None:
    path = tmp_path / "torn.npz"
    a_trace().save_npz(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) if isinstance(kept, float) else kept])
    with pytest.raises(TraceError, match=r"torn\.npz"):
        AttentionTrace.load_npz(path)


@given(position=st.floats(0, 0.999), value=st.integers(0, 255))
def test_a_damaged_file_is_refused_or_read_but_never_a_traceback(
    position: float, value: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "damaged.npz"
    a_trace().save_npz(path)
    content = bytearray(path.read_bytes())
    content[int(position * len(content))] = value
    path.write_bytes(bytes(content))
    with contextlib.suppress(TraceError):
        AttentionTrace.load_npz(path)


def test_a_file_of_another_kind_is_refused_with_a_message(tmp_path) -> None:
    text, array, archive = tmp_path / "text.npz", tmp_path / "array.npz", tmp_path / "zip.npz"
    text.write_text("encoder decoder cross")
    with array.open("wb") as file:
        np.save(file, np.zeros(3))
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("encoder.npy", "not an array")
        file.writestr("notes.txt", "nor this")
    for path in (text, array, archive, tmp_path / "absent.npz"):
        with pytest.raises(TraceError, match=path.name):
            AttentionTrace.load_npz(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("encoder", np.zeros((3, 3), np.float32)),
        ("encoder", np.zeros((1, 2, 3, 4), np.float32)),
        ("decoder", np.zeros((2, 4, 3, 3), np.float32)),
        ("cross", np.zeros((2, 4, 3, 2), np.float32)),
        ("cross", np.array(["no", "numbers"])),
        ("cross_mask", np.zeros((3, 2), np.uint8)),
        ("predicted_tokens", np.array(["one"])),
        ("src_tokens", np.zeros(3)),
        ("src_tokens", np.array("abc")),
        ("src_words", np.zeros(1, np.int64)),
        ("src_words", np.array(3)),
        ("probabilities", np.array(0.5)),
        ("probabilities", np.zeros((2, 2), np.float32)),
        ("top_ids", np.zeros((1, 2), np.int64)),
        ("top_ids", np.zeros(2, np.int64)),
        ("top_probabilities", np.zeros((2, 5), np.float32)),
        ("top_tokens", np.array(["flat", "list"])),
    ],
)
def test_arrays_that_do_not_fit_each_other_are_refused_with_a_message(tmp_path, name: str, value: np.ndarray) -> None:
    path = tmp_path / "odd.npz"
    a_trace().save_npz(path)
    with np.load(path) as archive:
        arrays = {key: archive[key] for key in archive.files}
    arrays[name] = value
    np.savez(path, **arrays)
    with pytest.raises(TraceError):
        AttentionTrace.load_npz(path)


def test_a_missing_array_is_named(tmp_path) -> None:
    path = tmp_path / "half.npz"
    a_trace().save_npz(path)
    with np.load(path) as archive:
        arrays = {key: archive[key] for key in archive.files if key != "cross"}
    np.savez(path, **arrays)
    with pytest.raises(TraceError, match="cross"):
        AttentionTrace.load_npz(path)


def test_a_trace_checks_itself_when_it_is_made() -> None:
    with pytest.raises(TraceError, match="predicted_tokens"):
        dataclasses.replace(a_trace(), predicted_tokens=("one",))
    with pytest.raises(dataclasses.FrozenInstanceError):
        a_trace().edits = ("silent change",)


# The recorder


def test_the_recorder_gives_numbers_with_named_axes() -> None:
    model, recorder = tiny_model(), AttentionRecorder()
    src, tgt = sources(6, 3), targets(5, 2)
    with torch.inference_mode():
        model(src, tgt, tap=recorder)
    for kind, shape in (("encoder", (2, 2, 6, 6)), ("decoder", (3, 4, 5, 5)), ("cross", (3, 4, 5, 6))):
        weights = recorder.weights(kind)
        assert isinstance(weights, np.ndarray)
        assert weights.dtype == np.float32
        assert weights.shape == shape
        np.testing.assert_allclose(weights.sum(-1), 1.0, atol=1e-5)
    assert (np.triu(recorder.weights("decoder"), 1) == 0).all(), "the future is exactly 0"
    short = recorder.weights("encoder", row=1)
    assert (short[..., 3:] == 0).all(), "padding is exactly 0"
    assert (recorder.weights("cross", row=1)[..., 3:] == 0).all()
    assert not np.array_equal(recorder.weights("encoder", row=0), short)


def test_details_of_a_head_explain_its_weights() -> None:
    site = ("decoder", 1, 2)
    model, recorder = tiny_model(), AttentionRecorder(details=[site])
    with torch.inference_mode():
        model(sources(6), targets(5), tap=recorder)
    [kept] = recorder.details[site]
    assert kept["query"].shape == (1, 5, 4)
    torch.testing.assert_close(kept["scores"], kept["query"] @ kept["key"].mT / 2)
    torch.testing.assert_close(kept["masked"].softmax(-1), kept["weights"], rtol=0, atol=1e-6)
    torch.testing.assert_close(kept["weights"] @ kept["value"], kept["output"], rtol=0, atol=1e-6)
    np.testing.assert_array_equal(kept["weights"][0].numpy(), recorder.weights("decoder")[1, 2])


def test_details_are_kept_for_every_step() -> None:
    site = ("cross", 2, 0)
    model, recorder = tiny_model(), AttentionRecorder(details=[site])
    with torch.inference_mode():
        state = model.start(sources(6), tap=recorder)
        for token in (1, 5, 6):
            _, state = model.step(torch.tensor([token]), state, tap=recorder)
    assert len(recorder.details[site]) == 3
    for step, kept in enumerate(recorder.details[site]):
        np.testing.assert_array_equal(kept["weights"][0, 0].numpy(), recorder.weights("cross")[2, 0, step])


def test_two_recorders_of_one_model_never_mix() -> None:
    model, mine, yours = tiny_model(), AttentionRecorder(), AttentionRecorder()
    with torch.inference_mode():
        my_state = model.start(sources(6), tap=mine)
        your_state = model.start(sources(3, seed=8), tap=yours)
        for token in (1, 5):
            _, my_state = model.step(torch.tensor([token]), my_state, tap=mine)
            _, your_state = model.step(torch.tensor([token]), your_state, tap=yours)
    assert mine.weights("cross").shape == (3, 4, 2, 6)
    assert yours.weights("cross").shape == (3, 4, 2, 3)


def test_recording_keeps_no_graph() -> None:
    model, recorder = tiny_model(), AttentionRecorder(details=[("encoder", 0, 0)])
    model(sources(6), targets(5), tap=recorder).sum().backward()
    assert not any(tensor.requires_grad for calls in recorder.calls.values() for tensor in calls)
    assert not any(tensor.requires_grad for tensor in recorder.details["encoder", 0, 0][0].values())


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_asking_for_what_was_not_recorded_is_an_error(kind: str) -> None:
    recorder = AttentionRecorder()
    if kind != "encoder":
        tiny_model().start(sources(3), tap=recorder)
    with pytest.raises(ValueError, match=kind):
        recorder.weights(kind)


def test_recorded_weights_stay_whole_numbers_of_float32_under_autocast() -> None:
    model, recorder = tiny_model(), AttentionRecorder()
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        model(sources(6), targets(5), tap=recorder)
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(recorder.weights(kind).sum(-1), 1.0, rtol=0, atol=1e-5)


def test_future_mask_codes() -> None:
    assert future_mask(3).tolist() == [
        [VISIBLE, FUTURE, FUTURE],
        [VISIBLE, VISIBLE, FUTURE],
        [VISIBLE, VISIBLE, VISIBLE],
    ]
    assert len({VISIBLE, FUTURE, PADDING}) == 3
