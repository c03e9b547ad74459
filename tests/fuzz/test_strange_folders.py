"""Thousands of strange model folders, giant values and links in a circle: a model or a short sentence, soon."""

import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.examples import examples_of
from explorer.decoding.model_summary import facts, story, title
from explorer.decoding.translator import InputError, Translator
from explorer.runs import metrics
from explorer.runs.archive import ArchiveError, export, import_zip
from explorer.runs.lifecycle import Runs
from explorer.runs.listing import description, rows
from explorer.runs.metrics import load_metrics
from explorer.runs.progress import headline_numbers, sample_table
from explorer.web import model_list
from model.checkpoint import load_model
from model.config import ConfigError, DecodeConfig
from model.durations import span
from model.file_formats import decode
from model.folder import (
    CARD,
    CONFIG,
    METRICS,
    NOTE,
    PROBE,
    SNAPSHOTS,
    STATE,
    STATUS,
    TOKENIZER,
    WEIGHTS,
    CheckpointError,
    list_models,
    summarize,
)
from model.importing.import_folder import holds_translator
from model.text.pieces import TokenizerError
from model.training.probe import read_probe
from model.training.runfolder import read_metrics
from model.user_error import MESSAGE
from tests.explorer.toy_models import save_toy
from tests.explorer.toy_runs import save_run, write_status
from tests.fuzz.inputs import damaged, paths, replaced, strange_json, strange_weights, tries, with_value
from tests.some import some

NOBODY = 65534  # a user's number without rights


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run to be changed, with everything that a folder may hold, and a healthy model beside it."""
    root = tmp_path_factory.mktemp("strange") / "checkpoints"
    save_run(root / "odd", steps=(10, 30))
    write_status(root / "odd", "running", epoch=0, eta_s=3.0, tokens_per_s=5.0, probe_step=2)
    (root / "odd" / "probe.json").write_text('{"source": "abc"}', encoding="utf-8")
    save_toy(root / "healthy", "reverse")
    return root


@contextmanager
def changed(folder: Path, file: str, content: bytes | None) -> Iterator[None]:
    """The folder with other content of one file, or without it."""
    path = folder / file
    whole = path.read_bytes()
    try:
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content)
        yield
    finally:
        path.write_bytes(whole)


def shown(checkpoints: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What lists and sidebars show of every folder: the summaries, and the rows of the Runs page, by name."""
    summaries = {each["name"]: each for each in list_models(checkpoints)}
    for each in summaries.values():
        lines = [each["error"]] if each["error"] else [title(each), story(each), *facts(each)]
        lines += [] if each["error"] else [prompt.source for prompt in examples_of(each)]
        "".join(lines).encode()
    runs = Runs(checkpoints)
    entries = runs.entries()
    for entry in entries:
        (description(entry) + entry.problem + runs.watched(entry.name)).encode()
    metrics = load_metrics(checkpoints / "odd" / METRICS)
    status = runs.peek("odd")
    if status is not None:
        headline_numbers(metrics, "exact_match")
        assert 0 <= status.share <= 1
        span(*(status.left or (0.0, 0.0)))
    sample_table(metrics.samples)
    read_probe(checkpoints / "odd")
    return summaries, {row["name"]: row for row in rows(entries)}


def filled(row: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The columns of a row; a column that no model fills is left out of the list, and one that others fill is empty."""
    return {name: row.get(name) or None for name in names}


def strange(data: st.DataObject, folder: Path) -> tuple[str, bytes | None]:
    """The name of a file of the folder, and other content of it; None if it is missing."""
    path = data.draw(st.sampled_from(sorted(path for path in folder.rglob("*") if path.is_file())))
    content = path.read_bytes()
    ways: list[st.SearchStrategy[bytes | None]] = [damaged(content), st.binary(max_size=40), st.none()]
    if path.suffix in (".json", ".jsonl"):
        ways += [strange_json(content)] * 9
    if path.suffix == ".safetensors":
        ways += [strange_weights(content)] * 3
    return path.relative_to(folder).as_posix(), data.draw(st.one_of(ways))


# Each took a page down for everybody, or was an error box on the page of its own model.
REGRESSIONS = (
    (CONFIG, ("results", "test", "exact_match"), "1" + "0" * 400),
    (CONFIG, ("results", "test", "loss"), "1e308"),
    (CONFIG, ("results", "test", "sentences"), '"\\ud800"'),
    (CONFIG, ("data", "task"), '"\\ud800"'),
    (CONFIG, ("format_version",), "9" * 5000),
    (CONFIG, ("model", "embedding_factor"), "1e308"),
    (STATUS, ("step",), "9" * 5000),
    (STATUS, ("error",), '"\\ud800"'),
    (STATUS, ("updated",), "1e15"),
    (METRICS, (1, "samples"), "3"),
    (METRICS, (1, "samples", 0, "source"), '"\\ud800"'),
    (METRICS, (1,), "[" * 20_000),
    (METRICS, (0, "step"), "9" * 5000),
)


@pytest.mark.parametrize(("file", "way", "text"), REGRESSIONS)
def test_what_took_a_page_down_does_so_no_more(checkpoints: Path, file: str, way: tuple[Any, ...], text: str) -> None:
    lines = (checkpoints / "odd" / file).read_bytes().splitlines()
    if file == METRICS:
        lines[way[0]] = with_value(lines[way[0]], way[1:], text)
        hurts_nobody(checkpoints, file, b"\n".join(lines))
    else:
        hurts_nobody(checkpoints, file, with_value(b"\n".join(lines), way, text))


@tries(50)
@given(data=st.data())
def test_strange_folders_are_a_model_or_a_sentence_and_hurt_nobody(checkpoints: Path, data: st.DataObject) -> None:
    hurts_nobody(checkpoints, *strange(data, checkpoints / "odd"))


def hurts_nobody(checkpoints: Path, file: str, content: bytes | None) -> None:
    """With this content of a file, the folder opens or is refused with a sentence, and others are as before."""
    odd = checkpoints / "odd"
    healthy, row = summarize(checkpoints / "healthy"), shown(checkpoints)[1]["healthy"]
    with changed(odd, file, content):
        summaries, table = shown(checkpoints)
        assert summaries["healthy"] == healthy
        assert filled(table["healthy"], row) == filled(row, row)
        said = summaries.get("odd", {"error": "There is no config.json."})["error"]
        if said is None:
            try:
                read_weights(odd, file)
            except CheckpointError as unfit:
                said = str(unfit)
    assert said is None or said.strip().endswith((".", "?"))


def read_weights(folder: Path, changed: str) -> None:
    """If the changed file is part of the model, open it and translate; if it is a snapshot, load that."""
    if changed.startswith(SNAPSHOTS):
        load_model(folder, snapshot=30 if "30" in changed else 10)
    elif changed in (CONFIG, TOKENIZER, WEIGHTS):
        with suppress(InputError):  # the tokenizer may know none of the words
            Translator(load_model(folder)).translate("abc", DecodeConfig(max_length=3))


@tries(30)
@given(data=st.data())
def test_import_refuses_the_same_before_anything_is_written(checkpoints: Path, data: st.DataObject) -> None:
    odd, into = checkpoints / "odd", checkpoints.parent / "imported"
    file, content = strange(data, odd)
    with changed(odd, file, content):
        whole = (exported := export(odd)).read_bytes()
        exported.unlink()
        error = summarize(odd)["error"] if (odd / "config.json").is_file() else "no config.json"
    try:
        import_zip(io.BytesIO(whole), into)
    except (ArchiveError, CheckpointError, ConfigError, TokenizerError) as refused:
        said = str(refused)
        assert not into.exists() or not any(into.iterdir())
    else:
        said = ""
        assert error is None, "imported, but listed with an error"
        assert summarize(into / "odd")["error"] is None
        shutil.rmtree(into)
    assert not said or said.endswith((".", "?"))


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="Windows has no such rights")
def test_a_folder_that_nobody_may_look_into_hurts_nobody() -> None:
    with tempfile.TemporaryDirectory() as place:
        checkpoints = Path(place) / "checkpoints"
        save_run(checkpoints / "odd", steps=(10, 30))
        save_toy(checkpoints / "healthy", "reverse")
        Path(place).chmod(0o755)
        healthy, row = summarize(checkpoints / "healthy"), shown(checkpoints)[1]["healthy"]
        with locked(checkpoints / "odd"):
            summaries, table = shown(checkpoints)
            listed = {each["name"]: each["error"] for each in model_list.summaries(checkpoints)}
            assert Runs(checkpoints).statuses() == []
        assert summaries["healthy"] == healthy
        assert filled(table["healthy"], row) == filled(row, row)
        assert summaries["odd"]["error"] == listed["odd"] == "odd cannot be read: Permission denied."
        assert listed["healthy"] is None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """A folder without rights, looked at as a user whom the system does not let into everything."""
    user, rights = os.geteuid(), folder.stat().st_mode
    folder.chmod(0)
    try:
        os.seteuid(user or NOBODY)
        yield
    finally:
        os.seteuid(user)
        folder.chmod(rights)


GIANT, LARGE = 20_000_000, 900_000  # above and below the size of the files that are read
FILLERS = ("x", "ab ", "\u0301", "\u202e", "\u200b", "\n")
MOST_TEXT = 1000  # characters that one folder may add to all that is listed of it; markup comes on top
MOST_READ = 200 * 1024**2  # bytes that one list of all folders may read of a giant, metrics included


@pytest.fixture
def folders(tmp_path: Path) -> Path:
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


def listed(folders: Path) -> int:
    """The number of characters that lists and sidebars show of all folders."""
    texts: list[str] = []
    for each in list_models(folders):
        examples = [] if each["error"] else [prompt.source for prompt in examples_of(each)]
        texts += [each["error"]] if each["error"] else [title(each), story(each), *facts(each), *examples]
    runs = Runs(folders)
    entries = runs.entries()
    texts += [description(entry) + entry.problem + runs.watched(entry.name) + entry.note for entry in entries]
    return sum(map(len, [*texts, str(rows(entries))]))


@pytest.mark.parametrize("size", some((GIANT, LARGE), 2))
@pytest.mark.parametrize("file", [CONFIG, STATUS, PROBE, NOTE, METRICS, TOKENIZER])
def test_a_value_of_any_length_adds_a_sentence_to_a_page(folders: Path, file: str, size: int) -> None:
    before = listed(folders)
    path = folders / "odd" / file
    *lines, last = path.read_bytes().splitlines() if file == METRICS else [path.read_bytes()]
    value = json.loads(last)
    ways = paths(value)
    for number, way in enumerate(ways if size == LARGE else ways[:: max(1, len(ways) // 3)]):
        filler = FILLERS[number % len(FILLERS)]
        giant = replaced(value, way, filler * (size // len(filler.encode())))
        path.write_bytes(b"\n".join([*lines, json.dumps(giant, ensure_ascii=False).encode()]))
        added = listed(folders) - before
        assert added < MOST_TEXT, (way, filler, added)
        if file in (CONFIG, TOKENIZER):
            refusal(folders / "odd")


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
def test_a_sparse_giant_is_not_read_to_its_end(folders: Path, file: str) -> None:
    path = folders / "odd" / file
    path.parent.mkdir(exist_ok=True)
    with open(path, "ab") as whole:
        try:
            os.truncate(whole.fileno(), SPARSE)
        except OSError:
            pytest.skip("this file system has no sparse files")
    begun = bytes_read()
    listed(folders)
    said = refusal(folders / "odd")
    metrics = load_metrics(folders / "odd" / METRICS)
    assert [point["step"] for point in metrics.train] == [10, 20, 30]
    if file == METRICS:
        with pytest.raises(CheckpointError, match=r"odd/metrics.jsonl is larger than 64 MB"):
            read_metrics(path)
    elif file in (CONFIG, TOKENIZER):
        assert "is larger than" in said
    assert bytes_read() - begun < MOST_READ


def test_a_file_of_short_lines_is_not_parsed_line_by_line(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folders / "odd" / METRICS
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
def test_a_link_that_leads_in_a_circle(folders: Path, file: str, circle: str) -> None:
    """Finding D34: `Path.resolve` raised, on the page and as a traceback of every command."""
    path = folders / "odd" / file
    if path.is_dir():
        path.rename(folders / "odd" / "moved")
    path.unlink(missing_ok=True)
    other = folders / "odd" / "other" if circle == "two" else path
    path.symlink_to(other)
    if circle == "two":
        other.symlink_to(path)
    (folders / "circle").symlink_to(folders / "circle")
    listed(folders)
    found = {each["name"]: each for each in list_models(folders)}
    assert found["healthy"]["error"] is None
    error: Any = found.get("odd", {"error": "gone"})["error"]
    assert error is None or len(error) < MESSAGE
    refusal(folders / "odd")
    holds_translator(folders / "odd")
    assert not holds_translator(folders / "circle")
