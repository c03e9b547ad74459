"""Pairs that models write, on the Train page: started, watched, stopped, added to the training; nothing for viewers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from streamlit.testing.v1 import AppTest

from explorer.runs.made_pairs import MADE, MadePairs
from explorer.runs.process import LAUNCHES, read_launch
from explorer.web import runtime
from explorer.web.runs import fill_form, made_key
from model import relabel
from model.train import parser
from tests.explorer.toy_runs import save_run
from tests.pages.train_page import button, command, opened, stand_ins, words

NAME = "reverse-by-mine-back-by-mine"
PAIRS = '{"source": "a*b*", "target": "*b*a"}\n{"source": "cd", "target": "dc", "made": "target"}\n'
LINE = {"model": "mine", "done": 96, "sentences": 400, "left_out": 0, "seconds_left": 65.0}


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with stand_ins(tmp_path, monkeypatch) as folder:
        save_run(folder / "mine")
        runtime._summaries.clear()  # the list of models is a second old at most
        yield folder


@pytest.fixture
def app(checkpoints: Path) -> AppTest:
    at = opened().run()
    return at.toggle(key="train_more").set_value(True).run()


def log(checkpoints: Path, text: str) -> None:
    (checkpoints / MADE / LAUNCHES / f"{NAME}.log").write_text(text, encoding="utf-8")


def killed(checkpoints: Path) -> None:
    launch = read_launch(checkpoints / MADE, NAME)
    assert launch is not None
    process = psutil.Process(launch.pid)
    process.kill()
    process.wait(10)


def progress(at: AppTest) -> list[str]:
    return [element.proto.text.replace("\\", "") for element in at.get("progress")]


def added(at: AppTest) -> list[Path]:
    found: list[Path] = parser().parse_args(command(at)[3:]).add_data
    return found


def test_pairs_are_made_watched_and_used_by_the_training(app: AppTest, checkpoints: Path) -> None:
    at = app
    assert not at.exception
    assert at.selectbox(key="train_reverse_writer_model").value == "mine"
    assert at.selectbox(key="train_reverse_writer_reverse").value == "mine"
    shown = next(code.value.split() for code in at.code if "model.relabel" in code.value)
    button(at, "Make the pairs").click().run()
    assert not at.exception
    launch = read_launch(checkpoints / MADE, NAME)
    assert launch is not None
    assert list(launch.arguments[3:]) == shown
    options = relabel.parser().parse_args(shown[3:])
    assert (options.task, options.model, options.reverse, options.checkpoints) == (
        "reverse",
        "mine",
        "mine",
        checkpoints,
    )
    assert button(at, "Make the pairs").disabled
    log(checkpoints, json.dumps(LINE) + "\n")
    assert progress(at.run()) == [f"{NAME}: 'mine' translates: 96 of 400 sentences, about 1 min 05 s left"]
    other = opened().run()
    assert progress(other) == progress(at), "after a reload, and in another tab"
    assert other.toggle(key="train_more").value is False
    assert added(at) == []

    options.out.write_text(PAIRS, encoding="utf-8")
    killed(checkpoints)
    at.run()
    assert not at.exception
    assert progress(at) == progress(other.run()) == []
    assert added(other) == []
    assert f"{NAME}: made. Training settings → More settings adds these pairs to the training." in words(other)
    assert added(at) == [options.out]
    assert "2 pairs, such as “a*b*” → “*b*a”. Written by models: targets by 'mine', sources by 'mine'." in words(at)
    assert f"These pairs exist already: '{NAME}' is in the list." in words(at)
    at.checkbox(key=f"train_made_{NAME}").set_value(False).run()
    assert added(at) == []
    at.selectbox(key="train_task").set_value("copy").run()
    assert [box.key for box in at.checkbox] == ["train_copy_writer_draws"], "they are pairs of another task"
    at.selectbox(key="train_task").set_value("reverse").run()
    at.checkbox(key=f"train_made_{NAME}").set_value(True).run()
    assert added(at) == [options.out]
    button(at, "Remove these pairs").click().run()
    assert not at.exception
    assert added(at) == []
    assert MadePairs(checkpoints).all() == []
    assert not button(at, "Make the pairs").disabled


def test_drawn_pairs_have_another_seed_each_time(app: AppTest, checkpoints: Path) -> None:
    at = app
    at.checkbox(key="train_reverse_writer_draws").set_value(True).run()
    for seed in (1, 2):
        button(at, "Make the pairs").click().run()
        assert not at.exception
        name = f"{NAME}-drawn-{seed}"
        launch = read_launch(checkpoints / MADE, name)
        assert launch is not None
        options = relabel.parser().parse_args(list(launch.arguments[6:]))
        assert (options.sample, options.seed, options.out.stem) == (0.7, seed, name)
        options.out.write_text(PAIRS, encoding="utf-8")
        process = psutil.Process(launch.pid)
        process.kill()
        process.wait(10)
        at.run()
        assert not at.exception
        drawn = f"targets by 'mine', sources by 'mine', drawn at random (temperature 0.7, seed {seed})."
        assert drawn in words(at)
        assert not button(at, "Make the pairs").disabled
    at.checkbox(key="train_reverse_writer_draws").set_value(False).run()
    button(at, "Make the pairs").click().run()
    launch = read_launch(checkpoints / MADE, NAME)
    assert launch is not None
    assert "--sample" not in launch.arguments


def test_stop_and_a_failure(app: AppTest, checkpoints: Path) -> None:
    at = app
    button(at, "Make the pairs").click().run()
    button(at, "Stop").click().run()
    assert not at.exception
    assert MadePairs(checkpoints).all() == []
    assert not button(at, "Make the pairs").disabled
    at.selectbox(key="train_reverse_writer_model").set_value("mine").run()
    button(at, "Make the pairs").click().run()
    log(checkpoints, "there is no model *x*.\n")
    killed(checkpoints)
    at.run()
    assert not at.exception
    assert f"{NAME} was not made:" in words(at)
    button(at, "Close").click().run()
    assert "was not made" not in words(at)


def test_without_a_model_the_page_says_how_to_get_one(app: AppTest) -> None:
    at = app
    at.selectbox(key="train_task").set_value("adjective-swap").run()
    assert not at.exception
    assert button(at, "Make the pairs").disabled
    assert "No trained model here translates English to French. Train a model on these data first" in words(at)
    assert "No trained model here translates French to English. Train a model of the reverse direction" in words(at)


def test_own_data_is_named_in_the_command(app: AppTest, checkpoints: Path) -> None:
    at = app
    at.selectbox(key="train_task").set_value("files").run()
    at.text_area(key="train_pasted").set_value("".join(f"word {n}\tWort {n}\n" for n in range(20))).run()
    assert not at.exception
    assert button(at, "Make the pairs").disabled, "no model is proposed for data without a language"
    at.selectbox(key="train_files_writer_reverse").set_value("mine").run()
    button(at, "Make the pairs").click().run()
    assert not at.exception
    launch = read_launch(checkpoints / MADE, "files-back-by-mine")
    assert launch is not None
    of_making = relabel.parser().parse_args(launch.arguments[6:])
    of_training = parser().parse_args(command(at)[3:])
    for name in ("task", "data", "source_column", "target_column", "header", "valid_share", "source_lang"):
        assert getattr(of_making, name) == getattr(of_training, name)
    assert (of_making.model, of_making.reverse) == (None, "mine")


def test_a_form_filled_from_elsewhere_leaves_older_pairs_out(
    checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of an experiment is repeated as it was."""
    made = MadePairs(checkpoints)
    made.folder.mkdir()
    (made.folder / f"{NAME}.json").write_text('{"task": "reverse", "model": "mine"}', encoding="utf-8")
    (made.folder / f"{NAME}.jsonl").write_text(PAIRS, encoding="utf-8")
    session: dict[str, object] = {made_key(NAME): True}
    monkeypatch.setattr("explorer.web.runs.st.session_state", session)
    fill_form("reverse", "tiny", {})
    assert session[made_key(NAME)] is False
