"""A run on the Train page once it has something to say: how it went, and training it again or longer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.runs.process import read_launch
from model.folder import CONFIG, METRICS, STATE, read_config, write_json
from tests.explorer.toy_runs import save_run, write_status
from tests.pages import test_train
from tests.pages.test_train import watching
from tests.pages.train_page import words
from tests.paths import ROOT

app, checkpoints = test_train.app, test_train.checkpoints  # fixtures


def test_a_run_says_how_it_is_going(app: AppTest, checkpoints: Path) -> None:
    """Real curves of a run that learned its training pairs by heart."""
    folder = save_run(checkpoints / "mine", state="running")
    lines = (ROOT / "tests" / "data" / "runs" / "memorises.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / METRICS).write_text("\n".join(lines[:4]) + "\n", encoding="utf-8")
    assert "Too early to say how it is going" in words(watching(app, "mine"))
    (folder / METRICS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_status(folder, "finished")
    at = app.run()
    (warning,) = (warning.value for warning in at.warning if "Memorising" in warning.value)
    assert "since update 60" in warning.replace("\\", "")


def finished_run(checkpoints: Path) -> Path:
    """A finished run that says how it was trained, with a saved state."""
    folder = save_run(checkpoints / "mine")
    config = read_config(folder)
    training = config["training"] | {"seed": 4, "schedule": "cosine"}
    runtime = {"device": "cpu", "precision": "fp32", "threads": 2, "settled": True, "torch_version": "2.13.0"}
    write_json(
        folder / CONFIG,
        config | {"preset": "tiny", "set": {"seed": "4"}, "training": training, "runtime": runtime},
    )
    (folder / STATE).mkdir()
    (folder / STATE / "state.json").write_text("{}", encoding="utf-8")
    return folder


def started(checkpoints: Path, name: str) -> list[str]:
    """The arguments of the command that was started for a run."""
    launch = read_launch(checkpoints, name)
    assert launch is not None
    return list(launch.arguments[6:])


def test_a_finished_run_is_trained_again_with_another_seed(app: AppTest, checkpoints: Path) -> None:
    finished_run(checkpoints)
    at = watching(app, "mine")
    assert "Computed on the CPU in fp32 with 2 threads, PyTorch 2.13.0." in words(at)
    assert at.number_input(key="watch_seed_mine").value == 5
    at.number_input(key="watch_seed_mine").set_value(9).run()
    at.button(key="watch_like_mine").click().run()
    assert not at.exception
    like = ["--like", "mine", "--name", "mine-2", "--set", "seed=9", "--checkpoints", str(checkpoints)]
    assert started(checkpoints, "mine-2") == like
    assert at.selectbox(key="run").value == "mine-2"


def test_a_run_whose_start_is_gone_says_so_instead(app: AppTest, checkpoints: Path) -> None:
    folder = finished_run(checkpoints)
    write_json(folder / CONFIG, read_config(folder) | {"init": "gone"})
    at = watching(app, "mine")
    assert not at.exception
    assert "It was trained from the weights of 'gone', which are not here." in words(at)
    assert not [button for button in at.button if button.key == "watch_like_mine"]


def test_a_finished_run_is_trained_longer(app: AppTest, checkpoints: Path) -> None:
    folder = finished_run(checkpoints)
    at = watching(app, "mine")
    assert at.number_input(key="watch_steps_mine").value == 60
    assert "The learning rate rises to where it would be in a run of this length" in words(at)
    at.number_input(key="watch_steps_mine").set_value(90).run()
    at.button(key="watch_longer_mine").click().run()
    assert not at.exception
    assert started(checkpoints, "mine") == ["--resume", "mine", "--steps", "90", "--checkpoints", str(checkpoints)]
    shutil.rmtree(folder / STATE)
    assert not [element for element in at.run().number_input if element.key == "watch_steps_mine"]


@pytest.mark.parametrize(
    ("field", "value", "button", "sentence"),
    [
        ("watch_steps_mine", 30, "watch_longer_mine", "It has made 30 updates already; choose more than that."),
        ("watch_steps_mine", 0, "watch_longer_mine", "max_steps=0 must be at least 1."),
        ("watch_seed_mine", -7, "watch_like_mine", "seed=-7 must be 0 or more."),
    ],
)
def test_a_number_that_cannot_be_is_refused_and_never_replaced(
    app: AppTest, checkpoints: Path, field: str, value: int, button: str, sentence: str
) -> None:
    finished_run(checkpoints)
    at = watching(app, "mine")
    at.number_input(key=field).set_value(value).run()
    assert sentence in words(at)
    assert at.button(key=button).disabled
    at.number_input(key=field).set_value(99).run()
    assert not at.button(key=button).disabled


def test_a_run_that_is_trained_longer_from_the_runs_page_is_watched(app: AppTest, checkpoints: Path) -> None:
    finished_run(checkpoints)
    save_run(checkpoints / "other")
    at = app.switch_page("pages/runs.py")
    at.session_state["entry"] = "mine"
    at.run()
    at.number_input(key="runs_steps_mine").set_value(90).run()
    at.button(key="runs_longer_mine").click().run()
    assert not at.exception
    assert at.selectbox(key="run").value == "mine", "the Train page, with this run"
    at.switch_page("pages/runs.py").run()
    at.selectbox(key="entry").set_value("other").run()
    assert at.selectbox(key="entry").value == "other"
    assert not [box for box in at.selectbox if box.key == "run"], "still the Runs page"
