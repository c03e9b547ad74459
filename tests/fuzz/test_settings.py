"""Every setting of a command with values of every sort: a result, or one sentence and exit code 2."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

import pytest

from model import evaluate, train, translate
from model.commands import run_command
from model.config import DataConfig, ModelConfig, TrainConfig
from model.training import estimate
from tests.explorer.toy_models import save_toy
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


@pytest.mark.usefixtures("few_sentences")  # each accepted setting encodes them all
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


# What decides how and on what a model is run; with `=`, so that no value is taken for a flag.
_SEARCH = ("--beam", "--length-penalty", "--alpha")
FLAGS = {
    "translate": (*_SEARCH, "--max-length", "--model", "--trace"),
    "evaluate": (*_SEARCH, "--split", "--task", "--device", "--model", "--source", "--target"),
}
COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {"translate": translate.main, "evaluate": evaluate.main}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, and two files of one sentence each."""
    folder = tmp_path_factory.mktemp("arguments")
    save_toy(folder / "checkpoints" / "toy", "reverse")
    for name in ("source.txt", "target.txt"):
        (folder / name).write_text("abc\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("command", list(COMMANDS))
def test_any_value_of_any_argument_is_used_or_refused_with_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(folder)
    files = ["--source", "source.txt", "--target", "target.txt"]
    found = [(flag, value) for flag in FLAGS[command] for value in ("beam", *VALUES) if "multi30k" not in value]
    random.Random(1).shuffle(found)
    found = found[: 80 * _TIMES] if command == "evaluate" else found
    codes = []
    for flag, value in found:
        given = ["abc"] if command == "translate" else [] if flag in ("--task", "--split") else files
        words = [f"{flag}={value}", *([] if flag == "--model" else ["--model", "toy"]), *given]
        if flag in ("--length-penalty", "--alpha"):
            words += ["--beam", "2"]
        out, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said), pytest.raises(SystemExit) as left:
            run_command(COMMANDS[command], [*words, "--checkpoints", str(folder / "checkpoints")])
        codes.append(left.value.code)
        what = f"{flag}={value[:40]}: {said.getvalue()[-300:]}"
        assert codes[-1] in (0, 2), what
        assert "Traceback" not in said.getvalue(), what
        if codes[-1] == 2:
            assert said.getvalue().strip().splitlines()[-1].rstrip().endswith((".", "?")), what
        else:
            assert out.getvalue().strip(), what
    assert min(codes.count(0), codes.count(2)) > 0.05 * len(found)
