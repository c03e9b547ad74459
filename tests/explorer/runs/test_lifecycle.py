"""Starting, stopping, renaming, deleting and listing runs."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from explorer.runs import lifecycle
from explorer.runs.lifecycle import MAX_PROBE_TEXT, Runs
from explorer.runs.process import LAUNCHES, Launch, RunError, exit_code, read_launch
from model.folder import CARD, PROBE, SHIPPED, STATUS, STOP, CheckpointError
from model.training.probe import read_probe
from tests.explorer.runs.test_status import WAIT, gone, wait_until
from tests.explorer.toy_models import save_toy
from tests.explorer.toy_runs import save_run, write_status


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    """Runs in a separate folder; all processes started there are ended."""
    found = Runs(tmp_path / "checkpoints")
    yield found
    for path in (found.checkpoints / LAUNCHES).glob("*.json"):
        launch = read_launch(found.checkpoints, path.stem)
        if launch is not None and launch.alive:
            psutil.Process(launch.pid).kill()


def started(runs: Runs, name: str = "mine") -> Launch:
    runs.start(name, WAIT)
    launch = runs.launch(name)
    assert launch is not None
    return launch


def test_an_empty_folder_and_none_at_all(runs: Runs) -> None:
    assert runs.entries() == []
    assert runs.statuses() == []
    assert runs.status("nothing") is None
    assert runs.entry("nothing") is None


def test_start_makes_a_process_that_is_listed_at_once(runs: Runs) -> None:
    launch = started(runs)
    assert launch.alive
    assert launch.arguments == tuple(WAIT)
    assert [(entry.name, entry.busy) for entry in runs.entries()] == [("mine", True)]
    assert [status.state for status in runs.statuses()] == ["starting"]


@pytest.mark.parametrize("name", ["../x", "", "a/b", "con", ".hidden", "x" * 65, "näme"])
def test_impossible_names_start_nothing(runs: Runs, name: str) -> None:
    with pytest.raises(CheckpointError, match="cannot name a model"):
        runs.start(name, WAIT)
    assert not (runs.checkpoints / LAUNCHES).exists()


def test_a_name_is_used_once(runs: Runs) -> None:
    save_run(runs.checkpoints / "old")
    started(runs)
    for taken in ("old", "mine", SHIPPED[0]):
        with pytest.raises(RunError, match="already"):
            runs.start(taken, WAIT)
    assert runs.free_name("fresh") == "fresh"
    assert runs.free_name("old") == "old-2"
    assert runs.free_name(SHIPPED[0]) == f"{SHIPPED[0]}-2"


def test_stop_leaves_a_file_for_a_run_that_can_see_it(runs: Runs) -> None:
    folder = save_run(runs.checkpoints / "mine", state="running")
    runs.stop("mine")
    assert (folder / STOP).read_bytes() == b""
    status = runs.status("mine")
    assert status is not None
    assert status.state == "stopping"


def test_stop_of_a_run_that_has_ended_leaves_nothing(runs: Runs) -> None:
    folder = save_run(runs.checkpoints / "mine", state="finished")
    runs.stop("mine")
    assert not (folder / STOP).exists()


def test_stop_before_there_is_a_folder_ends_the_process(runs: Runs) -> None:
    launch = started(runs)
    runs.stop("mine")
    wait_until(lambda: not launch.alive)
    assert runs.entries() == []


def test_resume_starts_the_resuming_command(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(lifecycle, "start_process", lambda checkpoints, name, arguments: asked.append(list(arguments)))
    save_run(runs.checkpoints / "mine", state="stopped")
    runs.resume("mine")
    assert asked == [["python", "-m", "model.train", "--resume", "mine", "--checkpoints", str(runs.checkpoints)]]


def test_resume_of_a_run_that_never_began_starts_it_again(runs: Runs) -> None:
    runs.start("mine", ["python", "-c", "raise SystemExit('no')"])
    first = runs.launch("mine")
    assert first is not None
    wait_until(lambda: (status := runs.status("mine")) is not None and status.state == "failed")
    runs.resume("mine")
    again = runs.launch("mine")
    assert again is not None
    assert again.arguments == first.arguments
    assert again.pid != first.pid


@pytest.mark.parametrize("state", ["running", "finished"])
def test_only_a_stopped_run_can_be_resumed(runs: Runs, state: str) -> None:
    save_run(runs.checkpoints / "mine", state=state)
    with pytest.raises(RunError, match=f"it is {state}"):
        runs.resume("mine")
    with pytest.raises(RunError, match="not a run"):
        runs.resume("nothing")


def test_rename_moves_everything_and_the_heading_of_the_card(runs: Runs) -> None:
    folder = save_run(runs.checkpoints / "old")
    (folder / CARD).write_text("# old\n\nSome text about old.\n", encoding="utf-8")
    runs.rename("old", "new")
    assert not folder.exists()
    assert (runs.folder("new") / CARD).read_text(encoding="utf-8") == "# new\n\nSome text about old.\n"
    assert runs.entry("old") is None
    entry = runs.entry("new")
    assert entry is not None
    assert entry.problem == ""
    assert entry.summary["trained"]


def test_rename_refuses(runs: Runs) -> None:
    save_run(runs.checkpoints / "mine")
    save_run(runs.checkpoints / "other")
    save_run(runs.checkpoints / "busy", state="running")
    save_toy(runs.checkpoints / SHIPPED[0], "reverse")
    with pytest.raises(CheckpointError, match="cannot name"):
        runs.rename("mine", "../mine")
    with pytest.raises(RunError, match="already"):
        runs.rename("mine", "other")
    with pytest.raises(RunError, match="being trained"):
        runs.rename("busy", "free")
    with pytest.raises(RunError, match="came with Headlight"):
        runs.rename(SHIPPED[0], "free")
    runs.rename("mine", "mine")
    assert {entry.name for entry in runs.entries()} == {"mine", "other", "busy", SHIPPED[0]}


def test_delete(runs: Runs) -> None:
    save_run(runs.checkpoints / "mine")
    save_run(runs.checkpoints / "busy", state="running")
    save_toy(runs.checkpoints / SHIPPED[0], "reverse")
    runs.delete("mine")
    with pytest.raises(RunError, match="being trained"):
        runs.delete("busy")
    with pytest.raises(RunError, match="came with Headlight"):
        runs.delete(SHIPPED[0])
    assert {path.name for path in runs.checkpoints.iterdir()} == {"busy", SHIPPED[0]}


def test_delete_of_a_run_that_never_began_forgets_it(runs: Runs) -> None:
    runs.start("mine", ["python", "-c", "raise SystemExit('no')"])
    wait_until(lambda: not runs.entries()[0].busy)
    runs.delete("mine")
    assert runs.entries() == []


def test_a_run_with_a_damaged_state_can_be_renamed_and_deleted(runs: Runs) -> None:
    folder = save_run(runs.checkpoints / "mine")
    (folder / STATUS).write_text("{")
    assert runs.peek("mine") is None
    runs.rename("mine", "yours")
    runs.delete("yours")
    assert runs.entries() == []


def test_an_active_run_is_left_alone_whatever_the_page_last_started_for_it(runs: Runs) -> None:
    """The page's own process was refused, because a process started in a terminal is active there."""
    runs.start("mine", ["python", "-c", "raise SystemExit('being trained right now.')"])
    launch = runs.launch("mine")
    assert launch is not None
    wait_until(lambda: exit_code(launch.pid) is not None)
    folder = save_run(runs.checkpoints / "mine", state="running")  # by this very process, which is older
    status = runs.status("mine")
    assert status is not None
    assert status.state == "running"
    for action in (runs.delete, runs.resume, lambda name: runs.rename(name, "other")):
        with pytest.raises(RunError, match=r"being trained|it is running"):
            action("mine")
    assert folder.is_dir()


def test_a_run_with_a_damaged_state_is_left_alone_while_its_process_lives(runs: Runs) -> None:
    started(runs)
    folder = save_run(runs.checkpoints / "mine")
    (folder / STATUS).write_text("{")
    with pytest.raises(RunError, match="stop it first"):
        runs.delete("mine")
    assert folder.is_dir()


def test_watching_is_what_the_trainer_reads(runs: Runs) -> None:
    folder = save_run(runs.checkpoints / "mine", state="running")
    assert runs.watched("mine") == ""
    runs.watch("mine", "наоборот <b>" + "x" * 1000)
    assert read_probe(folder) == runs.watched("mine") == ("наоборот <b>" + "x" * 1000)[:MAX_PROBE_TEXT]
    (folder / PROBE).write_text('{"source": 3}')
    assert runs.watched("mine") == ""
    (folder / PROBE).write_text("{")
    assert runs.watched("mine") == ""


def test_entries_list_active_runs_first_and_then_the_newest(runs: Runs) -> None:
    save_run(runs.checkpoints / "a")
    write_status(runs.checkpoints / "a", "finished", updated=time.time() + 50)
    save_run(runs.checkpoints / "b")
    write_status(runs.checkpoints / "b", "finished", updated=time.time() + 90)
    save_run(runs.checkpoints / "c")
    write_status(runs.checkpoints / "c", "running", updated=time.time() + 10)
    assert [entry.name for entry in runs.entries()] == ["c", "b", "a"]


def test_shipped_models_are_listed_last_those_with_snapshots_first(runs: Runs) -> None:
    for name in SHIPPED[:3]:
        shutil.rmtree(save_run(runs.checkpoints / name) / "snapshots", ignore_errors=True)
    watched = runs.checkpoints / SHIPPED[1] / "snapshots"
    watched.mkdir(exist_ok=True)
    (watched / "step-00000000.safetensors").write_bytes(b"")
    save_run(runs.checkpoints / "mine")
    os.utime(runs.checkpoints / "mine" / "config.json", (1, 1))
    names = [entry.name for entry in runs.entries()]
    assert names == ["mine", SHIPPED[1], SHIPPED[0], SHIPPED[2]]


def test_entries_hold_what_cannot_be_opened(runs: Runs) -> None:
    broken = save_run(runs.checkpoints / "broken")
    (broken / "config.json").write_text("{")
    damaged = save_run(runs.checkpoints / "damaged")
    (damaged / STATUS).write_text("{")
    problems = {entry.name: entry.problem for entry in runs.entries()}
    assert "config.json" in problems["broken"]
    assert STATUS in problems["damaged"]
    assert [status.name for status in runs.statuses()] == ["broken"]


def test_statuses_list_the_active_run_before_those_that_wait(runs: Runs) -> None:
    for name, state in (("a", "queued"), ("b", "running"), ("c", "finished")):
        write_status(runs.checkpoints / name, state)
    assert [status.name for status in runs.statuses()] == ["b", "a", "c"]


def test_a_dead_run_is_noticed_without_a_message(runs: Runs) -> None:
    write_status(runs.checkpoints / "mine", "running", **gone())
    assert [status.state for status in runs.statuses()] == ["failed"]


def test_records_of_launches_may_be_damaged(runs: Runs) -> None:
    (runs.checkpoints / LAUNCHES).mkdir(parents=True)
    (runs.checkpoints / LAUNCHES / "x.json").write_text(json.dumps({"pid": "many"}))
    (runs.checkpoints / LAUNCHES / "y.json").write_text("{")
    assert runs.entries() == []
