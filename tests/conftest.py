"""Every test starts from the same seeds, on one thread, and property tests draw the same examples on every machine."""

from __future__ import annotations

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


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
