"""The state of a run, and the reason why a silent one ended."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from explorer.runs.process import LAUNCHES, NICENESS, Launch, RunError, exit_code, is_alive, last_lines, start_process
from explorer.runs.status import RunStatus, read_status
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


def test_reads_what_the_run_says(tmp_path: Path) -> None:
    assert read_status(tmp_path, "run") is None
    later = time.time() + 86_400  # the clock was set back
    write_status(tmp_path / "run", "running", eta_s=12.5, tokens_per_s=900, epoch=2, probe_step=20, updated=later)
    more = {"epoch": 2, "left": (12.5, 12.5), "tokens_per_s": 900.0, "updated": later, "probe_step": 20}
    found, me = read_status(tmp_path, "run"), psutil.Process().create_time()
    assert found == RunStatus("run", "running", 30, 60, started=me, **more)
    assert (found.busy, found.resumable, found.share) == (True, False, 0.5)
    odd = {"step": "many", "max_steps": -4, "updated": None, "error": None, "started": "today"}
    for left in ("soon", -5.0):
        write_status(tmp_path / "run", "finished", **odd, eta_s=left)
        assert read_status(tmp_path, "run") == RunStatus("run", "finished")


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
    wait_until(lambda: exit_code(launch.pid) is not None)
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
        wait_until(lambda: started > launch.started)
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
    wait_until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE)
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
        assert Launch("run", record["pid"], record["started"], tuple(record["arguments"])) == launch
    finally:
        process.kill()


def test_the_range_of_the_remaining_time(tmp_path: Path) -> None:
    for low, high, left in ((10, 20.5, (10.0, 20.5)), (13.5, "soon", (12.5, 12.5)), (None, -1, (12.5, 12.5))):
        write_status(tmp_path / "run", "running", eta_s=12.5, eta_low_s=low, eta_high_s=high)
        status = read_status(tmp_path, "run")
        assert status is not None
        assert status.left == left
