"""Arbitrary command lines: a result, or one sentence and exit code 2; nothing is written outside the model folders."""

import contextlib
import io
import random
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import evaluate, train, translate
from model.commands import run_command
from model.config import DataConfig, ModelConfig, TrainConfig
from model.training import estimate
from tests.explorer.toy_models import save_toy
from tests.fuzz.inputs import _TIMES, STRANGE, tries

COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "translate": translate.main,
    "evaluate": evaluate.main,
    "train": train.main,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, and two files of one sentence each."""
    folder = tmp_path_factory.mktemp("commands")
    save_toy(folder / "checkpoints" / "toy", "reverse")
    for name in ("source.txt", "target.txt"):
        (folder / name).write_text("abc\n", encoding="utf-8")
    return folder


def outcome(command: str, words: Sequence[str], checkpoints: Path) -> int:
    """The exit code; what is printed must be a result, or end in a sentence."""
    out, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
        with pytest.raises(SystemExit) as left:
            run_command(COMMANDS[command], [*words, "--checkpoints", str(checkpoints)])
    what = f"{[word[:40] for word in words]}: {said.getvalue()[-300:]}"
    assert left.value.code in (0, 2), what
    assert "Traceback" not in said.getvalue(), what
    if left.value.code == 2:
        assert said.getvalue().strip().splitlines()[-1].rstrip().endswith((".", "?")), what
    return left.value.code


# Words that a shell can pass: no zero bytes, and of lone surrogates only those that stand for raw bytes.
WORDS = st.one_of(
    st.sampled_from([word for word in STRANGE if "\0" not in word and "\ud800" not in word and len(word) < 100]),
    st.sampled_from(["toy", "reverse", "copy", "files", "0", "1", "-1", "3.5", "x=1", "d_model=16", "tiny", "beam"]),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
    st.just("\udcff"),
)
FLAGS = {
    "translate": ["--model", "--beam", "--length-penalty", "--alpha", "--max-length", "--json", "--nonsense"],
    "evaluate": ["--model", "--task", "--split", "--beam", "--alpha", "--limit", "--source", "--target", "--json"],
    "train": ["--task", "--name", "--preset", "--set", "--init", "--device", "--precision", "--data", "--data-dir"]
    + ["--source", "--target", "--threads", "--source-lang", "--json", "--compile", "--overwrite", "--resume"],
}
START = {
    "translate": ["--model", "toy", "abc"],
    "evaluate": ["--model", "toy", "--task", "reverse"],
    "train": ["--task", "reverse", "--name", "new", "--dry-run"],
}


@pytest.mark.parametrize("command", list(COMMANDS))
@tries(8)
@given(data=st.data())
def test_any_words_on_the_command_line(folder: Path, command: str, data: st.DataObject) -> None:
    """A valid start or none, then flags and words in any order. Nothing is trained or scored here, which takes long."""
    words = list(START[command]) if data.draw(st.booleans()) else []
    for _ in range(data.draw(st.integers(0, 4))):
        words.append(data.draw(st.sampled_from(FLAGS[command]) | WORDS))
    checkpoints = folder / "checkpoints"
    if command == "train":
        words = [word for word in [*words, "--dry-run", "--json"] if not word.startswith("multi30k")]
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    with pytest.MonkeyPatch.context() as patch:
        if command == "evaluate":
            patch.setattr("model.scoring.score_examples", lambda *_, **__: {})
            checkpoints = checkpoints / "none"
        outcome(command, words, checkpoints)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


VALUES = (
    *("inf", "-inf", "nan", "1e308", "1e-300", "1e400", "-1", "0", "1", "3", "0.5", "99999999999", "9" * 30),
    *("9" * 5000, "true", "none", "", "abc", "[]", "{}", "\u202e", " ", "0x10", "1_000", "٣", "1,5", "=", "a=b"),
    *("-0", "+1", "1."),
)


@pytest.mark.usefixtures("few_sentences")  # each accepted setting encodes them all
def test_any_setting_is_accepted_or_refused_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is accepted is set up as for training, up to the model itself; only the stopwatch is left out."""
    monkeypatch.setattr(estimate, "_time_updates", lambda setup: (1.0, 1.0, 1.0, 1.0))
    monkeypatch.setattr(estimate, "_time_evaluation", lambda setup: 1.0)
    names = [field.name for kind in (ModelConfig, DataConfig, TrainConfig) for field in fields(kind)]
    settings = [f"{name}={value}" for name in names for value in VALUES]
    random.Random(0).shuffle(settings)
    start = ["--task", "reverse", "--name", "new", "--preset", "tiny", "--dry-run", "--json", "--set"]
    codes = [outcome("train", [*start, setting], tmp_path) for setting in settings[: 20 * _TIMES]]
    assert min(codes.count(0), codes.count(2)) > 0.05 * len(codes)
    assert not any(tmp_path.iterdir())
