"""Starting, stopping, renaming, deleting and listing runs."""

import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from explorer.runs import lifecycle
from explorer.runs.lifecycle import Runs
from explorer.runs.process import LAUNCHES, Launch, RunError, exit_code, read_launch
from model.folder import CARD, SHIPPED, STATUS, STOP, CheckpointError
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


def started(runs: Runs, name: str = "mine", arguments: Sequence[str] = WAIT) -> Launch:
    runs.start(name, arguments)
    launch = runs.launch(name)
    assert launch is not None
    return launch


def refusing(runs: Runs) -> Launch:
    """A launch whose process has refused to train."""
    launch = started(runs, arguments=["python", "-c", "raise SystemExit('being trained right now.')"])
    wait_until(lambda: exit_code(launch.pid) is not None)
    return launch


def test_start_makes_a_process_that_is_listed_at_once_and_stop_ends_it(runs: Runs) -> None:
    assert runs.entries() == runs.statuses() == []
    assert runs.status("mine") is runs.entry("mine") is None
    launch = started(runs)
    assert launch.alive
    assert launch.arguments == tuple(WAIT)
    assert [(entry.name, entry.busy) for entry in runs.entries()] == [("mine", True)]
    assert [status.state for status in runs.statuses()] == ["starting"]
    # With a folder whose state is damaged, it is left alone while its process lives.
    folder = save_run(runs.checkpoints / "mine")
    (folder / STATUS).write_text("{")
    with pytest.raises(RunError, match="stop it first"):
        runs.delete("mine")
    shutil.rmtree(folder)
    runs.stop("mine")
    wait_until(lambda: not launch.alive)
    assert runs.entries() == []


def test_a_name_is_used_once(runs: Runs) -> None:
    save_run(runs.checkpoints / "old")
    started(runs)
    other = Runs(runs.checkpoints)  # another server on the same folder knows at once what this one has started
    for taken in ("old", "mine", SHIPPED[0]):
        with pytest.raises(RunError, match="already"):
            other.start(taken, WAIT)
        assert other.free_name(taken) == f"{taken}-2"
    assert other.free_name("fresh") == "fresh"
    assert other.status("mine").state == "starting"
    with pytest.raises(RunError, match="stop it first"):
        other.delete("mine")


@pytest.mark.parametrize(("state", "after"), [("running", "stopping"), ("finished", "finished")])
def test_stop_leaves_a_file_for_a_run_that_can_see_it(runs: Runs, state: str, after: str) -> None:
    folder = save_run(runs.checkpoints / "mine", state=state)
    runs.stop("mine")
    assert (folder / STOP).exists() == (state == "running")
    assert runs.status("mine").state == after


def test_resume_starts_the_resuming_command(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(lifecycle, "start_process", lambda checkpoints, name, arguments: asked.append(list(arguments)))
    save_run(runs.checkpoints / "mine", state="stopped")
    runs.resume("mine")
    assert asked == [["python", "-m", "model.train", "--resume", "mine", "--checkpoints", str(runs.checkpoints)]]


def test_a_run_that_never_began_is_started_again_or_forgotten(runs: Runs) -> None:
    first = refusing(runs)
    wait_until(lambda: runs.status("mine").state == "failed")
    runs.resume("mine")
    again = runs.launch("mine")
    assert again.arguments == first.arguments
    assert again.pid != first.pid
    wait_until(lambda: not runs.entries()[0].busy)
    runs.delete("mine")
    assert runs.entries() == []


@pytest.mark.parametrize("state", ["running", "finished"])
def test_only_a_stopped_run_can_be_resumed(runs: Runs, state: str) -> None:
    save_run(runs.checkpoints / "mine", state=state)
    with pytest.raises(RunError, match=f"Its state: {state}"):
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
    assert (runs.entry("new").problem, runs.entry("new").summary["trained"]) == ("", True)
    # With a damaged state as well; then it can be deleted.
    (runs.folder("new") / STATUS).write_text("{")
    assert runs.peek("new") is None
    runs.rename("new", "newer")
    runs.delete("newer")
    runs.delete("newer")  # as from another tab
    assert runs.entries() == []


def test_what_start_rename_and_delete_refuse(runs: Runs) -> None:
    for name, state in (("mine", "finished"), ("other", "finished"), ("busy", "running")):
        save_run(runs.checkpoints / name, state=state)
    save_toy(runs.checkpoints / SHIPPED[0], "reverse")
    for action, said in (
        (lambda: runs.start("../x", WAIT), "cannot name"),
        (lambda: runs.rename("mine", "../mine"), "cannot name"),
        (lambda: runs.rename("mine", "other"), "already"),
        (lambda: runs.rename("busy", "free"), "being trained"),
        (lambda: runs.rename(SHIPPED[0], "free"), "came with Headlight"),
        (lambda: runs.delete("busy"), "being trained"),
        (lambda: runs.delete(SHIPPED[0]), "came with Headlight"),
    ):
        with pytest.raises((RunError, CheckpointError), match=said):
            action()
    assert not (runs.checkpoints / LAUNCHES).exists()
    runs.rename("mine", "mine")
    assert {entry.name for entry in runs.entries()} == {"mine", "other", "busy", SHIPPED[0]}


def test_an_active_run_is_left_alone_whatever_the_page_last_started_for_it(runs: Runs) -> None:
    """The page's own process was refused, because a process started in a terminal is active there."""
    refusing(runs)
    folder = save_run(runs.checkpoints / "mine", state="running")  # by this very process, which is older
    assert runs.status("mine").state == "running"
    for action in (runs.delete, runs.resume, lambda name: runs.rename(name, "other")):
        with pytest.raises(RunError, match=r"being trained|Its state: running"):
            action("mine")
    assert folder.is_dir()


def test_statuses_list_the_active_run_before_those_that_wait_and_notice_a_dead_one(runs: Runs) -> None:
    for name, state in (("a", "queued"), ("b", "running"), ("c", "finished")):
        write_status(runs.checkpoints / name, state)
    assert [status.name for status in runs.statuses()] == ["b", "a", "c"]
    write_status(runs.checkpoints / "b", "running", **gone())
    assert runs.status("b").state == "failed"
    (runs.checkpoints / LAUNCHES).mkdir(parents=True)
    for name, damaged in (("x", '{"pid": "many"}'), ("y", "{")):
        (runs.checkpoints / LAUNCHES / f"{name}.json").write_text(damaged)
    assert len(runs.statuses()) == 3, "records of launches may be damaged"


def test_entries_list_active_runs_first_and_then_the_newest(runs: Runs) -> None:
    for name, state, later in (("a", "finished", 50), ("b", "finished", 90), ("c", "running", 10)):
        save_run(runs.checkpoints / name)
        write_status(runs.checkpoints / name, state, updated=time.time() + later)
    assert [entry.name for entry in runs.entries()] == ["c", "b", "a"]
