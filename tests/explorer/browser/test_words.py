"""The texts of the browser's code and markup, and how pages get them in a language.

That each text passes through `t` with its fields is a rule of tests/js/eslint.config.js.
"""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explorer.browser import assets, words
from explorer.locale import catalogue, language


def test_messages_of_a_call_within_another_one_and_of_markup_are_found():
    script = 't("{a} of {b}", { a: t("one \\"head\\""), b: pieces("{n} key", "{n} keys", { n }) })'
    assert list(words.in_script(script)) == [("{a} of {b}", None), ('one "head"', None), ("{n} key", "{n} keys")]
    markup = '<p title="Keys (?)">Beam size <input placeholder="Type"> <b>+</b></p>'
    assert words.in_markup(markup) == ["Keys (?)", "Beam size", "Type"]
    found = words.messages()
    assert ("Copy link", None) in found["html/copy_link.html"]
    assert len({message for each in found.values() for message, _ in each}) > 700
    forms = [(one, several) for each in found.values() for one, several in each if several]
    assert forms
    assert [pair for pair in forms if catalogue.fault_of(*pair, pair[0])] == [], "the forms have the same fields"


@pytest.fixture
def esperanto(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A language whose pack has four messages, of which the browser uses three, and the stepper two."""
    head = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n'
    entries = [
        'msgid "Copy link"\nmsgstr "Kopiu ligilon"\n',
        'msgid "mean of {n} head"\nmsgid_plural "mean of {n} heads"\n'
        'msgstr[0] "meznombro de {n} kapo"\nmsgstr[1] "meznombro de {n} kapoj"\n',
        'msgid "Source"\nmsgstr "Fonto"\n',
        'msgid "Of Python alone"\nmsgstr "Nur Python"\n',
    ]
    (tmp_path / "eo.po").write_text("\n".join([head, *entries]), encoding="utf-8")
    monkeypatch.setenv("HEADLIGHT_LOCALES", str(tmp_path))
    return "eo"


def test_a_page_gets_the_messages_that_its_code_shows_and_english_none(esperanto):
    files = assets.sources(["stepper"], ["stepper"])
    assert words.catalogue(files) is None
    with language.written_in(esperanto):
        found = words.catalogue(files)
    assert found is not None
    assert found.messages == {
        "Source": "Fonto",
        "mean of {n} head": ["meznombro de {n} kapo", "meznombro de {n} kapoj"],
    }
    assert (found.language, found.decimal) == ("eo", ",")


def test_a_component_fetches_the_messages_of_its_pack_under_an_address_of_their_content(esperanto):
    assert ".eo.json" not in assets.mount("stepper")
    address = assets.address("frame", esperanto)
    assert f'"{address}"' in assets.mount("copy_link", esperanto)
    assert address.endswith("/frame.eo.json")
    client = TestClient(Starlette(routes=assets.routes()))
    answer = client.get(f"/class/{address}")
    assert answer.json()["messages"] == {"Copy link": "Kopiu ligilon"}
    assert "immutable" in answer.headers["Cache-Control"]
    assert client.get("/headlight/0/frame.xx.json").status_code == 404
