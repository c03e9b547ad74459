"""*Send it as a page*, on Runs and on Train after the end of a run: a page with the model, or why there is none."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.web import live_page
from model.folder import CONFIG, PROBE, WEIGHTS, read_config, write_json
from tests.explorer.files.unpacked import parts_of
from tests.explorer.toy_models import save_toy
from tests.explorer.toy_runs import save_run, write_status
from tests.pages.conftest import LSTM
from tests.pages.page import run, visit, words

PLACES = {"runs": {"entry": "mine"}, "train": {"run": "mine"}}
KEYS = {"runs": "runs_page_mine", "train": "watch_page_mine"}


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], bytes]]:
    """What the buttons that were drawn would make, by the name of their file."""
    made: dict[str, Callable[[], bytes]] = {}

    def draw(label: str, make: Callable[[], bytes], file_name: str, mime: str, **_: Any) -> None:
        assert (label, mime) == ("Download the page (HTML)", "text/html")
        made[file_name] = make

    monkeypatch.setattr(live_page, "download_button", draw)
    return made


def opened(page: str) -> AppTest:
    at = visit(page, **PLACES[page])
    at.session_state[KEYS[page]] = True
    return run(at)


def panels(at: AppTest) -> list[str]:
    return [block.proto.popover.label for block in at.get("popover")]


@pytest.mark.parametrize(("page", "watched"), [("runs", ""), ("train", "a <b>sentence</b>")])
def test_the_page_has_the_model_and_opens_its_sentence(
    training: Path, offered: dict[str, Callable[[], bytes]], page: str, watched: str
) -> None:
    folder = save_run(training / "mine")
    if watched:
        write_json(folder / PROBE, {"source": watched})
    at = opened(page)
    content = offered["mine.html"]()
    program, header, files = parts_of(content.decode())
    assert '"worker"' in program
    (model,) = header["models"]
    assert (model["name"], header["root"]) == ("mine", None)
    assert header["query"] == {"model": "mine", "text": watched or model["examples"][0]["source"]}
    weights = folder / WEIGHTS
    assert files[model["files"]["weights"]["address"]].tobytes() == weights.read_bytes()
    said = re.search(r"about ([\d.]+) MB", words(at))
    assert said
    assert float(said[1]) == pytest.approx(len(content) / 1e6, abs=0.08)  # written with one decimal
    assert "your own data" not in words(at)


def test_a_model_of_own_data_says_what_is_in_the_page(training: Path, offered: dict[str, Callable[[], bytes]]) -> None:
    folder = save_run(training / "mine")
    config = read_config(folder)
    write_json(folder / CONFIG, config | {"data": config["data"] | {"task": "files"}})
    assert "its example sentences, which are your own data" in words(opened("runs"))
    header = parts_of(offered["mine.html"]().decode())[1]
    assert header["query"]["text"] == "abc", "a validation sentence of the run"


def test_there_is_a_sentence_instead_of_the_button(training: Path, offered: dict[str, Callable[[], bytes]]) -> None:
    save_toy(training / "mine", "reverse", **LSTM)
    at = opened("runs")
    assert "mine is an LSTM, which is not computed in the browser." in words(at)
    assert offered == {}


@pytest.mark.parametrize("page", PLACES)
def test_nothing_is_offered_before_the_run_has_ended(training: Path, page: str) -> None:
    save_run(training / "mine", state="running")
    assert "Send it as a page" not in panels(opened(page))
    write_status(training / "mine", "finished")
    assert "Send it as a page" in panels(visit(page, **PLACES[page]))
