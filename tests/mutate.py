"""Mutation testing: change lines for the worse and see whether the tests fail: `python -m tests.mutate [WORD …]`.

Each mutant of `tests/mutants.py` is applied to a copy of the project, where the tests it names are run. A mutant under
which they all pass is printed as survived, and the command ends with exit code 1.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.mutants import MUTANTS, Mutant
from tests.paths import ROOT

_COPIED = ("model", "explorer", "tests", "pages", "checkpoints", ".streamlit", "app.py", "pyproject.toml")
_OPTIONS = (
    "-x",
    "-q",
    "--no-header",
    "--no-summary",
    "-m",
    "not slow and not e2e",
    "-p",
    "no:cacheprovider",
    "--timeout=60",
)
_HEAVY = ("hypothesis.strategies", "numpy", "torch", "safetensors.torch", "spacy", "tokenizers", "sacrebleu")
_TESTED = (0, 1, 2)  # passed, failed, or the changed file cannot be imported; with other codes nothing was tested


class MutationError(ValueError):
    """The list or the tests are broken, so that mutants cannot be judged; the message says how."""


def mutated(mutant: Mutant, root: Path = ROOT) -> str:
    """The text of the mutant's file with its line changed.

    Raises:
        MutationError: the file does not exist, or does not have the line exactly once.
    """
    path = root / mutant.file
    if not path.is_file():
        raise MutationError(f"{mutant.file} is listed in tests/mutants.py but does not exist any more.")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    at = [number for number, line in enumerate(lines) if line.strip() == mutant.line]
    if len(at) != 1:
        found = "is not there any more" if not at else f"is there {len(at)} times"
        raise MutationError(f"The line '{mutant.line}' that tests/mutants.py lists for {mutant.file} {found}.")
    lines[at[0]] = lines[at[0]].replace(mutant.line, mutant.instead)
    return "".join(lines)


def run_tests(folder: Path, tests: Sequence[str], log: Path) -> int:
    """pytest's exit code for these test files of the copy in `folder`; its output goes to `log`."""
    command = [*_OPTIONS, f"--rootdir={folder}", *(str(folder / name) for name in tests)]
    with log.open("wb") as out:
        if not hasattr(os, "fork"):
            return subprocess.call([sys.executable, "-m", "pytest", *command], cwd=folder, stdout=out, stderr=out)
        # Importing torch takes several times as long as the tests; a forked child has it already.
        child = os.fork()
        if child == 0:
            _pytest_here(folder, command, out.fileno())
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _pytest_here(folder: Path, command: list[str], out: int) -> None:
    """Run pytest over the copy in this process, then exit."""
    code = 3
    with contextlib.suppress(BaseException):  # whatever happens, the child must not continue as its parent
        os.dup2(out, 1)
        os.dup2(out, 2)
        sys.stdout = sys.stderr = open(out, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - until the end
        os.chdir(folder)
        sys.path[:] = [str(folder), *(entry for entry in sys.path if Path(entry or ".").resolve() != ROOT)]
        for name in [name for name in sys.modules if name.split(".")[0] in ("model", "explorer", "tests")]:
            del sys.modules[name]
        import pytest

        code = int(pytest.main(command))
        sys.stdout.flush()
    os._exit(code)


def check(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Print killed or survived for each mutant; returns the survivors.

    Raises:
        MutationError: a line is missing, or the tests fail without any change.
    """
    changed = [(mutant, mutated(mutant)) for mutant in mutants]
    survivors = []
    with tempfile.TemporaryDirectory(prefix="headlight-mutate-") as holder:
        folder, log = Path(holder) / "project", Path(holder) / "log"
        _copy(folder)
        for tests in sorted({mutant.tests for mutant in mutants}):
            if run_tests(folder, tests, log):
                said = log.read_text(encoding="utf-8", errors="replace")
                raise MutationError(f"{' and '.join(tests)} fail without any change:\n{said}")
        for mutant, text in changed:
            path = folder / mutant.file
            whole = path.read_text(encoding="utf-8")
            path.write_text(text, encoding="utf-8")
            code = run_tests(folder, mutant.tests, log)
            path.write_text(whole, encoding="utf-8")
            if code not in _TESTED:
                raise MutationError(f"pytest ended with code {code} over {mutant.file}: nothing was tested.")
            if code == 0:
                survivors.append(mutant)
            print(
                f"{'killed' if code else 'SURVIVED'}  {mutant.file}: {mutant.line}\n{'':10}→ {mutant.instead}",
                flush=True,
            )
    return survivors


def _copy(folder: Path) -> None:
    """Copy the project, without most of what git ignores."""
    folder.mkdir()
    skipped = shutil.ignore_patterns("__pycache__", ".*", "snapshots", "state")
    for name in _COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=skipped)
        else:
            shutil.copy(source, folder / name)


def main(arguments: Sequence[str]) -> int:
    """Check the mutants asked for, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__.split("\n")[0])
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="only mutants whose file or line contains one of these words"
    )
    words = parser.parse_args(arguments).words
    chosen = [m for m in MUTANTS if not words or any(word in m.file or word in m.line for word in words)]
    for name in _HEAVY:
        __import__(name)
    began = time.monotonic()
    try:
        survivors = check(chosen)
    except MutationError as wrong:
        print(wrong, file=sys.stderr)
        return 2
    seconds = time.monotonic() - began
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} killed in {seconds:.0f} s; {len(survivors)} survived.")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
