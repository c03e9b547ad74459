"""Folders with giant values, sparse files and links in a circle: refused in a short sentence, and nobody waits."""

import json
import os
from pathlib import Path
from typing import Any
from unittest import mock

import psutil
import pytest

from explorer.decoding.examples import examples_of
from explorer.decoding.model_summary import facts, story, title
from explorer.runs import metrics
from explorer.runs.lifecycle import Runs
from explorer.runs.listing import description, rows
from explorer.runs.metrics import load_metrics
from model.checkpoint import load_model
from model.file_formats import decode
from model.folder import CARD, CONFIG, METRICS, NOTE, PROBE, STATE, STATUS, TOKENIZER, CheckpointError, list_models
from model.importing.import_folder import holds_translator
from model.training.runfolder import read_metrics
from model.user_error import MESSAGE
from tests.explorer.toy_models import save_toy
from tests.explorer.toy_runs import save_run
from tests.fuzz.inputs import paths, replaced
from tests.some import some

GIANT, LARGE = 20_000_000, 900_000  # above and below the size of the files that are read
FILLERS = ("x", "ab ", "\u0301", "\u202e", "\u200b", "\n")
MOST_TEXT = 1000  # characters that one folder may add to all that is listed of it; markup comes on top
MOST_READ = 200 * 1024**2  # bytes that one list of all folders may read of a giant, metrics included


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    """A run with every file that a folder may hold and every text that its configuration may have."""
    root = tmp_path / "checkpoints"
    save_run(root / "odd", steps=(10, 30))
    (root / "odd" / PROBE).write_text('{"source": "abc"}', encoding="utf-8")
    (root / "odd" / NOTE).write_text('{"text": "abc"}', encoding="utf-8")
    config = json.loads((root / "odd" / CONFIG).read_text(encoding="utf-8"))
    config |= {"title": "t", "preset": "p", "init": "i"}
    config["imported"] = {"source": "x", "family": "marian", "licence": "y", "labels": ["a"], "sha256": {"a": "b"}}
    (root / "odd" / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    save_toy(root / "healthy", "reverse")
    return root


def listed(checkpoints: Path) -> int:
    """The number of characters that lists and sidebars show of all folders."""
    texts: list[str] = []
    for each in list_models(checkpoints):
        examples = [] if each["error"] else [prompt.source for prompt in examples_of(each)]
        texts += [each["error"]] if each["error"] else [title(each), story(each), *facts(each), *examples]
    runs = Runs(checkpoints)
    entries = runs.entries()
    texts += [description(entry) + entry.problem + runs.watched(entry.name) + entry.note for entry in entries]
    return sum(map(len, [*texts, str(rows(entries))]))


@pytest.mark.parametrize("size", some((GIANT, LARGE), 2))
@pytest.mark.parametrize("file", [CONFIG, STATUS, PROBE, NOTE, METRICS, TOKENIZER])
def test_a_value_of_any_length_adds_a_sentence_to_a_page(checkpoints: Path, file: str, size: int) -> None:
    before = listed(checkpoints)
    path = checkpoints / "odd" / file
    *lines, last = path.read_bytes().splitlines() if file == METRICS else [path.read_bytes()]
    value = json.loads(last)
    ways = paths(value)
    for number, way in enumerate(ways if size == LARGE else ways[:: max(1, len(ways) // 3)]):
        filler = FILLERS[number % len(FILLERS)]
        giant = replaced(value, way, filler * (size // len(filler.encode())))
        path.write_bytes(b"\n".join([*lines, json.dumps(giant, ensure_ascii=False).encode()]))
        added = listed(checkpoints) - before
        assert added < MOST_TEXT, (way, filler, added)
        if file in (CONFIG, TOKENIZER):
            refusal(checkpoints / "odd")


def refusal(folder: Path) -> str:
    """Open a model: it opens, or is refused in a sentence of bounded length."""
    said = ""
    try:
        load_model(folder)
    except CheckpointError as unfit:
        said = str(unfit)
    assert len(said) <= MESSAGE
    assert not said or said.endswith((".", "?"))
    return said


SPARSE = 5 * 1024**3


def bytes_read() -> int:
    """What this process has read from files so far, where the system says so."""
    counters = getattr(psutil.Process(), "io_counters", lambda: None)()
    return getattr(counters, "read_chars", 0)


@pytest.mark.parametrize(
    "file", some((CONFIG, METRICS, STATUS, PROBE, TOKENIZER, NOTE, CARD, f"{STATE}/state.json"), 4)
)
def test_a_sparse_giant_is_not_read_to_its_end(checkpoints: Path, file: str) -> None:
    path = checkpoints / "odd" / file
    path.parent.mkdir(exist_ok=True)
    with open(path, "ab") as whole:
        try:
            os.truncate(whole.fileno(), SPARSE)
        except OSError:
            pytest.skip("this file system has no sparse files")
    begun = bytes_read()
    listed(checkpoints)
    said = refusal(checkpoints / "odd")
    metrics = load_metrics(checkpoints / "odd" / METRICS)
    assert [point["step"] for point in metrics.train] == [10, 20, 30]
    if file == METRICS:
        with pytest.raises(CheckpointError, match=r"odd/metrics.jsonl is larger than 64 MB"):
            read_metrics(path)
    elif file in (CONFIG, TOKENIZER):
        assert "is larger than" in said
    assert bytes_read() - begun < MOST_READ


def test_a_file_of_short_lines_is_not_parsed_line_by_line(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = checkpoints / "odd" / METRICS
    path.write_bytes(path.read_bytes() + b"1\n" * 1_000_000)
    parse = mock.Mock(wraps=decode)
    monkeypatch.setattr(metrics, "decode", parse)
    assert len(load_metrics(path).train) == 3
    assert 0 < parse.call_count < 20


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize(
    "file",
    some((CONFIG, STATUS, PROBE, NOTE, METRICS, TOKENIZER, CARD, STATE, "snapshots", "model.safetensors", "extra"), 4),
)
@pytest.mark.parametrize("circle", ["itself", "two"])
def test_a_link_that_leads_in_a_circle(checkpoints: Path, file: str, circle: str) -> None:
    """Finding D34: `Path.resolve` raised, on the page and as a traceback of every command."""
    path = checkpoints / "odd" / file
    if path.is_dir():
        path.rename(checkpoints / "odd" / "moved")
    path.unlink(missing_ok=True)
    other = checkpoints / "odd" / "other" if circle == "two" else path
    path.symlink_to(other)
    if circle == "two":
        other.symlink_to(path)
    (checkpoints / "circle").symlink_to(checkpoints / "circle")
    listed(checkpoints)
    found = {each["name"]: each for each in list_models(checkpoints)}
    assert found["healthy"]["error"] is None
    error: Any = found.get("odd", {"error": "gone"})["error"]
    assert error is None or len(error) < MESSAGE
    refusal(checkpoints / "odd")
    holds_translator(checkpoints / "odd")
    assert not holds_translator(checkpoints / "circle")
