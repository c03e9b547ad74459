"""The command for data diversification: what the models write, which side they write, and what training makes of it."""

import json
from pathlib import Path

import pytest

from model import relabel, train
from model.data import Example
from model.data.files import save_splits
from model.folder import CONFIG, STATUS, WEIGHTS, read_config, read_json
from tests.model.commands import failure
from tests.model.engine import EXACT, SMALL
from tests.paths import ROOT

WORDS = ("cat", "house", "tree", "lamp", "abcdef", "garden")
"""What the shipped model `reverse` reverses without an error."""

REVERSE = ["--checkpoints", str(ROOT / "checkpoints")]


@pytest.fixture
def wrong(tmp_path: Path) -> list[str]:
    """A task of a person's own, in which no target is the reversal of its source."""
    train_pairs = tuple(Example(word, f"{word}s") for word in (*WORDS, "cat"))
    save_splits({"train": train_pairs, "valid": (Example("valid", "dilav"),)}, tmp_path)
    return ["--task", "files", "--data-dir", str(tmp_path)]


def rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_own_pairs_are_read_from_their_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is held out for validation is not translated, nor what is too long, which is said."""
    table, out = tmp_path / "own.tsv", tmp_path / "more.jsonl"
    long = "a" * 200
    table.write_text("".join(f"{word}\t{word[::-1]}\n" for word in WORDS) + f"{long}\tx\n", encoding="utf-8")
    own = ["--task", "files", "--data", str(table), "--valid-data", str(tmp_path / "held.tsv"), "--header", "no"]
    (tmp_path / "held.tsv").write_text("horse\tesroh\nmouse\tesuom\n", encoding="utf-8")
    command = [*own, *REVERSE, "--model", "reverse", "--reverse", "reverse", "--out", str(out), "--beam", "1"]
    assert relabel.main(command) == 0
    assert "1 sentence left out as empty or too long." in capsys.readouterr().err
    assert {row["source"] for row in rows(out) if row["made"] == "target"} == set(WORDS)
    assert "esroh" not in out.read_text(encoding="utf-8")


def test_of_a_beam_the_likeliest_are_kept_or_those_nearest_to_the_pair_itself(
    wrong: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A translation that is empty or stands twice in the beam is not kept."""
    beam = ["one", " ", "one", "two", "a dog runs", "a cats"]
    monkeypatch.setattr("model.scoring.translate_n_best", lambda model, pairs, *_: [beam] * len(pairs))

    def kept(*options: str) -> list[str]:
        out = tmp_path / "kept.jsonl"
        command = [*wrong, *REVERSE, "--model", "reverse", "--out", str(out), "--overwrite"]
        assert relabel.main([*command, *options]) == 0
        return [row["target"] for row in rows(out) if row["source"] == "a cat"]

    save_splits({"train": (Example("a cat", "a cats"),), "valid": (Example("valid", "dilav"),)}, tmp_path)
    assert kept() == ["one"]
    assert kept("--translations", "2") == ["one", "two"]
    assert kept("--near-reference") == ["a cats"]
    assert kept("--translations", "2", "--near-reference") == ["a cats", "a dog runs"]


def test_wrong_use_is_one_sentence(wrong: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "x.jsonl")]
    assert "--reverse" in failure(relabel.main, [*wrong, *out, *REVERSE], capsys)
    wanted = "'phrases-en-de' translates en → de, but to write each source of phrases-en-de takes de → en"
    backwards = ["--task", "phrases-en-de", "--reverse", "phrases-en-de", *out, *REVERSE]
    assert wanted in failure(relabel.main, backwards, capsys)
    taken = ["--task", "reverse", "--data", "mine.tsv", "--model", "reverse", *out, *REVERSE]
    assert "use it with --task files" in failure(relabel.main, taken, capsys)
    (tmp_path / "x.jsonl").write_text("mine", encoding="utf-8")
    assert "--overwrite" in failure(relabel.main, [*wrong, "--model", "reverse", *out, *REVERSE], capsys)
    assert (tmp_path / "x.jsonl").read_text(encoding="utf-8") == "mine"
    searching = [*wrong, "--model", "reverse", *REVERSE, "--out", str(tmp_path / "y.jsonl")]
    for number in ("0", "6"):
        assert "from 1 to 5" in failure(relabel.main, [*searching, "--translations", number], capsys)
    nowhere = ["--out", str(tmp_path / "no" / "x.jsonl")]
    assert "there is no folder" in failure(relabel.main, [*wrong, "--model", "reverse", *nowhere, *REVERSE], capsys)
    capsys.readouterr()


SHORT = [*SMALL, "max_steps=4", "eval_every=2", "save_every=2", "eval_sentences=4", "max_tokens=64"]


@pytest.mark.nightly  # three runs; tests/model/test_reproduce.py trains with made pairs
@pytest.mark.usefixtures("few_sentences")
def test_training_reads_the_union_and_resumes_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    added = tmp_path / "more.jsonl"
    pairs = [{"source": f"q{i} red", "target": f"red q{i}"} for i in range(5)]
    added.write_text("".join(json.dumps(pair) + "\n" for pair in [*pairs, pairs[0]]), encoding="utf-8")
    where = ["--checkpoints", str(tmp_path / "models"), *EXACT]
    task = ["--task", "adjective-swap", "--set", *SHORT, "tokenizer=whitespace"]
    assert train.main([*task, "--name", "plain", *where]) == 0
    assert train.main([*task, "--name", "union", "--add-data", str(added), *where]) == 0
    said = capsys.readouterr().err
    config = read_config(tmp_path / "models" / "union")
    assert [(entry["file"], entry["pairs"]) for entry in config["added_data"]] == [("more.jsonl", 5)]
    assert "(5 of them added)" in said
    folder = tmp_path / "models"
    assert (folder / "union" / WEIGHTS).read_bytes() != (folder / "plain" / WEIGHTS).read_bytes()
    card = (folder / "union" / "README.md").read_text(encoding="utf-8")
    assert "--name union --add-data more.jsonl --preset" in card
    assert "and 5 added)" in card
    assert str(tmp_path) not in card + (folder / "union" / CONFIG).read_text(encoding="utf-8")

    assert train.main([*task, "--name", "cut", "--add-data", str(added), *where, "--set", "max_steps=4"]) == 0
    status = read_json(folder / "cut" / STATUS)
    assert status["added_data"] == [str(added.resolve())]
    (folder / "cut" / STATUS).write_text(json.dumps(status | {"state": "stopped"}), encoding="utf-8")
    capsys.readouterr()
    moved = added.rename(tmp_path / "moved.jsonl")
    assert "more.jsonl" in failure(train.main, ["--resume", "cut", *where], capsys)
    added.write_text('{"source": "a", "target": "b"}\n{"source": "c", "target": "d"}\n', encoding="utf-8")
    assert "other added data (files: more.jsonl)" in failure(train.main, ["--resume", "cut", *where], capsys)
    assert train.main(["--resume", "cut", "--add-data", str(moved), *where]) == 0
    assert (folder / "cut" / WEIGHTS).read_bytes() == (folder / "union" / WEIGHTS).read_bytes()
