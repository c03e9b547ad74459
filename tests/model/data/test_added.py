"""Training pairs that are added to a task: the union, in order, without what is there or held out."""

from pathlib import Path

import pytest

from model.config import DataConfig
from model.data import DataError, Example, Task
from model.data.files import check_added, read_added, with_added


def task() -> Task:
    splits = {
        "train": (Example("a", "A"), Example("b", "B"), Example("b", "B")),
        "valid": (Example("v", "V"),),
        "test": (Example("t", "T"),),
    }
    return Task("letters", "", "", DataConfig(src_lang="en", tgt_lang="de"), "tiny", lambda: splits)


def write(folder: Path, name: str, *pairs: tuple[str, str]) -> Path:
    path = folder / name
    path.write_text("".join(f"{s}\t{t}\n" for s, t in (("en", "de"), *pairs)), encoding="utf-8")
    return path


def pairs(made: Task) -> list[tuple[str, str]]:
    return [(example.source, example.target) for example in made.splits["train"]]


def test_the_union_keeps_the_originals_and_leaves_out_what_is_there_or_held_out(tmp_path: Path) -> None:
    one = write(tmp_path, "one.tsv", ("a", "A"), ("a", "AA"), ("v", "other"), (" V", "V"), ("t", "T"), ("c", "C"))
    two = write(tmp_path, "two.tsv", ("c", "C"), ("a", "AA"), ("d", "V"), ("d", "V"))
    union, entries = with_added(task(), read_added([one, two], task()))
    assert pairs(union) == [("a", "A"), ("b", "B"), ("b", "B"), ("a", "AA"), ("c", "C"), ("d", "V")]
    assert union.splits["valid"] == task().splits["valid"]
    assert union.splits["test"] == task().splits["test"]
    assert [(entry["file"], entry["pairs"]) for entry in entries] == [("one.tsv", 2), ("two.tsv", 1)]
    assert len({entry["sha256"] for entry in entries}) == 2
    assert with_added(union, ()) == (union, [])


def test_columns_are_those_of_the_languages(tmp_path: Path) -> None:
    path = tmp_path / "swapped.jsonl"
    path.write_text('{"de": "X", "en": "x"}\n{"de": "Y", "en": "y"}\n', encoding="utf-8")
    assert pairs(with_added(task(), read_added([path], task()))[0])[3:] == [("x", "X"), ("y", "Y")]


def test_a_resumed_run_needs_the_same_files_in_the_same_order(tmp_path: Path) -> None:
    files = read_added([write(tmp_path, f"{n}.tsv", ("a", n), ("b", n)) for n in "12"], task())
    _, entries = with_added(task(), files)
    check_added(files, entries)
    check_added((), [])
    for other in (files[::-1], files[:1], ()):
        with pytest.raises(DataError, match=r"other added data \(files: 1.tsv, 2.tsv\)"):
            check_added(other, entries)
    with pytest.raises(DataError, match="files: none"):
        check_added(files, [])
