"""Stored results: JSON lines in results/, and the table in RESULTS.md made from them.

docs/performance.md shows the newest of them, chosen and worded by performance.py.

A line is what `--json` prints: a row with its benchmark, machine, command, day and commit. Lines printed by the
benchmarks of older commits may be added: the table shows the oldest and the newest figure of each measure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.paths import ROOT

HERE = Path(__file__).parent
FOLDER, TABLE = HERE / "results", HERE / "RESULTS.md"
PAGE, PLOT = ROOT / "docs" / "performance.md", ROOT / "docs" / "images" / "growth.svg"
Line = dict[str, Any]

HEAD = """# Measured

Made by `python -m tests.benchmarks --write`; do not edit by hand. "Before" is the oldest figure kept, "now" the newest;
peer or baseline ("beside") and ratio (ours / beside) belong to the newest. Every row comes from one run on one machine,
ours and the other in turns. How busy the machine was (load) stands in the list of runs below.

Ratios of training differ between processors, because ours multiplies float32 by oneDNN and in bf16, both in AVX-512,
while PyTorch gives the peer's products to MKL, which takes AVX2 on processors that are not Intel's: the peer reaches
about 10,000 tokens/s on every machine tried, and ours follows the matmul peak that stands in each row. At 200 to 216
GFLOP/s (AMD EPYC of family 25, model 17, which executes AVX-512 in two halves): 1.4 to 1.8 × in float32 and up to
2.4 × in bf16; at 430 to 440 GFLOP/s (full width): 2.4 to 2.5 × and 2.8 to 2.9 ×. With PyTorch held to AVX2
(`ATEN_CPU_CAPABILITY=avx2`), so that ours takes MKL as well, float32 falls from 1.8 to 1.6 × on the former, and bf16,
which oneDNN computes in either case, from 2.4 to 2.3 ×. oneDNN held to AVX2 has no bf16 products of its own and takes
minutes for an update.
"""


def read(folder: Path = FOLDER) -> list[Line]:
    """All stored lines, oldest first.

    Raises:
        ValueError: a line is not JSON.
    """
    lines = [
        json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()
    ]
    return sorted(lines, key=lambda line: str(line["when"]))


def keep(lines: Sequence[Line], folder: Path = FOLDER) -> None:
    """Append lines to the file of their day."""
    folder.mkdir(exist_ok=True)
    for line in lines:
        with (folder / f"{line['when'][:10]}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def by_measure(lines: Iterable[Line]) -> dict[tuple[str, str, str], list[Line]]:
    """Lines grouped by benchmark, measure and peer, oldest first."""
    found: dict[tuple[str, str, str], list[Line]] = {}
    for line in lines:
        found.setdefault((line["benchmark"], line["measure"], line["against"]), []).append(line)
    return found


def table(lines: Sequence[Line]) -> str:
    """RESULTS.md."""
    rows = ["| benchmark | measure | before | now | beside | ratio | asked for |", "|---|---|---|---|---|---|---|"]
    runs: dict[tuple[str, str], str] = {}
    details = []
    for (name, measure, against), kept in by_measure(lines).items():
        first, last = kept[0], kept[-1]
        beside = f"{against}: {number(last['other'], last['unit'])}" if last["other"] is not None else ""
        before = number(first["ours"], first["unit"]) if len(kept) > 1 else ""
        asked = f"{'met' if last['met'] else '**not met**'}: {last['target']}" if last["target"] else ""
        ratio = number(last["ratio"], "") if last["other"] is not None else ""
        cells = (name, measure, before, number(last["ours"], last["unit"]), beside, ratio, asked)
        rows.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
        if last["detail"]:
            details.append(f"- {name}, {measure}: {last['detail']}")
        for line in (first, last):
            facts = ", ".join(f"{key} {value}" for key, value in line["machine"].items())
            runs[line["when"], line["benchmark"]] = f"- {line['when']}, {line['commit']}: `{line['command']}` ({facts})"
    picture = f"../../{PLOT.relative_to(ROOT).as_posix()}"
    plot = f"## Growth with length\n\n![Milliseconds of a recorded decoding by its number of tokens]({picture})"
    parts = [HEAD.rstrip(), "\n".join(rows), *([plot] if growth(lines) else [])]
    parts += ["## Details", "\n".join(details), "## Runs", "\n".join(runs.values())]
    return "\n\n".join(parts) + "\n"


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
    """The growth with length as an SVG."""
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
    """Write the table, the plot and the page in docs/ from the stored lines."""
    from tests.docs.generated import renewed

    lines = read()
    TABLE.write_text(table(lines), encoding="utf-8")
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    if curves := growth(lines):
        draw(curves)


def number(value: float | None, unit: str = "") -> str:
    """A figure with three significant digits and its unit."""
    if value is None:
        return "–"
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{text} {unit}".strip()


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
