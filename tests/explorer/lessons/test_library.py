"""A folder of lessons."""

from __future__ import annotations

from pathlib import Path

from explorer.lessons.library import lesson_files, read_library


def test_a_library_is_in_order_and_names_what_is_broken(tmp_path: Path) -> None:
    front = '+++\ntitle = "{0}"\nabout = "b"\nminutes = 1\norder = {1}\n+++\n## One\n\ntext\n'
    (tmp_path / "a.md").write_text(front.format("Second", 2), encoding="utf-8")
    (tmp_path / "b.md").write_text(front.format("First", 1), encoding="utf-8")
    (tmp_path / "c.md").write_text("no lesson", encoding="utf-8")
    library = read_library(lesson_files(tmp_path))
    assert [lesson.title for lesson in library.lessons] == ["First", "Second"]
    assert library.problems == (read_library([tmp_path / "c.md"]).problems[0],)
    assert library.problems[0].startswith("c.md, line 1:")
    found = library.find("a")
    assert found
    assert found.title == "Second"
    assert library.find("c") is None
    assert library.after("b") == found
    assert library.after("a") is None
    assert library.after("c") is None
