"""Stored results: JSON lines in results/, whose newest docs/performance.md shows, chosen and worded by performance.py.

A line is what `--json` prints: a row with its benchmark, machine, command, day and commit.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.paths import ROOT

FOLDER = Path(__file__).parent / "results"
PAGE, PLOT = ROOT / "docs" / "performance.md", ROOT / "docs" / "images" / "growth.svg"
Line = dict[str, Any]


def read(folder: Path = FOLDER) -> list[Line]:
    """All stored lines, oldest first.

    Raises:
        ValueError: a line is not JSON.
    """
    lines = [
        json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()
    ]
    return sorted(lines, key=lambda line: str(line["when"]))


def keep(lines: Sequence[Line]) -> None:
    for line in lines:
        with (FOLDER / f"{line['when'][:10]}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def by_measure(lines: Iterable[Line]) -> dict[tuple[str, str, str], list[Line]]:
    """Lines grouped by benchmark, measure and peer, oldest first."""
    found: dict[tuple[str, str, str], list[Line]] = {}
    for line in lines:
        found.setdefault((line["benchmark"], line["measure"], line["against"]), []).append(line)
    return found


def growth(lines: Iterable[Line]) -> dict[str, list[tuple[int, float]]]:
    """Milliseconds of a recorded decoding by length: ours and each peer, from the newest lines."""
    found: dict[str, list[tuple[int, float]]] = {}
    for (_, measure, against), kept in by_measure(lines).items():
        if measure.startswith("recorded decoding, "):
            length, last = int(measure.split()[2]), kept[-1]
            ours = found.setdefault("Headlight, keys and values cached", [])
            if length not in dict(ours):
                ours.append((length, last["ours"]))
            found.setdefault(against, []).append((length, last["other"]))
    return found


def draw(curves: dict[str, list[tuple[int, float]]], path: Path = PLOT) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for (name, points), marker in zip(curves.items(), "osD^v", strict=False):
        axes.plot(*zip(*sorted(points), strict=True), marker=marker, label=name)
    axes.set(xlabel="target tokens", ylabel="milliseconds, one thread", ylim=(0, None))
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


def write() -> None:
    """Write the page in docs/ and its plot from the stored lines."""
    from tests.docs.generated import renewed

    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    if curves := growth(read()):
        draw(curves)


def number(value: float | None, unit: str = "") -> str:
    """A figure with three significant digits and its unit."""
    if value is None:
        return "–"
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{text} {unit}".strip()
