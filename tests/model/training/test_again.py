"""Training again like a model, with equal weights for the equal seed; and training a finished run longer."""

from functools import partial
from pathlib import Path

import pytest
import torch

from model import train
from model.commands import CommandError
from model.folder import CARD, CONFIG, METRICS, STATUS, WEIGHTS, CheckpointError, read_config, read_json, write_json
from model.training.runfolder import read_metrics
from model.training.state import load_state
from tests.model.engine import EXACT, SMALL, pairs_file

pytestmark = pytest.mark.slow  # real runs

SIZES = [*SMALL, "n_encoder_layers=1", "n_decoder_layers=1"]
SHORT = ["max_steps=6", "eval_every=3", "save_every=3", "schedule=constant"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of models with a finished run, `mine`, on pairs of a file that is gone."""
    folder = tmp_path_factory.mktemp("models")
    command = [*pairs_file(folder), "--name", "mine", "--checkpoints", str(folder), *EXACT]
    assert train.main([*command, "--set", *SIZES, *SHORT, "dropout=0.1"]) == 0
    (folder / "pairs.tsv").unlink()
    return folder


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(trained: Path) -> None:
    """Data, settings (also those proposed for own data), device, precision and threads are those of the other model."""
    where = ["--checkpoints", str(trained)]
    assert train.main(["--like", "mine", "--name", "same", *where]) == 0
    assert train.main(["--like", "mine", "--name", "other", "--set", "seed=7", *where]) == 0
    weights = {name: (trained / name / WEIGHTS).read_bytes() for name in ("mine", "same", "other")}
    assert weights["mine"] == weights["same"] != weights["other"]
    mine, other = read_config(trained / "mine"), read_config(trained / "other")
    assert other["training"] == mine["training"] | {"seed": 7}
    assert {other[key] == mine[key] for key in ("model", "data", "runtime", "own_data")} == {True}
    assert (trained / "mine" / "data.jsonl").read_bytes() == (trained / "other" / "data.jsonl").read_bytes()


def test_weights_of_the_other_model_can_be_the_start(trained: Path) -> None:
    assert train.main(["--like", "mine", "--init", "mine", "--name", "on", "--checkpoints", str(trained)]) == 0
    assert read_config(trained / "on")["init"] == "mine"
    first = next(line for line in read_metrics(trained / "mine" / METRICS) if line["kind"] == "train")
    later = next(line for line in read_metrics(trained / "on" / METRICS) if line["kind"] == "train")
    assert later["nll"] < first["nll"]


def test_a_finished_run_trained_longer_is_the_longer_run(tmp_path: Path) -> None:
    """Where the rate does not depend on the end, 6 updates and then 12 are 12: weights, moments and best weights."""
    where = ["--checkpoints", str(tmp_path), *EXACT]
    command = partial(lambda name, *more: train.main([*pairs_file(tmp_path), "--name", name, *where, "--set", *more]))
    settings = [*SIZES, *SHORT, "tokenizer=characters", "dropout=0.1"]
    assert command("whole", *settings, "max_steps=12") == 0
    assert command("short", *settings) == 0
    assert train.main(["--resume", "short", "--steps", "12", "--checkpoints", str(tmp_path)]) == 0
    (_, tensors), (_, others) = (load_state(tmp_path / name) or ({}, {}) for name in ("whole", "short"))
    assert tensors.keys() == others.keys()
    assert all(torch.equal(tensors[name], others[name]) for name in tensors)
    assert (tmp_path / "whole" / WEIGHTS).read_bytes() == (tmp_path / "short" / WEIGHTS).read_bytes()
    steps = [line["step"] for line in read_metrics(tmp_path / "short" / METRICS) if line["kind"] == "eval"]
    assert steps == [3, 6, 9, 12]
    config = read_config(tmp_path / "short")
    assert (config["training"]["max_steps"], config["extended"]) == (12, [12])
    card = (tmp_path / "short" / CARD).read_text(encoding="utf-8")
    assert "max_steps=6 " in card
    assert "    python -m model.train --resume short --steps 12\n" in card
    assert read_json(tmp_path / "short" / STATUS)["state"] == "finished"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--like", "mine"], "--like NAME --name NEW"),
        (["--like", "mine", "--name", "x", "--task", "reverse"], "leave out --task"),
        (["--like", "nobody", "--name", "x"], "there is no model 'nobody'"),
        (["--like", "mine", "--name", "mine"], "there is a model 'mine' already"),
        (["--resume", "mine", "--steps", "6"], "has made 6 updates already"),
        (["--resume", "mine", "--like", "mine"], "leave out --like"),
        (["--task", "reverse", "--name", "x", "--steps", "6"], "--set max_steps=N"),
    ],
)
def test_what_does_not_go_is_refused_with_a_sentence(trained: Path, arguments: list[str], said: str) -> None:
    with pytest.raises((CommandError, CheckpointError), match=said):
        train.main([*arguments, "--checkpoints", str(trained)])


def test_a_model_that_does_not_say_how_it_was_trained_is_refused(trained: Path) -> None:
    config = read_config(trained / "mine")
    (trained / "bare").mkdir()
    for path in (trained / "mine").iterdir():
        if path.is_file():
            (trained / "bare" / path.name).write_bytes(path.read_bytes())
    write_json(trained / "bare" / CONFIG, {key: value for key, value in config.items() if key != "set"})
    where = ["--checkpoints", str(trained)]
    with pytest.raises(CheckpointError, match="does not say how it was trained"):
        train.main(["--like", "bare", "--name", "x", *where])
    write_json(trained / "bare" / CONFIG, config | {"init": "gone"})
    with pytest.raises(CommandError, match="started from the weights of 'gone', which is not in"):
        train.main(["--like", "bare", "--name", "x", *where])
    write_json(trained / "bare" / CONFIG, config)
    with pytest.raises(CommandError, match="--like bare --init bare"):
        train.main(["--resume", "bare", "--steps", "9", *where])
