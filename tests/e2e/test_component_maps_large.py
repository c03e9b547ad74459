"""The large maps in a real browser: they fill the width; those of long sentences zoom and scroll with their labels."""

from __future__ import annotations

from tests.e2e.bench import Bench
from tests.e2e.stage import long_trace

BOX = "root.querySelector('figure.cross canvas').parentNode"


def test_cells_of_a_long_sentence_are_readable_unless_somebody_zooms_out(either: Bench) -> None:
    for words in (45, 100):
        either.mount(long_trace(words), kind="cross", layer=1, head=1, seq=f"{words}", step=2, view="head")
        assert either.plot("cross")[2] >= 12
        either.press("-", "-")
        assert either.plot("cross")[2] < 12
        either.press("0", "+")
        assert either.plot("cross")[2] > 12
        either.click("figure.cross .zoom button[value='0']")
        assert either.plot("cross")[2] == 12


def test_a_long_map_follows_the_step_and_keeps_its_labels_in_sight(either: Bench) -> None:
    either.mount(long_trace(60), kind="cross", layer=1, head=1, step=1, view="head")
    assert either.page.evaluate(f"{BOX}.scrollTop") == 0
    either.listen()
    either.press("End")
    either.frame()
    left, top, cell, *_ = either.plot("cross")
    x, y, width, height = either.page.evaluate(
        f"(() => {{ const b = {BOX}; return [b.scrollLeft, b.scrollTop, b.clientWidth, b.clientHeight]; }})()"
    )
    assert y > 0
    assert y + top <= top + 60 * cell <= y + height, "the row in view is in sight"
    labels = either.written("cross")
    ratio = either.page.evaluate("devicePixelRatio")
    assert labels["61 word59"][0] / ratio < x + left, "its label stands at the left edge"
    column = labels["61 <eos>"]
    assert y <= column[1] / ratio <= y + top, "the label of the last key stands above the cells in sight"
    assert x + left <= column[0] / ratio <= x + width
