"""What a notebook needs, in three lines; nothing heavy is imported before it is used."""

import subprocess
import sys

import pytest

import model
from model.folder import CheckpointError
from tests.paths import ROOT


def test_what_is_not_there_or_cannot_be_read_is_refused() -> None:
    for text in ("", "a" * 2000):
        with pytest.raises(ValueError, match="source tokens"):
            model.load("reverse").translate(text)
    with pytest.raises(CheckpointError):
        model.load("no-such-model")
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = model.nothing_of_the_kind


def test_importing_the_package_imports_no_torch() -> None:
    code = "import sys, model; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
