"""One command, in processes of its own: a second start, the signals, and what a killed command leaves behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from explorer.launch.server import answers
from tests.browser import free_port
from tests.paths import ROOT
from tests.waiting import until

PATIENCE = 60.0  # seconds; a busy machine is not a defect
END_SECONDS = 3.0


class Started:
    """`python -m explorer --no-open …` in a process of its own."""

    def __init__(self, folder: Path, port: int, *arguments: str) -> None:
        self._log = (folder / f"{time.monotonic_ns()}.log").open("w+", encoding="utf-8")
        self.url = f"http://localhost:{port}"
        # Started elsewhere, with a module there that has the name of ours.
        (folder / "model.py").write_text("raise SystemExit('not this model')")
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700, exist_ok=True)
        environment = os.environ | {"XDG_RUNTIME_DIR": str(runtime), "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "explorer", "--no-open", "--port", str(port), *arguments],
            cwd=folder,
            env=environment,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    def said(self) -> str:
        return Path(self._log.name).read_text(encoding="utf-8")

    def wait_until_ready(self) -> psutil.Process:
        """Wait for the address; returns the server's process."""
        took = until(lambda: "(Ctrl-C ends it)" in self.said() or self.process.poll() is not None)
        self.end_seconds = max(END_SECONDS, took)  # on a busy machine, ending may take as long as starting
        assert answers(self.url), self.said()
        return psutil.Process(self.process.pid).children()[0]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Started]]:
    begun: list[Started] = []

    def go(port: int, *arguments: str) -> Started:
        begun.append(Started(tmp_path, port, *arguments))
        return begun[-1]

    yield go
    for one in begun:
        one.process.kill()
        one.process.wait()


@pytest.mark.nightly  # three servers; without their processes: test_launch.py
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_a_second_start_a_kill_and_a_signal(start: Callable[..., Started]) -> None:
    port = free_port()
    first = start(port, "--model", "reverse")
    server = first.wait_until_ready()
    second = start(port)
    assert second.process.wait(PATIENCE) == 0
    assert second.said() == f"Headlight is running already, at {first.url}/\n"
    # Killed, it cannot tell its server anything; the server notices by itself.
    first.process.kill()
    until(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE, 2 * first.end_seconds)
    # What it has left behind does not keep the next one from starting on the same port.
    third = start(port)
    server = third.wait_until_ready()
    third.process.send_signal(signal.SIGTERM)  # Ctrl-C: tests/e2e/test_installed.py
    assert until(lambda: third.process.poll() is not None) < third.end_seconds
    assert third.process.returncode == 0
    assert third.said().endswith("(Ctrl-C ends it)\nHeadlight has ended.\n")
    assert not server.is_running()
