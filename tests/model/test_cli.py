"""The command lines as a user sees them: what they print, and the one sentence of an error."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from model import evaluate, translate
from model.commands import run_command
from model.trace import AttentionTrace
from tests.forked import Forked
from tests.model.commands import failure
from tests.paths import ROOT
from tests.some import some


def stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.fixture
def where(checkpoints: Path) -> list[str]:
    return ["--model", "run", "--checkpoints", str(checkpoints)]


def test_translate_prints_a_line_for_each_sentence_given_or_read(
    where: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert translate.main([*where, "abc", "", "   ", "f\nf", "fade"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert (len(lines), lines[1:3], lines[5]) == (6, ["", ""], "")
    stdin(monkeypatch, b"\xef\xbb\xbf" + "\r\n".join(["abc", "", "fade"] * 30).encode())
    translate.main(where)
    assert capsys.readouterr().out.splitlines() == [lines[0], "", lines[4]] * 30


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_line_that_cannot_be_read_is_answered_with_an_empty_line(
    where: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, form: list[str]
) -> None:
    """Finding D13: one overlong line ended the command, and the good lines of its batch were lost."""
    stdin(monkeypatch, b"abc\n" + b"f" * 3000 + b"\nb\xe4d\nabc\n" + b"abc\n" * 60)
    assert translate.main([*where, *form]) == 2
    printed = capsys.readouterr()
    texts = [json.loads(line)["translation"] if form else line for line in printed.out.split("\n")[:-1]]
    assert texts == [texts[0], "", "", *[texts[0]] * 61]
    assert texts[0]
    long, wrong = printed.err.splitlines()
    assert long.startswith(f"the sentence that begins with '{'f' * 40}' has 3000 tokens")
    assert wrong == "line 3 of standard input is not UTF-8 text."


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_behind_standard_output_is_a_sentence(checkpoints: Path, tmp_path: Path) -> None:
    def run() -> None:
        vars(sys)["__stdout__"] = sys.stdout = os.fdopen(os.open("/dev/full", os.O_WRONLY), "w")
        run_command(translate.main, ["--model", "run", "--checkpoints", str(checkpoints), "abc"])

    process = Forked(run, tmp_path)
    _, err = process.wait(120)
    assert process.code == 2
    assert err.startswith("standard output cannot be written: the disk is full")


def test_translate_tells_each_step_and_writes_a_trace(
    where: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    translate.main([*where, "--json", "abz", ""])
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
    translate.main([*where, "abz"])
    assert capsys.readouterr().out.rstrip("\n") == first["translation"]
    assert (empty["translation"], empty["steps"]) == ("", [])
    translate.main([*where, "--beam", "3", "--json", "--trace", str(tmp_path / "trace.npz"), "abc"])
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
        (["--model", "rum", "abc"], "there is no model 'rum'. Did you mean 'run'?"),
        (["--model", "../run", "abc"], "“../run” cannot name a model"),
        (["--model", "run", "--trace", "x.npz", "a", "b"], "--trace takes one sentence, not 2"),
        (["--model", "run", "--trace", "x.npz", "  "], "nothing to trace in an empty sentence"),
        (["--model", "run", "--trace", "/nowhere/x.npz", "a"], "cannot be written: No such file"),
        (["--model", "run", "--beam", "0", "a"], "beam_size=0 must be at least 1"),
        (["--model", "run", "abc" * 40], "has 120 tokens, but this model reads at most 31"),
    ],
)
def test_translate_refuses_in_one_sentence(
    checkpoints: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert sentence in failure(translate.main, [*arguments, "--checkpoints", str(checkpoints)], capsys)


def test_evaluate_json_has_the_flat_keys(where: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "source").write_text("abc\nfade\nbad\n", encoding="utf-8")
    (tmp_path / "target").write_text("cba\nedaf\ndab\n", encoding="utf-8-sig")
    files = ["--source", str(tmp_path / "source"), "--target", str(tmp_path / "target")]
    evaluate.main([*where, *files, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert {"exact_match", "token_accuracy", "bleu", "bleu_signature", "bleu_lc_tok", "loss", "sentences"} <= set(told)
    assert told["sentences"] == 3
    assert "version:" in told["bleu_signature"]
    evaluate.main([*where, *files])
    shown = capsys.readouterr().out
    assert f"exact match     {told['exact_match']:.4f}" in shown
    assert "of 3)" in shown


def test_evaluate_reads_compressed_files_line_by_line(
    where: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines end only at newlines, not at other line separators of Unicode."""
    for name, text in (("src.gz", "ab\x85c\nba\n"), ("tgt.gz", "c\u2028b\ra\r\nab\r\n")):
        (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    given = [*where, "--json", "--source", str(tmp_path / "src.gz"), "--target", str(tmp_path / "tgt.gz")]
    evaluate.main(given)
    assert json.loads(capsys.readouterr().out)["sentences"] == 2
    (tmp_path / "src.gz").write_bytes(gzip.compress(b"ab\nba\n" * 99)[:-9])
    assert "src.gz cannot be read" in failure(evaluate.main, given, capsys)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--task", "revers"], "there is no task 'revers'. Did you mean 'reverse'?"),
        (["--task", "copy", "--split", "tset"], "task copy has no split 'tset'. Did you mean 'test'?"),
        (["--source", "here"], "--source and --target go together"),
        (["--source", "here", "--target", "there"], "here cannot be read (No such file"),
        (["--source", "here", "--target", "there", "--task", "copy"], "not both"),
        (["--source", "two", "--target", "three"], "2 lines"),
        (["--source", "two", "--target", "latin"], "latin is not UTF-8: line 2"),
        (["--device", "tpu"], "--device is auto, cpu, cuda"),
    ],
)
def test_evaluate_refuses_in_one_sentence(
    where: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    sentence: str,
) -> None:
    for name, content in (("two", b"a\nb\n"), ("three", b"a\nb\nc\n"), ("latin", b"a\n\xe4\n")):
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert sentence in failure(evaluate.main, [*where, *arguments], capsys)


@pytest.mark.parametrize("command", some(["train", "translate", "evaluate"], 3))
def test_help_is_quick_and_needs_no_torch(command: str) -> None:
    words = [sys.executable, "-X", "importtime", "-m", f"model.{command}", "--help"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    imported = set(re.findall(r"\| +(\w+)$", done.stderr, flags=re.MULTILINE))
    assert "argparse" in imported
    assert imported.isdisjoint({"torch", "spacy", "sacrebleu", "numpy"})
    assert "--checkpoints DIR" in done.stdout
