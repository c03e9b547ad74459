"""The mutants of `python -m tests.mutate`: each applies to exactly one line, and a broken list is reported."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants import MUTANTS, Mutant
from tests.mutate import MutationError, mutated, run_tests
from tests.paths import ROOT


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.instead}")
def test_each_listed_line_exists_once_and_stays_python(mutant: Mutant) -> None:
    text = mutated(mutant)
    assert text != (ROOT / mutant.file).read_text(encoding="utf-8")
    ast.parse(text)
    assert all((ROOT / name).is_file() for name in mutant.tests)


def test_no_change_is_listed_twice() -> None:
    assert len(MUTANTS) == len(set(MUTANTS)) >= 25


def test_a_line_that_went_away_is_named() -> None:
    gone = Mutant("model/masks.py", "return None", "return 1")
    with pytest.raises(MutationError, match=r"'return None' that tests/mutants.py lists .* is not there any more"):
        mutated(gone)
    with pytest.raises(MutationError, match="does not exist any more"):
        mutated(Mutant("model/gone.py", "x", "y"))


@pytest.mark.parametrize(
    ("text", "code"), [("assert True", 0), ("assert False", 1), ("import nothing_of_this_name", 2)]
)
def test_the_copys_own_tests_are_run(tmp_path: Path, text: str, code: int) -> None:
    (tmp_path / "test_one.py").write_text(f"def test_one():\n    {text}\n" if code < 2 else text, encoding="utf-8")
    log = tmp_path / "log"
    assert run_tests(tmp_path, ["test_one.py"], log) == code
    assert "1 " in log.read_text(encoding="utf-8")
