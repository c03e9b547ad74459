"""Servers that die while they write, share a folder, or may not write: files stay complete, errors get messages."""

import errno
import io
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.locale.text import why
from explorer.runs import lifecycle
from explorer.runs.archive import export, import_zip
from explorer.runs.lifecycle import Runs
from explorer.runs.uploads import store
from model.checkpoint import load_model
from model.folder import list_models, read_json, write_json
from tests.explorer.toy_runs import save_run

UPLOAD = ("pairs.tsv", b"a\tb\n" * 200_000)
forked = pytest.mark.skipif(not hasattr(os, "fork"), reason="a server that dies is a forked process here")


def killed_while(work: Callable[[], object], after: float) -> None:
    """Repeat this in a separate process until the process is killed."""
    child = os.fork()
    if child == 0:
        try:
            while True:
                work()
        finally:
            os._exit(1)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


@forked
@pytest.mark.parametrize("number", range(2))
def test_a_file_an_import_and_an_upload_are_whole_whenever_their_writer_is_killed(tmp_path: Path, number: int) -> None:
    path, packed = tmp_path / "file.json", export(save_run(tmp_path / "theirs"))
    content, count, checkpoints = packed.read_bytes(), iter(range(10**6)), tmp_path / "checkpoints"
    packed.unlink()
    checkpoints.mkdir()
    write_json(path, {"text": "x" * 10})

    def write_twice() -> None:
        for length in (10, 900_000):
            write_json(path, {"text": "x" * length})

    for work, least, most in (
        (write_twice, 0.01, 0.15),
        (lambda: import_zip(io.BytesIO(content), checkpoints, f"take-{next(count)}"), 0.02, 0.3),
        (lambda: store(*UPLOAD, tmp_path / "uploads").unlink(), 0.005, 0.05),
    ):
        killed_while(work, random.Random(f"{number} {most}").uniform(least, most))
    assert set(read_json(path)["text"]) == {"x"}
    for summary in list_models(checkpoints):
        assert summary["error"] is None
        assert load_model(checkpoints / summary["name"]).model is not None
    assert all(path.name.startswith((".import-", "take-")) for path in checkpoints.iterdir())
    assert store(*UPLOAD, tmp_path / "uploads").read_bytes() == UPLOAD[1]


def test_leftovers_of_a_killed_import_are_removed_later(tmp_path: Path) -> None:
    packed = export(save_run(tmp_path / "theirs"))
    checkpoints = tmp_path / "checkpoints"
    for name, hours in (("old", 12), ("new", 1)):
        left = checkpoints / f".import-{name}"
        (left / "x").mkdir(parents=True)
        os.utime(left, (time.time() - 3600 * hours,) * 2)
    import_zip(io.BytesIO(packed.read_bytes()), checkpoints)
    packed.unlink()
    assert {path.name for path in checkpoints.iterdir()} == {".import-new", "theirs"}


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, "file cannot be written: the disk is full, or your share of it. Free some space and try again."),
        (errno.EROFS, "file cannot be read or written: Read-only file system."),
        (errno.EACCES, "file cannot be read or written: Permission denied."),
    ],
)
def test_a_folder_that_cannot_be_written_gets_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    """A full disk and a read-only folder; permissions do not stop root, so the system's error is simulated."""
    save_run(tmp_path / "mine", state="stopped")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), str(tmp_path / "file"))

    monkeypatch.setattr("explorer.runs.process.open", refuse, raising=False)
    monkeypatch.setattr(lifecycle, "write_json", refuse)
    monkeypatch.setattr(lifecycle, "replace_file", refuse)
    runs = Runs(tmp_path)
    for action in (
        lambda: runs.start("new", ["python", "-m", "model.train"]),
        lambda: runs.resume("mine"),
        lambda: runs.watch("mine", "abc"),
        lambda: runs.rename("mine", "yours"),
        lambda: runs.delete("mine"),
    ):
        with pytest.raises(OSError, match=os.strerror(number)) as refused:
            action()
        assert why(refused.value) == said
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
