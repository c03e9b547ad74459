"""The list of quick tests names what exists, and random numbers come from a seed."""

from __future__ import annotations

import pytest

from tests import quick
from tests.chance import VARIABLE, chance


def test_everything_listed_exists() -> None:
    assert all((quick.TESTS / name).is_dir() for name in quick.FOLDERS)
    assert all((quick.TESTS / name).is_file() for name in (*quick.FILES, *quick.LONG, *quick.BY_MARK))


def test_chance_follows_its_names_and_the_seed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "7")
    first = chance("kills", 3).random()
    assert "'7:kills:3'" in capsys.readouterr().out
    assert chance("kills", 3).random() == first
    assert chance("kills", 4).random() != first
    monkeypatch.setenv(VARIABLE, "8")
    assert chance("kills", 3).random() != first
