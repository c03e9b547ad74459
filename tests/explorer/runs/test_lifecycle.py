"""Starting, stopping, renaming, deleting and listing runs; the state of a run, and why a silent one ended."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from explorer.runs import lifecycle
from explorer.runs.lifecycle import Runs
from explorer.runs.process import (
    LAUNCHES,
    NICENESS,
    Launch,
    RunError,
    exit_code,
    is_alive,
    last_lines,
    read_launch,
    start_process,
)
from explorer.runs.status import read_status
from model.folder import CARD, SHIPPED, STATUS, STOP, CheckpointError
from tests.explorer.toy_models import save_toy
from tests.explorer.toy_runs import save_run, write_status
from tests.waiting import until

WAIT = ["python", "-c", "import time; time.sleep(60)"]


def gone() -> dict[str, float | int]:
    """Pid and start of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    started = psutil.Process(process.pid).create_time()
    process.wait()
    return {"pid": process.pid, "started": started}


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
    until(lambda: exit_code(launch.pid) is not None)
    return launch


def test_a_name_is_used_once(runs: Runs) -> None:
    save_run(runs.checkpoints / "old")
    started(runs)
    other = Runs(runs.checkpoints)  # another server on the same folder knows at once what this one has started
    for taken in ("old", "mine", SHIPPED[0]):
        with pytest.raises(RunError, match="already"):
            other.start(taken, WAIT)
        assert other.free_name(taken) == f"{taken}-2"
        assert "There is already" in other.unfit_name(taken)
        assert other.unfit_name(f"{taken}-2") == ""
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
    until(lambda: runs.status("mine").state == "failed")
    runs.resume("mine")
    again = runs.launch("mine")
    assert again.arguments == first.arguments
    assert again.pid != first.pid
    until(lambda: not runs.entries()[0].busy)
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


def test_entries_list_active_runs_first_and_then_the_newest(runs: Runs) -> None:
    for name, state, later in (("a", "finished", 50), ("b", "finished", 90), ("c", "running", 10)):
        save_run(runs.checkpoints / name)
        write_status(runs.checkpoints / name, state, updated=time.time() + later)
    assert [entry.name for entry in runs.entries()] == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("state", "dead", "after"),
    [
        *((state, True, "failed") for state in ("queued", "running", "stopping")),
        *((state, True, state) for state in ("stopped", "finished", "failed")),
        *((state, False, state) for state in ("queued", "running", "stopping")),
    ],
)
def test_a_dead_process_is_a_failed_run_with_a_reason(tmp_path: Path, state: str, dead: bool, after: str) -> None:
    write_status(tmp_path / "run", state, **(gone() if dead else {}))
    found = read_status(tmp_path, "run")
    assert (found.state, found.busy) == (after, not dead)
    if after == "failed" != state:
        assert found.resumable
        assert "killed at step 30, most likely by the system because memory ran out" in found.error
        assert found.error.endswith("Resume continues from the last save.")
        # A pid that another process has by now is not the run.
        write_status(tmp_path / "run", state, started=psutil.Process().create_time() - 3600)
        assert read_status(tmp_path, "run").state == "failed"
    if state == "running" == after:
        (tmp_path / "run" / STOP).touch()
        assert read_status(tmp_path, "run").state == "stopping", "a stop file shows at once"


@pytest.mark.parametrize(
    ("updated", "free", "log", "said"),
    [
        (psutil.boot_time() - 60, 10**12, "", "restarted"),
        (2e9, 1000, "", "The disk is full"),
        (2e9, 10**12, "step 20\nterminate called: std::bad_alloc\n", "Memory ran out"),
    ],
)
def test_the_reason_of_a_death(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, updated: float, free: int, log: str, said: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    write_status(tmp_path / "run", "running", **gone(), updated=updated)
    (tmp_path / LAUNCHES).mkdir()
    (tmp_path / LAUNCHES / "run.log").write_text(log)
    assert said in read_status(tmp_path, "run").error


def ended(tmp_path: Path, program: str) -> Launch:
    launch = start_process(tmp_path, "run", ["python", "-c", program])
    until(lambda: exit_code(launch.pid) is not None)
    return launch


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_the_reason_is_a_signal_when_this_server_was_the_parent(tmp_path: Path) -> None:
    launch = ended(tmp_path, "import os; os.kill(os.getpid(), 15)")
    write_status(tmp_path / "run", "running", pid=launch.pid, started=launch.started)
    assert "(SIGTERM)" in read_status(tmp_path, "run", launch).error


@pytest.mark.parametrize("resumed", [False, True])
def test_a_command_that_refused_is_quoted(tmp_path: Path, resumed: bool) -> None:
    if resumed:
        write_status(tmp_path / "run", "stopped", **gone())
    refuse = r"import sys; print('x' * 100_000, flush=True); sys.stderr.buffer.write(b'no task \xff.\n'); sys.exit(2)"
    found = read_status(tmp_path, "run", ended(tmp_path, refuse))
    assert (found.state, found.error, found.step) == ("failed", "no task \ufffd.", 30 if resumed else 0)
    assert sum(map(len, last_lines(tmp_path, "run"))) < 20_000, "only the end of a log is read"


def test_a_run_resumed_in_a_terminal_is_not_called_failed(tmp_path: Path) -> None:
    """The page's own process was killed; the run was resumed by hand later, under another pid."""
    launch = ended(tmp_path, "import sys; sys.exit(1)")
    later = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        started = psutil.Process(later.pid).create_time()
        until(lambda: started > launch.started)
        write_status(tmp_path / "run", "running", pid=later.pid, started=started)
        found = read_status(tmp_path, "run", launch)
        assert (found.state, found.error) == ("running", "")
    finally:
        later.kill()
        later.wait()


@pytest.mark.parametrize("content", ["", "[]", '{"state": "dancing"}', '{"state": ["running"]}'])
def test_a_damaged_state_gets_a_message(tmp_path: Path, content: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / STATUS).write_text(content)
    with pytest.raises(CheckpointError, match=STATUS):
        read_status(tmp_path, "run")


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no zombies")
def test_a_zombie_is_not_alive() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    started = psutil.Process(process.pid).create_time()
    until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE)
    assert not is_alive(process.pid, started)
    process.wait()


@pytest.mark.skipif(os.name == "nt", reason="niceness of POSIX")
@pytest.mark.parametrize(("given", "nice"), [(None, 10), ("0", 0), ("19", 19)])
def test_a_started_process_yields_to_the_page_and_outlives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str | None, nice: int
) -> None:
    for invalid in ("", "20", "-1", "low", "1.5"):
        monkeypatch.setenv(NICENESS, invalid)
        with pytest.raises(RunError, match="a whole number from 0 to 19"):
            start_process(tmp_path, "run", WAIT)
    assert not list(tmp_path.iterdir())
    monkeypatch.delenv(NICENESS)
    if given is not None:
        monkeypatch.setenv(NICENESS, given)
    launch = start_process(tmp_path, "run", WAIT)
    process = psutil.Process(launch.pid)
    try:
        assert process.nice() == max(nice, psutil.Process().nice())
        session = Path(f"/proc/{launch.pid}/autogroup")
        assert not session.exists() or session.read_text().split()[-2:] == ["nice", str(nice)]
        assert os.getsid(launch.pid) != os.getsid(0)
        record = json.loads((tmp_path / LAUNCHES / "run.json").read_text())
        words = tuple(record["arguments"])
        assert Launch("run", record["pid"], record["started"], words, words) == launch
    finally:
        process.kill()
