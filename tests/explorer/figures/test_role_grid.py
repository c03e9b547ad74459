"""The grid of thumbnails, two scores against each other, and the map of roles as a file."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from explorer.figures.role_grid import role_grid, score_scatter
from explorer.probing.measurement import Tally
from explorer.probing.relative_maps import BINS
from explorer.probing.role_map import role_map_svg
from explorer.probing.roles import LETTERS, NO_ROLE, Role
from tests.explorer.probed import HEADS, observed, with_untrained

SINK = Role("sink: first token + previous token", ("first", "previous"), "")
PLAIN = Role(NO_ROLE, (), "")


def test_every_head_has_a_thumbnail_a_frame_and_a_target() -> None:
    maps = np.random.default_rng(0).random((2, 3, BINS, BINS))
    roles = {place: SINK if place == (1, 2) else PLAIN for place in np.ndindex(2, 3)}
    plot = role_grid(maps, roles, "encoder")
    heat, targets = plot.figure.data
    shown = np.asarray(heat.z)
    for (layer, head), x, y in zip(np.ndindex(2, 3), targets.x, targets.y, strict=True):
        top, left = round(y - (BINS - 1) / 2), round(x - (BINS - 1) / 2)
        assert np.allclose(shown[top : top + BINS, left : left + BINS], maps[layer, head], atol=1e-6)
    assert np.isfinite(shown).sum() == maps.size, "between thumbnails nothing is drawn"
    assert [tuple(data) for data in targets.customdata] == list(np.ndindex(2, 3))
    dashes = [shape.line.dash for shape in plot.figure.layout.shapes]
    assert dashes == ["dot"] * 5 + ["solid"]
    (letters,) = plot.figure.layout.annotations
    assert letters.text == "<b>S1+Pv</b>", "a role shows without its colour"
    assert "1 of 6 encoder heads have a clear role (S1 = sink: first token and Pv = previous token)" in plot.caption
    assert plot.table["letters"] == [""] * 5 + ["S1+Pv"]


def test_marks_are_words_in_the_middle_of_their_thumbnails() -> None:
    roles = dict.fromkeys(np.ndindex(2, 3), PLAIN)
    plot = role_grid(np.ones((2, 3, BINS, BINS)), roles, "cross", {(1, 0): "off", (0, 2): "✓ <b>"}, small=True)
    aims = plot.figure.data[1]
    targets = {tuple(data): (x, y) for data, x, y in zip(aims.customdata, aims.x, aims.y, strict=True)}
    drawn = {(a.x, a.y): a.text for a in plot.figure.layout.annotations}
    assert drawn == {targets[1, 0]: "<b>off</b>", targets[0, 2]: "<b>✓ &lt;b&gt;</b>"}
    assert plot.figure.layout.height < role_grid(np.ones((2, 3, BINS, BINS)), roles, "cross").figure.layout.height


def test_every_role_has_letters_of_its_own() -> None:
    assert len(set(LETTERS.values())) == len(LETTERS)


def test_one_score_against_another() -> None:
    x = {"encoder": np.array([[1.0, 2.0]]), "cross": np.array([[3.0, np.nan]])}
    y = {"encoder": np.array([[2.0, 1.0]]), "cross": np.array([[0.5, 0.1]]), "decoder": np.zeros((1, 1))}
    roles = {(kind, 0, head): PLAIN for kind in ("encoder", "cross") for head in range(2)}
    plot = score_scatter(x, y, ("keys", "weight"), roles)  # type: ignore[arg-type]
    assert [trace.name for trace in plot.figure.data] == ["encoder", "cross"]
    assert [list(trace.x) for trace in plot.figure.data] == [[1.0, 2.0], [3.0]]
    assert "3 heads: keys and weight have a rank correlation of -1.00" in plot.caption
    assert plot.table["head"] == ["L1 H1", "L1 H2", "L1 H1"]


@pytest.mark.parametrize("name", ["reverse", "<script>alert(1)</script>"])
def test_the_role_map_is_a_picture_without_markup_of_others(name: str) -> None:
    tally = Tally()
    for i in range(50):
        item = observed(6 + i % 5, 6, encoder=(HEADS["previous"], HEADS["uniform"]))
        tally.add(i, item, with_untrained(item, seed=i, seeds=2))
    drawn = role_map_svg(tally.result(), name, "fifty sentences")
    root = ElementTree.fromstring(drawn)
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert texts[0] == f"The heads of {name}"
    assert float(root.get("width", "0")) > 6 * max(len(text or "") for text in texts), "no line is cut off"
    assert {"Pv", "previous token", NO_ROLE} <= set(texts)
    assert not [element for element in root.iter() if element.tag.endswith("script")]
