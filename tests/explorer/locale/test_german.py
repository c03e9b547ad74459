"""The German pack: one word for one thing, and the names that German keyboards and roles have."""

import re
from pathlib import Path

import pytest

from explorer.locale import language
from explorer.locale.catalogue import pack
from explorer.locale.messages import t, translated
from explorer.probing.roles import LETTERS
from explorer.screens.lessons.sidebar import key_names
from tests.paths import ROOT

# What the catalogue calls otherwise everywhere else, and in brackets what it calls it.
OTHER_WORDS = (
    r"\bBauform",  # Bauart
    r"\bnats?\b",  # Nats
    r"\bWorte\b",  # Wörter
    r"\bdas Memory\b",  # die Encoder-Ausgabe
    r"\bUpdates?\b",  # Aktualisierungen
    r"\b(?:Quell|Ziel)-Token\b",  # Quelltoken, Zieltoken
    r"(?<![-\w])Attention(?! is| Is)(?!\w)",  # Aufmerksamkeit; with a word before it, the term of the field
    r"\b(?:Touren|Cosinus|Bild auf|Bild ab|Tu das)\b",  # Rundgänge, Kosinus, Bild ↑, Bild ↓, Aufgabe
)


def german() -> list[str]:
    """The German texts; of the glossary, which lists every form of a term, only the explanations."""
    messages = {english: text for english, text in pack("de").messages.items() if "glossary: " not in english}
    return [form for text in messages.values() for form in ((text,) if isinstance(text, str) else text)]


@pytest.mark.parametrize("word", OTHER_WORDS)
def test_one_thing_has_one_word(word: str) -> None:
    texts = german()
    assert len(texts) > 4000
    assert not [text for text in texts if re.search(word, text)]
    assert re.search(word, "Bauform nats Worte das Memory Updates Quell-Token Attention Touren"), "it can fail"


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "de").glob("*.md")), ids=lambda path: path.stem)
def test_the_docs_call_buttons_and_lessons_by_their_names(path: Path) -> None:
    emphasised = re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", path.read_text(encoding="utf-8"))
    assert len(emphasised) > 4
    assert {" ".join(name.split()) for name in emphasised} - {text.strip(".:* ") for text in german()} <= {"tue"}


def test_a_count_of_heads_stands_in_its_case() -> None:
    with language.written_in("de"):
        said = [
            t("{n} of {all} heads has a clear role.", "{n} of {all} heads have a clear role.", n=n, all=48)
            for n in (1, 18)
        ]
    assert said == ["1 von 48 Köpfen hat eine klare Rolle.", "18 von 48 Köpfen haben eine klare Rolle."]


def test_roles_have_letters_of_their_own_which_are_no_layers() -> None:
    with language.written_in("de"):
        letters = [translated(short) for short in LETTERS.values()]
        layers = {t("L{layer}", layer=layer) for layer in range(1, 10)}
    assert letters != list(LETTERS.values())
    assert len({*letters}) == len(LETTERS)
    assert not layers & {*letters}


def test_the_keys_that_turn_pages_are_named_as_on_the_keyboard() -> None:
    assert 'content: "Page Up"' in key_names()
    with language.written_in("de"):
        assert re.findall('content: "(.*?)"', key_names()) == ["Bild ↑", "Bild ↓", "Bild ↓"]
        assert "Bild ↑ und Bild ↓" in t("Large type for the projector. Page Up and Page Down turn the pages.")


def test_who_looks_has_an_article() -> None:
    """Both that may look are feminine: die Cross-Attention, die Self-Attention."""
    with language.written_in("de"):
        for who in ("cross-attention", "decoder self-attention"):
            message = "To write {word}, having read {read}, {who} looks at {keys}."
            said = t(message, word="im", read="spielen", who=t(who), keys="park")
            assert re.search(r"schaut die \S*-Attention", said), said
