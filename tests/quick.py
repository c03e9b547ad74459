"""The tests of `python -m pytest -m quick`, which show within a minute whether a change broke something.

These are the unit tests of the packages that compute without drawing, and one case per page (marked in
tests/pages/test_every_page.py). Tests that train, start a process, or need seconds with the bundled models are left to
the whole suite. Other files are not even imported under `-m quick`.
"""

from pathlib import Path

TESTS = Path(__file__).parent
# All test files directly in these folders …
FOLDERS = (
    "explorer",
    "explorer/charts",
    "explorer/decoding",
    "explorer/locale",
    "explorer/lessons",
    "model",
    "model/analysis",
    "model/data",
    "model/decoding",
    "model/text",
)
# … and these files …
FILES = ("pages/test_every_page.py", "test_boundaries.py")
# … except these, which take seconds each: whole commands, whole data sets, every bundled model, another library.
LONG = (
    "explorer/lessons/test_checks.py",
    "explorer/lessons/test_shipped.py",
    "explorer/decoding/test_attention_file_huggingface.py",
    "explorer/decoding/test_domain.py",
    "explorer/decoding/test_examples.py",
    "explorer/decoding/test_head_edits.py",
    "model/analysis/test_recorded_batches.py",
    "model/data/test_data.py",
    "model/data/test_scenes.py",
    "model/test_cli.py",
    "model/test_cli_shipped.py",
    "model/test_cli_train.py",
)
# In these, only tests with the mark.
BY_MARK = ("pages/test_every_page.py",)


def is_quick(path: Path) -> bool:
    """Whether `-m quick` looks into this file."""
    if not path.is_relative_to(TESTS):
        return False
    name = path.relative_to(TESTS).as_posix()
    return name not in LONG and (name in FILES or path.parent.relative_to(TESTS).as_posix() in FOLDERS)


def is_quick_throughout(path: Path) -> bool:
    """Whether every test of this file is quick, unless it is marked slow or nightly."""
    return is_quick(path) and path.relative_to(TESTS).as_posix() not in BY_MARK
