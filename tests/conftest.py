"""Every test starts from the same seeds, on one thread, and property tests draw the same examples on every machine.

The whole suite runs in as many processes as there are cores, file by file; one of them begins with all the browser's
files, since two browsers at once are slower than one after the other.
"""

from __future__ import annotations

import os
import random
from typing import Any

import hypothesis
import numpy as np
import pytest
import torch
from xdist.scheduler import LoadScopeScheduling

from tests import lines

_LINES = lines.start()

# Runs that tests start would otherwise wait for the tests of the other processes.
os.environ.setdefault("HEADLIGHT_NICE", "0")

hypothesis.settings.register_profile(
    "headlight",
    derandomize=True,
    deadline=None,  # a busy machine is not a defect
    max_examples=40,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("headlight")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="the whole suite, with the tests that take long")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if _LINES is not None:
        config.pluginmanager.register(_LINES)
    if _is_whole(config) and not config.option.slow and not config.option.markexpr:
        config.option.markexpr = "not slow"


def _is_whole(config: pytest.Config) -> bool:
    """Whether nobody named files or tests."""
    return config.args_source == pytest.Config.ArgsSource.TESTPATHS


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """As many processes as cores for the whole suite; none besides this one for files that were named."""
    return min(os.cpu_count() or 1, 8) if _is_whole(config) else 0


class _Files(LoadScopeScheduling):  # type: ignore[misc]  # the package has no types
    """A file at a time to each process, and all that drive a browser to one of them."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "browser" if "/e2e/" in file else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _Files:
    """In place of --dist loadfile."""
    return _Files(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that no process is left with it at the end: what drives a browser."""
    items.sort(key=lambda item: "e2e" not in item.path.parts)


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
