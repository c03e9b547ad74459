"""Every setting of a training command with values of every sort: an estimate, or one sentence and exit code 2."""

from __future__ import annotations

import contextlib
import io
import random
from dataclasses import fields
from pathlib import Path

import pytest

from model import train
from model.commands import run_command
from model.config import DataConfig, ModelConfig, TrainConfig
from model.training import estimate
from tests.fuzz.inputs import _TIMES

VALUES = (
    *("inf", "-inf", "nan", "1e308", "1e-300", "1e400", "-1", "0", "1", "3", "0.5", "99999999999", "9" * 30),
    *("9" * 5000, "true", "none", "", "abc", "[]", "{}", "\u202e", " ", "0x10", "1_000", "٣", "1,5", "=", "a=b"),
    *("-0", "+1", "1."),
)
TRIED = 120 * _TIMES


def settings() -> list[str]:
    """Settings with values, in a pseudo-random order that is always the same."""
    names = [field.name for kind in (ModelConfig, DataConfig, TrainConfig) for field in fields(kind)]
    found = [f"{name}={value}" for name in names for value in VALUES]
    random.Random(0).shuffle(found)
    return found


def test_any_setting_is_accepted_or_refused_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is accepted is set up as for training, up to the model itself; only the stopwatch is left out."""
    monkeypatch.setattr(estimate, "_time_updates", lambda setup: (1.0, 1.0, 1.0))
    monkeypatch.setattr(estimate, "_time_evaluation", lambda setup: 1.0)
    codes = []
    for setting in settings()[:TRIED]:
        out, said = io.StringIO(), io.StringIO()
        arguments = ["--task", "reverse", "--name", "new", "--preset", "tiny", "--set", setting, "--dry-run", "--json"]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said), pytest.raises(SystemExit) as left:
            run_command(train.main, [*arguments, "--checkpoints", str(tmp_path)])
        codes.append(left.value.code)
        assert codes[-1] in (0, 2), f"{setting[:60]}: {said.getvalue()[-300:]}"
        assert "Traceback" not in said.getvalue(), setting[:60]
        if codes[-1] == 2:
            assert said.getvalue().strip().splitlines()[-1].endswith((".", "?")), f"{setting[:60]}: {said.getvalue()}"
        else:
            assert out.getvalue().startswith("{"), setting[:60]
    assert min(codes.count(0), codes.count(2)) > 0.05 * TRIED
    assert not any(tmp_path.iterdir())
