"""Cases of which each commit gets some, and the nightly run all."""

from collections.abc import Iterable
from typing import Any

import pytest


def some(cases: Iterable[Any], every: int) -> list[Any]:
    """The first case and every so many after it; the others are left to the nightly run."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.nightly) if i % every else case
        for i, case in enumerate(cases)
    ]
