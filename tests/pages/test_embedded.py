"""Pages in a frame of another page: the view alone, at the place that the address names, without the sidebar."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.web import frame, runtime
from tests.explorer.toy_models import save_toy
from tests.paths import ROOT

CONTROLS = {"selectbox", "text_input", "button", "popover", "expander", "page_link", "heading"}


@pytest.fixture(autouse=True)
def _in_a_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_toy(tmp_path / "toy", "reverse")
    monkeypatch.setattr(runtime, "CHECKPOINTS", tmp_path)
    monkeypatch.setattr(frame, "is_embedded", lambda: True)


def opened(page: str, **query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = value
    return at.switch_page(page).run()


@pytest.mark.parametrize("page", ["pages/translate.py", "pages/attention.py"])
def test_the_view_alone(page: str) -> None:
    at = opened(page, model="toy", text="abc", step="2")
    assert not at.exception
    assert len(at.sidebar) == 0
    kinds = {element.type for element in at.main}
    assert "bidi_component" in kinds
    assert not kinds & CONTROLS
    assert (at.query_params["model"], at.query_params["text"], at.query_params["step"]) == ("toy", "abc", "2")


def test_a_link_leads_out_of_the_frame() -> None:
    at = opened("pages/attention.py", model="toy", text="a) [b](c")
    (link,) = [caption.value for caption in at.caption if "Open in Headlight" in caption.value]
    assert link.startswith("[Open in Headlight](?model=toy&text=a%29%20%5Bb%5D%28c&")
    assert link.count("(") == link.count(")") == 1


def test_without_a_choice_in_the_address_it_is_the_first_model_and_its_first_example() -> None:
    at = opened("pages/translate.py")
    assert "bidi_component" in {element.type for element in at.main}
    assert at.query_params["model"] == "toy"
    assert at.query_params["text"]


def test_a_model_that_is_gone_is_said() -> None:
    at = opened("pages/translate.py", model="gone", text="abc")
    assert at.warning[0].value.startswith("There is no model 'gone' here")
    assert not at.exception


def test_another_page_has_no_sidebar_either() -> None:
    at = opened("pages/positions.py", model="toy", text="abc")
    assert not at.exception
    assert len(at.sidebar) == 0
    assert "plotly_chart" in {element.type for element in at.main}
