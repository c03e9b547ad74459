"""Run benchmarks: `python -m tests.benchmarks [NAME …] [--short] [--json]`."""

import argparse
import importlib
import json
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from tests.benchmarks import results
from tests.benchmarks.registry import BENCHMARKS, MissingPeer, Row, machine
from tests.paths import ROOT


def load() -> None:
    """Import every module beside this file; each benchmark registers itself."""
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        importlib.import_module(f"tests.benchmarks.{path.stem}")


def commit() -> str:
    """The commit measured, with a + if files differ from it; "unknown" outside a checkout."""
    try:
        return subprocess.run(
            ["git", "describe", "--always", "--dirty=+"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def show(name: str, row: Row) -> str:
    """A row as text: the measure, our figure beside the peer's, the target, details."""
    lines = [f"{name}: {row.measure}", f"    ours {results.number(row.ours, row.unit)}"]
    if row.other is not None:
        lines[-1] += f" · {row.against} {results.number(row.other, row.unit)} · ratio {results.number(row.ratio)}"
    if row.target:
        lines.append(f"    {'met' if row.met else 'NOT MET'}: {row.target}")
    if row.detail:
        lines.append(f"    {row.detail}")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    load()
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="Measure Headlight against a peer or a baseline, in one run on this machine.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)} (default: all)")
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--write", action="store_true", help="store the rows in results/, and renew docs/performance.md")
    kept.add_argument(
        "--short", action="store_true", help="a few repetitions, to see whether it works: the figures mean nothing"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per row on standard output")
    asked = parser.parse_args(arguments)
    unknown = sorted(set(asked.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"unknown benchmark {', '.join(unknown)}; known: {', '.join(BENCHMARKS)}")
    names = asked.names or list(BENCHMARKS)
    complete = True
    for name in names:
        where = machine()
        command = shlex.join(["python", "-m", "tests.benchmarks", name])
        try:
            rows = BENCHMARKS[name].rows(short=asked.short)
        except MissingPeer as missing:
            print(f"{name}: not measured: it {missing}", file=sys.stderr, flush=True)
            complete = False
            continue
        stamp = {"when": datetime.now(UTC).isoformat(timespec="minutes"), "commit": commit()}
        lines = [{"benchmark": name, **row.to_dict(), "machine": where, "command": command, **stamp} for row in rows]
        if asked.write:
            results.keep(lines)
        for row, line in zip(rows, lines, strict=True):
            if asked.json:
                print(json.dumps(line, ensure_ascii=False), flush=True)
            else:
                print(show(name, row), flush=True)
        if not asked.json:
            facts = " · ".join(f"{key} {value}" for key, value in where.items())
            print(f"    {facts}\n    {command}\n", flush=True)
    if asked.write:
        results.write()
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
