"""Checks computed from a translation of `reverse`."""

from __future__ import annotations

import pytest

from explorer.lessons.checks import CHECKS, Live, answer
from explorer.lessons.expressions import Term, TermError
from explorer.translation.translator import Translator
from model.checkpoint import load_model
from model.config import DecodeConfig
from model.folder import summarize
from tests.paths import ROOT


@pytest.fixture(scope="module")
def live() -> Live:
    folder = ROOT / "checkpoints" / "reverse"
    translator = Translator(load_model(folder))
    return Live(translator, translator.translate("hello", DecodeConfig()), summarize(folder))


def test_checks_agree_with_the_trace(live: Live) -> None:
    trace = live.shown.trace
    place = (("kind", "cross"), ("layer", "1"), ("head", "2"), ("row", "3"))
    assert answer(Term("weight", (*place, ("key", "2"))), live) == pytest.approx(trace.cross[0, 1, 2, 1])
    assert answer(Term("strongest_position", place), live) == trace.cross[0, 1, 2].argmax() + 1
    mean = (("kind", "cross"), ("layer", "1"), ("head", "0"), ("row", "3"), ("key", "2"))
    assert answer(Term("weight", mean), live) == pytest.approx(trace.cross[0, :, 2, 1].mean())
    assert answer(Term("keys_open", (("kind", "decoder"), ("row", "4"))), live) == 4
    assert answer(Term("source", (("key", "6"),)), live) == "<eos>"
    one = answer(Term("tempered", (("row", "1"), ("temperature", "1"))), live)
    assert one == pytest.approx(float(trace.probabilities[0]), abs=1e-5)
    raw, scaled = (answer(Term("score", (*place, ("key", "2"), ("form", form))), live) for form in ("raw", "scaled"))
    assert raw == pytest.approx(float(scaled) * 32**0.5, rel=1e-4)


@pytest.mark.parametrize("name", CHECKS)
def test_a_place_that_is_not_there_gets_a_message(live: Live, name: str) -> None:
    samples = {"kind": "cross", "count": "99", "number": "2", "heads": "cross.9.9", "word": "nothing"}
    check = CHECKS[name]
    written = tuple((key, samples.get(kind, kind.split("|")[0])) for key, kind in check.needs.items())
    if not check.needs or name in (
        "tokens",
        "heads",
        "head_size",
        "masked_cells",
        "masked_weight",
        "curve",
        "card_says",
    ):
        assert answer(Term(name, written), live) is not None
        return
    with pytest.raises(TermError, match="has no answer for reverse and “hello”"):
        answer(Term(name, written), live)
