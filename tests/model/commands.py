"""Commands that must fail, run as `python -m` runs them."""

from collections.abc import Callable, Sequence

import pytest

from model.commands import run_command

Command = Callable[[Sequence[str]], int]


def failure(command: Command, arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The last line on standard error of a command that must end with exit code 2."""
    with pytest.raises(SystemExit) as left:
        run_command(command, arguments)
    assert left.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    return printed.err.strip().splitlines()[-1]
