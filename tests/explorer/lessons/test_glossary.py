"""The glossary: every term once, in one plain sentence, and used by the app."""

import re

import pytest

from explorer.locale import glossary
from explorer.locale.glossary import GLOSSARY, address_of, explain, explained
from tests.paths import ROOT


def test_every_term_has_one_entry() -> None:
    terms = [entry.term.casefold() for entry in GLOSSARY]
    assert len(set(terms)) == len({entry.explanation for entry in GLOSSARY}) == len(terms) >= 40
    assert explain("bleu") is explain("BLEU")
    with pytest.raises(KeyError):
        explain("no such term")


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        (
            "Queries fit keys; a query fits a key.",
            "[Queries](#term-query) fit [keys](#term-key); a query fits a key\\.",
        ),
        (
            "cross-attention of a decoder-only model",
            "[cross\\-attention](#term-cross-attention) of a decoder\\-only model",
        ),
        ("“head” looks at *x*, <b>, [a](b)", "“head” looks at \\*x\\*, \\<b\\>, \\[a\\]\\(b\\)"),
    ],
)
def test_the_first_mention_of_a_term_is_a_link_and_nothing_typed_is_markup(text: str, linked: str) -> None:
    assert explained(text) == linked


def test_terms_of_a_lesson_are_links_outside_of_code_and_links() -> None:
    assert glossary.linked("`head` of a **key** [head](x)") == "`head` of a **[key](#term-key)** [head](x)"


def test_each_term_has_its_own_address_and_the_views_link_to_terms_that_exist() -> None:
    addresses = {address_of(entry.term) for entry in GLOSSARY}
    assert len(addresses) == len(GLOSSARY)
    components = ROOT / "explorer" / "browser"
    texts = [path.read_text(encoding="utf-8") for path in components.rglob("*") if path.suffix in (".js", ".html")]
    linked = {link for text in texts for link in re.findall(r'href[=:] ?["`](#term-[\w-]+)["`]', text)}
    named = re.search(r"KIND_TERMS = \{(.*)\}", (components / "js" / "terms.js").read_text(encoding="utf-8"))
    assert named
    linked |= {f"#term-{name}" for name in re.findall(r'"([\w-]+)"', named[1])}
    assert len(linked) >= 5
    assert linked <= addresses
