"""Traces, their files, and the recorder that makes them."""

import dataclasses
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.trace import AttentionTrace, TraceError
from tests.explorer.planted import planted_trace


@pytest.fixture
def arrays(tmp_path: Path) -> dict[str, np.ndarray]:
    """What a file of 3 source tokens and 2 rows holds."""
    trace = planted_trace(("red", "books", "<eos>"), ("<sos>", "livres"), heads=(2, 4))
    with pytest.raises(dataclasses.FrozenInstanceError):
        trace.edits = ("silent change",)  # type: ignore[misc]
    trace.save_npz(tmp_path / "whole.npz")
    with np.load(tmp_path / "whole.npz") as archive:
        return {name: archive[name] for name in archive.files}


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("a pickle was opened",)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("encoder", np.zeros((3, 3), np.float32)),
        ("encoder", np.zeros((1, 2, 3, 4), np.float32)),
        ("cross", np.array(["no", "numbers"])),
        ("cross", None),
        ("cross_mask", np.zeros((3, 2), np.uint8)),
        ("predicted_tokens", np.array(["one"])),
        ("src_tokens", np.zeros(3)),
        ("src_tokens", np.array("abc")),
        ("src_tokens", np.array([Bomb(), "books", "<eos>"], dtype=object)),
        ("src_words", np.zeros(1, np.int64)),
        ("src_words", np.array(3)),
        ("probabilities", np.array(0.5)),
        ("top_ids", np.zeros(2, np.int64)),
        ("top_tokens", np.array(["flat", "list"])),
    ],
)
def test_arrays_that_do_not_fit_each_other_are_refused_by_name(
    tmp_path: Path, arrays: dict[str, np.ndarray], name: str, value: np.ndarray | None
) -> None:
    changed = {key: array for key, array in (arrays | {name: value}).items() if array is not None}
    np.savez(tmp_path / "odd.npz", **changed)
    with pytest.raises(TraceError, match=r"odd\.npz" if name == "src_tokens" and value.dtype == object else name):
        AttentionTrace.load_npz(tmp_path / "odd.npz")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused_with_a_message(
    tmp_path: Path, arrays: dict[str, np.ndarray], share: float
) -> None:
    content = (tmp_path / "whole.npz").read_bytes()
    (tmp_path / "torn.npz").write_bytes(content[: int(share * len(content))])
    with pytest.raises(TraceError, match=r"torn\.npz"):
        AttentionTrace.load_npz(tmp_path / "torn.npz")


def test_a_file_of_another_kind_is_refused_with_a_message(tmp_path: Path) -> None:
    text, array, archive = tmp_path / "text.npz", tmp_path / "array.npz", tmp_path / "zip.npz"
    text.write_text("encoder decoder cross", encoding="utf-8")
    with array.open("wb") as file:
        np.save(file, np.zeros(3))
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("encoder.npy", "not an array")
        made.writestr("notes.txt", "nor this")
    for path in (text, array, archive, tmp_path / "absent.npz"):
        with pytest.raises(TraceError, match=path.name):
            AttentionTrace.load_npz(path)
