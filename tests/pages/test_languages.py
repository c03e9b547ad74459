"""Every page in another language: no English is left that is not a token, a name or code; links cross languages."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from streamlit.testing.v1.element_tree import Widget

from explorer.decoding.coordinates import Place
from explorer.decoding.shown_maps import shown_maps
from explorer.files import map_picture, moving_picture
from explorer.files.site import moved
from explorer.lessons.library import FOLDER as LESSONS
from explorer.lessons.library import lesson_files, read_library
from explorer.lessons.translation import in_language, texts_of
from explorer.locale import catalogue, language
from explorer.locale.catalogue import pack
from explorer.runs.settings import HELP
from explorer.screens.masks.mask_maps import ALONE
from explorer.web import runtime
from explorer.web.language import of_browser
from model.config import ATTENTION_KINDS, AttentionKind
from model.data import get_task
from tests import pseudo
from tests.explorer.planted import planted_trace
from tests.explorer.sent import messages
from tests.explorer.shown_maps import VIEWS
from tests.harness import calls_of
from tests.pages.page import address, as_read, run, visit, widget, words

SENTENCE = "I read red books"
# The pack of the tests writes every word of three letters with accents, unless none of its letters can bear one.
WORD = re.compile(r"(?<![\w.&-])(?=\w*[aeiouyncsz])[a-z]{3,}(?![\w-])", re.IGNORECASE)
# What stays as it is: code, markup, addresses, days, and what stands in quotation marks.
NAMES = re.compile(
    r"`[^`]*`|'[^']*'|“[^”]*”|\]\([^)]*\)|https?://\S+|\w+(?:\.\w+)+|</?[a-z][^>]*>|&[a-z]+;|:[a-z]+(?:/\w+:|(?:-badge)?\[)"
    r"|\{[^}]*\}|\\(?:begin|end)\{\w+\}|\\[a-z]+"
    r"|No estimate in this test"
    r"|\b\d+ [A-Z][a-z]{2}$"  # a day, which the data of a locale write
)
SETTINGS = re.compile(rf"\((?:{'|'.join(map(re.escape, HELP))})\)")
KNOWN = {
    *("csv", "npz", "pdf", "png", "svg", "english", "deutsch", "headlight", "toy", "rope", "sos", "eos", "unk", "ffn"),
    *("concat", "multihead", "layernorm", "sublayer", "max", "softmax", "relu", "sin", "cos", "log", "sqrt", "pos"),
    *("base", "domain", "unified", "min", "tiny"),
}
"""Names of formats, languages, functions, models and units, which no language translates."""
UNSEEN = ("seq", "code", "lines", "edits", "template", "textposition", "hovermode", "xref", "yref", "tokens", "bdata")
"""The parts of a message to a view and of a figure that nobody reads as a sentence."""
PARTS = {"One head": "probe_head_part", "Effect on the answer": "probe_effect"}


@pytest.fixture
def packs(monkeypatch: pytest.MonkeyPatch, lone: Path) -> None:
    """A pack in no language, and one model."""
    monkeypatch.setenv("HEADLIGHT_LOCALES", str(pseudo.packs()))
    monkeypatch.setattr(runtime, "CHECKPOINTS", lone)


def texts(at: Any) -> Iterator[str]:
    """Everything that the page writes: text, labels, help, placeholders, options, headings of tables."""
    for block in (at.sidebar, at.main):
        for element in block:
            # What stands in a field is the visitor's, and the value of a choice is its id.
            names = ("label", "help", "placeholder") if isinstance(element, Widget) else ("label", "help", "value")
            found = [getattr(element, name, None) for name in names if element.type != "code"]
            yield from (text for text in found if isinstance(text, str))
            yield from map(str, getattr(element, "options", ()))
            if element.type == "dataframe":
                yield from map(str, element.value.columns)
    for header, _ in messages(at):
        yield from strings(header)
    for plot in at.get("plotly_chart"):
        yield from strings(json.loads(plot.proto.spec))


def strings(value: Any) -> Iterator[str]:
    """The strings of a message to a view; code of the model stays as it is written."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, dict):
        yield from (text for name, each in value.items() if name not in UNSEEN for text in strings(each))


@cache
def of_the_toy() -> frozenset[str]:
    """The words of the task whose model is on the pages."""
    examples = [example for split in get_task("adjective-swap").splits.values() for example in split]
    return frozenset(word.lower() for each in examples for word in f"{each.source} {each.target}".split())


def english(text: str) -> set[str]:
    """The English words that are left of a text; a text without spaces may be an id."""
    bare = as_read(NAMES.sub(" ", SETTINGS.sub("", text.replace("\\.", "."))))
    found = WORD.findall(bare) if re.search(r"[\s(]", text) else []
    return {word for word in found if word.lower() not in KNOWN | of_the_toy()}


@pytest.mark.usefixtures("packs")
@pytest.mark.parametrize("path", lesson_files(LESSONS), ids=lambda path: path.stem)
def test_no_english_is_left_in_any_step_of_a_lesson(path: Path) -> None:
    (lesson,) = read_library([path]).lessons
    with language.written_in(pseudo.CODE):
        written = in_language(lesson)
    assert not {text: found for text in texts_of(written) if (found := english(text))}


@pytest.mark.usefixtures("packs")
@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_no_english_is_left_in_a_picture(kind: AttentionKind) -> None:
    with language.written_in(pseudo.CODE):
        trace, at = planted_trace(), Place(kind, 1, 1)
        pictures = [map_picture.picture_of(shown_maps(trace, replace(at, row=2, step=2), view)) for view in VIEWS]
        steps = list(moving_picture.stage_steps(trace, at))
        pictures += [moving_picture.picture_of(step, trace.src_tokens, steps[-1].target, "") for step in steps]
        written = {text for picture in pictures for text in picture.texts}
        written.add(moved("elsewhere").decode().partition("<body>")[2])
    assert not {text: found for text in written if (found := english(f"{text} "))}


@pytest.mark.usefixtures("packs")
def test_a_link_crosses_languages_and_only_a_choice_is_kept_in_it() -> None:
    at = visit("attention", model="toy", text=SENTENCE, kind="cross", layer="2", head="1", view="head")
    assert "lang" not in address(at)
    here = address(at)
    there = visit("attention", lang=pseudo.CODE, **here)
    assert address(there) == {**here, "lang": pseudo.CODE}
    assert words(there) != words(at)
    back = visit("attention", **{**address(there), "lang": language.ENGLISH})
    assert words(back) == words(at)


@pytest.mark.usefixtures("packs")
@pytest.mark.parametrize(
    ("page", "tab", "key", "name", "value"),
    [
        ("inside", "Sizes", "inside_tab", "Sizes", None),
        ("masks", "", "masks_batch", ALONE, ALONE),
        ("probe", "", "probe_kinds", "cross", ["cross"]),
        ("probe", "", "probe_map", "itself: weight on the same token", "itself"),
        ("probe", "", "probe_roles", "too few sentences", ["too few sentences"]),
        ("probe", "One head", "probe_head_part", "Search", "Search"),
        ("probe", "One head&Search", "search_rows", "predicts", "predicted"),
        ("probe", "Effect on the answer", "probe_effect", "Surgery", "Surgery"),
    ],
)
def test_a_choice_of_a_link_opens_in_another_language_and_keeps_its_english_name(
    page: str, tab: str, key: str, name: str, value: Any
) -> None:
    opened = dict(zip((f"{page}_tab", PARTS.get(tab.split("&")[0], "")), tab.split("&"), strict=False)) if tab else {}
    query = {"model": "toy", "text": SENTENCE, "kind": "cross", "sample": "task.3", **opened, key: name}
    at = visit(page, lang=pseudo.CODE, **query)
    assert address(at)[key] == name
    if value is not None:
        assert widget(at, key).value == value


def test_an_unknown_language_is_named_and_english_shown() -> None:
    at = visit("masks", lang="tlh")
    assert "There is no language “tlh” here." in words(at)


@pytest.mark.parametrize(
    ("locale", "code"), [("de-AT", "de"), ("de", "de"), ("fr-FR", "en"), ("en-GB", "en"), ("xx", "en"), ("", "en")]
)
def test_the_browsers_language_counts_if_its_pack_is_complete_and_read_over(locale: str, code: str) -> None:
    assert of_browser(locale, {name: pack(name) for name in ("de", "fr")}) == code


def test_german_is_complete_and_french_says_that_a_machine_made_it() -> None:
    assert pack("de").share == 1
    assert not pack("de").faults
    assert pack("fr").by_machine
    assert not pack("de").by_machine


@pytest.mark.parametrize("page", ["experiments", "probe"])
def test_a_run_in_german_makes_few_more_function_calls(page: str) -> None:
    """On the pages with the most texts; the number of calls does not depend on the load of the machine."""
    calls = {language.ENGLISH: 0, "de": 0}
    for code in calls:
        at = visit(page, lang=code, model="adjective-swap", text=SENTENCE)
        with language.written_in(code):  # of labels that the harness asks for outside of the run
            calls[code] = min(calls_of(partial(run, at)) for _ in range(3))
    assert calls["de"] <= 1.02 * calls[language.ENGLISH]


@pytest.mark.parametrize("code", [language.ENGLISH, "de"])
def test_a_run_looks_at_the_files_of_the_packs_once(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at files costs much time and few calls of functions."""
    at = visit("masks", lang=code, model="adjective-swap", text=SENTENCE)
    looks = Mock(wraps=catalogue.files)
    monkeypatch.setattr(catalogue, "files", looks)
    with language.written_in(code):
        run(at)
    assert looks.call_count == 1
