"""Tabs and choices in another language: labels are translated, and the address names them in English."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

PACK = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

msgid "values"
msgstr "Werte"

msgid "Sizes"
msgstr "Größen"

msgid "The machine"
msgstr "Die Maschine"
"""


def page(code: str) -> None:
    import streamlit as st

    from explorer.locale.language import written_in
    from explorer.web import bound

    with written_in(code):
        name, place = bound.tabs(["The machine", "Sizes"], "inside_tab")
        with place:
            st.text(name)
        st.text(bound.segmented("Picture", ["queries and keys", "values"], key="what", default="queries and keys"))


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "de.po").write_text(PACK, encoding="utf-8")
    monkeypatch.setenv("HEADLIGHT_LOCALES", str(tmp_path))


def drawn(at: AppTest) -> list[str]:
    assert not at.exception
    return [text.value for text in at.text]


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(("code", "labels"), [("en", ["The machine", "Sizes"]), ("de", ["Die Maschine", "Größen"])])
def test_an_english_link_opens_in_each_language(code: str, labels: list[str]) -> None:
    at = AppTest.from_function(page, args=(code,), default_timeout=60)
    at.query_params["inside_tab"], at.query_params["what"] = "Sizes", "values"
    assert drawn(at.run()) == ["Sizes", "values"]
    assert [tab.label for tab in at.tabs] == labels
    assert (at.query_params["inside_tab"], at.query_params["what"]) == (["Sizes"], ["values"])


@pytest.mark.usefixtures("german")
def test_what_is_chosen_in_german_is_in_the_address_in_english() -> None:
    at = AppTest.from_function(page, args=("de",), default_timeout=60)
    assert drawn(at.run()) == ["The machine", "queries and keys"]
    assert not at.query_params
    at.session_state["inside_tab"] = "Sizes"  # as a link of the machine does
    at.button_group(key="what").set_value("values")
    assert drawn(at.run()) == ["Sizes", "values"]
    assert (at.query_params["inside_tab"], at.query_params["what"]) == (["Sizes"], ["values"])
