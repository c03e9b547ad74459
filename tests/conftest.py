"""Every test starts from the same seeds, on one thread, and property tests draw the same examples on every machine.

The whole suite runs in as many processes as there are cores, file by file, with the browser's files first.
"""

from __future__ import annotations

import os
import random

import hypothesis
import numpy as np
import pytest
import torch

hypothesis.settings.register_profile(
    "headlight",
    derandomize=True,
    deadline=None,  # a busy machine is not a defect
    max_examples=40,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("headlight")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """As many processes as cores for the whole suite; none besides this one for files that were named."""
    whole = config.args_source == pytest.Config.ArgsSource.TESTPATHS
    return min(os.cpu_count() or 1, 8) if whole else 0


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, so that no process is left with one of them at the end: they drive a browser."""
    items.sort(key=lambda item: "e2e" not in item.path.parts)


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
