"""The models in the repository do what their cards and the README say."""

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from model import evaluate, train
from model.checkpoint import load_model
from model.config import DataConfig, ModelConfig, TrainConfig, from_dict
from model.data import MADE_HERE
from model.folder import SHIPPED, list_models, read_json
from model.reproduce import CHAINS
from model.training import estimate, setup
from model.training.card import score_lines
from model.training.corpus import fitting_pairs
from tests.paths import CHECKPOINTS
from tests.some import some

UNMASKED = "adjective-swap-unmasked"  # shipped to show what goes wrong
TRANSLATORS = tuple(name for name in SHIPPED if name.startswith("multi30k"))
CORPUS = CHECKPOINTS.parents[1] / "shared" / "multi30k"
WHERE = ["--checkpoints", str(CHECKPOINTS)]
MANY = {*SHIPPED} - {"adjective-swap", "phrases-en-de"}  # sentences to translate
NIGHTLY = pytest.mark.nightly


@pytest.mark.parametrize("name", SHIPPED)
def test_each_is_small_whole_and_says_where_it_comes_from(name: str) -> None:
    folder = CHECKPOINTS / name
    loaded = load_model(folder)
    whole = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    assert whole <= 12_000_000 if name in TRANSLATORS else (folder / "model.safetensors").stat().st_size <= 2e6
    assert loaded.summary["parameters"] <= 5_000_000
    assert loaded.summary["bundled"]
    assert loaded.summary["trained"]
    config = read_json(folder / "config.json")
    for wanted in (
        f"{loaded.summary['parameters']:,} parameters",
        f"python -m model.reproduce {name} "
        if name in CHAINS
        else f"python -m model.train --task {config['data']['task']} --name {name}",
        "research and education" if name in TRANSLATORS else "MIT",
        *score_lines(config["results"]["test"]),
    ):
        assert wanted in loaded.card
    assert sum(1 for _ in (folder / "metrics.jsonl").open()) < (600 if name in TRANSLATORS else 300)


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=NIGHTLY if name in MANY else ()) for name in SHIPPED])
def test_the_card_has_the_numbers_that_evaluate_prints(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    config = read_json(CHECKPOINTS / name / "config.json")
    if name in TRANSLATORS and not CORPUS.is_dir():
        pytest.skip("the corpus is not here; a folder `shared/multi30k` beside the checkout would be read")
    data = ["--data-dir", str(CORPUS)] if name in TRANSLATORS else ["--task", config["data"]["task"]]
    assert evaluate.main(["--model", name, *WHERE, *data, "--split", "test", "--json"]) == 0
    told, printed = config["results"]["test"], json.loads(capsys.readouterr().out)
    assert printed["sentences"] == told["sentences"]
    if name in TRANSLATORS:
        # Another processor may round differently, so that in some sentence a nearly as likely token comes first.
        close = {"loss": 1e-3, "bleu": 0.2, "bleu_lc_tok": 0.2}
    else:
        close = {"loss": 1e-4, "token_accuracy": 1e-4, "exact_match": 0}
        assert printed["exact_match"] <= 0.1 if name == UNMASKED else printed["exact_match"] >= 0.99
    for score, within in close.items():
        assert printed[score] == pytest.approx(told[score], abs=within), score
    if name in ("adjective-swap", "phrases-en-de"):
        assert printed["exact_match"] == 1.0
    if name == "reverse":
        assert printed["groups"].keys() == {f"{length:02d} letters" for length in range(1, 17)}
        assert min(printed["groups"].values()) >= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("name", some(SHIPPED, 3))
def test_the_command_on_the_card_trains_this_model(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With today's presets and defaults, the command would do what config.json says was done."""
    monkeypatch.setattr(estimate, "_time_updates", lambda setup: (0.0, 1.0, 1.0, 1.0))  # durations do not matter here
    monkeypatch.setattr(estimate, "_time_evaluation", lambda setup: 1.0)
    # Nor do the ids of all sentences: the tokenizers are built from all of them beforehand.
    monkeypatch.setattr(setup, "fitting_pairs", lambda some, *more, **named: fitting_pairs(some[:99], *more, **named))
    config = read_json(CHECKPOINTS / name / "config.json")
    if config["data"]["task"] not in MADE_HERE and not CORPUS.is_dir():
        pytest.skip("the corpus is not here; a folder `shared/multi30k` beside the checkout would be read")
    card = (CHECKPOINTS / name / "README.md").read_text(encoding="utf-8")
    if name in CHAINS:
        words = _last_command(name, tmp_path)
    else:
        (command,) = re.findall(r"^ {4}python -m model\.train (.*)$", card, flags=re.MULTILINE)
        words = [str(CORPUS) if word == "DIR" else word for word in shlex.split(command)]
        words += ["--checkpoints", str(tmp_path)]
    assert train.main([*words, "--dry-run", "--json", "--device", "cpu", "--precision", "fp32", "--threads", "1"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["name"] == name
    sections: dict[str, type[Any]] = {"model": ModelConfig, "data": DataConfig, "training": TrainConfig}
    for section, kind in sections.items():
        assert from_dict(kind, plan[section]) == from_dict(kind, config[section]), section
    assert config["results"]["trained_steps"] == plan["steps"]


def _last_command(name: str, folder: Path) -> list[str]:
    """The command that ends a chain, with stand-ins for what earlier commands make."""
    last = CHAINS[name][-1]
    shutil.copytree(CHECKPOINTS / name, folder / str(read_json(CHECKPOINTS / name / "config.json")["init"]))
    for added in last.added:
        (folder / added).write_text('{"en": "A dog.", "de": "Ein Hund."}\n' * 2, encoding="utf-8")
    return last.words(folder, CORPUS)[1:]


def test_the_pair_with_and_without_the_causal_mask_differs_in_nothing_else() -> None:
    """A loss as low as with the mask, and translations that are wrong."""
    masked, unmasked = (read_json(CHECKPOINTS / name / "config.json") for name in ("adjective-swap", UNMASKED))
    assert masked["model"] | {"causal": False} == unmasked["model"]
    assert masked["data"] == unmasked["data"]
    chosen = {"select_by": "loss"}  # which evaluation's weights are kept does not affect training
    assert masked["training"] | chosen == {key: unmasked["training"][key] for key in masked["training"]}
    with_mask, without = masked["results"]["test"], unmasked["results"]["test"]
    assert without["loss"] < 2 * with_mask["loss"] < 0.01
    assert without["token_accuracy"] == 1.0
    assert without["exact_match"] < 0.1 < with_mask["exact_match"]


def test_all_are_listed_and_none_can_be_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    listed = {summary["name"]: summary for summary in list_models(CHECKPOINTS)}
    assert set(SHIPPED) <= set(listed)
    assert all(listed[name]["error"] is None for name in SHIPPED)
    assert train.main(["--resume", "reverse", *WHERE]) == 0
    assert "nothing to resume" in capsys.readouterr().out
