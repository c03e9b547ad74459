"""The table in docs/performance.md: the newest stored figures that a visitor notices, in plain words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.benchmarks.results import Line, by_measure, number, read


@dataclass(frozen=True)
class Entry:
    """One row: the measures of a benchmark that begin with `measure` and end with `end`; the slowest counts."""

    label: str
    benchmark: str
    measure: str
    end: str = ""

    def newest(self, lines: Sequence[Line]) -> Line:
        """The newest line of each of these measures, and of those the one with the largest figure.

        Raises:
            LookupError: there is no such measure.
        """
        groups = [
            group[-1]
            for (benchmark, measure, _), group in by_measure(lines).items()
            if benchmark == self.benchmark and measure.startswith(self.measure) and measure.endswith(self.end)
        ]
        if not groups:
            raise LookupError(f"no stored figure of {self.benchmark} begins with '{self.measure}'")
        day = max(line["when"][:10] for line in groups)
        return max((line for line in groups if line["when"][:10] == day), key=lambda line: float(line["ours"]))


SECTIONS: dict[str, tuple[Entry, ...]] = {
    "In the app": (
        Entry("Cold start: server process to the first attention on screen", "page", "a cold start"),
        Entry("A new sentence of 12 words: Enter to all heads on screen", "page", "a new 12-word sentence: Enter"),
        Entry("One step of a translation: key to screen", "page", "a step: key to painted"),
        Entry("Another head: click to screen", "page", "another head"),
        Entry(
            "All heads, 6 layers × 8 heads × 60 tokens, first time in a tab",
            "grid",
            "6 layers × 8 heads × 60 tokens: click to painted, the first",
        ),
        Entry("A slider on Positions, Masks or Inside, the slowest of all", "teach", "a move of", "in the browser"),
        Entry("The machine on Inside, a new sentence", "machine", "the machine of multi30k-en-de, a new sentence"),
        Entry("Probe: thumbnails of all heads", "probe", "the thumbnails of all heads"),
        Entry("Probe: 200 sentences measured", "probe", "200 sentences of multi30k-en-de"),
        Entry(
            "A page that needs no server, 12 layers × 12 heads × 128 tokens: opened",
            "standalone",
            "12 layers × 12 heads × 128 tokens, by default",
            "opening a file, to painted",
        ),
    ),
    "A site whose pages compute, with no server": (
        Entry("First visit: address to a translation on screen, one core", "live", "multi30k-en-de: a first visit, to"),
        Entry("A new sentence of 12 words, one core", "live", "multi30k-en-de: twelve words", "one core"),
        Entry("The same on a quarter of a core", "live", "multi30k-en-de: twelve words", "quarter of a core"),
        Entry("Another word picked: click to screen", "live", "multi30k-en-de: a fork"),
        Entry("Memory of the page and its worker", "live", "multi30k-en-de: memory"),
        Entry("Program of the first screen, compressed", "live", "code of the first screen"),
    ),
    "A class of 30": (
        Entry("A request, sent to answered (median)", "load", "30 visitors, no training"),
        Entry("The same beside a training run (median)", "load", "30 visitors, beside a training run"),
        Entry("All press Enter at the same moment (median)", "load", "30 visitors press Enter"),
        Entry("Memory with the first visitor", "memory", "memory with one visitor"),
        Entry("Memory of each further visitor", "memory", "memory of each further visitor"),
    ),
    "The model": (
        Entry("Twelve words translated, everything recorded, one thread", "decode", "a sentence of 12 words"),
        Entry("An imported model of OPUS-MT's size opened", "marian", "an imported model opened"),
        Entry(
            "Training, d_model 128, 4 + 4 layers, two threads, float32",
            "train",
            "training, d_model 128",
            "2 threads, float32",
        ),
        Entry("`adjective-swap` from nothing to a tested model", "swap", "adjective-swap from nothing"),
        Entry("300 own pairs (number words): held-out answers exactly right", "own-data", "300 pairs of number words"),
    ),
}


def table(lines: Sequence[Line] | None = None) -> str:
    """The sections with their rows, and the machine that they were measured on."""
    stored = read() if lines is None else lines
    found = {heading: [(entry, entry.newest(stored)) for entry in entries] for heading, entries in SECTIONS.items()}
    parts = []
    for heading, rows in found.items():
        head = ["| what | Headlight | compared with | goal |", "| --- | --- | --- | --- |"]
        parts.append(f"## {heading}\n\n" + "\n".join([*head, *(_row(entry, line) for entry, line in rows)]))
    parts.append("## The machine\n\n" + "\n".join(_machines([line for rows in found.values() for _, line in rows])))
    return "\n\n".join(parts)


def _row(entry: Entry, line: Line) -> str:
    other = "" if line["other"] is None else f"{line['against']}: {number(line['other'], line['unit'])}"
    goal = f"{'met' if line['met'] else '**not met**'}: {line['target']}" if line["target"] else ""
    cells = (entry.label, number(line["ours"], line["unit"]), other, goal)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _machines(lines: Sequence[Line]) -> Iterator[str]:
    """Each machine once, with the first and the last day on which it measured, and its commits."""
    days: dict[str, list[str]] = {}
    for line in lines:
        facts = ", ".join(f"{key} {value}" for key, value in line["machine"].items() if key != "load")
        days.setdefault(facts, []).append(line["when"][:10])
    for facts, measured in days.items():
        yield f"- {facts}; measured from {min(measured)} to {max(measured)}"
