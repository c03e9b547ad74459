"""Own data: TSV, CSV, JSONL and parallel files as users have them, messages for others, and pairs that are added."""

import json
from pathlib import Path

import pytest

from model.config import DataConfig
from model.data import DataError, Example, Task, get_task, text_files
from model.data.files import (
    DATA_FILE,
    LARGE,
    Pairs,
    check_added,
    files_task,
    load_splits,
    read_added,
    read_pairs,
    read_parallel,
    split_pairs,
    with_added,
)
from model.data.tables import read_table

PAIRS = (("I see", "ich sehe"), ("you see", "du siehst"), ("he sees", "er sieht"))


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def got(pairs: Pairs) -> tuple[tuple[str, str], ...]:
    return tuple((e.source, e.target) for e in pairs.examples)


def rows(separator: str, end: str = "\n") -> str:
    return "".join(f"{s}{separator}{t}{end}" for s, t in PAIRS)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain.tsv", rows("\t")),
        ("windows.tsv", rows("\t", "\r\n")),
        ("old-mac.tsv", rows("\t", "\r")),
        ("bom.tsv", "\ufeff" + rows("\t")),
        ("no-last-newline.tsv", rows("\t").rstrip()),
        ("blank-lines.tsv", "\n" + rows("\t", "\n\n")),
        ("comma.csv", rows(",")),
        ("semicolon.csv", rows(";")),
        ("quoted.csv", "".join(f'"{s}","{t}"\r\n' for s, t in PAIRS)),
        ("header.csv", "source,target\n" + rows(",")),
        ("swapped.csv", "target,id,source\n" + "".join(f"{t},7,{s}\n" for s, t in PAIRS)),
        ("tatoeba.tsv", "".join(f"{s}\t{t}\tCC-BY\n" for s, t in PAIRS)),
        ("told.csv", "sep=;\n" + rows(";")),
        ("told-quoted.csv", '"sep=,"\r\nsource,target\r\n' + rows(",")),
        ("headings.csv", "word,reversed\n" + rows(",")),
        ("numbered.csv", "".join(f"{n},{s},{t}\n" for n, (s, t) in enumerate(PAIRS, start=7))),
        ("list.jsonl", "".join(json.dumps(pair) + "\n" for pair in PAIRS)),
        ("named.jsonl", "".join(json.dumps({"id": 3, "target": t, "source": s}) + "\n" for s, t in PAIRS)),
        ("corpus.jsonl", "".join(json.dumps({"translation": {"en": s, "de": t}}) + "\n" for s, t in PAIRS)),
        ("escaped.ndjson", "".join(f'{{"source": "{s}", "target": "{t}"}}\r\n' for s, t in PAIRS)),
    ],
)
def test_tables_are_read_as_they_come(tmp_path: Path, name: str, text: str) -> None:
    pairs = read_pairs(write(tmp_path / name, text), src_lang="en", tgt_lang="de")
    assert got(pairs) == PAIRS
    assert pairs.skipped_sentence() == ""


def test_columns_are_chosen_by_heading_number_or_language(tmp_path: Path) -> None:
    text = "id\tde\ten\tfr\n" + "".join(f"{n}\t{t}\t{s}\tx\n" for n, (s, t) in enumerate(PAIRS))
    path = write(tmp_path / "a.tsv", text)
    assert got(read_pairs(path, src_lang="en", tgt_lang="de")) == PAIRS
    assert got(read_pairs(path, source_column="EN", target_column="de")) == PAIRS
    assert got(read_pairs(path, source_column="3", target_column="2", src_lang="en", tgt_lang="de")) == PAIRS
    assert got(read_pairs(path, source_column="de", src_lang="de", tgt_lang="en")) == tuple((t, s) for s, t in PAIRS)
    named = read_pairs(path, src_lang="en", tgt_lang="de")
    assert (named.source_name, named.target_name) == ("en", "de")
    for wrong, said in (
        ({"source_column": "es"}, r"a\.tsv has no column 'es'; its columns are id, de, en, fr"),
        ({"target_column": "5"}, "no column '5'"),
        ({"source_column": "de", "target_column": "2"}, "both column 'de'"),
    ):
        with pytest.raises(DataError, match=said):
            read_pairs(path, **({"src_lang": "en", "tgt_lang": "de"} | wrong))


COLUMNS, EMPTY = "not divided into 2 columns as the other rows are", "an empty side"
CONTROL = "control characters, or marks that reorder text"


@pytest.mark.parametrize(
    ("name", "text", "pairs", "skipped"),
    [
        (
            "commas, quotes and newlines inside quotes.csv",
            'source,target\n"Yes, ""now""","Ja, ""jetzt"""\n"two\nlines",zwei\nlast,letzte\n,leer\n',
            [('Yes, "now"', 'Ja, "jetzt"'), ("two\nlines", "zwei"), ("last", "letzte")],
            {EMPTY: (6,)},
        ),
        (
            "semicolons between sentences with commas.csv",
            "Yes, yes, yes;Ja, ja\nNo;Nein\nOh, no;Oh, nein, nein\n",
            [("Yes, yes, yes", "Ja, ja"), ("No", "Nein"), ("Oh, no", "Oh, nein, nein")],
            {},
        ),
        ("a comma in each cell.csv", "one;6,5\ntwo;6,5\n", [("one", "6,5"), ("two", "6,5")], {}),
        ("a separator that is told.csv", f"sep=;\n{rows(';')}alone\n", [*PAIRS], {COLUMNS: (5,)}),
        (
            "quotes are text.tsv",
            '"Go" on\t„Weiter"\n"open\toffen\nx\ty\n',
            [('"Go" on', '„Weiter"'), ('"open', "offen"), ("x", "y")],
            {},
        ),
        (
            "each reason.tsv",
            "a\tb\n" * 10 + "only one\n\nx\t \na\tb\tc\n\ty\n" + "z" * 5001 + "\tz",
            [("a", "b")] * 10,
            {COLUMNS: (11, 14), EMPTY: (13, 15), "more than 5,000 characters": (16,)},
        ),
        (  # a mark of right-to-left writing belongs to its sentence and stays
            "marks.tsv",
            "a\tb\n" * 4 + "c\u202ed\te\nf\x07\tg\n\u200fא\tb",
            [*[("a", "b")] * 4, ("\u200fא", "b")],
            {CONTROL: (5, 6)},
        ),
        (
            "lines of JSON.jsonl",
            '{"source": "a", "target": "b"}\n' * 8
            + '{broken\n{"source": "a"}\n{"n": null}\n'
            + "[" * 100_000
            + '\n{"source": "\\ud800", "target": "b"}\n{"source": "a", "target": '
            + "1" * 5000
            + "}",
            [("a", "b")] * 8,
            {"not JSON": (9, 12, 13, 14), "keys other than those of the first line": (10,), "not strings": (11,)},
        ),
    ],
)
def test_rows_that_are_no_pairs_are_left_out_and_named(
    tmp_path: Path, name: str, text: str, pairs: list[tuple[str, str]], skipped: dict[str, tuple[int, ...]]
) -> None:
    found = read_pairs(write(tmp_path / name, text))
    assert list(got(found)) == pairs
    assert found.skipped == skipped
    assert found.n_skipped == sum(map(len, skipped.values()))
    assert {why: len(texts) for why, texts in found.rows.items()} == {why: len(lines) for why, lines in skipped.items()}


def test_rows_that_cannot_be_used_are_kept_as_short_harmless_text(tmp_path: Path) -> None:
    text = "a\tb\n" * 40 + "\x1b[2J\u202e\tb\n" + f"{'long ' * 999}\n" + "alone\n" * 30
    found = read_pairs(write(tmp_path / "a.tsv", text))
    [hidden], divided = found.rows.values()
    assert hidden == "U+001B[2JU+202E → b"
    assert divided[0] == f"{'long ' * 24}"[:119] + "…"
    assert divided[1:] == ("alone",) * 19, "of many, the first are kept"


@pytest.mark.parametrize("beginning", ["My pairs\n", "# exported 2024\n\n", "My pairs,\n", "My pairs\nsource,target\n"])
@pytest.mark.parametrize("header", [None, True])
def test_a_title_above_the_table_is_named_and_not_learned(tmp_path: Path, beginning: str, header: bool | None) -> None:
    if header and "source" not in beginning:
        beginning += "English,Deutsch\n"
    pairs = read_pairs(write(tmp_path / "a.csv", beginning + rows(",")), header=header)
    assert got(pairs) == PAIRS
    assert list(pairs.skipped.values()) == [(1,)]
    assert pairs.source_name in ("1", "source", "English")


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.doc", b"a\tb\n", r"a\.doc: name a file that ends in \.tsv, \.tab, \.csv"),
        ("a.tsv", b"", r"a\.tsv is empty"),
        ("a.tsv", b" \n\n", r"a\.tsv is empty"),
        ("a.csv", b'""\n""\n', r"only empty rows"),
        ("a.tsv", b"one column\nonly\n", r"only one column"),
        ("a.tsv", b"a\tb\n", r"a\.tsv has 1 pair; at least 2"),
        ("a.tsv", b"a\tb\nM\xe4dchen\tx\n", r"line 2 holds the byte 0xE4\. .*windows-1252 “Mädchen x”"),
        ("a.tsv", "a\tb\n".encode("utf-16") + b"\n", r"begins as UTF-16 but is cut off or damaged"),
        ("a.tsv", b"a\tb\nc\x00\td\n", r"not a text file: line 2 holds a zero byte"),
        ("a.csv", b"PK\x03\x04rest", r"is a spreadsheet or an archive"),
        ("a.tsv", b"\x1f\x8brest", r"is compressed"),
        ("a.csv", b'a,b\n"c,d\ne,f\n', r"not valid CSV from line 2 on .*quotation mark"),
        ("a.csv", b"x" * 140_000 + b",y\n", r"not valid CSV from line 1 on \(field larger"),
        ("a.tsv", b"a\tb\n" + b"a\t\n" * 3, r"more unusable rows than pairs \(1\)\. 3 rows left out: .*lines 2, 3, 4"),
        ("a.jsonl", b"{}\n[]\n3\n", r"no JSON objects with strings"),
        ("a.csv", "sou\u202erce,target\n".encode() + b"1,2\n" * 4, r"marks that reorder text, in 'headings\[0\]'"),
        ("a.jsonl", b'{"so\\u202eurce": "x", "target": "b"}\n' * 4, r"marks that reorder text, in 'headings\[0\]'"),
        ("a.tsv", ("\t".join("abc") * 100 + "\n").encode() * 3, r"at 'headings': expected `array` of length <= 100"),
        ("a.jsonl", b'{"' + b"x" * 1001 + b'": "x", "target": "b"}\n' * 4, r"headings\[0\]': expected `str` of length"),
    ],
)
def test_what_cannot_be_read_gets_a_message(tmp_path: Path, name: str, data: bytes, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence) as refused:
        read_pairs(write(tmp_path / name, data))
    assert str(refused.value).startswith(name)


def test_a_missing_file_a_folder_and_a_huge_file_get_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"b\.tsv cannot be read \(No such file"):
        read_pairs(tmp_path / "b.tsv")
    (tmp_path / "c.tsv").mkdir()
    with pytest.raises(DataError, match=r"c\.tsv cannot be read"):
        read_pairs(tmp_path / "c.tsv")
    monkeypatch.setattr(text_files, "MAX_BYTES", 2**20)
    with pytest.raises(DataError, match=r"d\.tsv is larger than 1 MB"):
        read_pairs(write(tmp_path / "d.tsv", b"a\tb\n" * 2**19))


def test_two_files_line_by_line(tmp_path: Path) -> None:
    source = write(tmp_path / "a.en", "\ufeff" + "\r\n".join(s for s, _ in PAIRS) + "\r\n\r\n")
    target = write(tmp_path / "a.de", "\n".join(t for _, t in PAIRS))
    assert got(read_parallel(source, target)) == PAIRS
    write(target, "x\n\nz\n")
    pairs = read_parallel(source, target)
    assert pairs.skipped_sentence() == "1 row left out: an empty side (line 2)."
    assert pairs.rows == {"an empty side": (f"{PAIRS[1][0]} → (empty)",)}
    write(target, "x\ny\n")
    with pytest.raises(DataError, match=r"a\.en has 3 lines and a\.de has 2; they must correspond line by line"):
        read_parallel(source, target)


def numbered(n: int) -> Pairs:
    return Pairs(tuple(Example(f"s{k % (n // 2)}", f"t{k}") for k in range(n)), {}, "1", "2")


def test_sources_that_differ_in_capitals_and_spaces_stay_together() -> None:
    pairs = Pairs(tuple(Example(form(f"word {k}"), "t") for k in range(50) for form in (str, str.upper)), {}, "1", "2")
    splits = split_pairs(pairs, valid_fraction=0.3)
    sides = [{example.source.casefold() for example in splits[split]} for split in ("train", "valid")]
    assert len(sides[1]) == 15
    assert not sides[0] & sides[1]
    for fraction in (0, 1, -0.1, float("nan")):
        with pytest.raises(DataError, match="between 0 and 1"):
            split_pairs(numbered(10), valid_fraction=fraction)
    same = Pairs(tuple(Example(("Hi", " hi")[k % 2], f"t{k}") for k in range(300)), {}, "1", "2")
    with pytest.raises(DataError, match=r"all 300 pairs have the source 'Hi'; .* bring at least two different ones"):
        split_pairs(same)


@pytest.mark.parametrize(
    "line", ["{", '{"split": "train", "source": "a"}', '{"split": "x", "source": "a", "target": "b"}', "[1]",
             '{"split": "train", "source": 1, "target": "b"}']
)  # fmt: skip
def test_a_damaged_copy_gets_a_message(tmp_path: Path, line: str) -> None:
    write(tmp_path / DATA_FILE, '{"split": "train", "source": "a", "target": "b"}\n' + line)
    with pytest.raises(DataError, match=r"line 2 of .*data\.jsonl is damaged .*provide the data again"):
        load_splits(tmp_path)


def test_the_task_says_what_it_needs_and_chooses_by_the_amount_of_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"needs data: name it with --data FILE"):
        get_task("files")
    with pytest.raises(DataError, match=r"has no data\.jsonl"):
        _ = get_task("files", data_dir=tmp_path).splits
    few = {"train": (Example("a", "b"),), "valid": ()}
    small = files_task(few, data=DataConfig(task="files", src_lang="en", tokenizer="characters"))
    assert (small.data.tokenizer, small.data.src_lang, small.default_preset) == ("characters", "en", "tiny")
    assert files_task({"train": (Example("a", "b"),) * LARGE, "valid": ()}).default_preset == "tiny", (
        "tiny first, always"
    )


@pytest.mark.parametrize(
    ("first", "rest", "is_header"),
    [
        ("words,digits", ["twenty one,21", "three,3", "four hundred,400"], True),
        ("Date,Iso form", ["3 May 97,1997-05-03", "4 May 97,1997-05-04", "5 May 97,1997-05-05"], True),
        ("eng\tdeu", ["I see the dog\tich sehe den Hund", "We all read books\twir lesen alle Bücher"], True),
        ("word,backwards", ["cat,tac", "dog,god", "bird,drib"], False),  # nobody could tell
        ("twenty,20", ["twenty one,21", "three,3", "four hundred,400"], False),
        ("Go.\tGeh.", ["I see the dog\tich sehe den Hund", "We all read books\twir lesen alle Bücher"], False),
        ("the dog\tder Hund", ["I see the dog\tich sehe den Hund", "We read a book\twir lesen das Buch"], False),
    ],
)
def test_headings_are_told_from_pairs(tmp_path: Path, first: str, rest: list[str], is_header: bool) -> None:
    path = write(tmp_path / ("a.tsv" if "\t" in first else "a.csv"), "\n".join([first, *rest]))
    assert read_table(path).has_header is is_header
    assert len(read_pairs(path, header=True).examples) == len(rest)
    assert len(read_pairs(path, header=False).examples) == len(rest) + 1
    assert read_pairs(path, header=False).source_name == "1"


def test_the_columns_that_are_not_read_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "".join(f"{n}\t{s}\t{t}\tCC-BY\n" for n, (s, t) in enumerate(PAIRS)))
    assert read_pairs(path).columns_sentence() == "The sources are column '2', the targets '3'; not read: 1, 4."
    assert got(read_pairs(path, source_column="1"))[0] == ("0", "I see")
    assert read_pairs(write(tmp_path / "b.tsv", rows("\t"))).columns_sentence() == ""
    wide = write(tmp_path / "d.tsv", "".join("\t".join(f"{s}{n}" for n in range(9)) + "\n" for s, _ in PAIRS))
    assert read_pairs(wide).columns_sentence().endswith("not read: 3, 4, 5, 6, 7 and 2 more.")
    counted = "".join(f"{word}\t{n}\tCC-BY\n" for n, word in enumerate(("one", "two", "three"), start=1))
    assert got(read_pairs(write(tmp_path / "c.tsv", counted)))[0] == ("one", "1")


def task() -> Task:
    splits = {
        "train": (Example("a", "A"), Example("b", "B"), Example("b", "B")),
        "valid": (Example("v", "V"),),
        "test": (Example("t", "T"),),
    }
    return Task("letters", "", "", DataConfig(src_lang="en", tgt_lang="de"), "tiny", lambda: splits)


def write_pairs(folder: Path, name: str, *pairs: tuple[str, str]) -> Path:
    path = folder / name
    path.write_text("".join(f"{s}\t{t}\n" for s, t in (("en", "de"), *pairs)), encoding="utf-8")
    return path


def trained_on(made: Task) -> list[tuple[str, str]]:
    return [(example.source, example.target) for example in made.splits["train"]]


def test_the_union_keeps_the_originals_and_leaves_out_what_is_there_or_held_out(tmp_path: Path) -> None:
    one = write_pairs(tmp_path, "one.tsv", ("a", "A"), ("a", "AA"), ("v", "other"), (" V", "V"), ("t", "T"), ("c", "C"))
    two = write_pairs(tmp_path, "two.tsv", ("c", "C"), ("a", "AA"), ("d", "V"), ("d", "V"))
    union, entries = with_added(task(), read_added([one, two], task()))
    assert trained_on(union) == [("a", "A"), ("b", "B"), ("b", "B"), ("a", "AA"), ("c", "C"), ("d", "V")]
    assert union.splits["valid"] == task().splits["valid"]
    assert union.splits["test"] == task().splits["test"]
    assert [(entry["file"], entry["pairs"]) for entry in entries] == [("one.tsv", 2), ("two.tsv", 1)]
    assert len({entry["sha256"] for entry in entries}) == 2
    assert with_added(union, ()) == (union, [])


def test_columns_are_those_of_the_languages(tmp_path: Path) -> None:
    path = tmp_path / "swapped.jsonl"
    path.write_text('{"de": "X", "en": "x"}\n{"de": "Y", "en": "y"}\n', encoding="utf-8")
    assert trained_on(with_added(task(), read_added([path], task()))[0])[3:] == [("x", "X"), ("y", "Y")]


def test_a_resumed_run_needs_the_same_files_in_the_same_order(tmp_path: Path) -> None:
    files = read_added([write_pairs(tmp_path, f"{n}.tsv", ("a", n), ("b", n)) for n in "12"], task())
    _, entries = with_added(task(), files)
    check_added(files, entries)
    check_added((), [])
    for other in (files[::-1], files[:1], ()):
        with pytest.raises(DataError, match=r"other added data \(files: 1.tsv, 2.tsv\)"):
            check_added(other, entries)
    with pytest.raises(DataError, match="files: none"):
        check_added(files, [])
