"""Every command in the documentation runs, shortened to one update of training, or says why it is not run."""

import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import groupby
from pathlib import Path

import pytest

import model
from tests.docs.commands import main_of
from tests.docs.generated import documents
from tests.docs.markdown import blocks
from tests.own_data import word_reversal
from tests.paths import CHECKPOINTS

BLOCKS = [block for path in documents() for language in ("sh", "python") for block in blocks(path, language)]
RUN = {
    name: list(group)
    for name, group in groupby((block for block in BLOCKS if not block.excuse), key=lambda block: block.document)
}
LONG = {"experiments.md", "hosting.md", "library.md", "other-models.md", "training.md"}  # left to the nightly run
MODELS = ("adjective-swap", "dates", "phrases-en-de", "reverse")
FEW_UPDATES = ("--set", "max_steps=1", "eval_every=1", "eval_sentences=2", "snapshots=0")


@pytest.fixture
def folder(few_sentences: None, tmp_path: Path) -> Path:
    """A folder as a reader has it, with models, sentence pairs, and the attention of one sentence."""
    for name in MODELS:
        shutil.copytree(CHECKPOINTS / name, tmp_path / "checkpoints" / name, ignore=shutil.ignore_patterns("snapshots"))
    pairs = word_reversal(60)
    (tmp_path / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    for i, side in enumerate(("source", "target")):
        (tmp_path / f"{side}.txt").write_text("".join(f"{pair[i]}\n" for pair in pairs), encoding="utf-8")
    model.load("reverse").translate("attention").trace.save_npz(tmp_path / "red.npz")
    return tmp_path


def commands(text: str) -> list[list[str]]:
    return [words for line in text.splitlines() if (words := shlex.split(line, comments=True))]


def main_called(words: Sequence[str]) -> Callable[[Sequence[str]], int]:
    """The main function that `python -m MODULE …` calls.

    Raises:
        ValueError: it is another command, which no test runs.
    """
    if list(words[:2]) != ["python", "-m"]:
        raise ValueError(f"'{shlex.join(words)}' is not run by a test: say why, in a comment before its block")
    return main_of(words[2])


def shortened(module: str, arguments: Sequence[str]) -> list[str]:
    if module != "model.train" or "--dry-run" in arguments:
        return list(arguments)
    if "--resume" in arguments:
        return ["2" if given == "--steps" else word for given, word in zip(["", *arguments], arguments, strict=False)]
    return [*arguments, *FEW_UPDATES]


@pytest.mark.slow  # a dozen short runs
@pytest.mark.parametrize(
    "document", [pytest.param(name, marks=pytest.mark.nightly if name in LONG else []) for name in RUN]
)
def test_the_commands_of_a_document_run(document: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for block in RUN[document]:
        if block.language == "python":
            exec(block.text, {})
            continue
        for words in commands(block.text):
            assert main_called(words)(shortened(words[2], words[3:])) == 0, shlex.join(words)


def test_commands_that_are_not_run_say_why() -> None:
    """Also those in a block that is left out have to be written for modules and files that exist."""
    assert [block for block in BLOCKS if block.excuse and len(block.excuse.split()) < 4] == []
    modules = set(re.findall(r"python -m ((?:model|explorer|tests)[\w.]*)", "".join(block.text for block in BLOCKS)))
    assert len(modules) > 8
    for module in modules:
        import_module(module)
