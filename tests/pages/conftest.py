"""Pages run without the processes that they would start, and with the models that a test names."""

import json
import socket
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import psutil
import pytest

from explorer.runs import dry_run, lifecycle
from explorer.runs.dry_run import read_plan
from explorer.runs.process import LAUNCHES, read_launch, start_process
from explorer.screens.train import data as train_data
from explorer.screens.train import page as train_page
from explorer.web import runtime
from tests.explorer.runs.test_dry_run import ANSWER
from tests.explorer.toy_models import save_toy
from tests.paths import CHECKPOINTS

LSTM = {"architecture": "lstm", "positions": "none", "n_encoder_heads": 1, "n_decoder_heads": 1}
ALONE = {"architecture": "decoder", "positions": "learned", "norm_first": True}
UNPLACED = {"positions": "none", "residual": False}
TOYS: dict[str, dict[str, Any]] = {
    "adjective-swap": {"task": "adjective-swap"},
    "another": {"task": "adjective-swap", "seed": 3},
    "alone": {"task": "reverse", **ALONE},
    "bare": {"task": "reverse", **UNPLACED, "scale_scores": False, "scale_embeddings": False},
    "continues": {"task": "reverse", **ALONE, "separator": False},
    "learned": {"task": "adjective-swap", "positions": "learned"},
    "lstm": {"task": "reverse", **LSTM},
    "open": {"task": "reverse", "causal": False},
    "other": {"task": "adjective-swap", "seed": 5},
    "post": {"task": "adjective-swap", "n_encoder_layers": 2, "norm_first": False},
    "pre": {"task": "reverse", "norm_first": True, "positions": "learned"},
    "reverse": {"task": "reverse", "n_encoder_layers": 3},
    "unplaced": {"task": "reverse", **UNPLACED, "causal": False},
    "unscaled": {"task": "adjective-swap", "scale_scores": False, "n_encoder_heads": 4},
}


@pytest.fixture(scope="session")
def _toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toys")
    for name, sizes in TOYS.items():
        save_toy(folder / name, sizes["task"], **{key: value for key, value in sizes.items() if key != "task"})
    return folder


@pytest.fixture
def toys(_toys: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The pages show untrained models of many shapes, which no test may change."""
    monkeypatch.setattr(runtime, "CHECKPOINTS", _toys)
    return _toys


@pytest.fixture(scope="session")
def lone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one model, which is made quickly."""
    folder = tmp_path_factory.mktemp("lone")
    save_toy(folder / "toy", "adjective-swap")
    return folder


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The pages show the models that come with the program."""
    monkeypatch.setattr(runtime, "CHECKPOINTS", CHECKPOINTS)
    return CHECKPOINTS


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The pages show this folder, which is empty."""
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    monkeypatch.setattr(runtime, "CHECKPOINTS", folder)
    runtime.models_changed()
    return folder


@pytest.fixture(scope="module", autouse=True)
def _no_estimates() -> Iterator[None]:
    """The Train page estimates a run in a separate process, which would outlive its test."""

    def refuse(command: Sequence[str], wanted: object) -> dry_run.Plan:
        raise dry_run.PlanError("No estimate in this test.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dry_run, "run_trial", refuse)
        yield


@pytest.fixture
def training(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same for the Train page: processes only sleep, plans are ready at once, and nothing is left running."""
    sleep = ["python", "-c", "import time; time.sleep(600)"]
    monkeypatch.setattr(dry_run, "run_trial", lambda *_: read_plan(json.dumps(ANSWER)))
    monkeypatch.setattr(
        lifecycle, "start_process", lambda folder, name, command: start_process(folder, name, [*sleep, *command])
    )
    train_page.plan_service.clear()
    train_data._samples.clear()  # which corpora are on this machine is up to each test
    yield checkpoints
    for path in (checkpoints / LAUNCHES).glob("*.json"):
        launch = read_launch(checkpoints, path.stem)
        if launch is not None and launch.alive:
            psutil.Process(launch.pid).kill()


_calls: list[str] = []


@cache
def _listen() -> None:
    """Record name look-ups and connections of this process from now on; Python cannot take back an audit hook."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo" and arguments[0] not in (None, "localhost", "127.0.0.1", "::1"):
            _calls.append(f"{event} {arguments[0]}")
        if event == "socket.connect" and arguments[0].family in (socket.AF_INET, socket.AF_INET6):
            host = arguments[1][0]
            if host not in ("localhost", "127.0.0.1", "::1"):
                _calls.append(f"{event} {host}")

    sys.addaudithook(hook)


@pytest.fixture(autouse=True)
def _looking_never_calls_out() -> Iterator[None]:
    """No page speaks to another host, nor asks for the address of one (findings M3 and D3)."""
    _listen()
    _calls.clear()
    yield
    assert _calls == [], "a page called out"
