"""One cell: the message has the vectors and numbers of the model, and reports of a browser are not trusted."""

from dataclasses import replace
from typing import Any

import pytest

from explorer.browser.cell import encode, moved_to
from explorer.decoding.coordinates import Place
from explorer.decoding.translator import Explanation, Translation, Translator
from model.checkpoint import load_model
from model.config import DecodeConfig
from tests.paths import CHECKPOINTS

AT = Place("decoder", 2, 3, 3, 2, 3)


@pytest.fixture(scope="module")
def shown() -> tuple[Translation, Explanation]:
    translator = Translator(load_model(CHECKPOINTS / "adjective-swap"))
    translation = translator.translate("I read red books", DecodeConfig())
    return translation, translator.explain(translation, ("decoder", 1, 2), 2)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"row": 99}, r"This map has \d+ rows; there is no row 99\."),
        ({"column": 4}, "Row 3 can see 3 keys; key 4 did not exist yet when it was computed."),
        ({"column": None}, "did not exist yet"),
    ],
)
def test_a_cell_that_is_not_there_is_refused(
    shown: tuple[Translation, Explanation], changes: dict[str, Any], sentence: str
) -> None:
    translation, explained = shown
    with pytest.raises(ValueError, match=sentence):
        encode(explained.details, translation.trace, replace(AT, **changes), "s", in_view=0)


REPORT = {"seq": "s", "kind": "decoder", "layer": 2, "head": 3, "row": 3, "column": 1}


@pytest.mark.parametrize(
    ("message", "to"),
    [
        (REPORT, (3, 1)),
        (REPORT | {"column": 3}, (3, 3)),
        (REPORT | {"head": 4}, (4, 1)),
        (REPORT | {"head": 5}, None),
        (REPORT | {"head": 0}, None),
        (REPORT | {"column": 4}, None),
        (REPORT | {"column": 0}, None),
        (REPORT | {"column": "1"}, None),
        (REPORT | {"row": 2}, None),
        (REPORT | {"seq": "another"}, None),
        (REPORT | {"kind": "else"}, None),
        ("nonsense", None),
        (None, None),
    ],
)
def test_only_a_report_about_this_row_moves(message: object, to: tuple[int, int] | None) -> None:
    assert moved_to(message, AT, "s", (4, 3)) == to
