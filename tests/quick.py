"""The tests of `python -m pytest -m quick`, which show within a minute whether a change broke something.

They touch each part once: its quickest unit tests, and one case per page (marked in tests/pages/test_every_page.py).
Tests that train, start a process, draw, read all sources, or need seconds with the bundled models are left to the whole
suite. Other files are not even imported under `-m quick`.
"""

from pathlib import Path

TESTS = Path(__file__).parent
# The files, by their folders.
FILES = {
    "explorer/browser": "payload views",
    "explorer/charts": "plots",
    "explorer/decoding": "attention_maps cache head_edits labelled_map selection translator",
    "explorer/files": "manifest show",
    "explorer/lessons": "answers expressions lesson_file library",
    "explorer/locale": "text",
    "explorer/probing": "pattern_shares sample",
    "explorer/runs": "listing metrics",
    "explorer/web": "address hosts model_queue",
    "model": "attention attention_variants config edits layers loss positions trace transformer",
    "model/analysis": "bootstrap mask_effects",
    "model/data": "batching checks files",
    "model/decoding": "decode search stepping",
    "model/text": "subwords tokenizer",
    "model/training": "pace parts",
    "pages": "every_page",
}
BY_MARK = TESTS / "pages" / "test_every_page.py"
"""In this file, only the tests with the mark."""
QUICK = {TESTS / folder / f"test_{name}.py" for folder, names in FILES.items() for name in names.split()}


def is_quick(path: Path) -> bool:
    return path in QUICK


def is_quick_throughout(path: Path) -> bool:
    """Whether every test of this file is quick, unless it is marked slow or nightly."""
    return is_quick(path) and path != BY_MARK
