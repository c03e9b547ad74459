"""What the tests of the Probe page share: the page with `reverse` open, its tabs and buttons."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from explorer.screens.probe import words as probe_grammar
from explorer.web import measurements as probe_store
from tests.paths import ROOT


def forget() -> None:
    """Empty what all sessions share: measured samples and the grammar pipeline."""
    probe_store.store.clear()
    probe_grammar._pipeline.clear()


def opened() -> AppTest:
    """The page with the models that come with the program; `reverse` is open."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    at.query_params["model"] = "reverse"
    at.query_params["text"] = "headlight"
    at.run()
    return at.switch_page("pages/probe.py")


def on_tab(at: AppTest, tab: str) -> AppTest:
    at.session_state["probe_tab"] = tab
    at.query_params["probe_tab"] = tab  # in a browser the address follows by itself
    return at.run()


def press(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click()
    return at.run()


def switch_off(at: AppTest, kind: str, *heads: tuple[int, int]) -> AppTest:
    """Choose heads (from 0) and press the button."""
    at.pills(key=f"surgery_heads_{kind}").set_value(list(heads)).run()
    return press(at, "surgery_do")
