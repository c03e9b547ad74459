"""Pages run without the processes that they would start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from explorer.runs import dry_run


@pytest.fixture(scope="module", autouse=True)
def _no_estimates() -> Iterator[None]:
    """The Train page estimates a run in a separate process, which would outlive its test."""

    def refuse(command: Sequence[str]) -> dry_run.Plan:
        raise dry_run.PlanError("No estimate in this test.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dry_run, "run_trial", refuse)
        yield
