"""The texts of the browser's code and markup: each passes through `t`, and pages get them in a language."""

import json
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explorer.browser import assets, words
from explorer.locale import catalogue, language
from tests.paths import ROOT

JS = ROOT / "explorer" / "browser" / "js"
FILES = sorted(JS.rglob("*.js"))
# What looks like a text and nobody reads, or what comes before a catalogue: data, and errors of the programmer.
NO_TEXTS = {
    "live/decode.js": ["drawn at random", "taken by beam search"],
    "machine_band.js": ["There is no style for this band."],
    "names.js": ["next token read"],
    "words.js": ["The message has no field ${name}."],
}
BEFORE_THE_CATALOGUE = {"mount.js", "standalone_boot.js"}  # what these say, they say when nothing could be loaded
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_REGEX = r"(?<=[(=:,!&|?;\s])/(?![/*\s])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/"
_LITERAL = re.compile(rf"{_STRING}|'(?:[^'\\\n]|\\.)*'|{_REGEX}|`(?:[^`\\]|\\.)*`", re.DOTALL)
_COMMENT = re.compile(
    r"^[ \t]*(?:/\*\*(?:(?!\*/).)*\*/|//[^\n]*)|/\*\*(?:(?!\*/).)*\*/|[ \t]//[^\n\"`]*$", re.MULTILINE | re.DOTALL
)
_ANY_CALL = re.compile(r"(?<![\w$])(?<!\w\.)(?:t|pieces)\(\s*")
_SENTENCE = re.compile(r"(?:^|[^\w{$])[A-Z][a-z]+ [a-z]|[a-z]{3,} [a-z]{2,} [a-z]{2,}")


def loose_texts(script: str) -> list[str]:
    """The literals that look like a sentence or a label and are no message."""
    script = _COMMENT.sub("", script)
    messages = {text for one, several in words.in_script(script) for text in (one, several)}
    found = []
    for literal in _LITERAL.findall(script):
        inside = re.sub(r"\$\{(?:[^{}]|\{[^{}]*\})*\}", "", literal[1:-1])
        if literal[0] == "/":
            continue
        if _SENTENCE.search(inside) and not (literal[0] == '"' and json.loads(literal) in messages):
            found.append(literal)
    return found


def faults_of(script: str) -> list[str]:
    """Calls whose message is no literal, or that lack the object of the fields that it names."""
    faults = []
    script = _COMMENT.sub("", script)
    for call in _ANY_CALL.finditer(script):
        if script[: call.start()].endswith("function "):
            continue
        literals = re.match(rf"({_STRING})(?:,\s*({_STRING}))?,?\s*(.)", script[call.end() :])
        if not literals:
            faults.append(script[call.start() : call.end() + 40])
            continue
        one, several, after = literals.groups()
        fields = re.findall(r"\{(\w+)\}", f"{one}{several or ''}")
        if (after == ")") != (not fields and not several):
            faults.append(f"{one}: fields {fields}")
        if several and catalogue.fault_of(json.loads(one), json.loads(several), json.loads(one)):
            faults.append(f"{one}: {several} has other fields")
    return faults


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(JS).as_posix())
def test_every_text_of_the_code_is_a_message(file: Path):
    script = file.read_text(encoding="utf-8")
    if file.name not in BEFORE_THE_CATALOGUE:
        assert [text[1:-1] for text in loose_texts(script)] == NO_TEXTS.get(file.relative_to(JS).as_posix(), [])
    assert file.name == "words.js" or faults_of(script) == []


def test_messages_of_a_call_within_another_one_and_of_markup_are_found():
    script = 't("{a} of {b}", { a: t("one \\"head\\""), b: pieces("{n} key", "{n} keys", { n }) })'
    assert list(words.in_script(script)) == [("{a} of {b}", None), ('one "head"', None), ("{n} key", "{n} keys")]
    markup = '<p title="Keys (?)">Beam size <input placeholder="Type"> <b>+</b></p>'
    assert words.in_markup(markup) == ["Keys (?)", "Beam size", "Type"]
    found = words.messages()
    assert ("Copy link", None) in found["html/copy_link.html"]
    assert len({message for each in found.values() for message, _ in each}) > 700


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
