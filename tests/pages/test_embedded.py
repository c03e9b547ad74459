"""Pages in a frame of another page: the view alone, at the place that the address names, without the sidebar."""

from pathlib import Path

import pytest

from explorer.web import frame
from tests.explorer.toy_models import save_toy
from tests.pages.page import address, kinds, visit

CONTROLS = {"selectbox", "text_input", "button", "popover", "expander", "page_link", "heading"}


@pytest.fixture(autouse=True)
def _in_a_frame(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_toy(checkpoints / "toy", "reverse")
    monkeypatch.setattr(frame, "is_embedded", lambda: True)


def test_a_link_leads_out_of_the_frame() -> None:
    at = visit("attention", model="toy", text="a) [b](c")
    (link,) = [caption.value for caption in at.caption if "Open in Headlight" in caption.value]
    assert link.startswith("[Open in Headlight](?model=toy&text=a%29%20%5Bb%5D%28c&")
    assert link.count("(") == link.count(")") == 1


def test_without_a_choice_in_the_address_it_is_the_first_model_and_its_first_example() -> None:
    at = visit("translate")
    assert "bidi_component" in kinds(at)
    assert address(at)["model"] == "toy"
    assert address(at)["text"]
    assert visit("translate", model="gone", text="abc").warning[0].value.startswith("There is no model “gone” here")
