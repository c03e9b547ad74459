"""What the tests of the Train page share: the page with stand-ins for processes and plans, and what is on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from streamlit.testing.v1 import AppTest

from explorer.runs import dry_run, lifecycle, made_pairs
from explorer.runs.dry_run import read_plan
from explorer.runs.process import LAUNCHES, read_launch, start_process
from explorer.screens.train import data as train_data
from explorer.screens.train import page as train_page
from explorer.web import runtime
from tests.explorer.runs.test_dry_run import ANSWER
from tests.paths import ROOT

SLEEP = "import time; time.sleep(60)"


@contextmanager
def stand_ins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder of models; processes only sleep, plans are ready at once, and nothing is left running."""
    monkeypatch.setattr(runtime, "CHECKPOINTS", folder)
    monkeypatch.setattr(dry_run, "run_trial", lambda *_: read_plan(json.dumps(ANSWER)))
    for starter in (lifecycle, made_pairs):
        monkeypatch.setattr(
            starter,
            "start_process",
            lambda folder, name, command: start_process(folder, name, ["python", "-c", SLEEP, *command]),
        )
    train_page.plan_service.clear()
    train_data._samples.clear()  # which corpora are on this machine is up to each test
    yield folder
    for place in (folder, folder / made_pairs.MADE):
        for path in (place / LAUNCHES).glob("*.json"):
            launch = read_launch(place, path.stem)
            if launch is not None and launch.alive:
                psutil.Process(launch.pid).kill()


def opened() -> AppTest:
    """The Train page in a session of its own, not yet run."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.run()
    return at.switch_page("pages/train.py")


def planned(at: AppTest) -> AppTest:
    """Run until the plan is there."""
    at.run()
    for _ in range(50):
        if metric(at, "Parameters") != "…":
            return at
        at.run()
    raise AssertionError("no plan came")


def metric(at: AppTest, label: str) -> str:
    return next(element.value for element in at.metric if element.label == label)


def words(at: AppTest) -> str:
    """All texts on the page, without the escapes of Markdown."""
    found = [*at.caption, *at.info, *at.warning, *at.error, *at.success, *at.markdown]
    return " ".join(str(element.value) for element in found).replace("\\", "")


def command(at: AppTest) -> list[str]:
    return at.code[-1].value.split()


def button(at: AppTest, label: str):  # type: ignore[no-untyped-def]
    return next(element for element in at.button if element.label == label)
