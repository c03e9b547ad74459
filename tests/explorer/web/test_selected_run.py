"""The box that chooses a run and the address say the same, whichever of them was changed."""

import pytest
from streamlit.testing.v1 import AppTest

from explorer.web.runs import ENTRY, NEW, RUN, choose_run
from tests.pages.page import address


def _page() -> None:
    import streamlit as st

    from explorer.web.runs import draw_missing, run_box

    if choice := st.session_state.pop("choose", None):
        choice()
    if st.session_state["page"] != "another":
        st.session_state["shown"] = run_box("Run", st.session_state["names"])
        draw_missing()


@pytest.fixture
def app() -> AppTest:
    at = AppTest.from_function(_page, default_timeout=60)
    at.session_state["page"], at.session_state["names"] = RUN, [NEW, "one", "two"]
    return at


def shown(at: AppTest) -> tuple[str, dict[str, str]]:
    assert not at.exception
    return at.session_state["shown"], address(at)


@pytest.mark.parametrize("name", ["<b>onne</b>\u202e", "x" * 5000, "\u202e" * 3000, "a b " * 2000])
def test_a_name_that_does_not_exist_is_said_in_a_few_words_until_another_is_chosen(app: AppTest, name: str) -> None:
    app.query_params["run"] = name
    assert shown(app.run()) == (NEW, {})
    (warning,) = app.warning
    assert len(warning.value) < 500
    assert "\u202e" not in warning.value
    assert ("U\\+202E" in warning.value) == ("\u202e" in name)
    assert app.run().warning, "the page is often redrawn"
    app.selectbox[0].set_value("one").run()
    assert not app.warning
    app.query_params["run"] = "onne"
    assert "one" in app.run().warning[0].value, "the nearest"
    app.session_state["choose"] = lambda: choose_run("two")
    assert not app.run().warning


def test_a_run_is_chosen_from_elsewhere_even_before_it_is_listed(app: AppTest) -> None:
    app.run()
    app.session_state["choose"] = lambda: choose_run("three")
    assert shown(app.run()) == ("three", {"run": "three"})
    app.session_state["names"] = [NEW, "one", "three", "two"]
    assert shown(app.run()) == ("three", {"run": "three"})
    app.session_state["names"] = [NEW, "one", "two"]
    assert shown(app.run()) == (NEW, {}), "it has been deleted"


def test_a_choice_for_one_page_is_not_taken_by_the_other(app: AppTest) -> None:
    app.session_state["choose"] = lambda: choose_run("two", ENTRY)
    assert shown(app.run()) == (NEW, {})
