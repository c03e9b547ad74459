"""The lesson step on a head that was told to align: with an imported translator it works, without one it is skipped."""

from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from explorer.lessons.answers import is_right, solve
from explorer.lessons.lesson_file import read_lesson
from explorer.lessons.library import FOLDER
from explorer.screens.lessons.running_models import evaluate, fill, start_of
from explorer.web import runtime
from model.config import DecodeConfig
from model.importing.import_folder import import_folder
from tests.model.importing import peer
from tests.pages.page import visit, words

LESSON = read_lesson(FOLDER / "heads.md")
AT = next(at for at, step in enumerate(LESSON.steps, start=1) if "opus-en-de" in step.needs)


@pytest.fixture(scope="module")
def with_translator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models with a translator of six decoder layers, as OPUS-MT's, under the name that the step knows."""
    folder = tmp_path_factory.mktemp("with")
    with torch.inference_mode():
        theirs = peer.save(peer.marian(encoder_layers=1, decoder_layers=6), folder / "theirs")
    import_folder(theirs, folder / "models" / "opus-en-de")
    return folder / "models"


def opened(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(runtime, "CHECKPOINTS", checkpoints)
    return visit("lessons", lesson=LESSON.name, at=str(AT))


def test_with_a_translator_the_step_asks_and_knows_the_answer(
    with_translator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "This page needs" not in words(opened(with_translator, monkeypatch))
    step = LESSON.step(AT)
    start = start_of(step)
    assert (start.model, start.kind, start.layer, start.head) == ("opus-en-de", "cross", 6, 1)
    assert runtime.translate(start.model, start.text, DecodeConfig(), ()).trace.cross.shape[0] == 6
    assert step.question is not None
    solution = solve(step.question, lambda expression: evaluate(expression, start, start))
    (right,) = [choice.text for choice in step.question.choices if is_right(step.question, solution, choice.text)]
    assert right in fill(step.question.right, start, solution.text)
