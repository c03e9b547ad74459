"""Training a shipped model again by one command: the chain, what is left of it after an interruption, and its end."""

import shutil
from pathlib import Path
from unittest import mock

import pytest

from model import relabel, reproduce, train
from model.checkpoint import load_model
from model.folder import CONFIG, STATUS, WEIGHTS, read_config, read_json, write_json
from model.reproduce import CHAINS, Step, needed
from model.training.settings import parse_assignments
from tests.model.commands import failure
from tests.model.engine import EXACT, SMALL
from tests.paths import ROOT

SHORT = ["tokenizer=whitespace", "max_steps=4", "eval_every=2", "save_every=2", "eval_sentences=4", "max_tokens=64"]
RUN = " ".join(["--task", "adjective-swap", *EXACT, "--set", *SMALL, *SHORT])
CHAIN = (
    Step("train", "alone", RUN),
    Step("relabel", "made.jsonl", "--task adjective-swap --model alone --beam 1"),
    Step("train", "both", f"--init alone {RUN}", added=("made.jsonl",)),
)


@pytest.mark.slow
@pytest.mark.usefixtures("few_sentences")
def test_a_chain_that_is_cut_anywhere_ends_in_the_same_weights(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reproduce.reproduce(CHAIN, tmp_path / "whole", None) == 0
    whole = (tmp_path / "whole" / "both" / WEIGHTS).read_bytes()
    assert b'"F16"' in whole[:20_000]
    assert b'"F32"' not in whole[:20_000]
    assert read_config(tmp_path / "whole" / "both")["added_data"][0]["file"] == "made.jsonl"
    assert load_model(tmp_path / "whole" / "both").name == "both"

    cut = tmp_path / "cut"
    shutil.copytree(tmp_path / "whole", cut)
    shutil.rmtree(cut / "both")
    (cut / "made.jsonl").unlink()
    assert reproduce.reproduce(CHAIN, cut, None) == 0
    assert (cut / "both" / WEIGHTS).read_bytes() == whole

    stopped = tmp_path / "whole" / "both" / STATUS
    write_json(stopped, read_json(stopped) | {"state": "stopped"})
    capsys.readouterr()
    assert reproduce.reproduce(CHAIN, tmp_path / "whole", None) == 0
    assert capsys.readouterr().err.count("done: ") == 2
    assert (tmp_path / "whole" / "both" / WEIGHTS).read_bytes() == whole

    made_at = (tmp_path / "whole" / "alone" / WEIGHTS).stat().st_mtime_ns
    assert reproduce.reproduce(CHAIN, tmp_path / "whole", None) == 0
    assert capsys.readouterr().err.count("done: ") == 3
    assert (tmp_path / "whole" / "alone" / WEIGHTS).stat().st_mtime_ns == made_at


def test_a_step_that_was_stopped_stops_the_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    start = mock.Mock(return_value=0)
    monkeypatch.setattr(train, "main", start)
    assert reproduce.reproduce(CHAIN, tmp_path, None) == 130
    assert "the same command continues from here" in capsys.readouterr().err
    (given,) = start.call_args.args
    assert given[-4:] == ["--checkpoints", str(tmp_path), "--name", "alone"]
    (tmp_path / "alone").mkdir()
    write_json(tmp_path / "alone" / STATUS, {"state": "stopped"})
    assert reproduce.reproduce(CHAIN, tmp_path, tmp_path / "corpora") == 130
    (given,) = start.call_args.args
    assert (given[:2], given[-2:]) == (["--resume", "alone"], ["--data-dir", str(tmp_path / "corpora")])
    assert start.call_count == 2


@pytest.mark.parametrize("name", CHAINS)
def test_the_chain_of_a_shipped_model_is_what_its_folder_says(name: str) -> None:
    """Every step reads only what earlier ones made, and the last has the settings of the model that is shipped."""
    made: list[str] = []
    for step in CHAINS[name]:
        module, *words = step.words(Path("new"), Path("corpora"))
        options = {"model.train": train, "model.relabel": relabel}[module].parser().parse_args(words)
        if step.command == "train":
            needs = [options.init] if options.init else []
            needs += [path.name for path in options.add_data]
        else:
            needs = [each for each in (options.model, options.reverse) if each]
        assert set(needs) <= set(made)
        made.append(step.makes)
    shipped = read_config(ROOT / "checkpoints" / name)
    assert made[-1] == name
    assert parse_assignments(options.set) == shipped["set"]
    assert (options.task, options.preset, options.init) == (shipped["data"]["task"], shipped["preset"], shipped["init"])
    runtime = shipped["runtime"]
    assert [vars(options)[name] == runtime[name] for name in ("precision", "threads")] == [True] * 2
    card = (ROOT / "checkpoints" / name / "README.md").read_text(encoding="utf-8")
    learned = [entry["file"] for entry in shipped["added_data"]]
    assert [path.name for path in options.add_data] == [file for file in learned if f"`{file}`" not in card], (
        "the card names the sets of which no command tells"
    )
    assert f"python -m model.reproduce {name} --data-dir DIR --checkpoints NEW" in card


def test_only_what_is_asked_for_and_needed_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chain = CHAINS["multi30k-de-en"]
    for wanted, names in (
        ("multi30k-de-en-alone", ["multi30k-de-en-alone"]),
        ("ende.jsonl", ["multi30k-en-de-alone", "ende.jsonl"]),
        ("multi30k-de-en", [step.makes for step in chain]),
    ):
        assert [step.makes for step in needed(chain, [wanted], tmp_path)] == names
    (tmp_path / "ende.jsonl").write_text("{}", encoding="utf-8")
    assert [step.makes for step in needed(chain, ["ende.jsonl"], tmp_path)] == ["ende.jsonl"], "its model is not needed"
    words = ["multi30k-de-en", "--checkpoints", "new", "--dry-run", "--only", "ende.jsonl", "multi30k-de-en-alone"]
    assert reproduce.main(words) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    said = failure(reproduce.main, [*words, "fourth.jsonl"], capsys)
    assert "the chain of multi30k-de-en does not make 'fourth.jsonl'; it makes multi30k-en-de-alone," in said


def test_wrong_use_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--checkpoints", str(tmp_path)]
    assert "Did you mean 'multi30k-en-de'?" in failure(reproduce.main, ["multi30k-en-d", *where], capsys)
    shipped = ["--checkpoints", str(ROOT / "checkpoints")]
    before = (ROOT / "checkpoints" / "multi30k-en-de" / CONFIG).read_bytes()
    assert "choose another folder" in failure(reproduce.main, ["multi30k-en-de", *shipped], capsys)
    assert (ROOT / "checkpoints" / "multi30k-en-de" / CONFIG).read_bytes() == before
    assert reproduce.main(["multi30k-en-de", *where, "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(CHAINS["multi30k-en-de"])
    assert all("python -m model." in line and "done" not in line for line in lines)
    assert list(tmp_path.iterdir()) == []
