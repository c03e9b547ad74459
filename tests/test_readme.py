"""The README's map of the code is correct: every file and folder that it names exists."""

from __future__ import annotations

import re

from explorer.lessons.format_documentation import attention_files, formats
from model.format_documentation import table
from tests.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
MAP = README[README.index("## How the code is laid out") : README.index("### Write a lesson")]
TOP = ("app.py", "pages/", "explorer/", "model/", "checkpoints/", "tests/")


def rooms() -> list[tuple[list[str], list[str]]]:
    """The rows of the map: the places in the first column, and the files that the second one names."""
    found = []
    for line in MAP.splitlines():
        if line.startswith("| `"):
            places, rest = line.strip("|").split("|", 1)
            found.append((re.findall(r"`([^`]+)`", places), re.findall(r"`([\w/]+(?:\.\w+|/))`", rest)))
    return found


def test_the_map_names_what_exists() -> None:
    missing = []
    for places, files in rooms():
        folders = [ROOT / place.replace("<page>", "probe") for place in places]
        # `model/tap.py`, `points.py`: a bare name is in the folder of the first place of its row.
        first = folders[0] if folders[0].is_dir() else folders[0].parent
        for place, folder in zip(places, folders, strict=True):
            if not folder.exists() and not (first / place).exists():
                missing.append(place)
        homes = {first, *(folder for folder in folders if folder.is_dir()), ROOT}
        homes |= {home / "js" for home in homes}
        missing += [file for file in files if not any((home / file).exists() for home in homes)]
    assert not missing


def test_every_package_is_on_the_map() -> None:
    named = {place for places, _ in rooms() for place in places}
    explorer = {f"explorer/{path.name}/" for path in (ROOT / "explorer").iterdir() if (path / "__init__.py").exists()}
    model = {f"model/{path.name}/" for path in (ROOT / "model").iterdir() if (path / "__init__.py").exists()}
    assert {place.replace("<page>/", "") for place in named} >= explorer | model


def test_the_table_of_formats_is_the_one_that_the_checks_make() -> None:
    assert table() in README, "renew it: python -m model.format_documentation"
    for made in (formats(), attention_files()):
        assert made in README, "renew it: python -m explorer.lessons.format_documentation"
