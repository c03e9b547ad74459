"""Arbitrary command lines: a result, or one sentence and exit code 2; nothing is written outside the model folders."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import evaluate, train, translate
from model.commands import run_command
from tests.explorer.toy_models import save_toy
from tests.fuzz.inputs import STRANGE, tries

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
COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "translate": translate.main,
    "evaluate": evaluate.main,
    "train": train.main,
}
START = {
    "translate": ["--model", "toy", "abc"],
    "evaluate": ["--model", "toy", "--task", "reverse"],
    "train": ["--task", "reverse", "--name", "new", "--dry-run"],
}


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands") / "checkpoints"
    save_toy(folder / "toy", "reverse")
    return folder


@st.composite
def arguments(draw: st.DrawFn, command: str) -> list[str]:
    """A valid start or none, then flags and words in any order."""
    given = list(START[command]) if draw(st.booleans()) else []
    for _ in range(draw(st.integers(0, 4))):
        given.append(draw(st.sampled_from(FLAGS[command]) | WORDS))
    return given


@pytest.mark.parametrize("command", ["translate", "train"])
@tries(60)
@given(data=st.data())
def test_any_words_on_the_command_line(
    checkpoints: Path, monkeypatch_module: pytest.MonkeyPatch, command: str, data: st.DataObject
) -> None:
    words = data.draw(arguments(command))
    if command == "train":
        words = [*words, "--dry-run", "--json"]  # nothing is trained here
        words = [word for word in words if not word.startswith("multi30k")]
    before = {path: path.stat().st_mtime_ns for path in checkpoints.parent.rglob("*")}
    monkeypatch_module.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    out, said = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", out)
        patch.setattr("sys.stderr", said)
        with pytest.raises(SystemExit) as left:
            run_command(partial(COMMANDS[command]), [*words, "--checkpoints", str(checkpoints)])
    assert left.value.code in (0, 2)
    assert "Traceback" not in said.getvalue()
    if left.value.code == 2:
        assert said.getvalue().strip().splitlines()[-1].rstrip().endswith((".", "?"))
    assert {path: path.stat().st_mtime_ns for path in checkpoints.parent.rglob("*")} == before


@pytest.fixture(scope="module")
def monkeypatch_module() -> object:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@tries(15)
@given(data=st.data())
def test_any_words_of_an_evaluation(checkpoints: Path, data: st.DataObject) -> None:
    """Scoring takes long, so what is fuzzed here is a model that does not exist, or files that do not."""
    words = data.draw(arguments("evaluate"))
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", said)
        patch.setattr("sys.stdout", io.StringIO())
        patch.setattr("model.scoring.score_examples", lambda *_, **__: {})
        with pytest.raises(SystemExit) as left:
            run_command(evaluate.main, [*words, "--checkpoints", str(checkpoints / "none")])
    assert left.value.code in (0, 2)
    assert said.getvalue().strip()[-1] in ".?"
