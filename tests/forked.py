"""Processes that start at once: forked from the test's own, which has imported PyTorch and the trainer already.

A process started by `python -m` imports for seconds; tests that need one for what the start itself does start it so.
"""

import multiprocessing
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path


class Forked:
    """A call in a process of its own; what it prints goes to the files `out` and `err` in a folder."""

    def __init__(
        self, call: Callable[[], object], folder: Path, *, environment: Mapping[str, str] | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._printed = (folder / "out", folder / "err")
        self._process = multiprocessing.get_context("fork").Process(
            target=self._run, args=(call, dict(environment or {})), daemon=True
        )
        self._process.start()

    def _run(self, call: Callable[[], object], environment: dict[str, str]) -> None:
        for descriptor, path in zip((1, 2), self._printed, strict=True):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
        sys.stdout, sys.stderr = (os.fdopen(os.dup(number), "w", encoding="utf-8") for number in (1, 2))
        os.environ.update(environment)
        call()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code; None while the process runs."""
        return self._process.exitcode

    def kill(self) -> None:
        """Kill -9, and wait until it has ended."""
        self._process.kill()
        self._process.join()

    def wait(self, seconds: float) -> tuple[str, str]:
        """Wait for the end of the process; what it printed on standard output and standard error.

        One that has not ended by then is killed, and its exit code says so.
        """
        self._process.join(seconds)
        if self._process.exitcode is None:
            self.kill()
        out, err = (path.read_text(encoding="utf-8") for path in self._printed)
        return out, err
