"""Pasted pairs: what separates the two sides is found, and lines that are no pairs are named."""

from pathlib import Path

import pytest

from model.data import DataError
from model.data.files import read_pairs
from model.data.tables import pasted_table


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("one, two\t1,2", "a tab"),
        ("one -> 1", "“->”"),
        ("one → 1", "“→”"),
        ("one = 1", "“=”"),
        ("one; 1", "a semicolon"),
        ("one,1", "a comma"),
        ("one | 1", "“|”"),
    ],
)
def test_the_separator_is_found(tmp_path: Path, line: str, name: str) -> None:
    table, ending, separator = pasted_table(f"{line}\r\n\r\n{line.replace('1', '2')}\n")
    assert ending == ".tsv"
    assert separator == name
    (tmp_path / "a.tsv").write_text(table, encoding="utf-8")
    pairs = read_pairs(tmp_path / "a.tsv").examples
    assert [example.source[:3] for example in pairs] == ["one", "one"]
    assert pairs[1].target.startswith("2")


def test_a_line_that_is_no_pair_keeps_its_number(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(pasted_table("a -> b\nc\nd -> e\nf -> g -> h").text, encoding="utf-8")
    assert read_pairs(tmp_path / "a.tsv").skipped == {"a number of columns other than 2": (2, 4)}


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
    ],
)
def test_quoted_cells_and_json_are_read_as_such(tmp_path: Path, text: str, pairs: list[tuple[str, str]]) -> None:
    pasted = pasted_table(text)
    path = tmp_path / f"a{pasted.ending}"
    path.write_text(pasted.text, encoding="utf-8")
    assert [(example.source, example.target) for example in read_pairs(path, header=False).examples] == pairs


@pytest.mark.parametrize("text", ["", "   \n", "just a text\nwithout pairs", "a -> b\nx\ny\nz"])
def test_what_is_no_list_of_pairs_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="write a pair on each line"):
        pasted_table(text)
