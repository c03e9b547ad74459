"""The map of roles as a file."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from explorer.probing.measurement import Tally
from explorer.probing.report import role_map_svg
from explorer.probing.roles import LETTERS, NO_ROLE
from tests.explorer.probed import HEADS, observed, with_untrained


def test_every_role_has_letters_of_its_own() -> None:
    assert len(set(LETTERS.values())) == len(LETTERS)


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
