"""Files of pairs as people have them: old encodings, pasted text, spreadsheets, translation memories, catalogues."""

import datetime
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from model.data import spreadsheet
from model.data.files import read_pairs
from model.data.tables import SEPARATORS, pasted_table, read_table
from model.data.task import DataError

ROWS = [("Mädchen", "fille"), ("Straße", "rue"), ("Öl – gut", "huile")]
TABLE = "".join(f"{source}\t{target}\r\n" for source, target in ROWS)


def saved(tmp_path: Path, name: str, content: bytes | str) -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path: Path, **options: Any) -> list[tuple[str, str]]:
    return [(example.source, example.target) for example in read_pairs(path, **options).examples]


# Encodings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("ending", ["tsv", "txt"])
def test_unicode_with_its_mark_needs_no_question(tmp_path: Path, encoding: str, ending: str) -> None:
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    assert read(saved(tmp_path, f"a.{ending}", mark + TABLE.encode(encoding))) == ROWS


# Pasted text


def test_a_line_that_is_no_pair_keeps_its_number(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(pasted_table("a -> b\nc\nd -> e\nf -> g -> h").text, encoding="utf-8")
    assert read_pairs(tmp_path / "a.tsv").skipped == {"not divided into 2 columns as the other rows are": (2, 4)}


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("Yes, yes -> Ja, ja\nNo -> Nein\n", [("Yes, yes", "Ja, ja"), ("No", "Nein")]),
        ('"Yes", he said -> "Ja", sagte er\na -> b', [('"Yes", he said', '"Ja", sagte er'), ("a", "b")]),
        ('"six hundred, forty","640"\n"six","6"\n', [("six hundred, forty", "640"), ("six", "6")]),
        ('"Yes, ""yes""", "Ja, ja"\n\nNo, "Nein"', [('Yes, "yes"', "Ja, ja"), ("No", "Nein")]),
        ('"six";"6,0"\n"one";"1,0"', [("six", "6,0"), ("one", "1,0")]),
        ('"one","1","eins"\n"two","2","zwei"', [("one", "1"), ("two", "2")]),
        ('{"a": "six", "b": 640}\r\n{"b": 1.5, "a": "x"}', [("six", "640"), ("x", "1.5")]),
        ('["six", "6"]\n["one", "1"]', [("six", "6"), ("one", "1")]),
        ('[\n {"en": "six", "n": 6},\n {"en": "one", "n": 1}\n]', [("six", "6"), ("one", "1")]),
        (json.dumps({f"word {n}": str(n) for n in range(10)}), [(f"word {n}", str(n)) for n in range(10)]),
        ("| six | 6 |\n| :-- | --- |\n| one | 1 |", [("six", "6"), ("one", "1")]),
        ("77\tsix\t9\tsechs\n12\tone\t8\teins\n3\ttwo\t4\tzwei", [("six", "sechs"), ("one", "eins"), ("two", "zwei")]),
        ("6\tsix\tsechs\n1\tone\teins\n2\ttwo\tzwei", [("6", "six"), ("1", "one"), ("2", "two")]),
        ("six\t6\tVI\none\t1\tI\ntwo\t2\tII", [("six", "6"), ("one", "1"), ("two", "2")]),
    ],
)
def test_quoted_cells_and_json_are_read_as_such(tmp_path: Path, text: str, pairs: list[tuple[str, str]]) -> None:
    pasted = pasted_table(text)
    path = tmp_path / f"a{pasted.ending}"
    path.write_text(pasted.text, encoding="utf-8")
    assert [(example.source, example.target) for example in read_pairs(path, header=False).examples] == pairs


def test_a_file_of_one_json_list_is_read_as_lines_of_it_are(tmp_path: Path) -> None:
    listed = saved(tmp_path, "a.json", json.dumps([{"source": source, "target": target} for source, target in ROWS]))
    assert read(listed) == ROWS
    with pytest.raises(DataError, match="Write a pair on each line"):
        read(saved(tmp_path, "b.json", '[{"a": "b"'))


@pytest.mark.parametrize(
    ("text", "line"), [("", ""), ("   \n", ""), ("just a text\nno pairs", "just a text"), ("a -> b\nx\ny\nz", "x")]
)
def test_what_is_no_list_of_pairs_is_refused_with_the_first_line_that_is_none(text: str, line: str) -> None:
    with pytest.raises(DataError, match=f"such as “{line}”. Write a pair on each line") as refused:
        pasted_table(text)
    assert all(mark in str(refused.value) for mark in SEPARATORS if mark not in "\t,;"), "all that are read"


# Spreadsheets


def workbook(*rows: tuple[Any, ...]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_a_spreadsheet_is_read_as_it_looks(tmp_path: Path) -> None:
    content = workbook(
        ("English", "Number", "Date"),
        ("six", 6, datetime.datetime(2026, 11, 25)),
        ("two and a half", 2.5, None),
        (None, None, None),
        ("two\nlines", 12.0, True),
    )
    table = read_table(saved(tmp_path, "a.xlsx", content))
    assert (table.columns, table.has_header) == (("English", "Number", "Date"), True)
    assert [(row.line, row.cells) for row in table.rows] == [
        (2, ("six", "6", "2026-11-25")),
        (3, ("two and a half", "2.5", "")),
        (5, ("two lines", "12", "TRUE")),
    ]
    assert read(saved(tmp_path, "b.xlsx", workbook(*ROWS))) == ROWS


def changed(content: bytes, name: str, part: bytes) -> bytes:
    """The archive with another content of one part."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            new.writestr(info.filename, part if info.filename == name else old.read(info))
    return file.getvalue()


SHEET = "xl/worksheets/sheet1.xml"
CELL = '<row r="{0}"><c r="{1}{0}" t="inlineStr"><is><t>x</t></is></c></row>'


def sheet(*cells: str) -> bytes:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return f'<worksheet xmlns="{main}"><sheetData>{"".join(cells)}</sheetData></worksheet>'.encode()


def test_spreadsheets_that_would_fill_the_memory_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = workbook(*ROWS)
    entities = b'<!DOCTYPE a [<!ENTITY e "e">]>' + sheet(CELL.format(1, "A"))
    monkeypatch.setattr(spreadsheet, "MAX_UNPACKED", 2**20)
    for content, sentence in (
        (changed(plain, SHEET, b" " * 2**21), "unpacks to more than 1 MB"),
        (changed(plain, SHEET, entities), "declares entities"),
        (changed(plain, SHEET, entities.decode().encode("utf-16")), "declares entities"),
        (changed(plain, SHEET, b"<worksheet>"), "cannot be read as a spreadsheet"),
        (plain[:-40], "cannot be unpacked"),
        (b"no archive", "cannot be unpacked"),
    ):
        with pytest.raises(DataError, match=sentence):
            read(saved(tmp_path, "a.xlsx", content))
    monkeypatch.setattr(spreadsheet, "MAX_CELLS", 1000)
    with pytest.raises(DataError, match="more than 1,000 cells"):
        read(saved(tmp_path, "a.xlsx", changed(plain, SHEET, sheet(CELL.format(1, "XFD")))))
    monkeypatch.setattr(spreadsheet, "MAX_PARTS", 3)
    with pytest.raises(DataError, match="which no spreadsheet needs"):
        read(saved(tmp_path, "a.xlsx", plain))


# Translation memories

UNIT = (
    '<tu><tuv xml:lang="fr"><seg>{1}</seg></tuv><tuv xml:lang="de-DE">'
    '<seg><bpt i="1">&lt;b&gt;</bpt>{0}<ept i="1">&lt;/b&gt;</ept></seg></tuv></tu>\n'
)


def memory(units: str, declaration: str = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">') -> str:
    return (
        f'<?xml version="1.0"?>\n{declaration}\n<tmx version="1.4"><header srclang="de-DE"/><body>\n{units}'
        f"</body></tmx>"
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_translation_memory_begins_with_its_source_language(tmp_path: Path, encoding: str) -> None:
    content = memory("".join(UNIT.format(*row) for row in ROWS) + "<tu><tuv xml:lang='fr'><seg>seul</seg></tuv></tu>")
    path = saved(tmp_path, "a.tmx", content.encode(encoding))
    assert read_table(path).columns == ("de-de", "fr")
    assert read(path) == ROWS
    assert read(path, src_lang="fr", tgt_lang="de") == [(target, source) for source, target in ROWS]
    assert read_pairs(path).skipped == {"an empty side": (7,)}


def test_entities_and_broken_memories_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
    outside = '<!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    unit = UNIT.format("&a;", "b")
    for content, sentence in (
        (memory(unit, bomb), "declares entities"),
        (memory(unit, outside), "declares entities"),
        (memory("<tu>"), "is not valid TMX: line 4"),
        (memory(""), "no units in two languages"),
        (memory("<x>" * 200 + "</x>" * 200), "nests elements"),
    ):
        with pytest.raises(DataError, match=sentence):
            read(saved(tmp_path, "a.tmx", content))


# Message catalogues

CATALOGUE = r"""
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"

msgctxt "menu"
msgid "Open \"%s\""
msgstr "„%s“ öffnen"

#, fuzzy, c-format
msgid "Close"
msgstr "Öffnen"

msgid ""
"A long "
"message\n"
msgstr ""
"Eine lange\n"
"Meldung"

#, c-format
msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d Datei"
msgstr[1] "%d Dateien"

msgid "Untranslated"
msgstr ""
"""


def test_a_catalogue_gives_its_messages(tmp_path: Path) -> None:
    path = saved(tmp_path, "de.po", CATALOGUE)
    assert read(path) == [
        ('Open "%s"', "„%s“ öffnen"),
        ("A long message", "Eine lange Meldung"),
        ("%d file", "%d Datei"),
        ("%d files", "%d Dateien"),
    ]
    assert read_pairs(path).skipped == {"marked as fuzzy": (11,), "an empty side": (27,)}
