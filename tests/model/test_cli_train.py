"""The training command as a user sees it: what it prints, and the one sentence of an error."""

import json
import re
import shutil
from pathlib import Path
from unittest import mock

import pytest

from model import evaluate, train
from model.data.number_words import number_words
from model.folder import read_json, write_json
from model.training import device
from model.training.trainer import Trainer
from tests import own_data
from tests.model.commands import failure
from tests.model.engine import SMALL, pairs_file

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_sentences")]  # real runs


def test_a_trained_model_can_be_used_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--checkpoints", str(tmp_path)]
    settings = [*SMALL, "max_steps=4", "eval_every=2", "seed=7", "eval_sentences=10"]
    assert train.main(["--task", "adjective-swap", "--name", "mine", *where, "--set", *settings]) == 0
    assert re.search(r"mine finished: BLEU \d+\.\d, exact match 0\.\d{4}, token", capsys.readouterr().out)
    config = read_json(tmp_path / "mine" / "config.json")
    assert config["training"]["seed"] == 7
    assert config["set"]["d_model"] == "16"
    card = (tmp_path / "mine" / "README.md").read_text(encoding="utf-8")
    assert "python -m model.train --task adjective-swap --name mine --preset" in card
    assert "d_model=16 d_ff=16" in card

    again = ["--task", "adjective-swap", "--name", "next", "--init", "mine", *where]
    assert train.main([*again, "--set", "max_steps=2", "eval_every=2", "learning_rate=1e-9", "snapshots=2"]) == 0
    capsys.readouterr()
    scores = []
    for name in ("mine", "next"):
        evaluate.main(["--model", name, *where, "--json"])
        scores.append(json.loads(capsys.readouterr().out)["loss"])
    assert scores[0] == pytest.approx(scores[1], abs=1e-3), "--init starts from the other model's weights"

    assert read_json(tmp_path / "next" / "config.json")["model"]["d_model"] == 16, "the sizes are the other model's"
    more = ["--task", "adjective-swap", "--name", "other", "--init", "mine", *where, "--dry-run", "--json", "--set"]
    assert train.main([*more, "dropout=0.5"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["model"]["dropout"], plan["model"]["d_model"]) == (0.5, 16)
    assert "another shape" in failure(train.main, [*more, "d_ff=8"], capsys)
    assert "tokenizers have words" in failure(train.main, [*more, "tokenizer=characters"], capsys)

    before = (tmp_path / "mine" / "model.safetensors").read_bytes()
    arguments = ["--task", "adjective-swap", "--name", "mine", "--overwrite", *where]
    assert train.main([*arguments, "--set", *SMALL, "max_steps=2"]) == 0
    assert (tmp_path / "mine" / "model.safetensors").read_bytes() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == [".training.line", ".training.lock", "mine", "next"]


def test_a_start_is_needed_only_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that started from another model's weights and tokenizers can be resumed when that model is gone."""
    where = ["--checkpoints", str(tmp_path)]
    short = ["max_steps=2", "eval_every=2", "save_every=1", "eval_sentences=10", "snapshots=0"]
    assert train.main(["--task", "reverse", "--name", "first", *where, "--set", *SMALL, *short]) == 0
    again = ["--task", "adjective-swap", "--name", "second", "--init", "first", *where, "--set", *short]
    assert train.main(again) == 0
    config = read_json(tmp_path / "second" / "config.json")
    assert config["data"]["tokenizer"] == "characters", "words of another model's tokenizers"
    write_json(tmp_path / "second" / "status.json", {"state": "stopped"})
    shutil.rmtree(tmp_path / "first")
    capsys.readouterr()
    assert train.main(["--resume", "second", *where]) == 0
    assert "second finished" in capsys.readouterr().out


def test_own_data_is_kept_with_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pairs.tsv").write_text(
        "english\tback\n" + "".join(f"a{i} b{i}\tb{i} a{i}\n" for i in range(30)) + "alone\n", encoding="utf-8"
    )
    where = ["--checkpoints", str(tmp_path / "models")]
    own = ["--task", "files", "--name", "mine", "--data", str(tmp_path / "pairs.tsv"), *where]
    columns = ["--source-column", "english", "--target-column", "back"]
    settings = ["tokenizer=whitespace", "max_steps=3", *SMALL]
    assert train.main([*own, *columns, "--set", *settings]) == 0
    assert "line 32" in capsys.readouterr().err
    (tmp_path / "pairs.tsv").unlink()
    card = (tmp_path / "models" / "mine" / "README.md").read_text(encoding="utf-8")
    assert "--data pairs.tsv --source-column english --target-column back" in card
    assert str(tmp_path) not in card
    assert "The same sentences selected the best weights" in card
    evaluate.main(["--model", "mine", *where, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["sentences"] == 3
    assert "valid" in told["on"]
    elsewhere = ["--task", "copy", "--name", "x", "--data", "pairs.tsv", *where]
    assert "--task files" in failure(train.main, elsewhere, capsys)


def test_the_tokens_of_own_data_follow_from_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = own_data.write_tsv(number_words(40), tmp_path / "numbers.tsv")
    where = ["--checkpoints", str(tmp_path / "models")]
    own = ["--task", "files", "--name", "mine", "--data", str(data), *where]
    assert train.main([*own, "--valid-share", "0.2", "--set", *SMALL, "max_steps=2"]) == 0
    assert "Single characters, because every held-out answer has a word that never occurs" in capsys.readouterr().err
    config = read_json(tmp_path / "models" / "mine" / "config.json")
    assert (config["data"]["tokenizer"], config["model"]["positions"]) == ("characters", "rope")
    assert config["set"]["tokenizer"] == "characters", "the same tokens when it is trained again"
    assert config["results"]["test"]["sentences"] == 8
    assert "bleu" not in config["results"]["test"], "numbers are no sentences"
    assert "--valid-share 0.2" in (tmp_path / "models" / "mine" / "README.md").read_text(encoding="utf-8")
    evaluate.main(["--model", "mine", *where])
    assert "BLEU" not in capsys.readouterr().out
    leaking = [*own[:3], "other", *own[4:], "--valid-data", str(data)]
    assert "the source of every training pair is among the validation pairs, too" in failure(
        train.main, leaking, capsys
    )
    assert "leave out --valid-share" in failure(train.main, [*leaking, "--valid-share", "0.1"], capsys)
    doubled = own_data.write_tsv([*number_words(40), *number_words(40), ("six", "7")], tmp_path / "doubled.tsv")
    trial = ["--task", "files", "--name", "other", "--data", str(doubled), "--dry-run", "--json", *where]
    assert train.main([*trial, "--leave-out", "contradictory"]) == 0
    printed = capsys.readouterr()
    repeated = "40 pairs repeat an earlier one. (lines 41, 42, 43, 44, 45 and 35 more, of which the first: “"
    assert repeated in printed.err
    assert "”) Left out; --keep duplicates changes that." in printed.err
    assert sum(json.loads(printed.out)["examples"].values()) in (40, 41), "a number of the sample is contradicted"
    assert json.loads(printed.out)["own_data"][-6:-4] == ["--leave-out", "contradictory"]
    same = own_data.write_tsv([("a", str(n)) for n in range(20)], tmp_path / "same.tsv")
    equal = ["--task", "files", "--name", "other", "--data", str(same), *where]
    assert "all 20 pairs have the source 'a'" in failure(train.main, equal, capsys)


def test_a_dry_run_says_what_it_would_take_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--task", "adjective-swap", "--name", "plan", "--checkpoints", str(tmp_path), "--dry-run"]
    assert train.main([*arguments, "--json", "--set", *SMALL]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["examples"]["test"] == 40
    assert plan["parameters"] > 1000
    assert 0 < plan["evaluation_seconds"] < plan["seconds"] <= plan["busy_seconds"] / 1.49
    assert plan["schedule"][0][0] == 1
    assert "core" in plan["device_name"]
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "plan").mkdir()
    assert train.main([*arguments, "--set", *SMALL]) == 0
    assert capsys.readouterr().out.endswith(
        "There is a model 'plan' already: training needs another name, or --overwrite.\n"
    )


def test_a_dry_run_of_subwords_and_of_the_largest_batch_there_can_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words are cut anew in each epoch; memory is that of the largest batch of the corpus; a failure is the run's."""
    start = [*pairs_file(tmp_path), "--name", "plan", "--checkpoints", str(tmp_path / "models"), "--dry-run", "--json"]
    start += ["--set", *SMALL]
    cut = [*start, "bpe_dropout=0.1"]
    assert train.main([*cut, "tokenizer=subwords", "vocab_size=280"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["training"]["bpe_dropout"], plan["seconds"] > 0) == (0.1, True)
    assert "BPE-dropout needs tokenizer=subwords" in failure(train.main, [*cut, "tokenizer=words"], capsys)
    plans = []
    for most in ("max_tokens=20000", f"max_tokens={10**12}"):
        assert train.main([*start, most, "gradient_accumulation_steps=10000"]) == 0
        plans.append(json.loads(capsys.readouterr().out)["memory_bytes"])
    assert plans[0] == plans[1] < 400 * 2**20
    with mock.patch.object(Trainer, "update", side_effect=MemoryError):
        assert "out of memory: lower max_tokens" in failure(train.main, start, capsys)


def test_a_batch_that_cannot_fit_is_refused_before_it_is_allocated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch is never more than the corpus, so a limit above it is refused only where the whole corpus cannot fit."""
    monkeypatch.setattr(Trainer, "update", None)
    monkeypatch.setattr(device, "_memory_of", lambda device: 10**8)
    where = ["--name", "plan", "--checkpoints", str(tmp_path / "models")]
    data = own_data.write_tsv([(f"{n:040}", f"{n:080}") for n in range(500)], tmp_path / "long.tsv")
    arguments = ["--task", "files", "--data", str(data), *where, "--set", *SMALL, "tokenizer=characters"]
    said = failure(train.main, [*arguments, f"max_tokens={10**12}"], capsys)
    assert "max_tokens=1000000000000 makes a batch of 35,640 tokens, which needs about 0." in said
    assert "this machine has 0.1 GB; lower max_tokens" in said
    assert not (tmp_path / "models").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "--task TASK --name NAME"),
        (["--task", "copi", "--name", "x"], "there is no task 'copi'. Did you mean 'copy'?"),
        (["--task", "copy", "--name", "x", "--preset", "tini"], "there is no preset 'tini'. Did you mean 'tiny'?"),
        (["--task", "copy", "--name", "x", "--set", "d_modle=3"], "unknown setting 'd_modle'. Did you mean 'd_model'?"),
        (["--task", "copy", "--name", "x", "--set", "d_model=63"], "d_model=63 does not divide"),
        (["--task", "copy", "--name", "x", "--set", "max_tokens=3", "batch_tokens=9"], "give only one of them"),
        (["--task", "copy", "--name", "../x"], "cannot name a model"),
        (["--task", "copy", "--name", "x", "--init", "run2"], "there is no model 'run2'"),
        (["--task", "copy", "--name", "x", "--device", "cuda:77"], "--device cpu"),
        (["--task", "copy", "--name", "x", "--precision", "fp64"], "--precision is one of auto, fp32, bf16"),
        (["--task", "copy", "--name", "x", "--json"], "--json goes with --dry-run"),
        (["--resume", "nothing"], "there is no model 'nothing'"),
        (["--resume", "run", "--task", "copy"], "leave out --task"),
        (["--resume", "run", "--set", "seed=3"], "--init NAME"),
    ],
)
def test_train_refuses_in_one_sentence(
    checkpoints: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    before = sorted(checkpoints.iterdir())
    assert sentence in failure(train.main, [*arguments, "--checkpoints", str(checkpoints)], capsys)
    assert sorted(checkpoints.iterdir()) == before
