"""The addresses of the app in the documentation open what they name: page, model, sentence and lesson."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from explorer.decoding.selection import LinkParameters
from explorer.lessons.lesson_file import read_lesson
from explorer.lessons.library import FOLDER
from explorer.lessons.translation import in_language
from explorer.locale import language
from tests.docs.generated import APP, documents
from tests.docs.markdown import links
from tests.pages.page import SHOWN, kinds, visit, words
from tests.pages.page import address as address_of

DOCUMENTED = [link for path in documents() for link in links(path.read_text(encoding="utf-8")) if link.startswith(APP)]
# The table of lessons has a link to each, and tests/pages opens all lessons; one of them is enough here.
ADDRESSES = [link for link in dict.fromkeys(DOCUMENTED) if "lesson=" not in link or "lesson=attention" in link]


def values(at: AppTest, *types: str) -> set[object]:
    return {getattr(element, "value", None) for kind in types for element in at.get(kind)}


@pytest.mark.parametrize("address", [link for link in ADDRESSES if urlsplit(link).path])
def test_an_address_opens_what_it_names(address: str) -> None:
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query))
    page = parts.path.strip("/")
    at = visit(page, **query)
    assert not at.error
    assert not at.warning, "a part of the link was left out"
    assert SHOWN[page] in kinds(at)
    asked = {name: value for name, value in query.items() if value != getattr(LinkParameters(), name, None)}
    assert asked.items() <= address_of(at).items(), "the page is at another place"
    if "model" in query:
        assert query["model"] in values(at, "selectbox")
    if "text" in query:
        assert query["text"] in values(at, "text_input", "text_area")
    if "lesson" in query:
        with language.written_in(query.get("lang", language.ENGLISH)):
            assert in_language(read_lesson(FOLDER / f"{query['lesson']}.md")).title in words(at)
