"""The documentation of what comes in beside model folders, made from its checks; the README holds it.

`python -m explorer.lessons.format_documentation` prints it, and a test compares the two.
"""

from __future__ import annotations

from msgspec import Struct

from explorer.export.manifest import ManifestFile
from explorer.lessons.lesson_file import Front
from explorer.translation.selection import LinkParameters
from model.format_documentation import table

FORMATS: dict[str, type[Struct]] = {
    "a link, after the question mark": LinkParameters,
    "a manifest (JSON)": ManifestFile,
    "a lesson, between the lines `+++` (TOML)": Front,
}


def formats() -> str:
    """The parts of each format that are checked, and what they may hold."""
    return table(FORMATS)


if __name__ == "__main__":
    print(formats())
