"""Twenty files of own pairs: what is found in each, and the tokens proposed, before anything is learned."""

from pathlib import Path

import pytest

from model.train import parser
from model.training.own_data import own_task
from tests import own_files
from tests.own_files import OWN_FILES
from tests.some import some


@pytest.mark.parametrize("name", some(OWN_FILES, 4))
def test_what_is_said_of_own_files(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(own_files, "LARGE", 3000)
    own = OWN_FILES[name]
    options = parser().parse_args(["--task", "files", "--name", "x", *own.write(tmp_path)])
    task, proposal, _ = own_task(options, {}, split_seed=0)
    assert proposal is not None
    assert proposal.data.tokenizer == own.tokens
    said = [line for line in capsys.readouterr().err.splitlines() if "tokenizer=…" not in line and "tokens" not in line]
    assert len(said) == len(own.finds)
    for line, part in zip(said, own.finds, strict=True):
        assert part in line
    assert task.splits["valid"]
