"""Thousands of strange model folders through every reader: a model or a sentence, and nothing changes for others."""

import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.examples import examples_of
from explorer.decoding.model_summary import facts, story, title
from explorer.decoding.translator import InputError, Translator
from explorer.runs.archive import ArchiveError, export, import_zip
from explorer.runs.head_history import load_snapshot
from explorer.runs.lifecycle import Runs
from explorer.runs.listing import description, rows, summary
from explorer.runs.metrics import load_metrics
from explorer.runs.process import LAUNCHES
from explorer.runs.progress import headline_numbers, sample_table
from explorer.web import model_list
from model.checkpoint import load_model
from model.config import ConfigError, DecodeConfig
from model.durations import span
from model.folder import CONFIG, METRICS, SNAPSHOTS, STATUS, TOKENIZER, WEIGHTS, CheckpointError, list_models, summarize
from model.text.pieces import TokenizerError
from model.trace import AttentionTrace, TraceError
from model.training.probe import read_probe
from tests.explorer.planted import planted_trace
from tests.explorer.toy_models import save_toy
from tests.explorer.toy_runs import save_run, write_status
from tests.fuzz.inputs import _TIMES, damaged, tries
from tests.fuzz.inputs import changed as changed_json
from tests.fuzz.strange_folders import Strange, strange_files

NOBODY = 65534  # a user's number without rights
FOLDERS = 50 * _TIMES  # `HEADLIGHT_FUZZ=200` tries them nearly all


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
def changed(folder: Path, strange: Strange) -> Iterator[None]:
    """The folder with one file changed."""
    path = folder / strange.file
    whole = path.read_bytes()
    try:
        if strange.content is None:
            path.unlink()
        else:
            path.write_bytes(strange.content)
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
    summary(entries)
    metrics = load_metrics(checkpoints / "odd" / METRICS)
    status = runs.peek("odd")
    if status is not None:
        headline_numbers(metrics, status, "exact_match")
        assert 0 <= status.share <= 1
        span(*(status.left or (0.0, 0.0)))
    sample_table(metrics.samples)
    read_probe(checkpoints / "odd")
    return summaries, {row["name"]: row for row in rows(entries)}


def filled(row: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The columns of a row; a column that no model fills is left out of the list, and one that others fill is empty."""
    return {name: row.get(name) or None for name in names}


# Each took a page down for everybody, or was an error box on the page of its own model.
REGRESSIONS = {
    (CONFIG, "results.test.exact_match = 1" + "0" * 39),
    (CONFIG, "results.test.loss = 1e308"),
    (CONFIG, 'results.test.sentences = "\\ud800"'),
    (CONFIG, 'data.task = "\\ud800"'),
    (CONFIG, "format_version = " + "9" * 40),
    (CONFIG, "model.embedding_factor = 1e308"),
    (STATUS, "step = " + "9" * 40),
    (STATUS, 'error = "\\ud800"'),
    (STATUS, "updated = 1e15"),
    (METRICS, "1.samples = 3"),
    (METRICS, '1.samples.0.source = "\\ud800"'),
    (METRICS, "1 = " + "[" * 40),
    (METRICS, "0.step = " + "9" * 40),
}


def test_strange_folders_are_a_model_or_a_sentence_and_hurt_nobody(
    checkpoints: Path, record_property: Callable[[str, object], None]
) -> None:
    odd = checkpoints / "odd"
    variants = strange_files(odd)
    assert len(variants) >= FOLDERS or _TIMES > 1
    healthy, row = summarize(checkpoints / "healthy"), shown(checkpoints)[1]["healthy"]
    known = [variant for variant in variants if (variant.file, variant.what) in REGRESSIONS]
    assert {(variant.file, variant.what) for variant in known} == REGRESSIONS
    refused = opened = 0
    said: list[str] = []
    for strange in (chosen := [*variants[:FOLDERS], *known]):
        with changed(odd, strange):
            try:
                try:
                    summaries, table = shown(checkpoints)
                except CheckpointError as reaches_all:
                    raise AssertionError(f"the lists failed: {reaches_all}") from reaches_all
                assert summaries["healthy"] == healthy
                assert filled(table["healthy"], row) == filled(row, row)
                error = summaries.get("odd", {"error": "There is no config.json."})["error"]
                if error is None:
                    read_weights(odd, strange.file)
                    opened += 1
                else:
                    refused += 1
                    said.append(error)
            except CheckpointError as unfit:
                refused += 1
                said.append(str(unfit))
            except Exception as fault:
                raise AssertionError(f"{strange.file}: {strange.what}: {type(fault).__name__}: {fault}") from fault
    assert [sentence for sentence in said if not sentence.strip().endswith((".", "?"))] == []
    assert refused + opened == len(chosen)
    record_property("tried", f"{refused + opened:,} mutated folders: {refused:,} refused, {opened:,} opened")
    assert min(refused, opened) > 0.1 * FOLDERS, "the variants are all alike"


def read_weights(folder: Path, changed: str) -> None:
    """If the changed file is part of the model, open it and translate; if it is a snapshot, load that."""
    if changed.startswith(SNAPSHOTS):
        load_snapshot(folder, 30 if "30" in changed else 10)
    elif changed in (CONFIG, TOKENIZER, WEIGHTS):
        with suppress(InputError):  # the tokenizer may know none of the words
            Translator(load_model(folder)).translate("abc", DecodeConfig(max_length=3))


@tries(40)
@given(launch=changed_json({"pid": 1, "started": 1.0, "arguments": ["python", "-m", "model.train"]}))
def test_a_launch_that_says_anything(checkpoints: Path, launch: Any) -> None:
    (checkpoints / LAUNCHES).mkdir(exist_ok=True)
    path = checkpoints / LAUNCHES / "odd.json"
    try:
        path.write_text(json.dumps(launch), encoding="utf-8")
        shown(checkpoints)
    finally:
        path.unlink()


@tries(60)
@given(data=st.data())
def test_an_answer_with_damage(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("answer")
    planted_trace().save_npz(folder / "whole.npz")
    (folder / "probe.npz").write_bytes(data.draw(damaged((folder / "whole.npz").read_bytes())))
    with suppress(TraceError):
        AttentionTrace.load_npz(folder / "probe.npz")
    shutil.rmtree(folder)


def test_import_refuses_the_same_before_anything_is_written(checkpoints: Path, tmp_path: Path) -> None:
    odd = checkpoints / "odd"
    accepted, said = 0, []
    for strange in strange_files(odd, seed=1)[:40]:
        with changed(odd, strange):
            whole = (exported := export(odd)).read_bytes()
            exported.unlink()
            error = summarize(odd)["error"] if (odd / "config.json").is_file() else "no config.json"
        into = tmp_path / "imported"
        try:
            import_zip(io.BytesIO(whole), into)
        except (ArchiveError, CheckpointError, ConfigError, TokenizerError) as refused:
            said.append(str(refused))
            assert not into.exists() or not any(into.iterdir())
        else:
            accepted += 1
            assert error is None, f"{strange.file}: {strange.what}: imported, but listed with: {error}"
            assert summarize(into / "odd")["error"] is None
            shutil.rmtree(into)
    assert [sentence for sentence in said if not sentence.endswith((".", "?"))] == []
    assert 0 < accepted < 40


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
