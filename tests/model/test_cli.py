"""The command lines as a person meets them: what they print, and the one sentence that they end with."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from model import evaluate, train, translate
from model.commands import run_command
from model.folder import read_json, write_json
from model.trace import AttentionTrace
from model.training.trainer import Trainer
from tests.model.engine import pairs_file, run, string_setup

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["d_model=16", "d_ff=16", "n_encoder_heads=2", "n_decoder_heads=2", "snapshots=0", "log_every=2"]

Command = Callable[[Sequence[str]], int]


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one trained model, `run`, which reverses strings of a–f (not well)."""
    folder = tmp_path_factory.mktemp("checkpoints")
    assert run(folder, partial(string_setup, max_steps=30, d_model=32, dropout=0.0))
    return folder


def failure(command: Command, arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The last line on standard error of a command that must end with exit code 2."""
    with pytest.raises(SystemExit) as left:
        run_command(command, arguments)
    assert left.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    return printed.err.strip().splitlines()[-1]


def stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


# translate


def test_translate_prints_one_line_a_sentence(checkpoints: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert translate.main(["--model", "run", "--checkpoints", str(checkpoints), "abc", "", "   ", "f\nf"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert len(lines) == 5
    assert lines[4] == ""
    assert lines[0]
    assert lines[1] == lines[2] == ""


def test_translate_reads_standard_input(
    checkpoints: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = ["abc", "", "fade"] * 30
    stdin(monkeypatch, b"\xef\xbb\xbf" + "\r\n".join(sentences).encode())
    translate.main(["--model", "run", "--checkpoints", str(checkpoints)])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 90
    translate.main(["--model", "run", "--checkpoints", str(checkpoints), "abc", "fade"])
    abc, fade = capsys.readouterr().out.splitlines()
    assert lines == [abc, "", fade] * 30


def test_translate_json_tells_each_step(checkpoints: Path, capsys: pytest.CaptureFixture[str]) -> None:
    translate.main(["--model", "run", "--checkpoints", str(checkpoints), "--json", "abz", ""])
    first, empty = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["source_tokens"] == ["a", "b", "z", "<eos>"]
    assert first["unknown"] == ["z"]
    assert first["steps"][0]["read"] == "<sos>"
    assert [step["token"] for step in first["steps"]][:-1] == [step["read"] for step in first["steps"]][1:]
    for step in first["steps"]:
        probabilities = [alternative["probability"] for alternative in step["alternatives"]]
        assert probabilities == sorted(probabilities, reverse=True)
        assert 0.99 < sum(probabilities) <= 1.0001  # ten alternatives are all tokens of this vocabulary but <sos>
        assert step["probability"] == probabilities[0]
    translate.main(["--model", "run", "--checkpoints", str(checkpoints), "abz"])
    assert capsys.readouterr().out.rstrip("\n") == first["translation"]
    assert empty["translation"] == ""
    assert empty["steps"] == []


def test_translate_writes_a_trace_and_beams(
    checkpoints: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["--model", "run", "--checkpoints", str(checkpoints), "--beam", "3", "--json"]
    translate.main([*arguments, "--trace", str(tmp_path / "trace.npz"), "abc"])
    told = json.loads(capsys.readouterr().out)
    trace = AttentionTrace.load_npz(tmp_path / "trace.npz")
    assert trace.src_tokens == ("a", "b", "c", "<eos>")
    assert trace.cross.shape == (1, 2, len(trace.read_tokens), 4)
    assert trace.predicted_tokens == tuple(step["token"] for step in told["steps"])
    scores = [hypothesis["score"] for hypothesis in told["hypotheses"]]
    assert scores == sorted(scores, reverse=True)
    assert told["hypotheses"][0]["text"] == told["translation"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--model", "rum", "abc"], "there is no model 'rum'; did you mean 'run'?"),
        (["--model", "../run", "abc"], "'../run' cannot name a model"),
        (["--model", "run", "--trace", "x.npz", "a", "b"], "--trace takes one sentence, not 2"),
        (["--model", "run", "--trace", "x.npz", "  "], "nothing to trace in an empty sentence"),
        (["--model", "run", "--trace", "/nowhere/x.npz", "a"], "cannot be written: No such file"),
        (["--model", "run", "--beam", "0", "a"], "beam_size=0 must be at least 1"),
        (["--model", "run", "--beam", "many", "a"], "invalid int value: 'many'"),
        (["--model", "run", "abc" * 40], "has 120 tokens, but this model reads at most 31"),
        (["abc"], "--model"),
    ],
)
def test_translate_refuses_in_one_sentence(
    checkpoints: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert sentence in failure(translate.main, [*arguments, "--checkpoints", str(checkpoints)], capsys)


def test_translate_refuses_input_that_is_not_utf8(
    checkpoints: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin(monkeypatch, b"abc\nb\xe4d\n")
    with pytest.raises(SystemExit):
        run_command(translate.main, ["--model", "run", "--checkpoints", str(checkpoints)])
    assert capsys.readouterr().err.strip() == "line 2 of standard input is not UTF-8 text."


# evaluate


def test_evaluate_json_has_the_flat_keys(checkpoints: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "source").write_text("abc\nfade\nbad\n", encoding="utf-8")
    (tmp_path / "target").write_text("cba\nedaf\ndab\n", encoding="utf-8-sig")
    files = ["--source", str(tmp_path / "source"), "--target", str(tmp_path / "target")]
    evaluate.main(["--model", "run", "--checkpoints", str(checkpoints), *files, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert {"exact_match", "token_accuracy", "bleu", "bleu_signature", "bleu_lc_tok", "loss", "sentences"} <= set(told)
    assert told["sentences"] == 3
    assert "version:" in told["bleu_signature"]
    evaluate.main(["--model", "run", "--checkpoints", str(checkpoints), *files])
    shown = capsys.readouterr().out
    assert f"exact match     {told['exact_match']:.4f}" in shown
    assert "of 3)" in shown


def test_evaluate_reports_groups_and_the_best_aligned_head(
    checkpoints: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate.main(["--model", "run", "--checkpoints", str(checkpoints), "--task", "copy", "--split", "valid", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert list(told["groups"])[:2] == ["02 letters", "03 letters"]
    assert told["aligned_head"]["layer"] == 1
    assert 0 < told["aligned_head"]["share"] < 1


def test_evaluate_reads_compressed_files_line_by_line(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line ends where the file says, not where Unicode would allow it."""
    for name, text in (("src.gz", "ab\x85c\nba\n"), ("tgt.gz", "c\u2028ba\r\nab\r\n")):
        (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    given = ["--model", "run", "--checkpoints", str(checkpoints), "--json"]
    evaluate.main([*given, "--source", str(tmp_path / "src.gz"), "--target", str(tmp_path / "tgt.gz")])
    assert json.loads(capsys.readouterr().out)["sentences"] == 2
    (tmp_path / "src.gz").write_bytes(gzip.compress(b"ab\nba\n" * 99)[:-9])
    torn = [*given, "--source", str(tmp_path / "src.gz"), "--target", str(tmp_path / "tgt.gz")]
    assert "src.gz cannot be read" in failure(evaluate.main, torn, capsys)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--task", "revers"], "there is no task 'revers'; did you mean 'reverse'?"),
        (["--task", "copy", "--split", "tset"], "task copy has no split 'tset'; did you mean 'test'?"),
        (["--source", "here"], "--source and --target go together"),
        (["--source", "here", "--target", "there"], "here cannot be read: No such file"),
        (["--source", "here", "--target", "there", "--task", "copy"], "not both"),
        (["--device", "tpu"], "--device is auto, cpu, cuda"),
    ],
)
def test_evaluate_refuses_in_one_sentence(
    checkpoints: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    given = ["--model", "run", "--checkpoints", str(checkpoints), *arguments]
    assert sentence in failure(evaluate.main, given, capsys)


def test_evaluate_refuses_files_that_do_not_go_together(
    checkpoints: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "two").write_text("a\nb\n", encoding="utf-8")
    (tmp_path / "three").write_text("a\nb\nc\n", encoding="utf-8")
    (tmp_path / "latin").write_bytes("a\nä\n".encode("latin-1"))
    given = ["--model", "run", "--checkpoints", str(checkpoints), "--source", str(tmp_path / "two")]
    assert "2 lines" in failure(evaluate.main, [*given, "--target", str(tmp_path / "three")], capsys)
    assert "(line 2)" in failure(evaluate.main, [*given, "--target", str(tmp_path / "latin")], capsys)


# train


def test_a_trained_model_can_be_used_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--checkpoints", str(tmp_path)]
    settings = [*SMALL, "max_steps=4", "eval_every=2", "seed=7", "eval_sentences=10"]
    assert train.main(["--task", "adjective-swap", "--name", "mine", *where, "--set", *settings]) == 0
    assert "mine finished: exact match" in capsys.readouterr().out
    config = read_json(tmp_path / "mine" / "config.json")
    assert config["training"]["seed"] == 7
    assert config["set"]["d_model"] == "16"
    card = (tmp_path / "mine" / "README.md").read_text(encoding="utf-8")
    assert "python -m model.train --task adjective-swap --name mine --preset" in card
    assert "d_model=16 d_ff=16" in card

    assert "there is a model 'mine' already" in failure(
        train.main, ["--task", "adjective-swap", "--name", "mine", *where], capsys
    )
    assert train.main(["--resume", "mine", *where]) == 0
    assert "nothing to resume" in capsys.readouterr().out

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
    assert "another shape" in failure(train.main, [*more, "d_ff=24"], capsys)
    assert "tokenizers have words" in failure(train.main, [*more, "tokenizer=characters"], capsys)

    before = (tmp_path / "mine" / "model.safetensors").read_bytes()
    arguments = ["--task", "adjective-swap", "--name", "mine", "--overwrite", *where]
    assert train.main([*arguments, "--set", *SMALL, "max_steps=2"]) == 0
    assert (tmp_path / "mine" / "model.safetensors").read_bytes() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == [".training.lock", "mine", "next"]


def test_a_start_is_needed_only_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that began with another model's weights and tokenizers goes on when that model is gone."""
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
    evaluate.main(["--model", "mine", *where, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["sentences"] == 3
    assert "valid" in told["on"]
    assert "--task files" in failure(
        train.main, ["--task", "copy", "--name", "x", "--data", "pairs.tsv", *where], capsys
    )
    assert "--data FILE" in failure(train.main, ["--task", "files", "--name", "x", *where], capsys)


def test_a_dry_run_says_what_it_would_take_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--task", "adjective-swap", "--name", "plan", "--checkpoints", str(tmp_path), "--dry-run"]
    assert train.main([*arguments, "--json", "--set", *SMALL]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["examples"]["test"] == 96
    assert plan["parameters"] > 1000
    assert plan["seconds"] > 0
    assert plan["schedule"][0][0] == 1
    assert "core" in plan["device_name"]
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_that_fails_as_the_run_would_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Trainer) -> None:
        raise MemoryError

    monkeypatch.setattr(Trainer, "update", full)
    arguments = [*pairs_file(tmp_path), "--name", "plan", "--checkpoints", str(tmp_path), "--dry-run", "--json"]
    assert "out of memory: lower batch_tokens" in failure(train.main, arguments, capsys)


def test_a_dry_run_cuts_subwords_anew_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--name", "plan", "--checkpoints", str(tmp_path / "models"), "--dry-run", "--json"]
    arguments = [*pairs_file(tmp_path), *where, "--set", *SMALL, "bpe_dropout=0.1"]
    assert train.main([*arguments, "tokenizer=subwords", "vocab_size=280"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["training"]["bpe_dropout"] == 0.1
    assert plan["seconds"] > 0
    assert "BPE-dropout needs tokenizer=subwords" in failure(train.main, [*arguments, "tokenizer=words"], capsys)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "--task TASK --name NAME"),
        (["--task", "copi", "--name", "x"], "there is no task 'copi'; did you mean 'copy'?"),
        (["--task", "copy", "--name", "x", "--preset", "tini"], "there is no preset 'tini'; did you mean 'tiny'?"),
        (["--task", "copy", "--name", "x", "--set", "d_modle=3"], "unknown setting 'd_modle'; did you mean 'd_model'?"),
        (["--task", "copy", "--name", "x", "--set", "d_model=63"], "d_model=63 does not divide"),
        (["--task", "copy", "--name", "../x"], "cannot name a model"),
        (["--task", "copy", "--name", "nul"], "cannot name a model"),
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


@pytest.mark.parametrize("command", ["train", "translate", "evaluate"])
def test_help_is_quick_and_needs_no_torch(command: str) -> None:
    code = (
        "import sys, runpy\n"
        f"sys.argv = ['x', '--help']\n"
        "try:\n"
        f"    runpy.run_module('model.{command}', run_name='__main__')\n"
        "except SystemExit as left:\n"
        "    assert not left.code\n"
        "print(sorted({'torch', 'spacy', 'sacrebleu', 'numpy'} & set(sys.modules)), file=sys.stderr)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert "--checkpoints DIR" in done.stdout
