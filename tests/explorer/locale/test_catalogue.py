"""Language packs: what is read, what is left out and why, numbers and plural forms, and that every message is found."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.collecting.__main__ import main
from explorer.locale import catalogue, language
from explorer.locale.catalogue import PackError, fault_of, pack, packs, problems, read_po
from explorer.locale.messages import t, translated
from explorer.locale.text import cell_number, count, fixed, percent, quoted
from model.user_error import UserError

HEAD = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n'
SLAVIC = (
    '"Plural-Forms: nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20)'
    ' ? 1 : 2);\\n"\n'
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packs that the app uses beside its own; the app's own are found again afterwards."""
    with monkeypatch.context() as patch:
        patch.setenv("HEADLIGHT_LOCALES", str(tmp_path))
        yield tmp_path
    packs()


def add(pack: Path, entries: str) -> None:
    """Write a pack; the next run of a page finds it."""
    pack.write_text(HEAD + entries)
    packs()


def entry(english: str, *written: str, several: str = "") -> str:
    if not several:
        return f'\nmsgid "{english}"\nmsgstr "{written[0]}"\n'
    forms = "".join(f'msgstr[{i}] "{form}"\n' for i, form in enumerate(written))
    return f'\nmsgid "{english}"\nmsgid_plural "{several}"\n{forms}'


def test_a_file_in_the_folder_is_a_language_with_its_own_plural_forms_and_the_rest_is_english(folder):
    (folder / "ru.po").write_text(
        HEAD + SLAVIC + entry("{n} word", "{n} слово", "{n} слова", "{n} слов", several="{n:,} words")
    )
    assert packs()["ru"].name == "Русский"
    with language.written_in("ru"):
        assert [t("{n} word", "{n:,} words", n=n) for n in (1, 3, 5, 21)] == [
            "1 слово",
            "3 слова",
            "5 слов",
            "21 слово",
        ]
        assert t("Layer {layer}", layer=2) == "Layer 2"
        assert t("{n} word", "{n:,} words", n=0.5) == "0.5 слова"
    assert t("{n} word", "{n:,} words", n=3) == "3 words"


def test_numbers_are_written_as_the_language_writes_them(folder):
    add(folder / "de.po", entry("{share:.1f} of {n:,}, {text}", "{share:.1f} von {n:,}, {text}"))
    with language.written_in("de"):
        assert t("{share:.1f} of {n:,}, {text}", share=0.25, n=1200, text="1.5") == "0,2 von 1.200, 1.5"
        assert (fixed(-0.5, 2), percent(0.997, 1), count(12_345)) == ("−0,50", "99,7 %", "12,3 k")
        assert (cell_number(0.63), cell_number(0.999), cell_number(-0.5, signed=True)) == ("0,63", ">0,99", "−0,50")
        assert (cell_number(0.63, narrow=True), cell_number(-0.5, signed=True, narrow=True)) == (",63", "−,50")
    assert fixed(-0.5, 2) == "−0.50"


def test_an_error_is_written_in_the_language_of_whoever_reads_it(folder):
    add(folder / "de.po", entry("{file} has no pairs.", "{file} enthält keine Paare."))
    error = UserError("{file} has no pairs.", file="{n}.tsv")
    with language.written_in("de"):
        assert str(error) == "{n}.tsv enthält keine Paare."
    assert str(error) == "{n}.tsv has no pairs."


@pytest.mark.parametrize(
    ("english", "several", "written", "fault"),
    [
        ("{n} of {m}", None, "{n} von", "fields"),
        ("{n} of {m}", None, "{n} von {m} {k}", "fields"),
        ("{share:.0%}", None, "{share}", "fields"),
        ("{n} of {m}", None, "{n} von {m", "brace"),
        ("{n} word", "{n} words", ("ein Wort", "{n} Wörter {x}"), "fields"),
        ("Read **this**", None, "Lies das", "markup"),
        ("Press `x`", None, "Taste x", "markup"),
        ("Plain", None, "<b onclick=1>Klar</b>", "markup"),
        ("A [link](https://a.org)", None, "Ein [Link](https://b.org)", "markup"),
        ("{n} of {m}", None, "von {m}: {n}", ""),
        ("{n} word", "{n:,} words", ("ein Wort", "{n:,} Wörter"), ""),
        ("Read **this**", None, "**Dies** lesen", ""),
    ],
)
def test_a_translation_with_other_fields_or_markup_is_left_out(english, several, written, fault):
    found = fault_of(english, several, written)
    assert fault in found if fault else found == ""


def test_a_message_with_a_fault_is_english_and_the_pack_stays(folder):
    add(folder / "nl.po", entry("{n} of {m}", "{n} van") + entry("Layer", "Laag"))
    assert any(said.startswith("nl: ") and "{m}" in said for said in problems())
    with language.written_in("nl"):
        assert (t("{n} of {m}", n=1, m=2), translated("Layer")) == ("1 of 2", "Laag")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("xx9.po", HEAD.encode(), "not the code of a language"),
        ("klingon-of-the-north-and-south.po", HEAD.encode(), "not the code of a language"),
        ("nl.po", b'msgid "a"\nmsgstr "\xff\xfe"\n', "not a gettext file in UTF-8"),
        ("nl.po", b"What is this?\n", "not a gettext file in UTF-8"),
        ("nl.po", HEAD.encode() + b'"Plural-Forms: nplurals=2; plural=__import__(1);\\n"\n', "cannot be used"),
    ],
)
def test_a_broken_pack_is_refused_with_a_sentence_and_hurts_nobody(folder, name, content, reason):
    (folder / name).write_bytes(content)
    assert [said for said in problems() if said.startswith(name) and reason in said]
    assert name.removesuffix(".po") not in packs()
    assert pack(name.removesuffix(".po")).messages == {}
    with language.written_in(name.removesuffix(".po")):
        assert t("Layer {layer}", layer=1) == "Layer 1"


def test_every_message_of_the_source_is_in_the_template():
    assert main(["--check"]) == 0


def test_a_file_that_is_no_pack_raises_one_clear_error(tmp_path):
    with pytest.raises(PackError, match=r"gone\.po cannot be read"):
        read_po(tmp_path / "gone.po")
    assert catalogue.template_messages()


def test_quotation_marks_are_those_of_the_language(folder):
    add(folder / "de.po", entry("“{token}”", "„{token}“"))
    with language.written_in("de"):
        assert quoted("a") == "„a“"
