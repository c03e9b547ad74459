"""Every question of the first lessons can be answered with what the screen shows: read there, typed, and right (M2).

A lesson's answers are computed from the models by `explorer/lessons/checks`. Here they are looked up as a reader looks
them up, on the page that the step shows or opens, without any of those checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from explorer.lessons.lesson import Step
from explorer.lessons.lesson_file import read_lesson
from explorer.lessons.library import FOLDER
from explorer.web import runtime
from tests.explorer.sent import decoding, decodings, one_cell
from tests.pages.page import as_read, click, new_app, visit, widget

Floats = NDArray[np.float64]
SWAP, SENTENCE = "adjective-swap", "I read red books"


class HeadsOnScreen:
    """One kind of attention as the views draw it."""

    def __init__(self, labels: dict[str, Any], weights: Floats, mask: NDArray[np.uint8]) -> None:
        layers, heads = weights.shape[:2]
        self.header, self.weights, self.mask = {**labels, "layers": layers, "heads": heads}, weights, mask

    def row(self, layer: int, head: int, row: int) -> NDArray[np.float32]:
        """A row of the map of a head; all count from 1."""
        return self.weights[layer - 1, head - 1, row - 1]

    def looks_at(self, layer: int, head: int, row: int, rank: int = 1) -> str:
        """The label above the column with the largest weight of a row, or of a lower rank."""
        column = int(np.argsort(-self.row(layer, head, row), kind="stable")[rank - 1])
        label: str = self.header["columns"][column]
        return label


class Screen:
    """What one visitor sees: texts, tables and charts of the page, and the blocks of bytes that the browser draws."""

    def __init__(self, at: AppTest) -> None:
        self.at = at

    def open(self, page: str, **query: str) -> Screen:
        self.at.query_params.clear()
        visit(page, self.at, **query)
        return self

    @property
    def facts(self) -> str:
        """The facts of the model in the sidebar."""
        return as_read(" ".join(caption.value for caption in self.at.sidebar.caption))

    def positions(self) -> str:
        """The positions of the model, by the facts in the sidebar."""
        found = re.search(r"(sinusoidal|learned|none|rope|alibi) positions", self.facts)
        assert found, self.facts
        return found[1]

    def heads(self, kind: str) -> HeadsOnScreen:
        """The views of attention, opened at a kind."""
        for header, arrays in decodings(self.at):
            if kind in arrays:
                return HeadsOnScreen(header["forms"][kind]["tokens"], arrays[kind], arrays[f"{kind}.mask"])
        raise AssertionError(f"no map of {kind} attention is on the page")

    def stepper(self) -> dict[str, Any]:
        return decoding(self.at)

    def written(self) -> list[str]:
        """The tokens that the stepper shows as predicted, <eos> included."""
        found: list[str] = self.stepper()["target"]["predicted"]
        return found


Look = Callable[[Screen], str]


LOOK: dict[str, tuple[Look, ...]] = {
    "attention": (
        lambda s: str(len(s.written())),
        lambda s: s.heads("cross").looks_at(1, 1, 1),
        lambda s: f"{100 * s.heads('cross').row(1, 1, 1)[4]:.0f}",
        lambda s: f"{sum(round(float(weight), 2) for weight in s.heads('cross').row(1, 1, 2)):.1f}",
        lambda s: str(s.heads("cross").row(1, 1, 4).argmax() + 1),
        lambda s: s.heads("cross").looks_at(1, 1, 2, rank=2),
        lambda s: str(s.heads("cross").header["predicted"][0]),
    ),
    # The machine draws itself in the browser, where tests/e2e reads it; its numbers stand on other pages, too.
    "machine": (
        lambda s: str(len(swap_map(s, "encoder").header["columns"])),
        lambda s: s.positions(),
        lambda s: str(heads_in_facts(s.facts)),
        lambda s: str(len(one_cell(swap_cell(s).at)[1]["query"])),
        lambda s: str((swap_map(s, "decoder").mask[:3, :3] != 0).sum()),
        lambda s: str(s.open("translate", model=SWAP, text=SENTENCE).stepper()["target"]["tokens"][3]),
    ),
}


def swap_cell(screen: Screen) -> Screen:
    """Attention, One cell: row 3, `books`."""
    return screen.open(
        "attention", model=SWAP, text=SENTENCE, kind="cross", layer="2", head="3", view="head", cell="3-4", panel="cell"
    )


def swap_map(screen: Screen, kind: str) -> HeadsOnScreen:
    """All heads of a kind on the page Attention."""
    return screen.open("attention", model=SWAP, text=SENTENCE, kind=kind, view="heads").heads(kind)


def heads_in_facts(facts: str) -> int:
    """Layers × heads of the encoder, and twice those of the decoder."""
    found = re.search(r"(\d) encoder layers? × (\d) heads?, (\d) decoder layers? × (\d) heads?", facts)
    assert found, facts
    a, b, c, d = map(int, found.groups())
    return a * b + 2 * c * d


@pytest.fixture
def screen(shipped: Path) -> Screen:
    return Screen(new_app().run())


@pytest.mark.parametrize("name", LOOK)
def test_every_question_is_answered_with_what_the_screen_shows(screen: Screen, name: str) -> None:
    lesson, looks = read_lesson(FOLDER / f"{name}.md"), iter(LOOK[name])
    for number, step in enumerate(lesson.steps, start=1):
        if step.question is None or step.missing(runtime.models()):
            continue
        screen.open("lessons", lesson=lesson.name, at=str(number))
        if step.after:
            send(screen, lesson.name, number, step, wrong_answer(step))
        seen = next(looks)(screen)
        screen.open("lessons", lesson=lesson.name, at=str(number))
        send(screen, lesson.name, number, step, wrong_answer(step, seen))
        assert "Not quite" in " ".join(box.value for box in screen.at.error), f"{lesson.name}, step {number}"
        assert not screen.at.success
        send(screen, lesson.name, number, step, seen)
        assert not screen.at.error
        said = as_read(" ".join(box.value for box in screen.at.success))
        assert said.startswith("Right:"), f"{lesson.name}, step {number}: the screen shows {seen!r}"
    assert next(looks, None) is None


def send(screen: Screen, name: str, number: int, step: Step, answer: str) -> None:
    key = f"lesson_answer_{name}_{number}"
    assert step.question is not None
    if step.question.choices:
        texts = [choice.text for choice in step.question.choices]
        chosen = next((text for text in texts if text.strip("`") == answer), None)
        assert chosen is not None, f"{name}, step {number}: the screen shows {answer!r}, which is none of {texts}"
        answer = chosen
    widget(screen.at, key).set_value(answer)
    click(screen.at, f"lesson_check_{name}_{number}")


def wrong_answer(step: Step, right: str = "") -> str:
    """Another answer than the right one; after any answer, the picture is shown."""
    assert step.question is not None
    choices = [choice.text.strip("`") for choice in step.question.choices]
    return next((text for text in choices if text != right), "no idea")
