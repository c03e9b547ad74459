"""Stored benchmark results and the page made from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks import performance, results
from tests.benchmarks.registry import Row


def line(when: str, ours: float, other: float | None = 50.0, **more: Any) -> results.Line:
    row = Row(
        measure=more.pop("measure", "a step"),
        ours=ours,
        unit="ms",
        other=other,
        against="a peer | by name" if other is not None else "",
        target="≤ 10 ms",
        met=ours <= 10,
        detail="median of 5",
    )
    where = {"processor": "small", "cores": 2, "load": 0.5}
    about = {"benchmark": "step", "machine": where, "command": "python -m tests.benchmarks step", "commit": "abc"}
    return {**about, **row.to_dict(), "when": when, **more}


def test_kept_lines_come_back_by_day(tmp_path: Path) -> None:
    lines = [line("2026-01-02T10:00", 1.0), line("2026-01-03T09:00", 2.0), line("2026-01-02T11:00", 3.0)]
    results.keep(lines[1:], tmp_path)
    results.keep(lines[:1], tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2026-01-02.jsonl", "2026-01-03.jsonl"]
    assert [found["ours"] for found in results.read(tmp_path)] == [1.0, 3.0, 2.0]


def test_growth_has_a_curve_for_ours_and_each_peer(tmp_path: Path) -> None:
    names = [f"recorded decoding, {length} tokens, 1 thread" for length in (5, 10)]
    lines = [line("2026-01", 2.0 + i, 50.0 + i, measure=name) for i, name in enumerate(names)]
    curves = results.growth([*lines, line("2026-01", 1.0)])
    assert curves == {
        "Headlight, keys and values cached": [(5, 2.0), (10, 3.0)],
        "a peer | by name": [(5, 50.0), (10, 51.0)],
    }
    results.draw(curves, tmp_path / "growth.svg")
    assert "<svg" in (tmp_path / "growth.svg").read_text(encoding="utf-8")


def test_the_page_shows_the_slowest_of_the_newest_figures() -> None:
    entry = performance.Entry("a step", "step", "a step", "painted")
    older = line("2026-01-01", 30.0, measure="a step, painted")
    newer = [line("2026-01-02", ours, measure=f"a step {ours}, painted") for ours in (9.0, 12.0)]
    other = line("2026-01-03", 99.0, measure="a step, sent")
    assert entry.newest([older, *newer, other])["ours"] == 12.0
    with pytest.raises(LookupError, match="a step"):
        entry.newest([other])
