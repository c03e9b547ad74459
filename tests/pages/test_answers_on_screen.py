"""Every question of every lesson can be answered with what the screen shows: read there, typed, and right (finding M2).

A lesson's answers are computed from the models by `explorer/lessons/checks`. Here they are looked up as a reader looks
them up, on the page that the step shows or opens, without any of those checks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from explorer.lessons.lesson import Lesson, Step
from explorer.lessons.lesson_file import read_lesson
from explorer.lessons.library import FOLDER
from explorer.web import runtime
from tests.explorer.sent import decoding, decodings, messages, one_cell
from tests.pages.page import as_read, choose, click, maps, new_app, table_with, visit, widget, words

LESSONS = sorted((read_lesson(path) for path in FOLDER.glob("*.md")), key=lambda lesson: lesson.order)
Floats = NDArray[np.float64]
SWAP, SENTENCE = "adjective-swap", "I read red books"
LETTERS = "abcdefghijklmnopqrst"
MIXED = "Without the largest weights, {} predictions stay than with uniform rows"


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
    def said(self) -> str:
        """All texts of the page and its sidebar."""
        return words(self.at)

    @property
    def facts(self) -> str:
        """The facts of the model in the sidebar."""
        return as_read(" ".join(caption.value for caption in self.at.sidebar.caption))

    def number(self, pattern: str, text: str = "") -> str:
        """The number in a text that is found by a pattern with one group."""
        found = re.search(pattern, text or self.said)
        assert found, f"{pattern!r} is not on the page: {text or self.said}"
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

    def table(self, column: str) -> pd.DataFrame:
        return table_with(self.at, column)

    def edited(self, model: str, text: str, edit: str) -> tuple[str, str]:
        """The translations before and after a change of heads, as Surgery shows them."""
        self.open("probe", model=model, text=text, probe_tab="Surgery", edit=edit)
        plain = re.sub(r":\w+-background\[|~~|\*\*|\]", "", self.said)
        return self.number(r"Before: (.*?)\s+After", plain), self.number(r"After \(edited\): (.*?) :orange", plain)


Look = Callable[[Screen], str]


def yes(holds: object) -> str:
    return "Yes" if holds else "No"


def whole(tokens: list[str], between: str = "") -> str:
    """What the stepper has written, without the end."""
    return between.join(tokens[:-1])


def exactly_right(screen: Screen) -> float:
    return float(screen.number(r"([\d.]+) % of \d+ held-out", screen.facts))


def off(kind: str, *heads: str) -> str:
    return "~".join(f"{kind}.{head}.zero" for head in heads)


def longest(screen: Screen, **place: str) -> str:
    """The token with the largest number in a row of the map *norm-weighted, this head* of Compare."""
    screen.open("attention", model=SWAP, text=SENTENCE, view="head", panel="compare.way-heads", **place)
    choose(screen.at, compare_which="norm")
    header, arrays = [message for message in messages(screen.at) if "column_title" in message[0]][1]
    column: str = header["columns"][int(arrays["values"][int(place["cell"][0]) - 1].argmax())]
    return column.split(" ", 1)[1]


def stays(screen: Screen, model: str, text: str, column: str) -> float:
    """A share of Cross-checks, *does the word need this row?*, in percent."""
    screen.open("probe", model=model, text=text, probe_tab="Cross-checks")
    if button := next((each for each in screen.at.button if each.label.startswith("Put other rows in place")), None):
        button.click().run()
    table = screen.table("predicted word")
    return 100 * float(table.loc[table["predicted word"] == "all", column].iloc[0])


def missed(screen: Screen, row: int) -> str:
    """The darkest cell of a row in the map *Values set to zero* of cross-attention, layer 2."""
    screen.open("probe", model=SWAP, text=SENTENCE, kind="cross", probe_tab="Cross-checks")
    choose(screen.at, checks_layer_cross=1)
    zeroed = maps(screen.at)[2]
    return f"{SENTENCE} <eos>".lower().split()[int(zeroed[row - 1].argmax())]


def mask_column(screen: Screen, column: str) -> float:
    """The probability of “je” in a column of Masks, Given target, for the model that was trained without a mask."""
    table = screen.open("masks", model="adjective-swap-unmasked", text=SENTENCE, masks_tab="Given target").table(column)
    assert table["must predict"].iloc[0] == "je"
    return float(table[column].iloc[0])


def bare_positions(screen: Screen) -> dict[str, str]:
    """The second line of the table of Positions, Shuffle the words: without positions."""
    screen.open("positions", model="reverse", text="abcd", positions_tab="Shuffle the words")
    return dict(screen.table("original sentence gives").iloc[1])


def curve(screen: Screen, run: str, measure: str) -> list[tuple[float, float]]:
    """The points of one curve of Runs, Compare curves: step and value, from the table below the chart."""
    screen.open("runs", entry=run, runs_tab="Compare curves")
    choose(screen.at, compare_measure=measure)
    table = [element.value for element in screen.at.dataframe if "step" in element.value][-1]
    return [(float(step), float(value)) for step, value in zip(table["step"], table.iloc[:, -1], strict=True)]


def first_at(points: list[tuple[float, float]], percentage: float) -> str:
    """The first step at which a score, drawn in percent, has reached a percentage."""
    assert max(score for _, score in points) == 100
    return f"{next(step for step, score in points if score >= percentage):.0f}"


def forked(screen: Screen, word: str) -> str:
    """The word after another one was picked at step 1."""
    others = screen.stepper()["alternatives"]
    chosen = others["ids"][0][others["tokens"][0].index(word)]
    screen.open("translate", model=SWAP, text="They buy blue cars", path=f"{chosen}")
    return screen.written()[1]


def surer(screen: Screen) -> str:
    """Whether the bar of the predicted word grows at temperature 3: p^(1/T) over the sum of all."""
    header = screen.stepper()
    p, heat = header["target"]["probabilities"][0], header["heat"]
    at = heat["temperatures"].index(3)
    log_sum = heat["log_sums"][0][at]
    return "surer" if math.exp(math.log(p) / 3 - log_sum) > p else "less sure"


def looks_at_on_average(screen: Screen, text: str, row: int) -> str:
    """The label above the strongest cell of a row, in the mean over the heads of the last layer."""
    heads = screen.open("attention", model=SWAP, text=text, kind="cross", view="heads").heads("cross")
    label: str = heads.header["columns"][int(heads.weights[-1].mean(axis=0)[row - 1].argmax())]
    return label


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
        lambda s: s.number(r"(sinusoidal|learned|none|rope|alibi) positions", s.facts),
        lambda s: str(heads_in_facts(s.facts)),
        lambda s: str(len(one_cell(swap_cell(s).at)[1]["query"])),
        lambda s: str((swap_map(s, "decoder").mask[:3, :3] != 0).sum()),
        lambda s: str(s.open("translate", model=SWAP, text=SENTENCE).stepper()["target"]["tokens"][3]),
    ),
    "translate": (
        lambda s: str(s.stepper()["target"]["tokens"][0]),
        lambda s: str(s.stepper()["target"]["tokens"][2]),
        lambda s: str(s.stepper()["alternatives"]["tokens"][0][1]),
        lambda s: forked(s, "elle"),
        surer,
        lambda s: str(s.written().index("<eos>") + 1),
        lambda s: yes(s.stepper()["target"]["probabilities"][2] > 0.9),
        lambda s: looks_at_on_average(s, "We eat green apples", row=3),
    ),
    "train": (
        lambda s: "About {}000".format(round(int(s.number(r"(\d+) k parameters", s.facts)), -1)),
        lambda s: "{:.1f}".format(100 / int(s.number(r"knows (\d+) target tokens"))),
        lambda s: first_at(curve(s, SWAP, "exact_match"), 90),
        lambda s: yes((points := curve(s, SWAP, "loss"))[-1][1] < points[0][1] / 10),
        lambda s: f"{exactly_right(s):.0f}",
        lambda s: yes(whole(s.written(), " ") == "je lis livres"),
        lambda s: first_at(curve(s, "reverse", "exact_match"), 90),
    ),
    "queries": (
        lambda s: s.heads("cross").looks_at(2, 3, 3),
        lambda s: str(len(one_cell(swap_cell(s).at)[1]["query"])),
        lambda s: f"{one_cell(swap_cell(s).at)[1]['scores'][3]:.4f}",
        lambda s: "Yes, like its score" if s.heads("cross").row(2, 3, 3)[1] < 0 else "No, it is tiny but not negative",
        lambda s: s.heads("cross").looks_at(2, 3, 4),
        lambda s: longest(s, kind="cross", layer="2", head="3", cell="3-4"),
    ),
    "masks": (
        lambda s: str((s.heads("decoder").mask[3] == 0).sum()),
        lambda s: str((s.heads("decoder").mask != 0).sum()),
        lambda s: f"{s.heads('decoder').weights[..., s.heads('decoder').mask != 0].max():.0f}",
        lambda s: f"{mask_column(s, 'lifted (%)'):.1f}",
        lambda s: f"About {exactly_right(s):.0f}",
        lambda s: yes(mask_column(s, "masked (%)") > 50),
    ),
    "order": (
        lambda s: whole(s.written()),
        lambda s: s.number(r"(sinusoidal|learned|none|rope|alibi) positions", s.facts),
        lambda s: f"{float(bare_positions(s)['largest difference of a weight']):.2f}",
        lambda s: (
            "Yes, the same"
            if (found := bare_positions(s))["original sentence gives"] == found["shuffled sentence gives"]
            else "No, something else"
        ),
        lambda s: whole(s.written(), " "),
        lambda s: yes(whole(s.written()) == LETTERS[::-1]),
    ),
    "heads": (
        lambda s: str(s.heads("encoder").header["layers"] * s.heads("encoder").header["heads"]),
        lambda s: "Head 1" if (mirror := s.heads("cross").header["shares"]["mirror"][0])[0] > mirror[1] else "Head 2",
        lambda s: fewer_keys(s),
        lambda s: s.edited("reverse", "hello", off("encoder", "1.1"))[1],
        lambda s: yes(s.edited("reverse", "hello", off("decoder", "1.1"))[1] == "olleh"),
        lambda s: yes(s.edited("reverse", "hello", off("cross", "1.1"))[1].startswith("olleh")),
        lambda s: as_read(s.open("translate", model="phrases-en-de", text="Where are you?").number(r"#### (.*\?)")),
    ),
    "why": (
        lambda s: s.heads("cross").looks_at(2, 3, 3),
        lambda s: f"{stays(s, SWAP, SENTENCE, 'uniform'):.1f}",
        lambda s: f"{stays(s, SWAP, SENTENCE, 'largest removed'):.1f}",
        lambda s: f"{stays(s, 'reverse', 'hello', 'largest removed'):.1f}",
        lambda s: missed(s, 5),
        lambda s: added(swap_cell(s).number(r"Largest: what the (feed-forward network of encoder L\d) added as key")),
        lambda s: patched(s, "I read red apples"),
        lambda s: MIXED.format(
            "fewer" if stays(s, SWAP, SENTENCE, "largest removed") < stays(s, SWAP, SENTENCE, "uniform") else "more"
        ),
    ),
    "limits": (
        lambda s: s.edited(SWAP, SENTENCE, off("cross", "2.3"))[1].split()[2],
        lambda s: yes(same(s.edited(SWAP, SENTENCE, off("cross", "2.1", "2.2", "2.3", "2.4")))),
        lambda s: yes(
            same(s.edited(SWAP, SENTENCE, off("encoder", *(f"{i}.{j}" for i in (1, 2) for j in (1, 2, 3, 4)))))
        ),
        lambda s: longest(s, kind="encoder", layer="1", head="3", cell="3-1"),
        lambda s: yes(sum(round(float(weight), 2) for weight in s.heads("cross").row(2, 3, 1)) > 0.98),
        lambda s: missed(s, 3),
        lambda s: f'Row 4 gives most of its weight to "{s.heads("cross").looks_at(2, 3, 4)}"',
    ),
    "decoder": (
        lambda s: s.number(r"(\d) decoder layers", s.facts),
        lambda s: str((s.heads("decoder").mask[1] == 0).sum()),
        lambda s: str(s.heads("cross").row(1, 1, 2).argmax() + 1),
        lambda s: str(s.heads("decoder").row(3, 3, 8).argmax() + 1),
        lambda s: (
            "olleh, as before"
            if same(s.edited("reverse-decoder", "hello", off("decoder", "3.1", "3.3", "3.4")))
            else "something else"
        ),
        lambda s: yes("neither clearly different" not in s.open("experiments", entry="decoder-only").said),
        lambda s: whole([token for token in s.heads("decoder").header["predicted"] if token]),
    ),
    "lstm": (
        lambda s: s.number(r"(\d) encoder layers", s.facts),
        lambda s: str(heads_in_facts(s.facts)),
        lambda s: str(s.heads("cross").header["layers"] * s.heads("cross").header["heads"]),
        lambda s: f"{sum(round(float(weight), 2) for weight in s.heads('cross').row(1, 1, 1)):.1f}",
        lambda s: yes(exactly_right(s) > 90),
        lambda s: yes(whole(s.written()) == LETTERS[::-1]),
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


def same(translations: tuple[str, str]) -> bool:
    return translations[0] == translations[1]


def fewer_keys(screen: Screen) -> str:
    """Which of two maps looks at fewer keys, by the numbers below the small maps."""
    encoder = screen.heads("encoder").header["effective"][0][1]
    screen.open("attention", model="reverse", text="hello", kind="cross", view="heads")
    cross = screen.heads("cross").header["effective"][0][0]
    return "Encoder, layer 1, head 2" if encoder < cross else "Cross-attention, layer 1, head 1"


def added(name: str) -> str:
    """The choice that stands for a part in the sentence below the table of terms."""
    which = {"L1": "first", "L2": "second"}[name[-2:]]
    return f"what the encoder's {which} feed-forward network added"


def patched(screen: Screen, other: str) -> str:
    """The word that Patching names for the source side."""
    screen.open("probe", model=SWAP, text=SENTENCE, step="3", probe_tab="Patching")
    choose(screen.at, patching_other=other)
    return screen.number(r"Encoder: .*? is at 4 .*?; “(\w+)” becomes likeliest")


def heads_in_facts(facts: str) -> int:
    """Layers × heads of the encoder, and twice those of the decoder."""
    found = re.search(r"(\d) encoder layers? × (\d) heads?, (\d) decoder layers? × (\d) heads?", facts)
    assert found, facts
    a, b, c, d = map(int, found.groups())
    return a * b + 2 * c * d


@pytest.fixture
def screen(shipped: Path) -> Screen:
    return Screen(new_app().run())


@pytest.mark.parametrize(
    "lesson",
    [pytest.param(each, marks=[] if each.order < 3 else pytest.mark.nightly, id=each.name) for each in LESSONS],
)
def test_every_question_is_answered_with_what_the_screen_shows(screen: Screen, lesson: Lesson) -> None:
    looks = iter(LOOK[lesson.name])
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
