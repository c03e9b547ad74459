"""Settings of all tests: fixed seeds, one thread, the same examples on every machine, and the distribution of work.

The whole suite runs in several processes, each of which runs one test file at a time; the browser tests of the app run
in one process, which starts the only browser and server that they need (tests/e2e/conftest.py).
"""

from __future__ import annotations

import gc
import os
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from tests import harness, quick

if TYPE_CHECKING:
    from model.data.task import Splits, Task

# Looking for garbage among what is imported and collected would take a sixth of that time; nothing of it goes away.
gc.disable()

# Runs that tests start would otherwise have lower priority than the tests of other processes.
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
    parser.addoption("--slow", action="store_true", help="the whole suite, including the tests marked slow")
    parser.addoption("--nightly", action="store_true", help="the same, including those marked nightly")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if _is_whole(config) and not (config.option.nightly or config.option.markexpr):
        config.option.markexpr = "not nightly" if config.option.slow else "not nightly and not slow"


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def _is_whole(config: pytest.Config) -> bool:
    """Whether no files or tests were named on the command line."""
    return config.args_source == pytest.Config.ArgsSource.TESTPATHS


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Three processes for two cores for the whole suite, as browser tests mostly wait; one for files that are named."""
    cores = os.cpu_count() or 1
    if not _is_whole(config):
        return 0
    return min(cores if config.option.markexpr == "quick" else cores * 3 // 2, 8)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Under `-m quick`, files without quick tests are not imported."""
    if config.option.markexpr == "quick" and collection_path.suffix == ".py":
        return not quick.is_quick(collection_path) or None
    return None


# Browser tests without the shared server, which therefore may run in any process.
APART = ("test_component", "test_installed", "test_live_site")


def in_the_app(file: str) -> bool:
    """Whether the tests of this file share one browser and one server."""
    path = Path(file)
    return path.parent.name == "e2e" and not path.name.startswith(APART)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The tests of a file run in one process, and so do all browser tests of the app."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file: str = super()._split_scope(nodeid)
            return "app" if in_the_app(file) else file

    return Scheduling(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(quick.TESTS / "fuzz"):
            item.add_marker(pytest.mark.slow)
        marked = {mark.name for mark in item.iter_markers()}
        if quick.is_quick_throughout(item.path) and not marked & {"slow", "nightly"}:
            item.add_marker(pytest.mark.quick)
    items[:] = _in_turn(items)


def _in_turn(items: list[pytest.Item]) -> list[pytest.Item]:
    """What takes longest comes first, so that no process ends with it: the app in a browser, slow tests, then pages.

    Other browser tests are spread, as they mostly wait: all of them at once would leave cores idle.
    """
    files = [list(group) for _, group in groupby(items, key=lambda item: item.path)]
    files.sort(
        key=lambda file: (
            not in_the_app(str(file[0].path)),
            not any(item.get_closest_marker("slow") for item in file),
            "pages" not in file[0].path.parts,
        )
    )
    browser = [file for file in files if "e2e" in file[0].path.parts]
    others = [file for file in files if "e2e" not in file[0].path.parts]
    between = max(len(others) * 4 // 5 // max(len(browser), 1), 1)  # the last fifth has none, so that none ends last
    ordered = []
    for number, file in enumerate(browser):
        ordered += [file, *others[number * between : (number + 1) * between]]
    return list(chain.from_iterable([*ordered, *others[len(browser) * between :]]))


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    import numpy as np
    import torch

    random.seed(0)
    np.random.seed(0)
    if torch.cuda.is_available():
        torch.manual_seed(0)
    else:  # torch.manual_seed would keep a copy of the call stack for each kind of device that is absent
        torch.default_generator.manual_seed(0)


@pytest.fixture(scope="session", autouse=True)
def _fast_pages() -> Iterator[None]:
    """Where a test file has imported it, Streamlit's test harness is made faster."""
    with pytest.MonkeyPatch.context() as patch:
        if "streamlit.testing.v1" in sys.modules:
            harness.speed_up(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def _faults_are_failures() -> Iterator[None]:
    """A fault that the app would log and draw around ends the test that meets it."""
    from model import faults

    def fail(fault: Exception) -> None:
        raise fault

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(faults, "report", fail)
        yield


@pytest.fixture(scope="session", autouse=True)
def _tasks_made_once() -> Iterator[None]:
    """The sentences of a task follow from its name and seed, and making them takes longer than most tests."""
    from model import data

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "_GENERATED", {name: cache(make) for name, make in data._GENERATED.items()})
        yield


@pytest.fixture(scope="module")
def few_sentences() -> Iterator[None]:
    """Tasks whose sentences are generated have 400 in the training split and 40 in each other split.

    After a few updates, a model decodes every test sentence to the length limit. Scoring dominates a short run, and
    encoding the training sentences comes next.
    """
    from explorer.decoding import domain
    from model import data

    def shorter(make: Callable[[int], Task]) -> Callable[[int], Task]:
        def splits(whole: Task) -> Splits:
            return {name: kept[: 400 if name == "train" else 40] for name, kept in whole.splits.items()}

        @cache
        def made(split_seed: int) -> Task:
            whole = make(split_seed)
            return replace(whole, build=partial(splits, whole))

        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "_GENERATED", {name: shorter(make) for name, make in data._GENERATED.items()})
        domain.sources.cache_clear()
        yield
    domain.sources.cache_clear()  # otherwise the tests that follow in this process are told of the short task
