"""The state of a run, and the reason why a silent one ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from explorer.runs import process as run_process
from explorer.runs import status as run_status
from explorer.runs.process import LAUNCHES, NICENESS, Launch, RunError, is_alive, last_lines, start_process
from explorer.runs.status import RunStatus, age, clock, read_status
from model.folder import STATUS, STOP, CheckpointError
from tests.explorer.toy_runs import write_status

WAIT = ["python", "-c", "import time; time.sleep(60)"]


def wait_until(true: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def gone() -> dict[str, float | int]:
    """Pid and start of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    started = psutil.Process(process.pid).create_time()
    process.wait()
    return {"pid": process.pid, "started": started}


def test_a_model_without_a_run_has_no_state(tmp_path: Path) -> None:
    assert read_status(tmp_path, "model") is None


def test_reads_what_the_run_says(tmp_path: Path) -> None:
    write_status(tmp_path / "run", "running", eta_s=12.5, tokens_per_s=900, epoch=2, probe_step=20)
    found = read_status(tmp_path, "run")
    assert found == RunStatus(
        "run",
        "running",
        30,
        60,
        epoch=2,
        eta_s=12.5,
        tokens_per_s=900.0,
        updated=2e9,
        probe_step=20,
        started=found.started,
    )
    assert found.started == psutil.Process().create_time()
    assert found.busy
    assert not found.resumable
    assert found.share == 0.5


def test_a_stop_file_shows_at_once(tmp_path: Path) -> None:
    write_status(tmp_path / "run", "running")
    (tmp_path / "run" / STOP).touch()
    found = read_status(tmp_path, "run")
    assert found is not None
    assert found.state == "stopping"


def test_a_reused_pid_is_not_the_run(tmp_path: Path) -> None:
    write_status(tmp_path / "run", "running", started=psutil.Process().create_time() - 3600)
    found = read_status(tmp_path, "run")
    assert found is not None
    assert found.state == "failed"


@pytest.mark.parametrize("state", ["stopped", "finished", "failed"])
def test_an_ended_run_needs_no_process(tmp_path: Path, state: str) -> None:
    write_status(tmp_path / "run", state, **gone())
    found = read_status(tmp_path, "run")
    assert found is not None
    assert found.state == state
    assert not found.busy


@pytest.mark.parametrize("state", ["queued", "running", "stopping"])
def test_a_dead_process_is_a_failed_run_with_a_reason(tmp_path: Path, state: str) -> None:
    write_status(tmp_path / "run", state, **gone())
    found = read_status(tmp_path, "run")
    assert found is not None
    assert found.state == "failed"
    assert found.resumable
    assert "killed at step 30, most likely by the system because memory ran out" in found.error
    assert found.error.endswith("Resume continues from the last save.")


def test_the_reason_is_a_restart_of_the_computer(tmp_path: Path) -> None:
    write_status(tmp_path / "run", "running", **gone(), updated=psutil.boot_time() - 60)
    found = read_status(tmp_path, "run")
    assert found is not None
    assert "restarted" in found.error


def test_the_reason_is_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1000})())
    write_status(tmp_path / "run", "running", **gone())
    found = read_status(tmp_path, "run")
    assert found is not None
    assert found.error.startswith("The disk is full")


def test_the_reason_is_taken_from_the_log(tmp_path: Path) -> None:
    write_status(tmp_path / "run", "running", **gone())
    (tmp_path / LAUNCHES).mkdir()
    (tmp_path / LAUNCHES / "run.log").write_text("step 20\nterminate called: std::bad_alloc\n")
    found = read_status(tmp_path, "run")
    assert found is not None
    assert found.error.startswith("Memory ran out")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_the_reason_is_a_signal_when_this_server_was_the_parent(tmp_path: Path) -> None:
    launch = start_process(tmp_path, "run", WAIT)
    write_status(tmp_path / "run", "running", pid=launch.pid, started=launch.started)
    os.kill(launch.pid, signal.SIGTERM)
    wait_until(lambda: run_process.exit_code(launch.pid) is not None)
    found = read_status(tmp_path, "run", launch)
    assert found is not None
    assert "(SIGTERM)" in found.error


def test_a_process_without_a_folder_is_starting(tmp_path: Path) -> None:
    launch = start_process(tmp_path, "run", WAIT)
    try:
        found = read_status(tmp_path, "run", launch)
        assert found is not None
        assert found.state == "starting"
        assert found.busy
    finally:
        psutil.Process(launch.pid).kill()
    wait_until(lambda: not launch.alive)


def test_a_command_that_refused_is_quoted(tmp_path: Path) -> None:
    launch = start_process(
        tmp_path, "run", ["python", "-c", "import sys; print('usage'); sys.exit('there is no task x.')"]
    )
    wait_until(lambda: run_process.exit_code(launch.pid) is not None)
    found = read_status(tmp_path, "run", launch)
    assert found is not None
    assert (found.state, found.error) == ("failed", "there is no task x.")


def test_a_resume_that_refused_is_quoted(tmp_path: Path) -> None:
    write_status(tmp_path / "run", "stopped", **gone())
    launch = start_process(tmp_path, "run", ["python", "-c", "import sys; sys.exit('its state is damaged.')"])
    wait_until(lambda: run_process.exit_code(launch.pid) is not None)
    found = read_status(tmp_path, "run", launch)
    assert found is not None
    assert (found.state, found.error, found.step) == ("failed", "its state is damaged.", 30)


def test_a_run_resumed_in_a_terminal_is_not_called_failed(tmp_path: Path) -> None:
    """The page's own process was killed; the run was resumed by hand later, under another pid."""
    launch = start_process(tmp_path, "run", ["python", "-c", "import sys; sys.exit(1)"])
    wait_until(lambda: run_process.exit_code(launch.pid) is not None)
    later = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        started = psutil.Process(later.pid).create_time()
        wait_until(lambda: started > launch.started)
        write_status(tmp_path / "run", "running", pid=later.pid, started=started)
        found = read_status(tmp_path, "run", launch)
        assert found is not None
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


def test_odd_values_do_no_harm(tmp_path: Path) -> None:
    write_status(
        tmp_path / "run", "finished", step="many", max_steps=-4, eta_s="soon", updated=None, error=None, started="today"
    )
    found = read_status(tmp_path, "run")
    assert found == RunStatus("run", "finished")


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no zombies")
def test_a_zombie_is_not_alive() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    started = psutil.Process(process.pid).create_time()
    wait_until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE)
    assert not is_alive(process.pid, started)
    process.wait()


@pytest.mark.skipif(os.name == "nt", reason="niceness of POSIX")
@pytest.mark.parametrize(("given", "nice"), [(None, 10), ("0", 0), ("19", 19)])
def test_a_started_process_yields_to_the_page_and_outlives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str | None, nice: int
) -> None:
    monkeypatch.delenv(NICENESS, raising=False)
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
        assert Launch("run", record["pid"], record["started"], tuple(record["arguments"])) == launch
    finally:
        process.kill()


@pytest.mark.parametrize("given", ["", "20", "-1", "low", "1.5"])
def test_an_invalid_niceness_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv(NICENESS, given)
    with pytest.raises(RunError, match="a whole number from 0 to 19"):
        start_process(tmp_path, "run", WAIT)
    assert not list(tmp_path.iterdir())


def test_only_the_end_of_a_log_is_read(tmp_path: Path) -> None:
    (tmp_path / LAUNCHES).mkdir()
    (tmp_path / LAUNCHES / "run.log").write_bytes(b"x" * 100_000 + b"\n\xff last words \n\n")
    said = last_lines(tmp_path, "run")
    assert said[-1] == "\ufffd last words"
    assert sum(map(len, said)) < 20_000


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (59.6, "1 min 00 s"), (200, "3 min 20 s"), (7500, "2 h 05 min"), (90_000, "1 day 1 h")],
)
def test_durations(seconds: float, words: str) -> None:
    assert clock(seconds) == words


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (-5, "just now"),
        (30, "just now"),
        (90, "1 min ago"),
        (7300, "2 h ago"),
        (86_400, "1 day ago"),
        (3e5, "3 days ago"),
    ],
)
def test_ages(passed: float, words: str) -> None:
    assert age(1e9, now=1e9 + passed) == words


def test_states_are_those_of_the_design() -> None:
    assert set(run_status.STATES) - {"starting"} == {"queued", "running", "stopping", "stopped", "finished", "failed"}
