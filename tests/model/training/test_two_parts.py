"""One command that trains in two parts gives the same result as two commands, even if it was stopped."""

import json
import shutil
from pathlib import Path

import pytest

from model import train
from model.folder import WEIGHTS, read_json, write_json
from model.training import launch
from tests.model.commands import failure
from tests.model.engine import EXACT, SMALL, StopAfter
from tests.some import some

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_sentences")]  # a dozen runs

SHORT = ["max_steps=4", "eval_every=2", "save_every=1", "eval_sentences=10"]
FIRST = ["max_steps=3", "learning_rate=0.01", "dropout=0.3"]
TASK = ["--task", "reverse", "--preset", "tiny", *EXACT]


def train_in_two(folder: Path, *more: str) -> int:
    return train.main(
        [*TASK, "--name", "mine", "--checkpoints", str(folder), "--set", *SMALL, *SHORT, "--first", *FIRST, *more]
    )


def weights(folder: Path, name: str) -> bytes:
    return (folder / name / WEIGHTS).read_bytes()


@pytest.fixture(scope="module")
def by_hand(few_sentences: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with two commands."""
    folder = tmp_path_factory.mktemp("by-hand")
    common = [*TASK, "--checkpoints", str(folder)]
    assert train.main([*common, "--name", "mine-first", "--set", *SMALL, *SHORT, *FIRST]) == 0
    assert train.main([*common, "--name", "mine", "--init", "mine-first", "--set", *SMALL, *SHORT, "dropout=0.0"]) == 0
    return folder


def test_one_command_equals_two(tmp_path: Path, by_hand: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train_in_two(tmp_path) == 0
    said = capsys.readouterr().out
    assert said.index("mine-first finished") < said.index("mine finished")
    for name in ("mine-first", "mine"):
        assert weights(tmp_path, name) == weights(by_hand, name)
    config = read_json(tmp_path / "mine" / "config.json")
    assert config["training"] == read_json(by_hand / "mine" / "config.json")["training"]
    assert config["model"]["dropout"] == 0.0, "what --first says is the first part's alone"
    card = (tmp_path / "mine" / "README.md").read_text(encoding="utf-8")
    assert "--first max_steps=3 learning_rate=0.01 dropout=0.3" in card
    assert "--init" not in card
    assert train.main(["--resume", "mine-first", "--checkpoints", str(tmp_path)]) == 0
    assert "mine has finished training; there is nothing to resume" in capsys.readouterr().out


@pytest.mark.parametrize("resume", some(["mine", "mine-first"], 2))
@pytest.mark.parametrize(
    ("questions", "stopped"), some([(4, "mine-first"), (0, "mine-first"), (20, "mine"), (10, "mine-first")], 4)
)
def test_stopped_in_either_part_and_resumed(
    tmp_path: Path, by_hand: Path, monkeypatch: pytest.MonkeyPatch, questions: int, stopped: str, resume: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(launch, "Signals", lambda: StopAfter(questions))
        assert train_in_two(tmp_path) == 0
    assert read_json(tmp_path / stopped / "status.json")["state"] == "stopped"
    assert (tmp_path / "mine").exists() == (stopped == "mine")
    assert train.main(["--resume", resume, "--checkpoints", str(tmp_path)]) == 0
    assert weights(tmp_path, "mine") == weights(by_hand, "mine")


@pytest.mark.nightly
def test_overwriting_replaces_both(tmp_path: Path, by_hand: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main([*TASK, "--name", "mine", "--checkpoints", str(tmp_path), "--set", *SMALL, "max_steps=1"]) == 0
    capsys.readouterr()
    assert "there is a model 'mine' already" in failure(
        train.main, [*TASK, "--name", "mine", "--checkpoints", str(tmp_path), "--first", "seed=2"], capsys
    )
    assert train_in_two(tmp_path, "--overwrite") == 0
    assert weights(tmp_path, "mine") == weights(by_hand, "mine")


def test_a_dry_run_says_what_both_parts_take(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train_in_two(tmp_path, "--dry-run", "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["name"], plan["steps"]) == ("mine", 4)
    assert (plan["first"]["name"], plan["first"]["steps"]) == ("mine-first", 3)
    assert plan["first"]["training"]["learning_rate"] == 0.01
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--first", "d_model=32"], "--first cannot set d_model"),
        (["--first", "tokenizer=words"], "cannot set tokenizer"),
        (["--first", "steps=2"], "unknown setting 'steps'"),
        (["--first", "seed=2", "--init", "other"], "leave out one of them"),
    ],
)
def test_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert said in failure(train.main, [*TASK, "--name", "x", "--checkpoints", str(tmp_path), *words], capsys)
    assert not list(tmp_path.iterdir())


def test_a_damaged_plan_is_refused_with_a_message(
    tmp_path: Path, by_hand: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(by_hand / "mine-first", tmp_path / "mine-first")
    config = read_json(tmp_path / "mine-first" / "config.json")
    write_json(tmp_path / "mine-first" / "config.json", config | {"then": {"name": "../elsewhere"}})
    resume = ["--resume", "mine-first", "--checkpoints", str(tmp_path)]
    assert "'then' in its config.json is damaged" in failure(train.main, resume, capsys)
