"""Pages in a frame of another page: the view alone, at the place that the address names, without the sidebar."""

from pathlib import Path

import pytest

from explorer.web import frame
from tests.explorer.toy_models import save_toy
from tests.pages.page import address, choose, kinds, visit

CONTROLS = {"selectbox", "text_input", "button", "popover", "expander", "page_link", "heading"}


@pytest.fixture(autouse=True)
def _in_a_frame(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_toy(checkpoints / "toy", "reverse")
    monkeypatch.setattr(frame, "is_embedded", lambda: True)


@pytest.mark.parametrize(
    ("page", "subject"),
    [("translate", "bidi_component"), ("attention", "bidi_component"), ("positions", "plotly_chart")],
)
def test_the_view_alone(page: str, subject: str) -> None:
    at = visit(page, model="toy", text="abc", step="2")
    assert len(at.sidebar) == 0
    assert subject in kinds(at)
    if page != "positions":
        assert not kinds(at) & CONTROLS
        assert {"model": "toy", "text": "abc", "step": "2"}.items() <= address(at).items()


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


def test_a_field_for_a_sentence_if_the_address_asks_for_it() -> None:
    at = visit("translate", model="toy", text="abc", field="yes")
    choose(at, text="cab")
    assert address(at)["text"] == "cab"
    assert address(at)["field"] == "yes"
    assert len(at.sidebar) == 0
    assert "text=cab" in next(caption.value for caption in at.caption if "Open in Headlight" in caption.value)
    assert not kinds(visit("translate", model="toy", text="abc", field="no")) & CONTROLS
