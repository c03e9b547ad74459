"""Every tab of every page with every kind of model and sentence: its figure, or a reason why it is absent."""

import re
from pathlib import Path

import pytest

from explorer.web import frame, runtime
from tests.pages.page import (
    PAGES,
    SHOWN,
    VISITS,
    address,
    assert_shows_something,
    choose,
    kinds,
    shows_its_subject,
    visit,
    words,
)
from tests.paths import ROOT
from tests.some import some

TABS = some(
    [(page, query) for page in ("translate", "attention", "positions", "masks", "inside") for query in VISITS[page]], 3
)
# Links that ask for what is not there, and what their pages say.
REFUSED: list[tuple[str, dict[str, str], str]] = [
    ("translate", {"model": "nope"}, "There is no model “nope”"),
    ("translate", {"path": "1-2-x"}, "not a list of token ids"),
    ("translate", {"text": "I read", "path": "999999"}, "does not fit this model"),
    ("translate", {"kind": "sideways"}, "none of encoder, decoder, cross"),
    ("translate", {"layer": "second"}, "not a whole number"),
    ("translate", {"text": "   "}, "type a sentence"),
    ("translate", {"text": "word " * 5000}, "at most 47 tokens"),
    ("attention", {"view": "<b>"}, "view is not one of this app"),
    ("attention", {"cell": "third"}, "not a row and a column"),
    ("attention", {"panel": "no such"}, "panel is not one of this app"),
    ("attention", {"panel": "cell", "kind": "decoder", "layer": "1", "head": "1", "cell": "1-2"}, "did not exist yet"),
    ("attention", {"panel": "aggregates.which-norm", "layer": "1", "head": "0"}, "Choose one head"),
    ("masks", {"masks_tab": "Trained without it"}, "adjective-swap-unmasked is not here"),
    ("probe", {"model": "lstm"}, "This page needs a Transformer; lstm is an LSTM. Choose another model."),
    ("lessons", {"lesson": "nothing"}, "There is no lesson 'nothing'"),
    ("lessons", {"lesson": "attention", "at": "99"}, "pages 1 to"),
    ("lessons", {"lesson": "masks", "done": "<b>"}, "unreadable"),
]
# tests/test_model_gateway.py visits one of odd sizes.
MODELS = some(("lstm", "bare", "learned", "open", "unplaced", "alone", "continues"), 5)
# What pages say whose other tabs need an encoder.
NO_ENCODER = dict.fromkeys(("masks", "positions"), "This model has no encoder, so the tab")
SENTENCES = ("a", "🏳️‍🌈 مرحبا 你好 <img src=x onerror=alert(1)> </script> $x$ **b** :red[x] \x1b", "w " * 60)


def test_all_pages_are_in_the_menu() -> None:
    assert set(re.findall(r'"pages/(\w+)\.py"', (ROOT / "app.py").read_text(encoding="utf-8"))) == set(PAGES)


@pytest.mark.quick
@pytest.mark.parametrize("page", PAGES)
def test_each_page_shows_what_it_is_about(lone: Path, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", lone)
    at = visit(page, model="toy", text="I read red books", sample="task.10")
    assert not at.error
    assert SHOWN[page] in kinds(at)


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("page", ["translate", "attention", "positions", "masks", "inside"])
def test_each_tab_of_each_page_has_its_subject_or_says_why_not(page: str, model: str) -> None:
    for query in VISITS[page]:
        at = visit(page, model=model, text="abc", **query)
        assert at.selectbox(key="model").value == model
        assert not at.error, query
        assert shows_its_subject(at, page), query
        assert model not in ("alone", "continues") or NO_ENCODER.get(page, "") in words(at)


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize(("page", "query", "sentence"), REFUSED)
def test_a_link_to_what_is_not_there_gets_a_message(page: str, query: dict[str, str], sentence: str) -> None:
    assert sentence in words(visit(page, **({"model": "adjective-swap", "text": "I read red books"} | query)))


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize(("page", "query"), TABS)
def test_any_sentence_can_be_shown(page: str, query: dict[str, str]) -> None:
    at = visit(page, model="adjective-swap", text=SENTENCES[0], **query)
    is_first = query == VISITS[page][0]  # without a sentence, no tab of the page is drawn
    for text in SENTENCES[: None if is_first else 2]:
        if text != SENTENCES[0]:
            choose(at, text=text)
        assert not at.error, text
        if query.get("positions_tab") == "Longer than trained":
            assert len(at.dataframe) == 1, "what comes through at each length"
        else:
            assert_shows_something(at)
    if is_first:
        assert "There is nothing to translate yet" in words(choose(at, text=" "))


@pytest.fixture
def framed(lone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is in a frame of another one: the view alone, at the place that the address names."""
    monkeypatch.setattr(runtime, "CHECKPOINTS", lone)
    monkeypatch.setattr(frame, "is_embedded", lambda: True)


@pytest.mark.usefixtures("framed")
def test_a_link_leads_out_of_the_frame() -> None:
    at = visit("attention", model="toy", text="a) [b](c")
    (link,) = [caption.value for caption in at.caption if "Open in Headlight" in caption.value]
    assert link.startswith("[Open in Headlight](?model=toy&text=a%29%20%5Bb%5D%28c&")
    assert link.count("(") == link.count(")") == 1


@pytest.mark.usefixtures("framed")
def test_without_a_choice_in_the_address_it_is_the_first_model_and_its_first_example() -> None:
    at = visit("translate")
    assert "bidi_component" in kinds(at)
    assert address(at)["model"] == "toy"
    assert address(at)["text"]
    assert visit("translate", model="gone", text="abc").warning[0].value.startswith("There is no model “gone” here")
