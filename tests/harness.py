"""Streamlit's test harness, with what is the same in every run of a page done once."""

import threading
from collections.abc import Callable
from functools import cache

import pytest


def speed_up(patch: pytest.MonkeyPatch) -> None:
    """Change what the harness does for each run: the pages run as before.

    It would read the metadata of every installed package for each app that it starts. It would also ask every
    millisecond whether the script has ended, which interrupts the script's thread; now it waits for that thread.
    """
    from streamlit.components.v2 import manifest_scanner
    from streamlit.testing.v1 import local_script_runner

    patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
    ask = local_script_runner.require_widgets_deltas

    def wait(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
        if runner._script_thread is not None:
            runner._script_thread.join(timeout)
        ask(runner, timeout)

    patch.setattr(local_script_runner, "require_widgets_deltas", wait)


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called in the threads that this work starts."""
    n_calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal n_calls
        n_calls += event in ("call", "c_call")

    threading.setprofile(count)
    try:
        work()
    finally:
        threading.setprofile(None)
    return n_calls
